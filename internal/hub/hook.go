package hub

import "slices"

// A Hook is told of news on cursors (see [Cursor.SetHook]) in place of a goroutine
// that waits for them: to wake one takes longer than most of what it does then.
type Hook struct {
	// Show is called after something was shown, by who did it, without any lock.
	// It must not wait for anything.
	Show func()
	// Wake is called instead by who has no time for that, and holds locks: it must
	// return at once and call nothing of the hub's.
	Wake func()
}

// hooks are the hooks of a feed, with how many cursors have each.
type hooks []hookUse

type hookUse struct {
	hook    *Hook
	cursors int
}

// change takes one cursor from a hook and gives it to another; either may be nil.
func (l *hooks) change(from, to *Hook) {
	if from == to {
		return
	}
	if i := l.index(from); i >= 0 {
		if (*l)[i].cursors--; (*l)[i].cursors == 0 {
			*l = slices.Delete(*l, i, i+1)
		}
	}
	if to == nil {
		return
	}
	if i := l.index(to); i >= 0 {
		(*l)[i].cursors++
		return
	}
	*l = append(*l, hookUse{to, 1})
}

func (l hooks) index(h *Hook) int {
	return slices.IndexFunc(l, func(u hookUse) bool { return u.hook == h })
}

// wake wakes all.
func (l hooks) wake() {
	for _, u := range l {
		u.hook.Wake()
	}
}

// due notes whose hooks are to be called for what a session has shown. Who works for
// the session calls it, and afterwards sees to the calls.
func (s *session) hooksDue(l hooks) {
	for _, u := range l {
		if !slices.Contains(s.due, u.hook) {
			s.due = append(s.due, u.hook)
		}
	}
}

// takeDue returns the hooks that are to be called. Who calls it holds turn, and calls
// them when it does not any more.
func (s *session) takeDue() []*Hook {
	due := s.due
	s.due = nil
	return due
}

// showDue calls the hooks of what was shown.
func showDue(due []*Hook) {
	for _, h := range due {
		h.Show()
	}
}
