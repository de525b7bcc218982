package fold_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/wire"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

var update = flag.Bool("update", false, "write what the recordings fold to into their golden files")

// A step is one line of a recording: what went over the wire, or an event.
type step struct {
	line  *fold.Line  // nil for an event
	event *fold.Event // nil for a line
}

// again returns the step as if it were read anew: a line decodes once.
func (s step) again() step {
	if s.line == nil {
		return s
	}
	l := fold.NewLine(s.line.Raw, s.line.Sent)
	l.Seq, l.Time = s.line.Seq, s.line.Time
	return step{line: l}
}

// live reports whether a log leaves the step out.
func (s step) live() bool {
	return s.line != nil && !s.line.Sent && wire.ClassOf(s.line.Header) != wire.Durable
}

// noon is when the recordings begin; each step takes a second.
var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// parse reads a recording: "<" is what the CLI wrote, ">" what was written to
// it, "!" an event.
//
// The files were recorded from the CLIs named by their folders, run with
// partial messages, replayed user messages and session-state events against a
// simulated model. Since then ids were numbered anew, paths replaced, lists of
// an installation's commands, skills and models emptied, and texts of the CLI
// that are not part of the protocol put in brackets.
func parse(text []byte) ([]step, error) {
	var steps []step
	for raw := range bytes.Lines(text) {
		n := int64(len(steps) + 1)
		at := noon.Add(time.Duration(n) * time.Second)
		kind, rest, ok := bytes.Cut(bytes.TrimSuffix(raw, []byte("\n")), []byte(" "))
		if !ok {
			return nil, fmt.Errorf("line %d: expected a mark, a space and something", n)
		}
		switch string(kind) {
		case "<", ">":
			l := fold.NewLine(rest, string(kind) == ">")
			l.Seq, l.Time = n, at
			steps = append(steps, step{line: l})
		case "!":
			e := fold.Event{Seq: n, Time: at}
			word, more, _ := strings.Cut(string(rest), " ")
			switch e.Kind = fold.EventKind(word); e.Kind {
			case fold.EventStarted:
				number, resumed, _ := strings.Cut(more, " ")
				run, err := strconv.Atoi(number)
				if err != nil {
					return nil, fmt.Errorf("line %d: expected the number of a run: %w", n, err)
				}
				e.Run, e.Resumed = run, resumed == "resumed"
			case fold.EventEnded:
				e.Reason = more
			case fold.EventLinkLost, fold.EventLinkBack, fold.EventTurnLost, fold.EventTurnFound:
			default:
				return nil, fmt.Errorf("line %d: unknown event %q", n, word)
			}
			steps = append(steps, step{event: &e})
		default:
			return nil, fmt.Errorf("line %d: unknown mark %q", n, kind)
		}
	}
	return steps, nil
}

// recording reads a recording of testdata.
func recording(t testing.TB, path string) []step {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	steps, err := parse(text)
	if err != nil {
		t.Fatalf("reading %s: %v", path, err)
	}
	return steps
}

// recordings returns the paths of all recordings.
func recordings(t testing.TB) []string {
	t.Helper()
	paths, err := filepath.Glob("testdata/recordings/*/*.log")
	if err != nil || len(paths) == 0 {
		t.Fatalf("there are no recordings: %v", err)
	}
	return paths
}

// all is one of each reducer.
type all struct {
	State     fold.State
	Partial   fold.Partial
	Costs     fold.Costs
	Questions fold.Questions
}

// apply folds a step and returns what it did to questions and what a turn cost.
func (a *all) apply(s step) ([]fold.Change, *fold.Turn) {
	if s.event != nil {
		changes := a.State.Happened(*s.event)
		a.Questions.Happened(*s.event)
		a.Partial.Happened(*s.event)
		a.Costs.Happened(*s.event)
		return changes, nil
	}
	if !s.line.Sent && wire.ClassOf(s.line.Header) == wire.Durable {
		a.State.Drift.Count(s.line)
	}
	changes := a.State.Apply(s.line)
	a.Questions.Apply(s.line)
	a.Partial.Apply(s.line)
	return changes, a.Costs.Apply(s.line)
}

// encode returns a value as JSON.
func encode(t testing.TB, v any) string {
	t.Helper()
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// trace tells a recording step by step: what came and what was made of it.
func trace(t testing.TB, steps []step) string {
	t.Helper()
	var out strings.Builder
	var a all
	before := around(&a)
	for i, s := range steps {
		changes, turn := a.apply(s)
		what := "!"
		if s.line != nil {
			what = "<"
			if s.line.Sent {
				what = ">"
			}
			what += " " + label(s.line)
		} else {
			what += " " + string(s.event.Kind)
		}
		fmt.Fprintf(&out, "%3d %-42s %s\n", i+1, what, a.State.Phase())
		for _, c := range changes {
			fmt.Fprintf(&out, "      question %s: %s\n", c.Fate, describe(c))
		}
		if turn != nil {
			fmt.Fprintf(&out, "      turn: $%v, %d ms\n", turn.Figures.CostUSD, turn.Millis)
		}
		now := around(&a)
		for i := range now {
			if now[i] != before[i] {
				fmt.Fprintf(&out, "      %s\n", now[i])
			}
		}
		before = now
	}
	// What is long, or depends on the protocol table, has its own tests.
	final := a.State
	final.Init, final.Initialize, final.Tools, final.Capabilities, final.Drift = nil, nil, nil, nil, fold.Drift{}
	fmt.Fprintf(&out, "\nstate %s\n\ncosts %s\n\ntotal %s\n", encode(t, final), encode(t, a.Costs), encode(t, a.Costs.Total()))
	return out.String()
}

// label names a line.
func label(l *fold.Line) string {
	words := []string{string(l.Header.Type)}
	if len(l.Header.Subtype) > 0 {
		words = append(words, string(l.Header.Subtype))
	}
	if len(l.Header.RequestSubtype) > 0 {
		words = append(words, string(l.Header.RequestSubtype))
	}
	if m, err := l.Message(); err == nil {
		switch m := m.(type) {
		case *wire.StreamEvent:
			words = append(words, m.Event.EventType())
		case *wire.SessionStateChanged:
			words = append(words, string(m.State))
		case *wire.CommandLifecycle:
			words = append(words, string(m.State))
		default:
		}
	}
	if len(l.Header.ParentToolUseID) > 0 {
		words = append(words, "("+string(l.Header.ParentToolUseID)+")")
	}
	return strings.Join(words, " ")
}

func describe(c fold.Change) string {
	words := []string{string(c.Question.Kind)}
	for _, w := range []string{c.Question.Tool, c.Question.ToolUseID, string(c.Reason)} {
		if w != "" {
			words = append(words, w)
		}
	}
	if c.Question.AgentID != "" {
		words = append(words, "by "+c.Question.AgentID)
	}
	return strings.Join(words, " ")
}

// around tells what surrounds the phase: queue, tasks, unfinished messages.
func around(a *all) [3]string {
	var tasks, messages strings.Builder
	for _, task := range a.State.Tasks {
		where := "in front"
		if task.Background {
			where = "in the background"
		}
		fmt.Fprintf(&tasks, " [%s %s %s]", task.ID, task.Kind, where)
	}
	for _, m := range a.Partial.Messages() {
		fmt.Fprintf(&messages, " [%s", m.ID)
		for _, b := range m.Blocks {
			fmt.Fprintf(&messages, " %s %q", b.Type, b.Text)
		}
		messages.WriteString("]")
	}
	return [3]string{
		fmt.Sprintf("waiting: %d", len(a.State.Queue.Waiting)),
		"tasks:" + tasks.String(),
		"partial:" + messages.String(),
	}
}

func TestRecordings(t *testing.T) {
	for _, path := range recordings(t) {
		t.Run(strings.TrimSuffix(strings.TrimPrefix(filepath.ToSlash(path), "testdata/recordings/"), ".log"), func(t *testing.T) {
			got := trace(t, recording(t, path))
			golden := strings.TrimSuffix(path, ".log") + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatalf("%v; run the test with -update", err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("the recording folds to something else (-want +got):\n%s", diff)
			}
		})
	}
}
