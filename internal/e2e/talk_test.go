//go:build linux || darwin

package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/wire"
)

// A talk is a session with somebody who prompts and answers, step by step. Each
// of its methods ends the test if what it is for does not happen, and says in
// which step that was. It must be used by the test's own goroutine.
type talk struct {
	*session
	t *testing.T
	c *client.Client

	name    string       // of the step
	numbers int          // of the requests, which are all different
	from    int          // the mark at which the last prompt was sent
	message *api.Message // the last prompt
}

// client returns a client of the hub, which uses its address and its token. The
// hub may be restarted meanwhile.
func (l *lab) client() *client.Client {
	l.t.Helper()
	token, err := l.token()
	if err != nil {
		l.t.Fatal(err)
	}
	c, err := client.New(&client.Options{BaseURL: l.url(), Token: token, Pin: l.pin()})
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(c.Close)
	return c
}

// talk creates a session to talk to.
func (l *lab) talk(t *testing.T, change func(*api.CreateSession)) *talk {
	t.Helper()
	s := l.mustCreate(change)
	k := &talk{session: s, t: t, c: l.client(), name: "start"}
	if _, err := s.awaitState(l.ctx(), api.StateIdle); err != nil {
		t.Fatal(err)
	}
	return k
}

// step names what follows.
func (k *talk) step(name string) { k.name = name }

// fail ends the test with the step's name and what has happened in it.
func (k *talk) fail(format string, args ...any) {
	k.t.Helper()
	k.t.Fatalf("%s: %s\nthe events of the step:\n%s", k.name, fmt.Sprintf(format, args...), summary(k.events()))
}

// check ends the test if err is one.
func (k *talk) check(err error) {
	k.t.Helper()
	if err != nil {
		k.fail("%v", err)
	}
}

// next returns a client id.
func (k *talk) next() string {
	k.numbers++
	return fmt.Sprintf("c%d", k.numbers)
}

// events returns what has come since the last prompt.
func (k *talk) events() []api.Event {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.session.events[k.from:])
}

// await waits for events since the last prompt.
func (k *talk) await(what string, want func([]api.Event) bool) []api.Event {
	k.t.Helper()
	events, err := k.awaitFrom(k.lab.ctx(), k.from, what, want)
	k.check(err)
	return events
}

// prompt sends a prompt. The lines are one text.
func (k *talk) prompt(lines ...string) {
	k.t.Helper()
	k.from = k.mark()
	message, err := k.c.Send(k.lab.ctx(), k.id, api.SendMessage{ClientID: k.next(), Text: strings.Join(lines, "\n")})
	k.check(err)
	k.message = message
}

// question waits for the n-th question since the last prompt, from 1.
func (k *talk) question(n int) *api.Question {
	k.t.Helper()
	q, err := k.awaitQuestion(k.lab.ctx(), k.from, n)
	k.check(err)
	return q
}

// settle answers a question.
func (k *talk) settle(q *api.Question, answer api.Answer) *api.Question {
	k.t.Helper()
	answer.ClientID = k.next()
	settled, err := k.c.Answer(k.lab.ctx(), q.ID, answer)
	k.check(err)
	if settled.State != api.QuestionAnswered {
		k.fail("the question is %s after it was answered", settled.State)
	}
	return settled
}

// refused holds that an answer is refused with a status, and that the question
// stays open.
func (k *talk) refused(q *api.Question, status int, answer api.Answer) {
	k.t.Helper()
	answer.ClientID = k.next()
	_, err := k.c.Answer(k.lab.ctx(), q.ID, answer)
	if problem := problemOf(err); problem == nil || problem.Status != status {
		k.fail("%+v is answered with %v; want status %d", answer, err, status)
	}
	if now := k.look(q); now.State != api.QuestionOpen {
		k.fail("the question is %s after an answer that was refused", now.State)
	}
}

// look returns a question as it is now.
func (k *talk) look(q *api.Question) *api.Question {
	k.t.Helper()
	now, err := k.c.Question(k.lab.ctx(), q.ID)
	k.check(err)
	return now
}

// over waits for the end of the turn of the last prompt, and returns how it ended.
func (k *talk) over() api.TurnResult {
	k.t.Helper()
	k.await("the end of the turn", func(events []api.Event) bool { return turnEnded(events, k.message.UUID) })
	ended, err := k.awaitState(k.lab.ctx(), api.StateIdle, api.StateEnded)
	k.check(err)
	if ended.Result == nil {
		k.fail("the session does not say how the turn ended")
	}
	return *ended.Result
}

// asked waits for the end of the turn and holds that it had so many questions,
// all of which the caller has answered.
func (k *talk) asked(want int) {
	k.t.Helper()
	k.over()
	if got := countKind(k.events(), api.KindQuestionOpened); got != want {
		k.fail("%d questions were asked; want %d", got, want)
	}
}

// mode holds that the session is in a mode.
func (k *talk) mode(want wire.PermissionMode) {
	k.t.Helper()
	if s := k.shot(); s.PermissionMode != string(want) {
		k.fail("the mode is %s; want %s", s.PermissionMode, want)
	}
}

// shot returns a snapshot.
func (k *talk) shot() *api.Session {
	k.t.Helper()
	s, err := k.c.Session(k.lab.ctx(), k.id)
	k.check(err)
	return s
}

// setMode switches to a mode.
func (k *talk) setMode(mode wire.PermissionMode) {
	k.t.Helper()
	_, err := k.c.Update(k.lab.ctx(), k.id, api.UpdateSession{PermissionMode: &mode})
	k.check(err)
}

// restart kills the hub and starts another.
func (k *talk) restart() {
	k.t.Helper()
	k.lab.kill()
	k.lab.start()
}

// there holds that a file of the session's folder is there, or not.
func (k *talk) there(name string, want bool) {
	k.t.Helper()
	_, err := os.Stat(filepath.Join(k.dir, name))
	if (err == nil) != want {
		k.fail("%s is there: %t; want %t", name, err == nil, want)
	}
}

// results returns what the agent was told of its tool calls since the last prompt.
func (k *talk) results() []toolResult { return toolResults(k.events()) }

// result returns what it was told of its n-th call, from 1.
func (k *talk) result(n int) toolResult {
	k.t.Helper()
	results := k.results()
	if len(results) < n {
		k.fail("there are %d results of tools; want %d", len(results), n)
	}
	return results[n-1]
}

// told holds that the n-th call since the prompt ended so.
func (k *talk) told(n int, failed bool, text string) {
	k.t.Helper()
	if r := k.result(n); r.failed != failed || !strings.Contains(r.text, text) {
		k.fail("the result of call %d is %+v; want failed %t and the text %q", n, r, failed, text)
	}
}

// A toolResult is what an agent is told of a call.
type toolResult struct {
	failed bool
	text   string
}

// toolResults finds the results of tools among events.
func toolResults(events []api.Event) []toolResult {
	var list []toolResult
	for _, e := range events {
		var line struct {
			Type    string `json:"type"`
			Message struct {
				Content json.RawMessage `json:"content"`
			} `json:"message"`
		}
		if e.Kind != api.KindLine || json.Unmarshal(e.Line, &line) != nil || line.Type != "user" {
			continue
		}
		var blocks []struct {
			Type    string          `json:"type"`
			Content json.RawMessage `json:"content"`
			IsError bool            `json:"is_error"`
		}
		if json.Unmarshal(line.Message.Content, &blocks) != nil {
			continue
		}
		for _, b := range blocks {
			if b.Type == "tool_result" {
				list = append(list, toolResult{b.IsError, contentText(b.Content)})
			}
		}
	}
	return list
}

// contentText returns the text of a content, which is one or a list of blocks.
func contentText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var blocks []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &blocks) != nil {
		return string(raw)
	}
	var all []string
	for _, b := range blocks {
		all = append(all, b.Text)
	}
	return strings.Join(all, "\n")
}

// countKind counts the events of a kind.
func countKind(events []api.Event, kind string) int {
	n := 0
	for _, e := range events {
		if e.Kind == kind {
			n++
		}
	}
	return n
}

// hasNotice says whether a notice with this code is among events.
func hasNotice(events []api.Event, code string) bool {
	return slices.ContainsFunc(events, func(e api.Event) bool {
		var n api.Notice
		return e.Kind == api.KindNotice && json.Unmarshal(e.Data, &n) == nil && n.Code == code
	})
}

// hasLine says whether a line that the CLI wrote holds all of some texts.
func hasLine(events []api.Event, texts ...string) bool {
	return slices.ContainsFunc(events, func(e api.Event) bool { return e.Kind == api.KindLine && holds(string(e.Line), texts...) })
}

// hasSent is the same of a line that the CLI was sent.
func hasSent(events []api.Event, texts ...string) bool {
	return slices.ContainsFunc(events, func(e api.Event) bool { return e.Kind == api.KindSent && holds(string(e.Line), texts...) })
}

func holds(text string, parts ...string) bool {
	return !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(text, part) })
}

// quoted returns a text as a JSON string.
func quoted(text string) string {
	raw, err := json.Marshal(text)
	if err != nil {
		return `""` // every text can be written
	}
	return string(raw)
}

// bash is the directive of a command.
func bash(command string) string { return `@tool Bash {"command":` + quoted(command) + `}` }

// fetching is the directive of a call that is asked about beside others.
const fetching = `@tool WebFetch {"url":"http://127.0.0.1:9/","prompt":"Read it"}`

// problemOf returns what a hub has refused something with, nil if err is
// something else.
func problemOf(err error) *api.Error {
	problem, _ := errors.AsType[*api.Error](err)
	return problem
}

// unfitStatus is that of an answer that does not fit.
const unfitStatus = http.StatusUnprocessableEntity
