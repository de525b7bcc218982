package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/switchboard-dev/switchboard/claude/claudetest"
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

// TestBadInputOnRealCLIs holds the table against the real CLIs. The rows that do no harm share one process; each of the others gets its own.
func TestBadInputOnRealCLIs(t *testing.T) {
	t.Parallel()
	model := newModel(t, nil)
	for i, version := range Versions() {
		t.Run(version, func(t *testing.T) {
			t.Run("harmless", func(t *testing.T) {
				t.Parallel()
				confirmHarmless(t, i, model)
			})
			for _, row := range badRows() {
				if row.on[i] != dies && row.on[i] != diesLate {
					continue
				}
				t.Run(row.name, func(t *testing.T) {
					t.Parallel()
					if err := startRaw(t, version, model).succumbs(row, row.on[i]); err != nil {
						t.Errorf("want that the CLI %s: %v", row.on[i], err)
					}
				})
			}
		})
	}
}

// confirmHarmless sends all rows that do no harm to version i to one process of it.
func confirmHarmless(t *testing.T, i int, model *claudetest.Model) {
	t.Helper()
	cli := startRaw(t, Versions()[i], model)
	for _, row := range badRows() {
		if row.on[i] == dies || row.on[i] == diesLate {
			continue
		}
		if err := cli.survives(row, row.on[i]); err != nil {
			t.Errorf("%s: want that the line %s: %v", row.name, row.on[i], err)
		}
		if cli.gone() {
			cli = startRaw(t, Versions()[i], model)
		}
	}
	// Whatever the rows left behind in it, the process must still hold a conversation.
	if err := cli.survives(badRow{line: prompt(`"hello"`)}, turn); err != nil {
		t.Errorf("a prompt after all harmless rows: %v", err)
	}
	// Only the end of the process shows that an answer never came.
	cli.end()
	for _, row := range badRows() {
		if row.on[i] == silent && cli.answerTo(row.id) != nil {
			t.Errorf("%s: answered by %s, want no answer", row.name, cli.answerTo(row.id))
		}
	}
}

// survives sends a line that the CLI should live through and reports how it differs from what the effect says.
func (c *rawCLI) survives(row badRow, want effect) error {
	c.t.Helper()
	from := len(c.lines)
	c.send(row.line)
	switch want {
	case turn:
		line, err := c.await(func(l rawLine) bool { return l.Type == "result" })
		if err != nil {
			return err
		}
		if line.Subtype != "success" || line.IsError {
			return fmt.Errorf("the turn ended with %s", line.raw)
		}
	case answered, failed, coded:
		line, err := c.await(func(l rawLine) bool { return l.Type == "control_response" && string(l.Response.RequestID) == row.id })
		if err != nil {
			return err
		}
		ok := want == answered && line.Response.Subtype == "success" ||
			want == failed && line.Response.Subtype == "error" ||
			want == coded && line.Response.Subtype == "error" && line.Response.ErrorCode == "unsupported_request"
		if !ok {
			return fmt.Errorf("answered with %s", line.raw)
		}
	case ignored, silent, dies, diesLate:
	}
	// The next request shows that the CLI has read on, past the line.
	c.send(`{"type":"keep_alive"}`)
	if _, err := c.ask(`{"subtype":"mcp_status"}`); err != nil {
		return err
	}
	if want == ignored || want == silent {
		for _, line := range c.lines[from : len(c.lines)-1] {
			return fmt.Errorf("the CLI wrote %s", line.raw)
		}
	}
	return nil
}

// succumbs sends a line that should end the CLI and reports how it differs from what the effect says.
func (c *rawCLI) succumbs(row badRow, want effect) error {
	c.t.Helper()
	c.send(row.line)
	if err := c.exit(); err != nil {
		return err
	}
	if code := c.cmd.ProcessState.ExitCode(); code != 1 {
		return fmt.Errorf("exit code %d, want 1", code)
	}
	result := slices.ContainsFunc(c.lines, func(l rawLine) bool { return l.Type == "result" })
	if result != (want == diesLate) {
		return fmt.Errorf("a result came: %t", result)
	}
	return nil
}

// A rawLine is a line of a CLI, with what the table looks at.
type rawLine struct {
	raw      json.RawMessage
	Type     string `json:"type"`
	Subtype  string `json:"subtype"`
	IsError  bool   `json:"is_error"`
	Response struct {
		Subtype   string          `json:"subtype"`
		RequestID json.RawMessage `json:"request_id"`
		ErrorCode string          `json:"error_code"`
	} `json:"response"`
}
