package pane

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/terminal/ask"
	"github.com/switchboard-dev/switchboard/internal/terminal/compose"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
	"github.com/switchboard-dev/switchboard/internal/transcript"
)

// Surprise is for how long a question that no user waited for takes no keys, even if nothing was typed: a person who presses one sooner has not read it.
const Surprise = 350 * time.Millisecond

// A Session is where messages and answers go. Its methods are called by several goroutines.
type Session interface {
	SendMessage(ctx context.Context, m api.SendMessage) (*api.Message, error)
	Answer(ctx context.Context, question string, a api.Answer) (*api.Question, error)
}

// Options are the choices of a pane.
type Options struct {
	Session Session
	Jobs    *Jobs
	Styles  *paint.Styles
	// Editor opens a text in an editor; see [compose.Editor]. If nil, there is none.
	Editor func(text, suffix string) tea.Cmd
	// Dir is the folder that the session works in.
	Dir string
	// Guard is how long no key must have been pressed before one counts for a question that came up while something was written, or in the place of
	// another one. If zero, keys count at once.
	Guard time.Duration
	// Inline says that what became of a question is printed above the pane: one that is settled goes away as soon as the log says so. Otherwise it goes
	// away as soon as the answer has arrived, and stays until the next key if someone else has settled it.
	Inline bool
	// Say shows a remark to the person.
	Say func(Remark) tea.Cmd
}

// A Remark is something to tell the person.
type Remark struct {
	Text string
	Bad  bool // something failed
}

// A Msg is the result of a command of a pane. The view that gets it calls Take, even if it shows another pane by now.
type Msg interface{ Take() tea.Cmd }

// A Pane takes a person's keys for one session. Its fields belong to the program's goroutine.
type Pane struct {
	// Composer is what is written, Ask the question that is shown; nil if there is none.
	Composer compose.Model
	Ask      *ask.Model

	o             Options
	width, height int // what a question has room for
	focused       bool

	open      []*api.Question // the oldest first
	putOff    map[string]bool // those to answer later
	answering map[string]bool // those that an answer was sent to
	settled   map[string]bool // those whose answer has arrived while the log has them open

	typed    time.Time // when a key was pressed last, or a question settled
	expected bool      // the next question was asked for

	unsent map[string]string // client ids of messages whose sending failed, by their texts
}

// New returns a pane with an empty composer.
func New(o Options, composer compose.Model) *Pane {
	return &Pane{
		o: o, Composer: composer.Focus(), focused: true,
		putOff: map[string]bool{}, answering: map[string]bool{}, settled: map[string]bool{}, unsent: map[string]string{},
	}
}

// SetDir names the folder that the session works in.
func (p *Pane) SetDir(dir string) {
	p.o.Dir = dir
	p.Composer = p.Composer.SetDir(dir)
}

// SetSize says how much room there is: columns, rows of the text that is written, rows of a question.
func (p *Pane) SetSize(width, rows, height int) {
	p.width, p.height = width, height
	p.Composer = p.Composer.SetSize(width, rows)
	if p.Ask != nil {
		next := p.Ask.SetSize(width, height)
		p.Ask = &next
	}
}

// SetFocus says whether keys go to the pane.
func (p *Pane) SetFocus(focused bool) {
	p.focused = focused
	p.refocus()
}

// refocus gives the focus to the composer unless a question is shown.
func (p *Pane) refocus() {
	if p.focused && p.Ask == nil {
		p.Composer = p.Composer.Focus()
	} else {
		p.Composer = p.Composer.Blur()
	}
}

// Pressed notes that a key was pressed or a text pasted, before that is dealt with. A person who goes on typing no longer waits for a question.
func (p *Pane) Pressed() { p.expected = false }

// Typed notes that a key or a pasted text has been dealt with: a question that comes up now may not be what the next key is meant for.
func (p *Pane) Typed() { p.typed = time.Now() }

// Guarded reports whether a question is shown that takes no keys yet.
func (p *Pane) Guarded() bool { return p.Ask != nil && p.Ask.Guarded() }

// AskKey hands a key or a pasted text to the question that is shown.
func (p *Pane) AskKey(msg tea.Msg) tea.Cmd {
	next, cmd := p.Ask.Update(msg)
	p.Ask = &next
	return cmd
}

// Write hands a key or a pasted text to the composer, also if a question is shown.
func (p *Pane) Write(msg tea.Msg) (cmd tea.Cmd) {
	p.Composer, cmd = p.Composer.Focus().Update(msg)
	p.refocus()
	return cmd
}

// Update takes messages of the question and the composer.
func (p *Pane) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case ask.AnsweredMsg:
		return p.answer(msg)
	case ask.PutOffMsg:
		if p.Ask == nil || p.Ask.Question().ID != msg.Question {
			return nil // it was settled meanwhile, and another one may have come up
		}
		p.putOff[msg.Question] = true
		p.Ask, p.expected = nil, !p.o.Inline // a person who puts one off in a full screen looks at the next
		return p.next()
	}
	// What is left is that of the parts: completions, files, what comes from an editor, timers. Both have an editor, and take what they have asked it
	// for alone.
	var first, second tea.Cmd
	if p.Ask != nil {
		first = p.AskKey(msg)
	}
	p.Composer, second = p.Composer.Update(msg)
	return tea.Batch(first, second)
}

// Open returns the open questions, the oldest first.
func (p *Pane) Open() []*api.Question { return p.open }

// PutOff reports whether a question was put off.
func (p *Pane) PutOff() bool { return len(p.putOff) > 0 }

// Expect says that the person has asked for the next question, so that it takes keys at once.
func (p *Pane) Expect() { p.expected = true }

// BringBack shows the oldest open question, also if it was put off.
func (p *Pane) BringBack() tea.Cmd {
	clear(p.putOff)
	p.expected = true
	return p.next()
}

// Show shows an open question that the person has asked for. It reports whether there is such a question.
func (p *Pane) Show(id string) (tea.Cmd, bool) {
	i := slices.IndexFunc(p.open, func(q *api.Question) bool { return q.ID == id })
	if i < 0 {
		return nil, false
	}
	delete(p.putOff, id)
	p.expected = true
	return p.show(p.open[i]), true
}

// Sync takes the questions of a conversation as they are now: it shows what is new about the one that is shown, takes away one that is settled, and
// brings up the next. It reports whether there are questions that were not there before.
func (p *Pane) Sync(c *transcript.Conversation) (cmd tea.Cmd, more bool) {
	was := p.open
	p.open = nil
	known := map[string]bool{}
	for _, id := range c.State().Questions {
		q := c.Question(id)
		if q == nil || q.State != api.QuestionOpen {
			continue
		}
		known[id] = true
		if p.settled[id] {
			continue
		}
		p.open = append(p.open, q)
		more = more || !slices.ContainsFunc(was, func(o *api.Question) bool { return o.ID == id })
	}
	for _, ids := range []map[string]bool{p.putOff, p.settled} {
		for id := range ids {
			if !known[id] {
				delete(ids, id)
			}
		}
	}
	if p.Ask == nil {
		return p.next(), more
	}
	shown := p.Ask.Question()
	i := slices.IndexFunc(p.open, func(q *api.Question) bool { return q.ID == shown.ID })
	isOpen := shown.State == "" || shown.State == api.QuestionOpen // else the log will say so
	switch {
	case i >= 0:
		if isOpen && p.open[i] != shown {
			next := p.Ask.Changed(p.open[i])
			p.Ask = &next
		}
		return nil, more
	case !p.o.Inline && !p.answering[shown.ID]:
		if q := c.Question(shown.ID); isOpen && q != nil && q.State != api.QuestionOpen {
			next := p.Ask.Settled(q)
			p.Ask = &next
		}
		return nil, more // until the next key
	}
	return p.Close(), more
}

// Close takes away the question that is shown, which is settled, and brings up the next. That one takes no keys for a while: they may be meant for
// this one.
func (p *Pane) Close() tea.Cmd {
	if p.Ask != nil {
		delete(p.answering, p.Ask.Question().ID)
	}
	p.Ask, p.expected, p.typed = nil, false, time.Now()
	return p.next()
}

// Settled reports whether the question that is shown is not open any more.
func (p *Pane) Settled() bool {
	return p.Ask != nil && !slices.ContainsFunc(p.open, func(q *api.Question) bool { return q.ID == p.Ask.Question().ID })
}

// Leave forgets the questions, for a view that turns to another session. What is written and what was put off stay; the next Sync brings back the rest.
func (p *Pane) Leave() {
	p.Ask, p.open, p.expected = nil, nil, false
	p.refocus()
}

// next shows the oldest question that was not put off, if none is shown.
func (p *Pane) next() tea.Cmd {
	if p.Ask != nil {
		return nil
	}
	for _, q := range p.open {
		if !p.putOff[q.ID] {
			return p.show(q)
		}
	}
	p.expected = false
	p.refocus()
	return nil
}

// show shows a question.
func (p *Pane) show(q *api.Question) tea.Cmd {
	o := ask.Options{Styles: p.o.Styles, Width: p.width, Height: p.height, Editor: p.o.Editor, Dir: p.o.Dir, Later: p.o.Jobs.Later}
	if !p.expected {
		o.Guard, o.Wait = p.o.Guard, max(p.o.Guard-time.Since(p.typed), min(p.o.Guard, Surprise))
	}
	p.expected = false
	next := ask.New(q, o)
	p.Ask = &next
	p.refocus()
	return p.Ask.Init()
}

// newID returns an id for a request that may be repeated.
func newID() string { return "tui-" + rand.Text() }

// answered is what became of an answer.
type answered struct {
	pane     *Pane
	question string
	settled  *api.Question
	err      error
}

// answer sends an answer.
func (p *Pane) answer(msg ask.AnsweredMsg) tea.Cmd {
	out, a := answered{pane: p, question: msg.Question}, msg.Answer
	if a.ClientID == "" {
		a.ClientID = newID()
	}
	p.answering[out.question] = true
	return p.o.Jobs.Act("the answer to the question "+out.question+" wasn't sent", func(ctx context.Context) (tea.Msg, error) {
		out.settled, out.err = p.o.Session.Answer(ctx, out.question, a)
		return out, out.err
	})
}

// Take shows what became of an answer.
func (in answered) Take() tea.Cmd {
	p := in.pane
	shown := p.Ask != nil && p.Ask.Question().ID == in.question
	problem, refused := errors.AsType[*api.Error](in.err)
	late := refused && problem.Code == api.CodeAlreadySettled
	delete(p.answering, in.question)
	switch {
	case in.err == nil && p.o.Inline:
		if shown && in.settled != nil {
			next := p.Ask.Settled(in.settled)
			p.Ask = &next
		}
		return nil
	case in.err == nil:
		p.settled[in.question] = true
		p.open = slices.DeleteFunc(slices.Clone(p.open), func(q *api.Question) bool { return q.ID == in.question })
		if shown {
			return p.Close()
		}
		return nil
	case late && (p.o.Inline || !shown):
		by := "someone else"
		if problem.Question != nil && problem.Question.By != "" {
			by = problem.Question.By
		}
		remark := p.o.Say(Remark{Text: "Already answered by " + by + "."})
		if !shown {
			return remark
		}
		p.settled[in.question] = true
		p.open = slices.DeleteFunc(slices.Clone(p.open), func(q *api.Question) bool { return q.ID == in.question })
		return tea.Batch(remark, p.Close())
	case shown:
		next := p.Ask.Failed(in.err)
		p.Ask = &next
		return nil
	}
	return p.o.Say(Remark{Text: "Couldn't answer: " + in.err.Error(), Bad: true})
}

// sent is what became of a message.
type sent struct {
	pane     *Pane
	written  compose.SubmitMsg
	clientID string
	again    bool         // it was tried before
	begun    time.Time    // when it was tried this time
	message  *api.Message // as the hub has it
	err      error
}

// Send sends what was written.
func (p *Pane) Send(in compose.SubmitMsg) tea.Cmd {
	message := in.Message()
	out := sent{pane: p, written: in, begun: time.Now()}
	// A text that is written once more because it seemed not to arrive is the same message.
	out.clientID = p.unsent[in.Text]
	if out.again = out.clientID != "" && len(in.Attachments) == 0; !out.again {
		out.clientID = newID()
	}
	message.ClientID = out.clientID
	return p.o.Jobs.Act("this message wasn't sent: "+paint.CleanLine(in.Text, 0), func(ctx context.Context) (tea.Msg, error) {
		out.message, out.err = p.o.Session.SendMessage(ctx, message)
		return out, out.err
	})
}

// Take shows what became of a message. If it did not arrive it comes back.
func (in sent) Take() tea.Cmd {
	p := in.pane
	if in.err == nil {
		delete(p.unsent, in.written.Text)
		if in.again && in.message != nil && !in.message.Created.IsZero() && in.message.Created.Before(in.begun) {
			return p.o.Say(Remark{Text: "That was already sent. To send it again, write it again."})
		}
		return nil
	}
	p.unsent[in.written.Text] = in.clientID
	if e, ok := errors.AsType[*api.Error](in.err); ok && e.Status < 500 {
		delete(p.unsent, in.written.Text) // it was refused, so that there is none with this id
	}
	if !p.Composer.Empty() {
		return p.o.Say(Remark{Text: "Not sent, kept in the history (up): " + in.err.Error(), Bad: true})
	}
	p.Composer = p.Composer.SetValue(in.written.Text).SetAttachments(in.written.Attachments)
	return p.o.Say(Remark{Text: "Not sent: " + in.err.Error(), Bad: true})
}
