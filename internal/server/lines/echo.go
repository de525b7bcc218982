package lines

import "slices"

// maxEchoes is how many prompts may wait for their echo. There are more only if
// their CLI writes none.
const maxEchoes = 1024

// Echoes are the uuids of prompts that a client knows and whose echo is still to come.
// The CLI repeats prompts that it has taken, and a client is not told twice.
type echoes []string

// expect notes a prompt.
func (e *echoes) expect(uuid string) {
	if uuid == "" {
		return
	}
	if len(*e) == maxEchoes {
		*e = (*e)[1:]
	}
	*e = append(*e, uuid)
}

// is reports whether a line repeats a prompt. It does so once.
func (e *echoes) is(uuid string) bool {
	i := slices.Index(*e, uuid)
	if i < 0 {
		return false
	}
	*e = slices.Delete(*e, i, i+1)
	return true
}
