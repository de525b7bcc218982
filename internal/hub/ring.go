package hub

import (
	"slices"

	"github.com/switchboard-dev/switchboard/api"
)

// A ring is the newest frames that were shown, as cursors give them: cursors share
// them, so none is ever changed. It is guarded by the mutex of the feed that it is
// part of.
type ring struct {
	frames []api.Frame
	texts  []Text
	// upTo has, for each frame, the number of the newest entry up to it, or its position.
	upTo  []int64
	first int64 // number of frames[0], counted from 0
	size  int
}

// add appends a frame with an event.
func (r *ring) add(frame api.Frame, text Text, upTo int64) {
	r.frames, r.texts, r.upTo = append(r.frames, frame), append(r.texts, text), append(r.upTo, upTo)
	r.size += sizeOf(frame.Event)
}

// end is the number of the next frame.
func (r *ring) end() int64 { return r.first + int64(len(r.frames)) }

// forget drops what is in memory.
func (r *ring) forget() { *r = ring{first: r.end()} }

// trim drops the oldest when there is twice as much as is to be kept.
func (r *ring) trim(keep int) {
	if r.size <= 2*keep {
		return
	}
	n := 0
	for r.size > keep && n < len(r.frames)-1 {
		r.size -= sizeOf(r.frames[n].Event)
		n++
	}
	r.first += int64(n)
	// With room for what comes until the next time, and a step more.
	room := 2*(len(r.frames)-n) + maxFrames
	r.frames = append(make([]api.Frame, 0, room), r.frames[n:]...)
	r.texts = append(make([]Text, 0, room), r.texts[n:]...)
	r.upTo = append(make([]int64, 0, room), r.upTo[n:]...)
}

// from returns the frames from a number on, which must not be below first, up to
// maxFrames of them, and what is the newest entry up to the last.
func (r *ring) from(number int64) (frames []api.Frame, texts []Text, upTo int64) {
	i := number - r.first
	end := min(i+maxFrames, int64(len(r.frames)))
	if i >= end {
		return nil, nil, 0
	}
	return r.frames[i:end:end], r.texts[i:end:end], r.upTo[end-1]
}

// after returns the number of the frame of the entry that follows the given one. It is
// not ok if that is not in memory.
func (r *ring) after(upTo int64) (number int64, ok bool) {
	i, _ := slices.BinarySearch(r.upTo, upTo+1)
	if i == len(r.frames) || r.upTo[i] != upTo+1 || r.frames[i].Type == api.FrameLive {
		return 0, false
	}
	return r.first + int64(i), true
}

// eventCost is about how much memory an event takes besides what it says.
const eventCost = 384

// sizeOf returns about how much memory an event takes, without its text.
func sizeOf(e *api.Event) int {
	return len(e.Line) + len(e.Data) + len(e.Text) + len(e.Base64) + eventCost
}
