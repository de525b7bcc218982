package answer

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/policy"
	"github.com/switchboard-dev/switchboard/wire"
)

// Question returns a question as clients see it.
func Question(row journal.Question) api.Question {
	d := DataOf(&row)
	q := api.Question{
		ID: row.ID, Session: row.Session, Run: row.Run, RequestID: row.RequestID, Kind: api.QuestionKind(row.Kind), State: api.QuestionState(row.State),
		Request: row.Ask, Opened: row.OpenedAt, Settled: row.SettledAt, By: row.By, Reason: row.Reason,
		Answer: d.Answer, Plan: d.Plan, Rule: d.Rule, Stale: d.Stale, Deadline: d.Deadline, From: d.From, Delivery: d.Delivery,
	}
	if ask, err := Ask(&row); err == nil {
		Describe(&q, ask)
	}
	return q
}

// Describe fills in what the CLI's request says.
func Describe(q *api.Question, ask *wire.ControlRequest) {
	switch r := ask.Request.(type) {
	case *wire.CanUseToolRequest:
		q.Tool, q.ToolUseID, q.AgentID = r.ToolName, r.ToolUseID, r.AgentID
		q.Title, q.Description, q.Why, q.BlockedPath = r.Title, r.Description, r.DecisionReason, r.BlockedPath
		if q.Title == "" {
			q.Title = wire.ActionTitle(r.ToolName, r.Input)
		}
		if q.Description == "" {
			// Bash has the model say what a command is for.
			q.Description, _ = wire.LookupString(r.Input, "description")
		}
		switch q.Kind { //nolint:exhaustive // the other kinds are no tool calls
		case api.QuestionPermission:
			if r.ToolName == ToolEnterPlan {
				q.Title = "Enter plan mode?"
			}
			for _, u := range r.PermissionSuggestions {
				q.Suggestions = append(q.Suggestions, suggestionOf(u))
			}
			if r.ToolName == policy.ToolNetwork {
				describeHost(q, r)
			}
		case api.QuestionChoice:
			q.Choices = choicesOf(ask)
		}
	case *wire.HookCallbackRequest: // that a hook holds open
		if input, ok := r.Input.(*wire.PreToolUseInput); ok {
			q.Tool, q.ToolUseID, q.Title = input.ToolName, input.ToolUseID, wire.ActionTitle(input.ToolName, input.ToolInput)
			q.Description, _ = wire.LookupString(input.ToolInput, "description")
			if input.ToolName == ToolEnterPlan {
				q.Title = "Enter plan mode?"
			}
		}
	case *wire.ElicitationRequest:
		q.Title, q.Description = r.Title, r.Message
		if q.Title == "" {
			q.Title = r.MCPServerName + " asks"
		}
	case *wire.UserDialogRequest:
		q.ToolUseID, q.Title = r.ToolUseID, r.DialogKind
	default:
	}
}

// choicesOf returns the questions of a choice.
func choicesOf(ask *wire.ControlRequest) []api.Choice {
	r, ok := ask.Request.(*wire.CanUseToolRequest)
	if !ok {
		return nil
	}
	var set wire.QuestionSet
	if json.Unmarshal(r.Input, &set) != nil {
		return nil
	}
	out := make([]api.Choice, 0, len(set.Questions))
	for _, q := range set.Questions {
		c := api.Choice{Question: q.Question, Header: q.Header, Multiple: q.MultiSelect}
		for _, o := range q.Options {
			c.Options = append(c.Options, api.Option{Label: o.Label, Description: o.Description, Preview: o.Preview})
		}
		out = append(out, c)
	}
	return out
}

// suggestionOf describes what the CLI suggests to allow for good.
func suggestionOf(u wire.PermissionUpdate) api.Suggestion {
	if u == nil { // the CLI said null; its place counts all the same
		return api.Suggestion{Update: json.RawMessage("null"), Text: "nothing"}
	}
	s := api.Suggestion{Update: u.Raw()}
	rules := func(list []wire.PermissionRule) string {
		texts := make([]string, len(list))
		for i, r := range list {
			texts[i] = textOf(r)
		}
		return strings.Join(texts, ", ")
	}
	switch u := u.(type) {
	case *wire.AddRules:
		s.Text, s.Destination = fmt.Sprintf("%s %s", u.Behavior, rules(u.Rules)), string(u.Destination)
	case *wire.ReplaceRules:
		s.Text, s.Destination = fmt.Sprintf("%s only %s", u.Behavior, rules(u.Rules)), string(u.Destination)
	case *wire.RemoveRules:
		s.Text, s.Destination = fmt.Sprintf("no longer %s %s", u.Behavior, rules(u.Rules)), string(u.Destination)
	case *wire.SetMode:
		s.Text, s.Destination = "switch to mode "+string(u.Mode), string(u.Destination)
	case *wire.AddDirectories:
		s.Text, s.Destination = "allow the folder "+strings.Join(u.Directories, ", "), string(u.Destination)
	case *wire.RemoveDirectories:
		s.Text, s.Destination = "no longer allow the folder "+strings.Join(u.Directories, ", "), string(u.Destination)
	case *wire.UnknownUpdate:
		s.Text = "something that this version does not know"
	}
	return s
}

// A Data is what is kept of a question beside the CLI's request: the data
// of its row.
type Data struct {
	Answer   *api.Answer      `json:"answer,omitempty"`
	Plan     *api.Plan        `json:"plan,omitempty"`
	Rule     *api.RuleRef     `json:"rule,omitempty"`
	Stale    bool             `json:"stale,omitempty"`
	Deadline int              `json:"deadline,omitempty"`
	From     string           `json:"from,omitempty"`
	Delivery api.MessageState `json:"delivery,omitempty"`
}

// DataOf returns what is kept of a question.
func DataOf(row *journal.Question) Data {
	var d Data
	if len(row.Data) == 0 || json.Unmarshal(row.Data, &d) != nil {
		return Data{}
	}
	if d.Answer == nil && row.State != string(api.QuestionOpen) {
		// Journals once held the answer itself here.
		if a := new(api.Answer); json.Unmarshal(row.Data, a) == nil && a.Decision != "" {
			d.Answer = a
		}
	}
	return d
}

// Ask returns the request of a question.
func Ask(row *journal.Question) (*wire.ControlRequest, error) {
	m, err := wire.Decode(row.Ask)
	if err != nil {
		return nil, fmt.Errorf("reading question %s: %w", row.ID, err)
	}
	ask, ok := m.(*wire.ControlRequest)
	if !ok {
		return nil, fmt.Errorf("question %s is no request", row.ID)
	}
	return ask, nil
}

// Call returns the tool call that a question is about.
func Call(ask *wire.ControlRequest) (tool string, input json.RawMessage) {
	switch r := ask.Request.(type) { //nolint:gochecksumtype // the others are about no call
	case *wire.CanUseToolRequest:
		return r.ToolName, r.Input
	case *wire.HookCallbackRequest:
		if input, ok := r.Input.(*wire.PreToolUseInput); ok {
			return input.ToolName, input.ToolInput
		}
	}
	return "", nil
}

// The tools of plan mode.
const (
	ToolEnterPlan = "EnterPlanMode"
	ToolExitPlan  = "ExitPlanMode"
)
