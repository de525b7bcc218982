package terminal

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/terminal/words"
	"github.com/switchboard-dev/switchboard/wire"
)

// A view writes a session's events as plain text. Its methods may be called by several goroutines.
type view struct {
	// Static after construction.
	out   io.Writer
	hints bool // say what can be typed

	mu      sync.Mutex
	err     error           // the first of writing; guarded by mu
	shown   map[string]bool // messages, by the uuid of their lines, that the CLI has not repeated yet; guarded by mu
	session api.State       // the last state that was shown; guarded by mu

	open map[string]shownQuestion // by id; guarded by mu
}

func newView(out io.Writer, hints bool) *view {
	return &view{out: out, hints: hints, shown: map[string]bool{}, open: map[string]shownQuestion{}}
}

// failed returns the first error of writing.
func (v *view) failed() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.err
}

// say writes a remark of our own.
func (v *view) say(format string, args ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.print("", "", fmt.Sprintf(format, args...))
}

// print writes an item: who or what, and a text whose further lines stand below its first. mu is held.
func (v *view) print(margin, label, text string) {
	before := margin
	if label != "" {
		before += Clean(label) + ": "
	}
	if _, err := fmt.Fprintf(v.out, "%s%s\n", before, below(text, len(margin)+2)); err != nil && v.err == nil {
		v.err = fmt.Errorf("writing what the session says: %w", err)
	}
}

// event writes an event.
func (v *view) event(e *api.Event) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch e.Kind {
	case api.KindLine, api.KindHistory:
		v.line(e)
	case api.KindMessage:
		decoded(v, e, v.message)
	case api.KindQuestionOpened:
		decoded(v, e, v.question)
	case api.KindQuestionChanged:
		decoded(v, e, v.changed)
	case api.KindQuestionSettled:
		decoded(v, e, v.settled)
	case api.KindRuleAdded:
		decoded(v, e, v.ruleAdded)
	case api.KindRuleRemoved:
		decoded(v, e, v.ruleRemoved)
	case api.KindDecision:
		decoded(v, e, v.decision)
	case api.KindMode:
		decoded(v, e, v.mode)
	case api.KindHold:
		decoded(v, e, v.hold)
	case api.KindHoldOver:
		decoded(v, e, v.holdOver)
	case api.KindBudget:
		decoded(v, e, v.budget)
	case api.KindState:
		decoded(v, e, func(_ *api.Event, d *struct {
			State api.State `json:"state"`
		},
		) {
			if d.State != v.session {
				v.session = d.State
				v.print("", "state", string(d.State))
			}
		})
	case api.KindCreated:
		decoded(v, e, func(e *api.Event, d *struct {
			Title string `json:"title"`
			Dir   string `json:"dir"`
		},
		) {
			v.print("", "session", strings.TrimSpace(fmt.Sprintf("%s in %s %s", e.Session, d.Dir, d.Title)))
		})
	case api.KindRunStarted:
		v.print("", "run", fmt.Sprintf("%d is starting", e.Run))
	case api.KindRunEnded:
		decoded(v, e, v.ended)
	case api.KindLinkLost:
		decoded(v, e, func(_ *api.Event, d *struct {
			Reason string `json:"reason"`
		},
		) {
			v.print("", "link lost", d.Reason)
		})
	case api.KindGap:
		decoded(v, e, func(_ *api.Event, gap *api.Gap) {
			sure := ""
			if !gap.Certain {
				sure = "perhaps "
			}
			v.print("", "gap", sure+"lines are missing here: "+gap.Reason)
		})
	case api.KindTurn:
		decoded(v, e, func(_ *api.Event, d *api.TurnChange) { v.print("", "turn", d.State+": "+d.Reason) })
	case api.KindOversize:
		decoded(v, e, func(_ *api.Event, o *api.Oversize) {
			v.print("", "oversize", fmt.Sprintf("a line of %d bytes was too long to keep", o.Length))
		})
	case api.KindNotice:
		decoded(v, e, func(_ *api.Event, n *api.Notice) { v.print("", "notice", n.Text) })
	default:
		// What is sent, the fate of control requests, and what a later server may tell.
	}
}

// decoded calls show with the data of an event, or shows that as it is.
func decoded[T any](v *view, e *api.Event, show func(*api.Event, *T)) {
	data := new(T)
	if err := json.Unmarshal(e.Data, data); err != nil {
		v.print("", e.Kind, short(string(e.Data)))
		return
	}
	show(e, data)
}

// message shows a message to the agent when it is new, and what else becomes of it only if that is bad news.
func (v *view) message(_ *api.Event, m *api.Message) {
	text := m.Text
	if text == "" && len(m.Content) > 0 {
		text = contentText(m.Content)
	}
	//nolint:exhaustive // the others are the usual way of a message
	switch m.State {
	case api.MessageQueued:
		if m.UUID == "" || !v.shown[m.UUID] {
			v.print("", who(m.By), text)
		}
		if m.UUID != "" {
			v.shown[m.UUID] = true
		}
	case api.MessageTakenBack, api.MessageNotDelivered, api.MessageUnknown:
		what := map[api.MessageState]string{
			api.MessageTakenBack: "taken back", api.MessageNotDelivered: "not delivered", api.MessageUnknown: "delivery unknown",
		}[m.State]
		if m.Reason != "" {
			what += " (" + m.Reason + ")"
		}
		v.print("", "message", what+": "+short(text))
		delete(v.shown, m.UUID)
	}
}

// who names the one who wrote a message.
func who(by string) string {
	if by == "" {
		return "user"
	}
	return by
}

// contentText returns the text of content blocks.
func contentText(raw json.RawMessage) string {
	var content wire.Content
	if err := json.Unmarshal(raw, &content); err != nil {
		return string(raw)
	}
	return plain(&content)
}

// ended shows how a run ended.
func (v *view) ended(_ *api.Event, d *api.Ended) {
	text := d.Reason
	if d.Code != nil && *d.Code != 0 {
		text += fmt.Sprintf(" (exit code %d)", *d.Code)
	}
	v.print("", "ended", text)
	if d.Stderr != "" {
		v.print("", "stderr", d.Stderr)
	}
}

// settled shows what became of a question.
func (v *view) settled(_ *api.Event, q *api.Question) {
	delete(v.open, q.ID)
	switch q.State {
	case api.QuestionAnswered, api.QuestionAnsweredTooLate:
		late := ""
		if q.State == api.QuestionAnsweredTooLate {
			late = ", too late"
		}
		text := "answered"
		if q.Answer != nil {
			text = describe(q.Answer)
		}
		v.print("", "answer "+q.ID, fmt.Sprintf("%s (%s%s)", text, settler(q), late))
	case api.QuestionCancelled:
		text := "cancelled: " + oneLine(q.Reason)
		if q.By != "" {
			text += " (" + who(q.By) + ")"
		}
		v.print("", "answer "+q.ID, text)
	case api.QuestionOpen:
	default:
		v.print("", "answer "+q.ID, string(q.State))
	}
}

// settler says who answered a question, or which rule, and why if nobody did.
func settler(q *api.Question) string {
	text := who(q.By)
	if q.By == "" && q.From == "hub" {
		text = "the hub"
	}
	if r := q.Rule; r != nil && r.Decision != api.RuleAsk {
		text = "by " + ruleName(r)
	}
	if q.Reason != "" {
		text += ": " + oneLine(q.Reason)
	}
	return oneLine(text)
}

// describe says in a line what was answered.
func describe(a *api.Answer) string {
	parts := nonEmpty(a.Decision)
	if a.Outcome != "" {
		parts = append(parts, words.Outcome(a.Outcome))
	}
	for _, word := range []struct {
		is   bool
		text string
	}{
		{a.Interrupt, "and stop"},
		{a.Mode != "", "mode " + words.Mode(a.Mode)},
		{len(a.Input) > 0, "as edited"},
		{a.Plan != nil, "with an edited plan"},
		{a.Always != nil, alwaysText(a.Always)},
		{len(a.Updates) > 0, "with changed permissions"},
		{a.NoPrompts, "without what the plan asks to be allowed"},
		{a.Compact, "and compact"},
		{len(a.Images) > 0, "with images"},
	} {
		if word.is {
			parts = append(parts, word.text)
		}
	}
	text := strings.Join(parts, ", ")
	var choices []string
	for _, question := range slices.Sorted(maps.Keys(a.Choices)) {
		choice := a.Choices[question]
		text := strings.Join(append(append([]string(nil), choice.Labels...), nonEmpty(choice.Text)...), ", ")
		if choice.Skip {
			text = "-"
		}
		choices = append(choices, text)
	}
	switch {
	case len(choices) > 0:
		text += ": " + strings.Join(choices, "; ")
	case a.Message != "":
		text += ": " + a.Message
	case len(a.Content) > 0:
		text += ": " + string(a.Content)
	case len(a.Result) > 0:
		text += ": " + string(a.Result)
	}
	return short(text)
}

// alwaysText says what else was allowed for good.
func alwaysText(a *api.Always) string {
	if a == nil {
		return ""
	}
	text := "always"
	switch {
	case a.Rule != "":
		text += " " + a.Rule
	case a.Suggestion != nil:
		text += fmt.Sprintf(" as suggested by %d", *a.Suggestion+1)
	}
	if a.Destination != "" {
		text += " in " + a.Destination
	}
	return text
}

func nonEmpty(text string) []string {
	if text == "" {
		return nil
	}
	return []string{text}
}
