package turn

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
	"github.com/switchboard-dev/switchboard/internal/terminal/words"
	"github.com/switchboard-dev/switchboard/wire"
)

// unanswerable is what an agent is told that asks where no user can answer.
const unanswerable = "No one can answer: this is a script. Do without it, or say what has to be done by hand."

// endPatience is how long ending an agent may hold up the end of a script.
const endPatience = 20 * time.Second

// The forms in which what came of a turn is printed.
const (
	Text   = "text"
	JSON   = "json"
	Stream = "stream-json" // the CLI's own lines
	Events = "events"
)

// ErrFailed says that the turn failed; why was said on standard error.
var ErrFailed = errors.New("the turn failed")

// A Session is one whose turn is waited for.
type Session struct {
	*client.RemoteSession
	// Begun says that its process was started for this turn.
	Begun bool
	// Message is the prompt, nil if there was none. UUID is that of its line, "" if it is not known.
	Message *api.Message
	UUID    string
	// Cost is what the session had cost before.
	Cost float64
}

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

// A denied is a question that was answered with no because no user was there.
type denied struct {
	Question string `json:"question"`
	Kind     string `json:"kind"`
	Tool     string `json:"tool,omitempty"`
	Title    string `json:"title,omitempty"`
}

// Options say how a turn is printed.
type Options struct {
	Out, Errs io.Writer
	// OutTerminal and ErrsTerminal say that these are terminals.
	OutTerminal, ErrsTerminal bool
	// Output is Text, JSON, Stream or Events.
	Output string
	// Wait leaves questions open, to be answered elsewhere. Else they are denied.
	Wait bool
	// Schema says that an object is wanted.
	Schema bool
	// Keep leaves the agent running.
	Keep bool
	// Command returns the command line of another command about the same hub.
	Command func(name, rest string) string
}

// A Printer waits for the end of a turn and prints what came of it.
type Printer struct {
	// Static after construction.
	o       Options
	session *Session // set by Run

	// Owned by follow.
	sent  bool // the prompt has reached the process, or nothing tells when it did
	fresh bool // the turn ended because a plan is carried out by another process

	mu     sync.Mutex
	denied []denied
}

// NewPrinter returns a printer for one turn.
func NewPrinter(o Options) *Printer { return &Printer{o: o} }

// Remote returns the options with which the session is to be opened.
func (p *Printer) Remote(live bool) client.RemoteOptions {
	options := client.RemoteOptions{NoLive: !live, Lost: p.lost}
	if !p.o.Wait {
		options.Answer = p.answer
		options.Failed = func(q api.Question, err error) { p.say("couldn't deny the question %s: %v", q.ID, err) }
	}
	return options
}

// Run follows the session to the end of its turn, stops the agent if that is wanted, and prints what came of the turn. The end of ctx interrupts the
// turn; stop is called when what remains is to put things in order. The error is ErrFailed if the turn failed, and ctx's if that has ended.
func (p *Printer) Run(ctx context.Context, session *Session, stop func()) error {
	p.session, p.sent = session, session.UUID == ""
	result, err := p.follow(ctx)
	interrupted := ctx.Err()
	stop()
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), endPatience)
	defer cancel()
	if interrupted != nil {
		p.interrupt(ending)
	}
	came := p.outcome(ending, result)
	if session.Begun && !p.o.Keep {
		if _, err := session.Stop(ending); err != nil && !gone(err) {
			p.say("couldn't stop the agent: %v; try: %s", err, p.o.Command("stop", session.ID()))
		}
	}
	switch {
	case interrupted != nil:
		p.say("interrupted; the session is %s", session.ID())
		return interrupted
	case err != nil:
		return err
	}
	return p.print(came, result)
}

// interrupt stops the turn. An agent that does not obey is still ended in time.
func (p *Printer) interrupt(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, endPatience/2)
	defer cancel()
	if _, err := p.session.Interrupt(ctx); err != nil && !gone(err) {
		p.say("couldn't stop the turn: %v", err)
	}
}

// gone says whether an error means that there is no process to end.
func gone(err error) bool {
	problem, ok := errors.AsType[*api.Error](err)
	return ok && (problem.Code == api.CodeEnded || problem.Code == api.CodeConflict)
}

// say says something on standard error.
func (p *Printer) say(format string, args ...any) {
	fmt.Fprintf(p.o.Errs, "switchboard: %s\n", paint.Clean(fmt.Sprintf(format, args...)))
}

// lost says that the server is away.
func (p *Printer) lost(err error, _ time.Duration) {
	if p.o.ErrsTerminal {
		p.say("the hub is away (%v); waiting for it", err)
	}
}

// answer says no, in the words of each kind of question.
func (p *Printer) answer(_ context.Context, q api.Question) (api.Answer, error) {
	answer := api.Answer{Decision: "deny", Message: unanswerable}
	//nolint:exhaustive // the others are denied
	switch q.Kind {
	case api.QuestionForm:
		answer = api.Answer{Decision: "decline"}
	case api.QuestionDialog:
		answer = api.Answer{Decision: "cancel"}
	case api.QuestionPlan:
		answer = api.Answer{Outcome: api.PlanReject, Message: unanswerable}
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
func (p *Printer) follow(ctx context.Context) (*wire.Result, error) {
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
func (p *Printer) event(e *api.Event) (*wire.Result, error) {
	switch e.Kind {
	case api.KindSent:
		if header, err := wire.Peek(e.Line); err == nil && string(header.UUID) == p.session.UUID {
			p.sent = true
		}
	case api.KindLine:
		if p.sent && typeOf(e.Line) == "result" {
			return p.result(e.Line)
		}
	case api.KindQuestionOpened:
		if q := told[api.Question](e); q != nil && p.o.Wait {
			p.say("the agent asks: %s; answer it: %s", words.Asked(q, q.Title), p.o.Command("attach", p.session.ID()))
		}
	case api.KindQuestionSettled:
		if q := told[api.Question](e); q != nil && q.Answer != nil && q.Answer.Outcome == api.PlanFresh {
			p.fresh = true
		}
	case api.KindMessage:
		m := told[api.Message](e)
		if m != nil && p.session.Message != nil && m.ID == p.session.Message.ID && (m.State == api.MessageNotDelivered || m.State == api.MessageTakenBack) {
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
		if ended := told[api.Ended](e); ended != nil && !p.fresh && (p.sent || p.session.Begun) {
			return nil, p.died(ended)
		}
	}
	return nil, nil
}

// result reads the line that ends a turn; nil if it is another turn's.
func (p *Printer) result(line []byte) (*wire.Result, error) {
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
func (p *Printer) died(ended *api.Ended) error {
	p.say("the agent stopped before it was done: %s", ended.Reason)
	if tail := strings.TrimSpace(ended.Stderr); tail != "" {
		p.say("it said: %s", tail)
	}
	return ErrFailed
}

// stream prints an event if it is to be streamed.
func (p *Printer) stream(e *api.Event) error {
	var text []byte
	switch p.o.Output {
	case Events:
		var err error
		if text, err = encode(e); err != nil {
			return fmt.Errorf("printing event %s: %w", e.ID, err)
		}
	case Stream:
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
func (p *Printer) write(text []byte) error {
	if p.o.OutTerminal {
		text = paint.CleanJSON(text)
	}
	_, err := p.o.Out.Write(text)
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
func (p *Printer) outcome(ctx context.Context, result *wire.Result) *outcome {
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
	if none := len(o.Structured) == 0 || string(o.Structured) == "null"; p.o.Schema && !o.Failed && none {
		o.Failed = true // a caller that asked for an object cannot do anything with a text
		o.Errors = append(o.Errors, "the agent gave no answer in the form of the schema")
	}
	if after, err := p.session.Snapshot(ctx); err == nil && after.Cost != nil {
		o.USD = max(0, after.Cost.USD-p.session.Cost) // the CLI's figure is that of its process
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	o.Denied = slices.Clone(p.denied)
	return o
}

// print prints what came of the turn. The error is ErrFailed if it failed.
func (p *Printer) print(o *outcome, result *wire.Result) error {
	for _, d := range o.Denied { // whatever is printed, and also if that is why the turn failed
		p.say("denied, no one could answer: %s %s", d.Tool, d.Title)
	}
	var err error
	switch p.o.Output {
	case JSON:
		var text []byte
		if text, err = encode(o); err == nil {
			err = p.write(text)
		}
	case Text:
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
	return ErrFailed
}

// printText prints what the agent said at last. To a terminal it is cleaned; to anything else it goes as it is.
func (p *Printer) printText(o *outcome) error {
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
	if p.o.OutTerminal {
		text = paint.Clean(text)
	}
	if text == "" {
		return nil
	}
	_, err := fmt.Fprintln(p.o.Out, strings.TrimRight(text, "\n"))
	return err
}
