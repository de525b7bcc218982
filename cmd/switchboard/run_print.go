package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/terminal"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
	"github.com/switchboard-dev/switchboard/internal/terminal/words"
	"github.com/switchboard-dev/switchboard/wire"
)

// nobody is what an agent is told that asks where nobody can answer.
const nobody = "No one can answer: this is a script. Do without it, or say what has to be done by hand."

// endPatience is how long ending an agent may hold up the end of a script.
const endPatience = 20 * time.Second

// An outcome is what came of a turn, as --output json prints it.
type outcome struct {
	Session      string          `json:"session"`
	Conversation string          `json:"conversation,omitempty"`
	Result       string          `json:"result"`
	Structured   json.RawMessage `json:"structured,omitempty"`
	Subtype      string          `json:"subtype"`
	Failed       bool            `json:"failed"`
	Errors       []string        `json:"errors,omitempty"`
	USD          float64         `json:"usd"`
	Millis       int64           `json:"ms"`
	Turns        int64           `json:"turns"`
	Denied       []denied        `json:"denied,omitempty"`
}

// A denied is a question that was answered with no because nobody was there.
type denied struct {
	Question string `json:"question"`
	Kind     string `json:"kind"`
	Tool     string `json:"tool,omitempty"`
	Title    string `json:"title,omitempty"`
}

// A printer waits for the end of a turn.
type printer struct {
	// Static after construction.
	cmd     *runCmd
	e       *env
	session *openSession
	out     io.Writer

	// Owned by follow.
	sent  bool // the prompt has reached the process, or nobody can tell when it did
	fresh bool // the turn ended because a plan is carried out by another process

	mu     sync.Mutex
	denied []denied
}

// runPrint runs one turn and prints what came of it.
func (v *runCmd) runPrint(ctx context.Context, e *env, c *client.Client, create *api.CreateSession) (err error) {
	ctx, stop := signal.NotifyContext(ctx, enders()...)
	defer stop()
	defer context.AfterFunc(ctx, stop)() // a second signal ends it at once
	// Whoever reads may leave (head, grep -q): that must be an error here, and not the end, since there is an agent to end first.
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	defer signal.Stop(broken)
	opening, cancel := lingering(ctx)
	defer cancel()
	p := &printer{cmd: v, e: e, out: e.stdout}
	options := client.RemoteOptions{NoLive: !v.live, Lost: p.lost}
	if v.ask == askDeny {
		options.Answer = p.answer
		options.Failed = func(q api.Question, err error) { p.say("couldn't deny the question %s: %v", q.ID, err) }
	}
	p.session, err = v.open(opening, c, create, options, func(s *api.Session) string { return s.LastEventID })
	if err != nil {
		return interruptedOr(ctx, err)
	}
	p.sent = p.session.uuid == ""
	defer func() { _ = p.session.Close() }() // what it returns was said before
	result, err := p.follow(ctx)
	interrupted := ctx.Err() != nil
	stop() // a signal ends it at once now
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), endPatience)
	defer cancel()
	if interrupted {
		p.interrupt(ending)
	}
	came := p.outcome(ending, result)
	if p.session.begun && !v.keep {
		if _, err := p.session.Stop(ending); err != nil && !gone(err) {
			p.say("couldn't stop the agent: %v; try: %s", err, v.command("stop", p.session.ID()))
		}
	}
	switch {
	case interrupted:
		p.say("interrupted; the session is %s", p.session.ID())
		return exitError(codeInterrupted)
	case err != nil:
		return err
	}
	return p.print(came, result)
}

// interrupt stops the turn. An agent that does not obey is still ended in time.
func (p *printer) interrupt(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, endPatience/2)
	defer cancel()
	if _, err := p.session.Interrupt(ctx); err != nil && !gone(err) {
		p.say("couldn't stop the turn: %v", err)
	}
}

// enders are the signals that end something that has to be put in order first. One that whoever started us has had ignored (nohup) stays so.
func enders() []os.Signal {
	list := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		list = append(list, syscall.SIGHUP)
	}
	return list
}

// lingering returns a context that ends a while after another one. What is begun with it comes to an end, so that there is no agent that nobody was
// told of.
func lingering(ctx context.Context) (context.Context, context.CancelFunc) {
	out, cancel := context.WithCancel(context.WithoutCancel(ctx))
	context.AfterFunc(ctx, func() {
		timer := time.AfterFunc(endPatience, cancel)
		context.AfterFunc(out, func() { timer.Stop() })
	})
	return out, cancel
}

// interruptedOr returns the error of something that did not work, or that it was broken off.
func interruptedOr(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return exitError(codeInterrupted)
	}
	return err
}

// gone says whether an error means that there is no process to end.
func gone(err error) bool {
	problem, ok := errors.AsType[*api.Error](err)
	return ok && (problem.Code == api.CodeEnded || problem.Code == api.CodeConflict)
}

// say says something on standard error.
func (p *printer) say(format string, args ...any) {
	fmt.Fprintf(p.e.stderr, "switchboard: %s\n", terminal.Clean(fmt.Sprintf(format, args...)))
}

// lost says that the server is away.
func (p *printer) lost(err error, _ time.Duration) {
	if isTerminal(p.e.stderr) {
		p.say("the hub is away (%v); waiting for it", err)
	}
}

// answer says no, in the words of each kind of question.
func (p *printer) answer(_ context.Context, q api.Question) (api.Answer, error) {
	answer := api.Answer{Decision: "deny", Message: nobody}
	//nolint:exhaustive // the others are denied
	switch q.Kind {
	case api.QuestionForm:
		answer = api.Answer{Decision: "decline"}
	case api.QuestionDialog:
		answer = api.Answer{Decision: "cancel"}
	case api.QuestionPlan:
		answer = api.Answer{Outcome: api.PlanReject, Message: nobody}
	}
	answer.Note = "switchboard run --print: no one could answer"
	p.mu.Lock()
	defer p.mu.Unlock()
	if !slices.ContainsFunc(p.denied, func(d denied) bool { return d.Question == q.ID }) {
		p.denied = append(p.denied, denied{Question: q.ID, Kind: string(q.Kind), Tool: q.Tool, Title: q.Title})
	}
	return answer, nil
}

// follow waits for the result of the prompt, and prints on the way what is to be streamed.
func (p *printer) follow(ctx context.Context) (*wire.Result, error) {
	for frame, err := range p.session.Frames(ctx) {
		if err != nil {
			return nil, err
		}
		if frame.Event == nil {
			continue
		}
		if err := p.stream(frame.Event); err != nil {
			return nil, err
		}
		result, err := p.event(frame.Event)
		if result != nil || err != nil {
			return result, err
		}
	}
	return nil, errors.New("the session's log has ended before the turn")
}

// typeOf returns the type of a line, "" if it has none.
func typeOf(line []byte) string {
	header, err := wire.Peek(line)
	if err != nil {
		return ""
	}
	return string(header.Type)
}

// told returns the data of an event, nil if they are not what they should be.
func told[T any](e *api.Event) *T {
	data := new(T)
	if err := json.Unmarshal(e.Data, data); err != nil {
		return nil
	}
	return data
}

// event returns the result if an event is it, and an error if there will be none.
func (p *printer) event(e *api.Event) (*wire.Result, error) {
	switch e.Kind {
	case api.KindSent:
		if header, err := wire.Peek(e.Line); err == nil && string(header.UUID) == p.session.uuid {
			p.sent = true
		}
	case api.KindLine:
		if p.sent && typeOf(e.Line) == "result" {
			return p.result(e.Line)
		}
	case api.KindQuestionOpened:
		if q := told[api.Question](e); q != nil && p.cmd.ask == askWait {
			p.say("the agent asks: %s %s; answer it: %s", words.Headline(q), q.Title, p.cmd.command("attach", p.session.ID()))
		}
	case api.KindQuestionSettled:
		if q := told[api.Question](e); q != nil && q.Answer != nil && q.Answer.Outcome == api.PlanFresh {
			p.fresh = true
		}
	case api.KindMessage:
		m := told[api.Message](e)
		if m != nil && p.session.message != nil && m.ID == p.session.message.ID && (m.State == api.MessageNotDelivered || m.State == api.MessageTakenBack) {
			return nil, fmt.Errorf("the prompt didn't reach the agent (%s): %s", m.State, m.Reason)
		}
	case api.KindHold:
		hold := told[api.Hold](e)
		switch {
		case hold == nil || p.sent:
		case hold.Resumes:
			p.say("the session is held back until %s: %s", hold.Until.Local().Format(time.TimeOnly), hold.Reason)
		default:
			return nil, fmt.Errorf("the session is held back: %s", hold.Reason)
		}
	case api.KindRunEnded:
		if ended := told[api.Ended](e); ended != nil && !p.fresh && (p.sent || p.session.begun) {
			return nil, p.died(ended)
		}
	}
	return nil, nil
}

// result reads the line that ends a turn; nil if it is another turn's.
func (p *printer) result(line []byte) (*wire.Result, error) {
	result := &wire.Result{}
	if err := json.Unmarshal(line, result); err != nil {
		return nil, fmt.Errorf("reading the result: %w", err)
	}
	if p.fresh { // the turn that made the plan; the one that carries it out follows
		p.fresh = false
		return nil, nil
	}
	return result, nil
}

// died says how the agent ended instead of its turn.
func (p *printer) died(ended *api.Ended) error {
	p.say("the agent stopped before it was done: %s", ended.Reason)
	if tail := strings.TrimSpace(ended.Stderr); tail != "" {
		p.say("it said: %s", tail)
	}
	return exitError(codeTurnFailed)
}

// stream prints an event if it is to be streamed.
func (p *printer) stream(e *api.Event) error {
	var text []byte
	switch p.cmd.output {
	case outputEvents:
		var err error
		if text, err = encode(e); err != nil {
			return fmt.Errorf("printing event %s: %w", e.ID, err)
		}
	case outputStream:
		if e.Kind != api.KindLine && e.Kind != api.KindLive {
			return nil
		}
		switch kind := typeOf(e.Line); {
		case kind == "" || kind == "keep_alive" || strings.HasPrefix(kind, "control_"):
			return nil // what is said between it and us
		}
		text = append(slices.Clone([]byte(e.Line)), '\n')
	default:
		return nil
	}
	return p.write(text)
}

// write writes a line of JSON: as it is, but for what would do something to a terminal.
func (p *printer) write(text []byte) error {
	if isTerminal(p.out) {
		text = paint.CleanJSON(text)
	}
	_, err := p.out.Write(text)
	return err
}

// encode returns a value as a line of JSON, with every character as it is.
func encode(value any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return text.Bytes(), err
}

// outcome returns what came of the turn; nil if it has no result.
func (p *printer) outcome(ctx context.Context, result *wire.Result) *outcome {
	if result == nil {
		return nil
	}
	o := &outcome{
		Session: p.session.ID(), Conversation: result.SessionID, Result: result.Result, Structured: result.StructuredOutput,
		Subtype: string(result.Subtype), Failed: result.Failed(), USD: result.TotalCostUSD, Millis: result.DurationMs, Turns: result.NumTurns,
	}
	for _, text := range result.Errors {
		if !strings.HasPrefix(text, "[ede_diagnostic]") { // these are not for people
			o.Errors = append(o.Errors, text)
		}
	}
	if none := len(o.Structured) == 0 || string(o.Structured) == "null"; p.cmd.schema != "" && !o.Failed && none {
		o.Failed = true // who asked for an object cannot do anything with a text
		o.Errors = append(o.Errors, "the agent gave no answer in the form of the schema")
	}
	if after, err := p.session.Snapshot(ctx); err == nil && after.Cost != nil {
		o.USD = max(0, after.Cost.USD-p.session.cost) // the CLI's figure is that of its process
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	o.Denied = slices.Clone(p.denied)
	return o
}

// print prints what came of the turn. The error has the exit code of a turn that failed.
func (p *printer) print(o *outcome, result *wire.Result) error {
	for _, d := range o.Denied { // whatever is printed, and also if that is why the turn failed
		p.say("denied, no one could answer: %s %s", d.Tool, d.Title)
	}
	var err error
	switch p.cmd.output {
	case outputJSON:
		var text []byte
		if text, err = encode(o); err == nil {
			err = p.write(text)
		}
	case outputText:
		err = p.printText(o)
	}
	if err != nil {
		return err
	}
	if !o.Failed {
		return nil
	}
	reason := strings.Join(o.Errors, "; ")
	if reason == "" {
		reason = o.Result
	}
	if reason != "" {
		reason = ": " + reason
	}
	how := ""
	if result.Subtype != wire.ResultSubtypeSuccess { // the CLI calls it so, even when the API refused
		how = " (" + string(result.Subtype) + ")"
	}
	p.say("the turn failed%s%s; the session is %s", how, reason, o.Session)
	return exitError(codeTurnFailed)
}

// printText prints what the agent said at last. To a terminal it is cleaned; to anything else it goes as it is.
func (p *printer) printText(o *outcome) error {
	text := o.Result
	switch {
	case o.Failed:
		return nil // standard error has it
	case o.Structured != nil:
		var compact bytes.Buffer
		if err := json.Compact(&compact, o.Structured); err != nil {
			return err
		}
		text = compact.String()
	}
	if isTerminal(p.out) {
		text = terminal.Clean(text)
	}
	if text == "" {
		return nil
	}
	_, err := fmt.Fprintln(p.out, strings.TrimRight(text, "\n"))
	return err
}
