package audit

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// WriteJSON writes findings for programs: an object each in a line of its own, and in the last one, as member summary, what they add up to.
func (a *Audit) WriteJSON(w io.Writer) error {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	for _, f := range a.Findings() {
		if err := out.Encode(f); err != nil {
			return err
		}
	}
	return out.Encode(map[string]Summary{"summary": a.Summary()})
}

// String returns the sums in sentences.
func (s Summary) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: the rules allow %d, deny %d, ask about %d, and say nothing about %d.\n", number(s.Calls, "call"), s.Allowed, s.Denied, s.Asked, s.NoRule)
	if s.PeopleAllowed > 0 {
		fmt.Fprintf(&b, "Of %d that people had allowed, rules allow %d and deny %d.\n", s.PeopleAllowed, s.PeopleAllowedAllowed, s.PeopleAllowedDenied)
	}
	if s.PeopleDenied > 0 {
		fmt.Fprintf(&b, "Of %d that people had denied, rules allow %d.\n", s.PeopleDenied, s.PeopleDeniedAllowed)
	}
	if s.Unasked > 0 {
		fmt.Fprintf(&b, "Of %d that ran unasked, rules deny %d and ask about %d.\n", s.Unasked, s.UnaskedDenied, s.UnaskedAsked)
	}
	if s.Skipped > 0 {
		fmt.Fprintf(&b, "%s skipped that say nothing known.\n", number(s.Skipped, "line"))
	}
	return b.String()
}

// number returns a number of things in words.
func number(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
