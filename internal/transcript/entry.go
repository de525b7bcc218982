package transcript

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/switchboard-dev/switchboard/api"
)

// An entry is an item with what it is made of. Several events may tell of one: they have its key, and are merged. Merging is associative,
// so it does not matter whether events are taken one by one or page by page; each member is either the last that was told, or the first.
type entry struct {
	Item
	key   string // empty for what is told once
	line  string // the uuid of the line, which may be retracted
	run   int
	place int64 // entries are in the order of their places
	shows bool  // an event told enough to show it
	in    bool  // it is among the items

	tool Tool
	// What has been told of a tool call.
	called, answered, refused bool
	weak                      string // its name, where only others tell it
	// When a person was first asked about it, and when the last question was settled.
	asked, settled time.Time

	// What a run was started in; the hub tells it once, and of the run again.
	boxed string

	// What has been told of a prompt: in a message of the hub, or in a line.
	said, written string

	// The number of an attempt to repeat a request, and whether a later one stands for it.
	attempt    int64
	superseded bool

	task   taskFacts
	hold   *api.Hold
	over   bool
	todo   Todo
	result Result
	// Its cost is in the sum of what was forgotten.
	counted bool
}

// taskFacts is what is known of a task.
type taskFacts struct {
	id, tool, kind, description, status, summary, reason string
	quiet                                                bool
}

// ended reports whether the task is over.
func (t *taskFacts) ended() bool {
	switch t.status {
	case "", "pending", "running", "paused":
		return false
	default:
		return true
	}
}

// later returns b if something was told, else a.
func later[T comparable](a, b T) T {
	var zero T
	if b != zero {
		return b
	}
	return a
}

// bytesLater is later for raw JSON.
func bytesLater(a, b json.RawMessage) json.RawMessage {
	if len(b) > 0 {
		return b
	}
	return a
}

// merge adds what a later entry of the same key tells.
func (e *entry) merge(b *entry) {
	if !e.shows && b.shows {
		e.shows, e.place, e.Event, e.Time, e.run, e.Kind = true, b.place, b.Event, b.Time, b.run, b.Kind
	}
	e.line = later(e.line, b.line)
	e.Parent = later(e.Parent, b.Parent)
	e.Author = later(e.Author, b.Author)
	e.Label = later(e.Label, b.Label)
	if b.Text != "" {
		e.Text, e.Left, e.Level, e.Failed = b.Text, b.Left, b.Level, b.Failed
	}
	e.Raw = bytesLater(e.Raw, b.Raw)
	if b.Kind == KindPrompt {
		e.Left = later(e.Left, b.Left)
	}
	e.boxed = later(e.boxed, b.boxed)
	e.said = later(e.said, b.said)
	e.written = later(e.written, b.written)
	if b.Message != nil {
		e.Message = b.Message
	}
	if b.Question != nil {
		e.Question = b.Question
	}
	e.attempt = later(e.attempt, b.attempt)
	if b.hold != nil {
		e.hold = b.hold
	}
	e.over = e.over || b.over
	e.todo.Text = later(e.todo.Text, b.todo.Text)
	e.todo.Active = later(e.todo.Active, b.todo.Active)
	e.todo.Status = later(e.todo.Status, b.todo.Status)
	if b.Kind == KindResult {
		e.result = b.result
	}
	e.mergeTask(&b.task)
	e.mergeTool(b)
}

func (e *entry) mergeTask(b *taskFacts) {
	t := &e.task
	t.id = later(t.id, b.id)
	t.tool = later(t.tool, b.tool)
	t.kind = later(t.kind, b.kind)
	t.description = later(t.description, b.description)
	t.status = later(t.status, b.status)
	t.summary = later(t.summary, b.summary)
	t.reason = later(t.reason, b.reason)
	t.quiet = t.quiet || b.quiet
}

func (e *entry) mergeTool(b *entry) {
	t, o := &e.tool, &b.tool
	e.weak = later(e.weak, b.weak)
	if b.called {
		e.called = true
		t.Name, t.Input, t.Title, t.Todos, t.Started = o.Name, o.Input, o.Title, o.Todos, o.Started
	}
	if b.answered {
		e.answered = true
		t.Output, t.Left, t.Patch, t.Ended = o.Output, o.Left, o.Patch, o.Ended
		t.State = o.State
	}
	if b.refused {
		e.refused = true
		t.Denied = later(t.Denied, o.Denied)
	}
	if !b.asked.IsZero() {
		if e.asked.IsZero() {
			e.asked = b.asked
		}
		e.settled = b.settled
	}
	t.Rule = later(t.Rule, o.Rule)
	t.Summary = later(t.Summary, o.Summary)
	t.Progress = later(t.Progress, o.Progress)
}

// wants reports whether the entry is to be among the items.
func (e *entry) wants(retracted map[string]bool) bool {
	if !e.shows || e.superseded || e.line != "" && retracted[e.line] {
		return false
	}
	return e.task.id == "" || e.task.tool == "" && !e.task.quiet
}

// view completes the item with what depends on others.
func (e *entry) view(p *part) *Item {
	e.Depth = p.depth(e.Parent)
	switch e.Kind { //nolint:exhaustive // the others depend on nothing
	case KindTool:
		e.viewTool(p)
	case KindPrompt:
		e.Text = e.said
		if e.Text == "" {
			e.Text = e.written
		}
		if m := e.Message; m != nil {
			e.Failed = m.State == api.MessageTakenBack || m.State == api.MessageNotDelivered || m.State == api.MessageUnknown
		}
	case KindResult:
		e.Result = &e.result
		e.result.USD, e.result.Known = p.cost(e)
		by, told := p.interrupter(e)
		if e.result.Interrupted = e.result.Interrupted || told && e.Failed; e.result.Interrupted {
			e.Author = by
		}
	case KindState:
		if e.boxed != "" && !strings.HasSuffix(e.Text, ", "+e.boxed) {
			e.Text += ", " + e.boxed
		}
	case KindNotice:
		if e.task.id != "" {
			e.viewTask()
		}
	case KindRefusal:
		// It is told where its call is.
		if call := p.known[toolKey(e.Refusal.ToolUseID)]; call != nil {
			e.Parent = call.Parent
			e.Depth = p.depth(e.Parent)
		}
	}
	return &e.Item
}

func (e *entry) viewTool(p *part) {
	t := &e.tool
	e.Tool = t
	if t.Name == "" {
		t.Name = e.weak
	}
	if t.Started.IsZero() {
		t.Started = e.Time
	}
	t.Children = p.kids[t.ID]
	task := p.tasks[t.ID]
	t.Task = nil
	if task != nil {
		t.Task = &api.Task{ID: task.task.id, Kind: task.task.kind, Description: task.task.description}
		t.Progress = later(t.Progress, later(task.task.status, task.task.summary))
	}
	switch {
	case e.refused:
		t.State = ToolDenied
	case e.answered: // as the result says
	case p.ends && p.ended > e.place && !p.background(e.Parent):
		t.State = ToolStopped
	default:
		t.State = ToolRunning
	}
	e.Failed = t.State == ToolFailed || t.State == ToolDenied
	t.Asking = t.State == ToolRunning && !e.asked.IsZero() && e.settled.IsZero()
	if t.Waited = 0; e.settled.After(e.asked) {
		t.Waited = e.settled.Sub(e.asked)
	}
}

// viewTask says what a task that no tool call tells of is doing.
func (e *entry) viewTask() {
	t := &e.task
	e.Label = "task"
	e.Text = later(t.id, t.description)
	if t.status != "" {
		e.Text += ": " + t.status
	}
	if t.reason != "" {
		e.Text += " (" + t.reason + ")"
	}
	if t.summary != "" {
		e.Text += "\n" + t.summary
	}
	e.Level = LevelInfo
	e.Failed = t.status == "failed"
	if e.Failed {
		e.Level = LevelWarn
	}
}

// A stamp is what all entries of an event share.
type stamp struct {
	event string
	at    time.Time
	run   int
}
