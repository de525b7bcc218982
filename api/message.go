package api

import (
	"encoding/json"
	"time"
)

// A MessageState is how far a message to the agent has come.
type MessageState string

// The states of a message.
const (
	// MessageQueued means that the hub holds it until the agent is idle.
	MessageQueued MessageState = "queued"
	// MessageSent means that it is on its way to the process.
	MessageSent MessageState = "sent"
	// MessageWritten means that the process has it on its standard input.
	MessageWritten MessageState = "written"
	// MessagePickedUp means that the agent works on it.
	MessagePickedUp MessageState = "picked_up"
	// MessageTakenBack means that a client withdrew it in time.
	MessageTakenBack MessageState = "taken_back"
	// MessageNotDelivered means that it never reached the process.
	MessageNotDelivered MessageState = "not_delivered"
	// MessageUnknown means that it is not known whether it reached the process.
	MessageUnknown MessageState = "unknown"
)

// SendMessage sends a message to a session.
type SendMessage struct {
	ClientID string          `json:"client_id,omitempty" maxLength:"128" doc:"Your id of the message: sent twice, it is one message"`
	Text     string          `json:"text,omitempty"`
	Content  json.RawMessage `json:"content,omitempty" doc:"Content blocks instead of text: text, image, document"`
	Mode     string          `json:"mode,omitempty" enum:"queue,steer" doc:"queue (the default) waits until the agent is idle, steer writes into the running turn"`
	// NoResume refuses the message if the session has ended, instead of
	// resuming it.
	NoResume bool `json:"no_resume,omitempty"`
}

// EditMessage changes a message that is still queued.
type EditMessage struct {
	Text    string          `json:"text,omitempty"`
	Content json.RawMessage `json:"content,omitempty"`
}

// A Message is one to the agent.
type Message struct {
	ID       string          `json:"id"`
	ClientID string          `json:"client_id,omitempty"`
	State    MessageState    `json:"state"`
	Mode     string          `json:"mode,omitempty"`
	Text     string          `json:"text,omitempty"`
	Content  json.RawMessage `json:"content,omitempty"`
	UUID     string          `json:"uuid,omitempty" doc:"The uuid that the line to the CLI carries"`
	By       string          `json:"by,omitempty"`
	First    bool            `json:"first,omitempty" doc:"Put it at the front of the queue"`
	Reason   string          `json:"reason,omitempty" doc:"Why it was not delivered"`
	// Line is the message as a front end sent it, if it came as a line for the CLI.
	Line    json.RawMessage `json:"line,omitempty"`
	Created time.Time       `json:"created,omitzero"`
}

// A Partial is a message that the agent is writing.
type Partial struct {
	ParentToolUseID string         `json:"parent_tool_use_id,omitempty"`
	MessageID       string         `json:"message_id,omitempty"`
	Model           string         `json:"model,omitempty"`
	Blocks          []PartialBlock `json:"blocks"`
}

// A PartialBlock is one block of it, as far as it has come.
type PartialBlock struct {
	Index int64  `json:"index"`
	Type  string `json:"type"`
	// Text is the whole text so far: of text, thinking, or a tool's input.
	Text string `json:"text,omitempty"`
	// Name and ID are those of a tool call.
	Name string `json:"name,omitempty"`
	ID   string `json:"id,omitempty"`
	// Cut says that Text was too long to be kept whole.
	Cut bool `json:"cut,omitempty"`
}
