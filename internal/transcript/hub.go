package transcript

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/units"
	"github.com/switchboard-dev/switchboard/wire"
)

// event reads an event.
func (r *reader) event(e *api.Event) {
	switch e.Kind {
	case api.KindLine:
		r.line(e)
	case api.KindLive:
		r.line(e)
	case api.KindHistory:
		r.history = true
		r.line(e)
	case api.KindSent:
		r.sent(e)
	default:
		r.hub(e)
	}
}

// hub reads an event of the hub's own.
func (r *reader) hub(e *api.Event) {
	switch e.Kind {
	case api.KindMessage:
		data(r, e, r.prompt)
	case api.KindQuestionOpened, api.KindQuestionChanged, api.KindQuestionSettled:
		data(r, e, r.question)
	case api.KindState:
		data(r, e, func(d *struct {
			State api.State `json:"state"`
		},
		) {
			r.facts.session(d.State, r.at)
		})
	case api.KindCreated, api.KindRunStarted, api.KindRunLaunched, api.KindRunEnded, api.KindLinkUp, api.KindLinkLost:
		r.process(e)
	case api.KindUpdated:
		data(r, e, func(d *struct {
			Title *string              `json:"title"`
			Model *string              `json:"model"`
			Mode  *wire.PermissionMode `json:"permission_mode"`
		},
		) {
			if d.Title != nil {
				r.facts.learn(factTitle).Title = oneLine(*d.Title)
			}
		})
	case api.KindCommand:
		data(r, e, func(d *api.CommandFate) {
			if d.State == api.MessageNotDelivered || d.State == api.MessageUnknown {
				r.state(LevelWarn, "not delivered", strings.TrimSuffix(d.Kind+": "+d.Reason, ": "))
			}
		})
	case api.KindGap:
		data(r, e, func(d *api.Gap) {
			sure := ""
			if !d.Certain {
				sure = "perhaps "
			}
			r.state(LevelBad, "gap", sure+"lines are missing here: "+d.Reason)
		})
	case api.KindTurn:
		data(r, e, func(d *api.TurnChange) { r.state(LevelWarn, "turn "+d.State, d.Reason) })
	case api.KindOversize:
		data(r, e, func(d *api.Oversize) {
			r.state(LevelWarn, "oversize", "a line of "+units.Size(d.Length)+" was too long to keep")
		})
	case api.KindNotice:
		data(r, e, func(d *api.Notice) { r.state(LevelWarn, "notice", d.Text) })
	default:
		r.rules(e)
	}
}

// rules reads what rules and budgets do.
func (r *reader) rules(e *api.Event) {
	switch e.Kind {
	case api.KindRuleAdded:
		data(r, e, func(d *api.SessionRule) {
			text := fmt.Sprintf("%s %s", d.Decision, d.Rule)
			if d.Rule == "*" {
				text = string(d.Decision) + " everything"
			}
			if !d.Expires.IsZero() {
				text += " until " + units.Clock(d.Expires)
			}
			if d.ID != "" {
				text += ", as " + d.ID
			}
			if d.Message != "" {
				text += "; shown to the agent: " + d.Message
			}
			if d.Pending {
				text += "; Claude Code enforces it after its next start"
			}
			r.stateBy(later(e.By, d.By), "rule added", oneLine(text))
		})
	case api.KindRuleRemoved:
		data(r, e, func(d *api.RuleRemoved) { r.stateBy(e.By, "rule removed", strings.TrimSpace(d.ID+" "+d.Reason)) })
	case api.KindDecision:
		data(r, e, r.decision)
	case api.KindSandboxRefused:
		data(r, e, r.refusal)
	case api.KindMode:
		data(r, e, func(d *api.ModeChange) {
			r.facts.learn(factMode).Mode = d.Mode
			text := ModeName(d.Mode)
			switch {
			case d.Tool == "EnterPlanMode":
				text = "the agent entered plan mode"
			case d.Tool == "ExitPlanMode":
				text = "the agent left plan mode for " + text
			case d.Was != "":
				text += " (was " + ModeName(d.Was) + ")"
			}
			r.stateBy(e.By, "mode", text)
		})
	case api.KindHold:
		data(r, e, func(d *api.Hold) {
			text := d.Reason
			switch {
			case d.Resumes && !d.Until.IsZero():
				text += "; continues automatically at " + units.Clock(d.Until)
			case !d.Until.IsZero():
				text += "; the limit ends at " + units.Clock(d.Until)
			}
			r.item(entry{key: bounded("hold:", d.ID), shows: true, hold: d, Item: Item{Kind: KindState, Level: LevelWarn, Label: "held back", Text: Short(text)}})
		})
	case api.KindHoldOver:
		data(r, e, func(d *api.HoldOver) {
			r.item(entry{key: bounded("hold:", d.ID), over: true, Item: Item{Kind: KindState}})
			text := d.Reason
			switch d.Reason {
			case "released", "":
				text = "the queue is no longer held back"
			case "reset":
				text = "the limit has ended"
			case "gone":
				text = "the limit no longer applies"
			}
			r.stateBy(e.By, "goes on", text)
		})
	case api.KindBudget:
		data(r, e, func(d *api.BudgetUse) {
			level, what := LevelWarn, "is nearly spent"
			if d.Over {
				level, what = LevelBad, "is spent"
			}
			r.state(level, "budget", fmt.Sprintf("%s %s: %s of %s per %s", d.Name, what, Amount(d.Used, d.Unit), Amount(d.Limit, d.Unit), d.Per))
		})
	default:
		raw := e.Data
		if len(raw) == 0 {
			raw = e.Line
		}
		r.unknown("", e.Kind, raw)
	}
}

// Amount returns what a budget counts, with its unit: usd, wall, idle, turns and so on.
func Amount(n float64, unit string) string {
	switch unit {
	case "usd":
		return units.Money(n)
	case "wall", "idle":
		const longest = 1 << 31 // seconds; more than any person waits
		text := units.Duration(time.Duration(min(max(n, 0), longest)) * time.Second)
		if unit == "idle" {
			text += " without work"
		}
		return text
	default:
		return strconv.FormatFloat(n, 'f', -1, 64) + " " + unit
	}
}

// data reads the data of an event, or shows that as it is.
func data[T any](r *reader, e *api.Event, read func(*T)) {
	d := new(T)
	if err := json.Unmarshal(e.Data, d); err != nil {
		r.unknown("", e.Kind, e.Data)
		return
	}
	read(d)
}

// state adds what the hub tells.
func (r *reader) state(level Level, label, text string) {
	it := Item{Kind: KindState, Level: level, Label: label, Failed: level == LevelBad}
	it.Text, it.Left = Clip(strings.TrimSpace(text), MaxText)
	r.item(entry{shows: true, Item: it})
}

func (r *reader) stateBy(by, label, text string) {
	r.item(entry{shows: true, Item: Item{Kind: KindState, Author: oneLine(by), Label: label, Text: Short(text)}})
}

// process reads how processes come and go.
func (r *reader) process(e *api.Event) {
	run := bounded("run:", itoa(e.Run))
	switch e.Kind {
	case api.KindCreated:
		r.facts.begun = true
		data(r, e, func(d *struct {
			Title string `json:"title"`
			Dir   string `json:"dir"`
			Fork  string `json:"fork_of"`
		},
		) {
			r.facts.learn(factDir).Dir = d.Dir
			if d.Title != "" {
				r.facts.learn(factTitle).Title = oneLine(d.Title)
			}
			text := "in " + d.Dir
			if d.Title != "" {
				text = d.Title + ", " + text
			}
			if d.Fork != "" {
				text += ", a copy of " + d.Fork
			}
			r.stateBy(e.By, "session", text)
		})
	case api.KindRunStarted:
		r.facts.learn(factSandbox).Sandbox = nil
		r.item(entry{key: run, shows: true, Item: Item{Kind: KindState, Label: "run " + itoa(e.Run), Text: "is starting"}})
	case api.KindRunLaunched:
		data(r, e, func(d *struct {
			Version   string `json:"version"`
			Simulated bool   `json:"simulated"`

			Sandbox *api.Sandbox `json:"sandbox"`
		},
		) {
			text := strings.TrimSpace("Claude Code " + d.Version)
			if d.Simulated {
				text = "simulated agent"
			}
			boxed := ""
			if !Unenforced(d.Sandbox) {
				boxed = SandboxName(d.Sandbox)
			}
			r.item(entry{key: run, shows: true, boxed: boxed, Item: Item{Kind: KindState, Label: "run " + itoa(e.Run), Text: oneLine(text)}})
			r.sandbox(d.Sandbox)
		})
	case api.KindRunEnded:
		r.over()
		r.facts.done()
		data(r, e, func(d *api.Ended) {
			r.facts.learn(factEnded).Ended = d
			text, level := d.Reason, LevelInfo
			if d.Code != nil && *d.Code != 0 {
				text += fmt.Sprintf(" (exit code %d)", *d.Code)
			}
			if d.Unfinished || d.Code != nil && *d.Code != 0 || d.Signal != "" {
				level = LevelWarn
			}
			if d.Stderr != "" {
				text += "\n" + d.Stderr
			}
			r.state(level, "ended", text)
		})
	case api.KindLinkUp, api.KindLinkLost:
		// The status line says so as long as it lasts; a link that is back is no news.
		r.facts.learn(factOffline).Offline = e.Kind == api.KindLinkLost
	}
}

// prompt reads what becomes of a message to the agent. One that only waits in the queue is no item yet.
func (r *reader) prompt(m *api.Message) {
	text := m.Text
	if text == "" && len(m.Content) > 0 {
		text = ContentText(m.Content)
	}
	kept := *m
	kept.Content, kept.Line = nil, nil // they may be large, and they are not used here
	e := entry{
		key: promptKey(later(m.ID, m.UUID)), line: m.UUID, shows: m.State != api.MessageQueued, Item: Item{Kind: KindPrompt, Author: oneLine(m.By), Message: &kept},
	}
	e.said, e.Left = Clip(text, MaxText)
	kept.Text = e.said
	if m.Reason != "" && m.State != api.MessageQueued {
		e.Label = Short(m.Reason)
	}
	r.item(e)
}

// sent reads a line that was sent to the CLI: prompts of programs, and interrupts.
func (r *reader) sent(e *api.Event) {
	if len(e.Line) == 0 {
		return
	}
	message, err := wire.Decode(e.Line)
	if err != nil {
		return
	}
	switch m := message.(type) { //nolint:gochecksumtype // the rest is not for people, or told by other events
	case *wire.User:
		text := strings.TrimSpace(plain(&m.Message.Content))
		if text == "" {
			return
		}
		it := entry{line: m.UUID, shows: true, Item: Item{Kind: KindPrompt, Author: oneLine(e.By)}}
		if m.UUID != "" {
			it.key = promptKey(m.UUID)
		}
		it.written, it.Left = Clip(text, MaxText)
		r.item(it)
	case *wire.ControlRequest:
		if _, ok := m.Request.(*wire.InterruptRequest); ok {
			r.interrupts = append(r.interrupts, interrupt{place: r.next * subPlaces, by: oneLine(e.By)}) // the end of the turn tells of it
		}
	}
}

// question reads a question, opened, changed or settled.
func (r *reader) question(q *api.Question) {
	e := entry{key: bounded("question:", q.ID), shows: true, Item: Item{Kind: KindQuestion, Question: q, Author: oneLine(q.By)}}
	if len(q.Request) > MaxText && q.State != api.QuestionOpen {
		q.Request = json.RawMessage(`{}`) // a user who answers must have seen all of an open one
	}
	r.item(e)
	if q.Tool == wire.ToolSandboxNetwork {
		return // the call goes on, also if it is not to reach a host
	}
	if q.ToolUseID != "" {
		r.item(entry{key: toolKey(q.ToolUseID), asked: q.Opened, settled: q.Settled, Item: Item{Kind: KindTool}, tool: Tool{ID: q.ToolUseID}})
	}
	if q.ToolUseID != "" && q.Answer != nil && q.Answer.Decision == "deny" && q.Kind == api.QuestionPermission {
		reason := later("by "+later("someone", q.By), q.Answer.Message)
		r.item(entry{key: toolKey(q.ToolUseID), refused: true, Item: Item{Kind: KindTool}, tool: Tool{ID: q.ToolUseID, Denied: Short(reason)}})
	}
}

// decision reads what a rule decided without a question.
func (r *reader) decision(d *api.Decision) {
	verb := map[api.RuleDecision]string{api.RuleAllow: "allowed", api.RuleDeny: "denied", api.RuleAsk: "asked"}[d.Rule.Decision]
	rule := oneLine(later(string(d.Rule.Decision), verb) + " by " + ByRule(&d.Rule))
	if d.Rule.Reason != "" {
		rule += ": " + oneLine(d.Rule.Reason)
	}
	if d.ToolUseID != "" {
		e := entry{key: toolKey(d.ToolUseID), weak: oneLine(d.Tool), Item: Item{Kind: KindTool}, tool: Tool{ID: d.ToolUseID, Rule: rule}}
		if d.Rule.Decision == api.RuleDeny {
			e.refused, e.tool.Denied, e.tool.Rule = true, Short("by the rule "+d.Rule.Rule), ""
		}
		r.item(e)
	}
	if d.ToolUseID == "" || d.Rule.Decision == api.RuleDeny {
		r.state(LevelInfo, "decision", strings.TrimSpace(oneLine(d.Tool+" "+CallTitle(d.Tool, d.Input))+": "+rule))
	}
}

// ByRule names what has decided: a rule with where it stands, or the sandbox, in which commands may be allowed without a question.
func ByRule(r *api.RuleRef) string {
	if r.Scope == api.ScopeSandbox {
		return "the sandbox, where commands run without asking"
	}
	return "the rule " + RuleName(r)
}

// RuleName returns a rule with where it stands.
func RuleName(r *api.RuleRef) string {
	where := later(r.Scope, r.Source)
	if r.ID != "" {
		where = "rule " + r.ID + " of this session"
	}
	if where == "" {
		return oneLine(r.Rule)
	}
	return oneLine(r.Rule + " (" + where + ")")
}
