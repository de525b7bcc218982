package conformance

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/wire"
)

// TestBadInputIsStopped holds the table against wire: what harms a version does not get through to it, and what harms none does.
func TestBadInputIsStopped(t *testing.T) {
	for _, row := range badRows() {
		t.Run(row.name, func(t *testing.T) {
			err := wire.Validate([]byte(row.line))
			if row.since == never {
				if _, ok := errors.AsType[*wire.InvalidError](err); !ok {
					t.Errorf("Validate = %v, want an *InvalidError", err)
				}
			} else if err != nil {
				t.Errorf("Validate = %v, want the line accepted", err)
			}
			for i, version := range Versions() {
				v, err := wire.ParseVersion(version)
				if err != nil {
					t.Fatal(err)
				}
				pass := row.since != never && (row.since == "" || v.Compare(mustParse(t, row.since)) >= 0)
				if pass && row.on[i].harmful() {
					t.Errorf("the table lets through what %s on %s", row.on[i], version)
				}
				out, changes, err := wire.Fit([]byte(row.line), v)
				switch {
				case !pass && err == nil:
					t.Errorf("Fit for %s = %s %q, want it refused: the line %s there", version, out, changes, row.on[i])
				case pass && err != nil:
					t.Errorf("Fit for %s = %v, want it to pass: the line %s there", version, err, row.on[i])
				case pass && !bytes.Equal(out, bytes.TrimSpace([]byte(row.line))):
					t.Errorf("Fit for %s = %s, want the line unchanged", version, out)
				}
			}
		})
	}
}

// TestUnknownVersionIsTreatedAsTheOldest holds that Fit never lets a line through to a CLI of unknown version that would harm the oldest.
func TestUnknownVersionIsTreatedAsTheOldest(t *testing.T) {
	for _, row := range badRows() {
		if out, _, err := wire.Fit([]byte(row.line), wire.Version{}); err == nil && row.on[0].harmful() {
			t.Errorf("%s: Fit for an unknown version = %s, but the line %s on %s", row.name, out, row.on[0], Oldest)
		}
	}
}

func mustParse(t *testing.T, version string) wire.Version {
	t.Helper()
	v, err := wire.ParseVersion(version)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// badInputScenarios are the table of bad input, held against the CLIs: each row is a scenario whose only note is the line's effect. Rows that end
// the CLI leave the next one a new process.
func badInputScenarios() []Scenario {
	var all []Scenario
	for _, row := range badRows() {
		facts := "§14 " + row.name + "; rule 2"
		if row.facts != "" {
			facts += "; " + row.facts
		}
		all = append(all, Scenario{
			ID:     "badinput." + row.id(),
			Facts:  facts,
			Raw:    true,
			Run:    row.run,
			Want:   Per{Oldest: {string(row.on[0])}, LastDialing: {string(row.on[1])}, Newest: {string(row.on[2])}},
			Quirks: row.quirks,
			Rare:   row.rare,
		})
	}
	return all
}

// rare spares the oldest CLI, which takes two seconds of a core to start, most of its deaths: of each kind of line one is enough for every day.
func (r badRow) rare(s Subject) bool {
	everyDay := []string{
		"not JSON", "null", "empty line", "empty object", "user without message", "content number", "control_response without response",
		"control_request without request", "control_cancel_request", "update_environment_variables without variables",
	}
	return s.Kind == kindReal && s.Name == Oldest && r.on[0].harmful() && !slices.Contains(everyDay, r.name)
}

// id returns the row's name as part of a scenario's id.
func (r badRow) id() string {
	return strings.Trim(strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '-', c == '_':
			return c
		case c >= 'A' && c <= 'Z':
			return c + 'a' - 'A'
		case c == ' ':
			return '-'
		}
		return -1
	}, r.name), "-")
}

// run sends the line and notes its effect. What is expected only says what is worth waiting for.
func (r badRow) run(s *Stage) {
	want, err := s.scenario.Want.on(s.Subject)
	if err != nil {
		s.Fail("%w", err)
	}
	probe := fmt.Sprintf("probe-%d", s.column.tags.Add(1))
	s.RawBytes(r.line + "\n" + `{"type":"keep_alive"}` + "\n" + `{"type":"control_request","request_id":"` + probe + `","request":{"subtype":"mcp_status"}}` + "\n")
	var lines []Seen
	probed, result := false, false
	done := func() bool {
		switch effect(want[0]) {
		case turn:
			return probed && result
		case diesLate:
			return false // requests are answered also in a turn, so only the end shows it
		default:
			return probed
		}
	}
	for !done() {
		line, err := s.next(s.ctx)
		if err != nil && s.ctx.Err() == nil {
			s.Note("%s", r.death(s, result))
			return
		}
		if err != nil {
			break // it lives
		}
		result = result || line.Is("result ")
		if answer, ok := line.Message.(*wire.ControlResponse); ok && answer.Response.RequestID == probe {
			probed = true
			continue
		}
		lines = append(lines, line)
	}
	s.Note("%s", r.effect(lines))
}

// death names the effect of a line that ended the CLI.
func (r badRow) death(s *Stage, result bool) string {
	if code := s.Exit(); code != 1 {
		return fmt.Sprintf("exit code %d", code)
	}
	if result {
		return string(diesLate)
	}
	return string(dies)
}

// effect names the effect of a line that the CLI lives through.
func (r badRow) effect(lines []Seen) string {
	for _, line := range lines {
		if r.answer != "" || strings.HasPrefix(r.name, "control_request") {
			if answer, ok := line.Message.(*wire.ControlResponse); ok {
				if got := rawMember(line.Raw, "response", "request_id"); got != r.answer {
					return "is answered with the id " + got
				}
				switch {
				case answer.Response.Subtype == "success":
					return string(answered)
				case answer.Response.ErrorCode == wire.ErrorCodeUnsupported:
					return string(coded)
				default:
					return string(failed)
				}
			}
		}
		if line.Is("result ") {
			if m := line.Message.(*wire.Result); m.Failed() {
				return "runs a turn that fails: " + line.Text
			}
			return string(turn)
		}
	}
	for _, line := range lines {
		if !line.Is(noise()...) {
			return "the CLI wrote " + line.Text
		}
	}
	if strings.HasPrefix(r.name, "control_request") {
		return string(silent)
	}
	return string(ignored)
}
