package doctor

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// DrawOptions say how a report is written.
type DrawOptions struct {
	// Style colours a text as fits a state, and Dim one that is less important. If nil, nothing is coloured.
	Style func(State, string) string
	Dim   func(string) string
	// Clean takes out of a text what a terminal would take for a command. If nil, it stays as it is.
	Clean func(string) string
	// Quiet leaves out what is well.
	Quiet bool
}

// Draw writes a report for people, one line for each finding that begins with its state, and below it why it matters and the command that fixes it.
func Draw(w io.Writer, r *Report, o DrawOptions) error {
	if o.Style == nil {
		o.Style = func(_ State, text string) string { return text }
	}
	if o.Dim == nil {
		o.Dim = func(text string) string { return text }
	}
	clean := func(text string) string {
		if o.Clean != nil {
			text = o.Clean(text)
		}
		return strings.ReplaceAll(text, "\n", " ") // one line each
	}
	out := bufio.NewWriter(w)
	for _, f := range r.Findings {
		if o.Quiet && (f.State == OK || f.State == Skip) {
			continue
		}
		_, _ = fmt.Fprintf(out, "%s  %s: %s\n", o.Style(f.State, fmt.Sprintf("%-4s", f.State)), clean(f.What), clean(f.Found))
		if f.Why != "" {
			_, _ = fmt.Fprintf(out, "      %s\n", o.Dim(clean(f.Why)))
		}
		if f.Fix != "" {
			_, _ = fmt.Fprintf(out, "      $ %s\n", clean(f.Fix))
		}
	}
	if !o.Quiet {
		_, _ = fmt.Fprintf(out, "\n%d ok, %s, %s, %d skipped\n", r.Count(OK), plural(r.Count(Warn), "warning", "warnings"),
			plural(r.Count(Fail), "failure", "failures"), r.Count(Skip))
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}
