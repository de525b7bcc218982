package ask

import "github.com/switchboard-dev/switchboard/api"

// Lines returns all of a question, for who prints it rather than showing it: what is asked, what it is about, and what can be chosen.
func Lines(q *api.Question, o Options) []string {
	o.Height, o.Guard = 0, 0
	m := New(q, o)
	m.unfolded = true
	m = m.relaid()
	if m.phase == settled {
		return append(m.part.head(m), m.foot().lines...)
	}
	lines := append(m.part.head(m), m.body...)
	if c, ok := m.part.(choice); ok && len(c.set) > 0 {
		for i := 1; i < len(c.set); i++ {
			lines = append(lines, c.tail(m).lines...)
			c = c.go_(i, 0)
			m.part = c
			lines = append(lines, c.head(m)[1:]...)
		}
	}
	return append(lines, m.part.tail(m).lines...)
}
