package api

import (
	"encoding/json"
	"time"
)

// A QuestionKind is the kind of a question.
type QuestionKind string

// The kinds.
const (
	QuestionPermission QuestionKind = "permission"
	QuestionChoice     QuestionKind = "choice"
	QuestionPlan       QuestionKind = "plan"
	QuestionForm       QuestionKind = "form"
	QuestionDialog     QuestionKind = "dialog"
)

// A QuestionState is what became of a question.
type QuestionState string

// The states of a question.
const (
	QuestionOpen            QuestionState = "open"
	QuestionAnswered        QuestionState = "answered"
	QuestionAnsweredTooLate QuestionState = "answered_too_late"
	QuestionCancelled       QuestionState = "cancelled"
)

// A Question is something that an agent asks and waits for.
type Question struct {
	ID        string        `json:"id"`
	Session   string        `json:"session"`
	Run       int           `json:"run"`
	RequestID string        `json:"request_id" doc:"The CLI's own id"`
	Kind      QuestionKind  `json:"kind" enum:"permission,choice,plan,form,dialog"`
	State     QuestionState `json:"state" enum:"open,answered,answered_too_late,cancelled"`
	Tool      string        `json:"tool,omitempty"`
	ToolUseID string        `json:"tool_use_id,omitempty"`
	AgentID   string        `json:"agent_id,omitempty" doc:"The sub-agent that asks"`
	// Request is the CLI's request as it came.
	Request json.RawMessage `json:"request"`
	Opened  time.Time       `json:"opened"`
	Settled time.Time       `json:"settled,omitzero"`
	By      string          `json:"by,omitempty" doc:"Who answered or cancelled"`
	Reason  string          `json:"reason,omitempty" doc:"Why it was cancelled"`
	Answer  *Answer         `json:"answer,omitempty" doc:"What was answered"`
	// Delivery is how far the answer has come.
	Delivery MessageState `json:"delivery,omitempty"`
}

// An Answer answers a question. Which members count depends on its kind.
type Answer struct {
	ClientID string `json:"client_id,omitempty" maxLength:"128"`
	// Decision is allow or deny for a permission, a choice or a plan (deny skips
	// a choice); accept, decline or cancel for a form; choose or cancel for a
	// dialog.
	Decision string `json:"decision" enum:"allow,deny,accept,decline,choose,cancel"`
	// Message is why it was denied, told to the agent.
	Message string `json:"message,omitempty"`
	// Interrupt also stops the turn, with deny.
	Interrupt bool `json:"interrupt,omitempty"`
	// Input replaces the tool's input, with allow.
	Input json.RawMessage `json:"input,omitempty"`
	// Updates are permission updates to apply, with allow: suggestions of the
	// question, or the like.
	Updates json.RawMessage `json:"updates,omitempty"`
	// Choices holds the answers to a choice by the question's text.
	Choices map[string]ChoiceAnswer `json:"choices,omitempty"`
	// Content is what was filled into a form, Result what a dialog returns.
	Content json.RawMessage `json:"content,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
}

// A ChoiceAnswer answers one question of a choice.
type ChoiceAnswer struct {
	Labels []string `json:"labels,omitempty"`
	Text   string   `json:"text,omitempty" doc:"Free text instead of, or beside, labels"`
	Notes  string   `json:"notes,omitempty"`
}

// QuestionFilter selects questions.
type QuestionFilter struct {
	State   QuestionState `json:"state,omitempty"`
	Session string        `json:"session,omitempty"`
	Limit   int           `json:"limit,omitempty"`
}

// QuestionList is a list of questions, the oldest first.
type QuestionList struct {
	Questions []Question `json:"questions"`
}
