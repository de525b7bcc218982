package link

// A queue is a slice that is taken from at its front. The zero value is empty.
type queue[T any] struct {
	items []T
	head  int
}

func (q *queue[T]) len() int { return len(q.items) - q.head }

func (q *queue[T]) at(i int) *T { return &q.items[q.head+i] }

func (q *queue[T]) push(v T) {
	// Half of the slice is free: moved instead of grown, each item moves at
	// most once per time that it was added.
	if len(q.items) == cap(q.items) && q.head > len(q.items)/2 {
		q.shift()
	}
	q.items = append(q.items, v)
}

func (q *queue[T]) pop() T {
	var zero T
	v := q.items[q.head]
	q.items[q.head] = zero
	q.head++
	if q.head == len(q.items) {
		q.items, q.head = q.items[:0], 0
		if cap(q.items) > keepQueue {
			q.items = nil
		}
	}
	return v
}

// keepQueue is the largest slice that an empty queue keeps.
const keepQueue = 1 << 10

func (q *queue[T]) shift() {
	n := copy(q.items, q.items[q.head:])
	clear(q.items[n:])
	q.items, q.head = q.items[:n], 0
}

// filter keeps the items for which keep returns true; it is given their places.
func (q *queue[T]) filter(keep func(int, *T) bool) {
	n := 0
	for i := range q.len() {
		if keep(i, q.at(i)) {
			q.items[n] = *q.at(i)
			n++
		}
	}
	clear(q.items[n:])
	q.items, q.head = q.items[:n], 0
	if n == 0 && cap(q.items) > keepQueue {
		q.items = nil
	}
}
