package broadcast

// A Broadcast is a channel that is closed at the next change. The zero value is ready
// to use, and takes no memory while no goroutine waits.
//
// It is guarded by the mutex of that which changes: with it held, a goroutine looks at
// the state, and if that is not what it waits for, calls Changed; it then unlocks the
// mutex and waits for the channel. Nothing is missed between.
type Broadcast struct {
	next chan struct{} // nil while no goroutine waits
}

// Changed returns a channel that is closed at the next call of Notify.
func (b *Broadcast) Changed() <-chan struct{} {
	if b.next == nil {
		b.next = make(chan struct{})
	}
	return b.next
}

// Notify wakes the goroutines that wait.
func (b *Broadcast) Notify() {
	if b.next != nil {
		close(b.next)
		b.next = nil
	}
}
