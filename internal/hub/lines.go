package hub

import "github.com/switchboard-dev/switchboard/wire/fold"

// A lineBlock is memory for lines as they are folded. Steps use it again.
type lineBlock struct {
	lines [64]fold.Line
	used  int
}

// folded returns the line of an item to be folded. It is valid until the step is over.
func (st *step) folded(v *Item) *fold.Line {
	n := len(st.blocks)
	if n == 0 || st.blocks[n-1].used == len(st.blocks[n-1].lines) {
		b, ok := st.s.hub.lineBlocks.Get().(*lineBlock)
		if !ok {
			b = new(lineBlock)
		}
		st.blocks = append(st.blocks, b)
		n++
	}
	b := st.blocks[n-1]
	l := &b.lines[b.used]
	b.used++
	if v.Header == nil {
		l.Reset(v.Bytes, false)
	} else {
		*l = *fold.PeekedLine(v.Bytes, v.Header, nil)
	}
	return l
}

// free lets other steps use the memory of the lines. The step is over.
func (st *step) free() {
	for _, b := range st.blocks {
		clear(b.lines[:b.used]) // nothing else holds what they refer to
		b.used = 0
		st.s.hub.lineBlocks.Put(b)
	}
	st.blocks = nil
}
