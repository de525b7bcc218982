//go:build linux || darwin

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/claude/claudetest"
	"github.com/switchboard-dev/switchboard/internal/journal"
)

// The lines of a made-up session: a prompt, a question, its answer, a result.
const (
	linePrompt  = `{"type":"user","uuid":"u1","message":{"role":"user","content":"go"}}`
	lineInit    = `{"type":"system","subtype":"init","uuid":"a1"}`
	lineDelta   = `{"type":"stream_event","uuid":"a2"}`
	lineAsk     = `{"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool"}}`
	lineAnswer  = `{"type":"control_response","response":{"subtype":"success","request_id":"r1"}}`
	lineSays    = `{"type":"assistant","uuid":"a3"}`
	lineResult  = `{"type":"result","uuid":"a4"}`
	lineKeep    = `{"type":"keep_alive"}`
	lineRequest = `{"type":"control_request","request_id":"h1","request":{"subtype":"interrupt"}}`
)

// soundEvidence is of a session in which nothing went wrong.
func soundEvidence() *evidence {
	e := &evidence{}
	wrote := func(line string) claudetest.Entry { return claudetest.Entry{Line: line} }
	got := func(line string) claudetest.Entry { return claudetest.Entry{Line: line, Read: true} }
	e.records = [][]claudetest.Entry{{
		got(linePrompt), wrote(lineInit), wrote(lineDelta), wrote(lineAsk), got(lineKeep), got(lineAnswer), wrote(lineSays), wrote(lineResult),
	}}
	for _, line := range []string{lineInit, lineAsk, lineSays, lineResult} {
		e.entries = append(e.entries, journal.Entry{Run: 1, Kind: api.KindLine, Line: []byte(line)})
	}
	e.number()
	e.commands = []journal.Command{
		{ID: "c1", Run: 1, Number: 1, Kind: "prompt", State: "picked_up", Line: []byte(linePrompt)},
		{ID: "c2", Run: 1, Number: 2, Kind: "answer", State: "written", Line: []byte(lineAnswer)},
		{ID: "c3", Run: 1, Kind: "prompt", State: "queued", Line: []byte(`{"type":"user","uuid":"u2"}`)},
	}
	e.questions = []journal.Question{{ID: "q1", Run: 1, RequestID: "r1", State: "answered"}}
	return e
}

func (e *evidence) number() {
	for i := range e.entries {
		e.entries[i].Seq = int64(i) + 1
	}
}

// insert puts an entry before the i-th.
func (e *evidence) insert(i int, entry journal.Entry) {
	e.entries = slices.Insert(e.entries, i, entry)
	e.number()
}

// drop takes the i-th entry out.
func (e *evidence) drop(i int) {
	e.entries = slices.Delete(e.entries, i, i+1)
	e.number()
}

func TestJudgeNotices(t *testing.T) {
	line := func(text string) journal.Entry {
		return journal.Entry{Run: 1, Kind: api.KindLine, Line: []byte(text)}
	}
	gap := journal.Entry{Run: 1, Kind: api.KindGap}
	tests := []struct {
		name   string
		change func(*evidence)
		want   []string // parts of the complaints, in order
	}{
		{"nothing", func(*evidence) {}, nil},
		{"a hub event", func(e *evidence) { e.insert(1, journal.Entry{Run: 1, Kind: api.KindState}) }, nil},
		{"a line lost", func(e *evidence) { e.drop(1) }, []string{"1 lines are missing before entry 2"}},
		{"the last line lost", func(e *evidence) { e.drop(3) }, []string{"the last 1 of 4 lines"}},
		{"the last line lost with its shim", func(e *evidence) { e.drop(3); e.shot = true }, nil},
		{"a line lost before the shim was", func(e *evidence) { e.drop(1); e.shot = true }, []string{"1 lines are missing"}},
		{"a line lost and reported", func(e *evidence) { e.drop(1); e.insert(1, gap) }, nil},
		{"a gap elsewhere", func(e *evidence) { e.drop(2); e.insert(0, gap) }, []string{"1 lines are missing"}},
		{"a line twice", func(e *evidence) { e.insert(2, line(lineAsk)) }, []string{"a second time"}},
		{"lines in another order", func(e *evidence) { e.entries[0].Line, e.entries[1].Line = e.entries[1].Line, e.entries[0].Line }, []string{"1 lines are missing", "a second time"}},
		{"a line changed", func(e *evidence) { e.entries[2].Line = []byte(lineSays + " ") }, []string{"never wrote", "1 lines are missing"}},
		{"a live line kept", func(e *evidence) { e.insert(1, line(lineDelta)) }, []string{"never wrote"}},
		{"a hole in the numbers", func(e *evidence) { e.entries[3].Seq = 9 }, []string{"has the number 9"}},
		{"a run without a record", func(e *evidence) { e.insert(4, journal.Entry{Run: 2, Kind: api.KindLine}) }, []string{"run 2, of which there is no record"}},

		{"a run without a process", func(e *evidence) {
			for i := range e.entries {
				e.entries[i].Run = 2
			}
			for i := range e.commands {
				e.commands[i].Run = 2
			}
			e.questions[0].Run = 2
		}, nil},

		{"a command read twice", func(e *evidence) {
			e.records[0] = append(e.records[0], claudetest.Entry{Line: lineAnswer, Read: true})
		}, []string{"read c2 2 times"}},
		{"a written command never read", func(e *evidence) { e.records[0] = slices.Delete(e.records[0], 0, 1) }, []string{"c1 is picked_up, and the CLI never read it"}},
		{"a queued command read", func(e *evidence) { e.commands[1].State = "queued" }, []string{"c2 is queued, and the CLI read it"}},
		{"an undelivered command read", func(e *evidence) { e.commands[1].State = "not_delivered" }, []string{"c2 is not_delivered, and the CLI read it"}},
		{"an unknown fate", func(e *evidence) { e.commands[1].State = "unknown" }, []string{"the fate of c2 is unknown"}},
		{"an unknown fate of a killed shim", func(e *evidence) { e.commands[1].State = "unknown"; e.shot = true }, nil},
		{"a command on its way for ever", func(e *evidence) { e.commands[1].State = "sent" }, []string{"c2 is still on its way"}},
		{"a state that is none", func(e *evidence) { e.commands[1].State = "lost" }, []string{`unknown state "lost"`}},
		{"a line from nowhere", func(e *evidence) {
			e.records[0] = append(e.records[0], claudetest.Entry{Line: lineRequest, Read: true})
		}, []string{"not in the outbox"}},
		{"commands in another order", func(e *evidence) { e.commands[0].Number, e.commands[1].Number = 2, 1 }, []string{"before one with a lower number"}},

		{"a settled question open", func(e *evidence) { e.questions[0].State = "open" }, []string{"q1 is open, and the CLI does not wait"}},
		{"an open question settled", func(e *evidence) {
			e.records[0] = slices.Delete(e.records[0], 5, 6)
			e.commands[1].State = "queued"
		}, []string{"q1 is answered, and the CLI waits"}},
		{"a question forgotten", func(e *evidence) {
			e.records[0] = slices.Delete(e.records[0], 5, 6)
			e.commands[1].State, e.questions = "queued", nil
		}, []string{"waits for an answer to r1"}},
		{"a question twice", func(e *evidence) { e.questions = append(e.questions, e.questions[0]) }, []string{"opened as two questions"}},
		{"a question of a run that is over", func(e *evidence) {
			e.questions[0].State = "open"
			e.records = append(e.records, []claudetest.Entry{})
		}, []string{"of the run 1, which is over"}},

		{"dialled: nothing", func(e *evidence) { e.dialled = true }, nil},
		{"dialled: a line twice", func(e *evidence) { e.dialled = true; e.insert(2, line(lineInit)) }, []string{"a second time"}},
		{"dialled: a line lost", func(e *evidence) { e.dialled = true; e.drop(2) }, []string{"no gap is reported"}},
		{"dialled: a gap before it", func(e *evidence) { e.dialled = true; e.drop(2); e.insert(0, gap) }, []string{"no gap is reported"}},
		{"dialled: a line lost and reported", func(e *evidence) { e.dialled = true; e.drop(2); e.insert(2, gap) }, nil},
		{"dialled: a request lost", func(e *evidence) { e.dialled = true; e.drop(1) }, nil},
		{"dialled: the same line again, kept once", func(e *evidence) {
			e.dialled = true
			e.records[0] = append(e.records[0], claudetest.Entry{Line: lineInit})
		}, nil},
		{"dialled: made up", func(e *evidence) { e.dialled = true; e.insert(2, line(`{"type":"x"}`)) }, []string{"never wrote"}},
		{"dialled: an answer sent again", func(e *evidence) {
			e.dialled = true
			e.records[0] = append(e.records[0], claudetest.Entry{Line: lineAnswer, Read: true})
		}, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			e := soundEvidence()
			test.change(e)
			wrong := judge(e)
			if len(wrong) != len(test.want) {
				t.Fatalf("the judge says %q, want %d complaints", wrong, len(test.want))
			}
			for i, part := range test.want {
				if !strings.Contains(wrong[i], part) {
					t.Errorf("complaint %d is %q, want %q in it", i+1, wrong[i], part)
				}
			}
		})
	}
}

// TestLeftoversAreFound holds that a process that is left behind is noticed.
func TestLeftoversAreFound(t *testing.T) {
	variable := fmt.Sprintf("%s=%s.%s", labEnv, suite.id, "left")
	if found := carriers(variable); len(found) > 0 {
		t.Fatalf("%v carry it already", found)
	}
	cmd := startSleeper(t, variable)
	if err := eventually(patience, func() error {
		if found := carriers(variable); !slices.Equal(found, []int{cmd.Process.Pid}) {
			return fmt.Errorf("found %v, want %d", found, cmd.Process.Pid)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}
