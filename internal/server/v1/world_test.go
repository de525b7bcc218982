package v1

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/report"
	"github.com/switchboard-dev/switchboard/internal/server/servertest"
)

// A world is a server over a lab, and a session in it that requests are about.
type world struct {
	*rig

	t     *testing.T
	lab   *servertest.Lab
	disk  *shelf
	agent *servertest.Agent
	// names are what {session}, {question} and the like stand for.
	names map[string]string
}

// newWorld makes a world with rules and conversations on disk.
func newWorld(t *testing.T) *world {
	t.Helper()
	disk := &shelf{}
	lab := servertest.New(t, &servertest.Options{Rules: "ask = [\"Bash(rm:*)\"]\n", Library: disk})
	return &world{rig: newRig(t, lab, &Options{Dial: "ws://127.0.0.1:1"}), t: t, lab: lab, disk: disk, names: map[string]string{}}
}

// of returns the world for a part of a test.
func (w *world) of(t *testing.T) *world {
	part := *w
	part.t, part.lab, part.agent, part.names = t, w.lab.In(t), nil, map[string]string{"dir": t.TempDir()}
	return &part
}

// fill puts names in.
func (w *world) fill(text string) string {
	for name, value := range w.names {
		text = strings.ReplaceAll(text, "{"+name+"}", value)
	}
	return text
}

// log returns the log of the session, an event in each line.
func (w *world) log() string {
	w.t.Helper()
	page, err := w.lab.Hub.Events(w.t.Context(), w.agent.Session, "", 0)
	if err != nil {
		w.t.Fatal(err)
	}
	var b strings.Builder
	for i := range page.Events {
		b.WriteString(marshalled(w.t, &page.Events[i]) + "\n")
	}
	return b.String()
}

// create makes the session.
func (w *world) create(in api.CreateSession) {
	w.t.Helper()
	in.Dir = w.names["dir"]
	w.agent = w.lab.Create(in)
	w.names["session"] = w.agent.Session
}

// Situations that a session may be in.

func nothing(*world) {}

func idle(w *world) {
	w.create(api.CreateSession{})
	w.lab.AwaitState(w.agent.Session, api.StateIdle)
}

// old is the situation that a CLI has an old version.
func old(w *world) {
	w.agent = w.lab.Dial(api.CreateSession{})
	w.agent.Say(servertest.Answered(wordOf(w.agent.AwaitSent(`"initialize"`), "request_id"), `{}`), `{"type":"system","subtype":"init","session_id":"`+w.agent.Session+`","uuid":"u","cwd":"/w","model":"m","permissionMode":"default","claude_code_version":"2.1.120","tools":[]}`)
	w.names["session"] = w.agent.Session
}

func bypassing(w *world) {
	w.create(api.CreateSession{Options: api.SessionOptions{AllowBypass: true}})
	w.lab.AwaitState(w.agent.Session, api.StateIdle)
}

func talked(w *world) {
	w.create(api.CreateSession{Prompt: "@say hello"})
	w.lab.Await(w.agent.Session, "it has answered", func(s *api.Session) bool { return s.State == api.StateIdle && s.Cost.Turns == 1 })
}

func failed(w *world) {
	w.create(api.CreateSession{Prompt: "@error 400"})
	w.lab.Await(w.agent.Session, "it has failed", func(s *api.Session) bool { return s.State == api.StateIdle && s.Failed })
}

func ended(w *world) {
	talked(w)
	if _, err := w.lab.Hub.Stop(w.t.Context(), servertest.Admin, w.agent.Session, api.Stop{}); err != nil {
		w.t.Fatal(err)
	}
}

// planning has an agent ask for the approval of a plan.
const planning = `@tool ExitPlanMode {"plan":"Do it."}`

// asks returns the situation that an agent asks for something.
func asks(prompt string, change ...func(*api.CreateSession)) func(*world) {
	return func(w *world) {
		in := api.CreateSession{Prompt: prompt}
		for _, f := range change {
			f(&in)
		}
		if strings.Contains(prompt, "ExitPlanMode") {
			in.Options.PermissionMode = "plan"
		}
		w.create(in)
		s := w.lab.Await(w.agent.Session, "it asks", func(s *api.Session) bool { return len(s.Questions) > 0 })
		w.names["question"] = s.Questions[0].ID
	}
}

var asking = asks(`@tool Bash {"command":"make"}`)

// queued returns the situation that a message waits for the end of a turn.
func queued(id string) func(*world) {
	return func(w *world) {
		asking(w)
		if _, err := w.lab.Hub.Send(w.t.Context(), servertest.Admin, w.agent.Session, api.SendMessage{ClientID: id, Text: "later"}); err != nil {
			w.t.Fatal(err)
		}
	}
}

// ruled returns the situation that a session has a rule.
func ruled(in api.AddRule) func(*world) {
	return func(w *world) {
		idle(w)
		rule, err := w.lab.Hub.AddRule(w.t.Context(), servertest.Admin, w.agent.Session, in)
		if err != nil {
			w.t.Fatal(err)
		}
		w.names["rule"] = rule.ID
	}
}

// held is the situation that a rate limit holds a session back.
func held(w *world) {
	idle(w)
	w.agent.Say(fmt.Sprintf(`{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":%d,"rateLimitType":"five_hour"},"uuid":"u","session_id":"c"}`, time.Now().Add(time.Hour).Unix()))
	s := w.lab.Await(w.agent.Session, "it is held back", func(s *api.Session) bool { return len(s.Holds) > 0 })
	w.names["hold"] = s.Holds[0].ID
}

// A shelf is a library with one conversation, which notes what it is asked.
type shelf struct{ notebook }

// onShelf is the conversation.
const onShelf = "0b1c2d3e-4f50-4617-8293-a4b5c6d7e8f9"

func (s *shelf) files() []report.TranscriptFile {
	return []report.TranscriptFile{{Conversation: onShelf, Dir: "/home/ann/blog", Title: "Blog", Modified: time.Unix(1, 0)}}
}

func (s *shelf) Transcripts(_ context.Context, q report.TranscriptQuery) ([]report.TranscriptFile, error) {
	return s.files(), s.note("Transcripts", q)
}

func (s *shelf) SearchTranscripts(_ context.Context, q report.TranscriptQuery, text string) (*report.TranscriptSearch, error) {
	return noted(&report.TranscriptSearch{Files: s.files()}, s.note("SearchTranscripts", q, text))
}

func (s *shelf) ReadTranscript(_ context.Context, dir, conversation string) (iter.Seq2[[]byte, error], error) {
	return func(yield func([]byte, error) bool) {
		for i := range 3 {
			if !yield(fmt.Appendf(nil, `{"type":"user","n":%d}`, i), nil) {
				return
			}
		}
	}, s.note("ReadTranscript", dir, conversation)
}

func (s *shelf) Folders(_ context.Context, prefix string, limit int) ([]api.Folder, error) {
	return []api.Folder{{Path: prefix + "x"}}, s.note("Folders", prefix, limit)
}

func (s *shelf) Look(_ context.Context, paths []string) ([]api.Folder, error) {
	var folders []api.Folder
	for _, p := range paths {
		folders = append(folders, api.Folder{Path: p})
	}
	return folders, nil
}

// asJSON returns a value as it is sent.
func asJSON(t *testing.T, v any) map[string]any {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}
