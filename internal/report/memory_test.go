package report_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/report"
)

// A longLog is a journal with one session, whose entries are made when they are read.
type longLog struct {
	journal.Journal
	t       *testing.T
	entries int64
	first   uint64 // what the heap was after the first entries
	most    uint64 // and the most it was later
}

func (l *longLog) Session(context.Context, string) (*journal.Session, error) {
	return &journal.Session{ID: "s1", Epoch: "e", Seq: l.entries, State: "idle"}, nil
}

func (l *longLog) Turns(context.Context, string) ([]journal.Turn, error) { return nil, nil }

func (l *longLog) Entries(_ context.Context, _ string, after int64, limit int, _ int64) ([]journal.Entry, error) {
	if after%(l.entries/10) < int64(limit) {
		runtime.GC()
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		if after > 0 && l.first == 0 {
			l.first = stats.HeapAlloc
		}
		l.most = max(l.most, stats.HeapAlloc)
	}
	page := make([]journal.Entry, 0, limit)
	for seq := after + 1; seq <= min(after+int64(limit), l.entries); seq++ {
		page = append(page, l.entry(seq))
	}
	return page, nil
}

// entry returns one of those of which a turn consists, some of which are never completed.
func (l *longLog) entry(seq int64) journal.Entry {
	const steps = 20
	turn, step := seq/steps, seq%steps
	e := journal.Entry{Session: "s1", Seq: seq, Run: 1, Time: time.Unix(seq, 0), Source: journal.SourceAgent, Kind: api.KindLine}
	line := func(format string, args ...any) { e.Line = fmt.Appendf(nil, format, args...) }
	data := func(kind string, v any) {
		raw, err := json.Marshal(v)
		if err != nil {
			l.t.Error(err)
		}
		e.Kind, e.Source, e.Data = kind, journal.SourceHub, raw
	}
	call := func(name, parent string) {
		line(`{"type":"assistant","uuid":"a%d","parent_tool_use_id":"%s","message":{"id":"m%d","content":[{"type":"tool_use","id":"%s%d","name":"%s","input":{"command":"make"}}]}}`, seq, parent, seq, name, turn, name)
	}
	gave := func(name, more string) {
		line(`{"type":"user","uuid":"u%d","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"%s%d","content":"%s"}]}%s}`, seq, name, turn, strings.Repeat("much ", 1000), more)
	}
	question := api.Question{ID: fmt.Sprint("q", turn), Kind: api.QuestionPermission, State: api.QuestionOpen, ToolUseID: fmt.Sprint("Bash", turn)}
	message := api.Message{ID: fmt.Sprint("m", turn), UUID: fmt.Sprint("p", turn), State: api.MessageQueued, Text: strings.Repeat("please ", 100)}
	agent := fmt.Sprint("Task", turn)
	switch step {
	case 0:
		data(api.KindMessage, message)
	case 1:
		line(`{"type":"user","uuid":"p%d","message":{"role":"user","content":"%s"}}`, turn, message.Text)
		e.Kind = api.KindSent
	case 2:
		message.State, message.Text = api.MessageWritten, ""
		data(api.KindMessage, message)
	case 3:
		call("Bash", "")
	case 4:
		data(api.KindQuestionOpened, question)
	case 5:
		question.State, question.Settled, question.Answer = api.QuestionAnswered, e.Time, &api.Answer{Decision: "allow"}
		data(api.KindQuestionSettled, question)
	case 6:
		gave("Bash", "")
	case 7:
		call("Task", "")
	case 8:
		line(`{"type":"system","subtype":"task_started","task_id":"t%d","tool_use_id":"%s","description":"d","uuid":"t%d"}`, turn, agent, seq)
	case 9:
		call("Grep", agent)
	case 10:
		gave("Grep", fmt.Sprintf(`,"parent_tool_use_id":"%s"`, agent))
	case 11:
		line(`{"type":"system","subtype":"task_updated","task_id":"t%d","patch":{"status":"completed"},"uuid":"t%d"}`, turn, seq)
	case 12:
		gave("Task", "")
	case 13:
		line(`{"type":"system","subtype":"api_retry","attempt":1,"max_retries":10,"error":"overloaded","uuid":"r%d"}`, seq)
	case 14:
		line(`{"type":"system","subtype":"hook_started","hook_id":"h%d","hook_name":"x","uuid":"h%d"}`, turn, seq)
	case 15:
		line(`{"type":"assistant","uuid":"a%d","message":{"id":"m","content":[{"type":"text","text":"%s"}]}}`, seq, strings.Repeat("much ", 1000))
	case 16:
		line(`{"type":"assistant","uuid":"a%d","supersedes":["a%d"],"message":{"id":"m","content":[{"type":"text","text":"less"}]}}`, seq, seq-1)
	case 17:
		data(api.KindDecision, api.Decision{Tool: "Bash", ToolUseID: fmt.Sprint("never", turn), Rule: api.RuleRef{Rule: "Bash", Decision: api.RuleDeny}})
	case 18:
		line(`{"type":"control_request","request_id":"i%d","request":{"subtype":"interrupt"}}`, seq)
		e.Kind = api.KindSent
	case 19:
		line(`{"type":"result","subtype":"success","uuid":"r%d","total_cost_usd":%d}`, seq, turn)
	}
	return e
}

// TestExportMemory holds that the export of a long log needs no more memory at its end than at its beginning.
func TestExportMemory(t *testing.T) {
	for _, format := range []string{"jsonl", "events", "markdown"} {
		l := &longLog{t: t, entries: 10_000}
		if err := report.New(report.Options{Journal: l}).Export(t.Context(), "s1", format, io.Discard); err != nil {
			t.Fatal(err)
		}
		// All of it is 13 MB.
		if l.first == 0 || l.most > l.first+256<<10 {
			t.Errorf("%s: the heap is %d kB after the first part, and up to %d kB later", format, l.first>>10, l.most>>10)
		}
	}
}
