package wire

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The builders below make the lines that a client sends. What they return has
// passed [Validate]; before it is sent it goes through [Fit] with the CLI's
// version.

// UserOptions are the less common parts of a user message. The zero value is the
// usual message.
type UserOptions struct {
	// UUID is the message's id, by which it is echoed, withdrawn and recognised
	// when it comes twice. If empty, the message has none.
	UUID string
	// SessionID is the CLI's conversation. If empty, the CLI's current one.
	SessionID string
	// Priority says when a message that comes during a turn is worked on. If
	// empty, the CLI decides.
	Priority MessagePriority
	// Append adds the message to the conversation without starting a turn.
	Append bool
	// Literal takes the text as it is: no slash command, no file mention.
	Literal bool
}

// NewUser returns a prompt. A nil o is the same as a zero one.
func NewUser(c Content, o *UserOptions) ([]byte, error) {
	if o == nil {
		o = new(UserOptions)
	}
	m := &User{
		Message:        UserBody{Role: "user", Content: c},
		UUID:           o.UUID,
		SessionID:      o.SessionID,
		Priority:       o.Priority,
		ClientComposed: o.Literal,
	}
	if o.Append {
		m.ShouldQuery = new(bool)
	}
	return built(Encode(m))
}

// NewRequest returns a control request. The id is the sender's to choose and
// must be unique among the requests that are not answered yet.
func NewRequest(id string, r Request) ([]byte, error) {
	if r == nil {
		return nil, fmt.Errorf("%w: expected a request", errBuilt)
	}
	return built(Encode(&ControlRequest{RequestID: id, Request: r}))
}

// NewAnswer returns a success answer to a control request of the CLI. A nil body
// is an empty one. For can_use_tool use [NewPermission].
func NewAnswer(id string, body Answer) ([]byte, error) {
	raw := json.RawMessage("{}")
	if body != nil {
		b, err := encodeObject(body)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errBuilt, err)
		}
		raw = b
	}
	return newSuccess(id, raw)
}

func newSuccess(id string, body json.RawMessage) ([]byte, error) {
	return built(Encode(&ControlResponse{Response: ControlAnswer{Subtype: "success", RequestID: id, Response: body}}))
}

// ErrorCodeUnsupported is the code with which a request of an unknown subtype is
// refused.
const ErrorCodeUnsupported = "unsupported_request"

// NewError returns an error answer to a control request of the CLI. The code may
// be empty.
func NewError(id, message, code string) ([]byte, error) {
	return built(Encode(&ControlResponse{Response: ControlAnswer{Subtype: "error", RequestID: id, Error: message, ErrorCode: code}}))
}

// NewCancel returns the withdrawal of one of the sender's own requests.
func NewCancel(id string) ([]byte, error) {
	return built(Encode(&ControlCancel{RequestID: id}))
}

// NewKeepAlive returns a line that says nothing but that the sender is there.
func NewKeepAlive() ([]byte, error) { return built(Encode(&KeepAlive{})) }

// NewEnvironment returns a line that sets environment variables in the CLI.
func NewEnvironment(variables map[string]string) ([]byte, error) {
	if variables == nil {
		variables = map[string]string{}
	}
	return built(Encode(&EnvironmentUpdate{Variables: variables}))
}

// DefaultDenial is what the model is told where a refusal brings no words of its
// own.
const DefaultDenial = "The user did not allow this."

// ErrNotPermission says that a request is not one for permission.
var ErrNotPermission = errors.New("expected a can_use_tool request")

// NewPermission returns the answer to a can_use_tool request. What every version
// needs and r does not bring is filled in: the question's own input for an
// [*Allow], [DefaultDenial] for a [*Deny], and the tool call's id for both.
func NewPermission(question *ControlRequest, r PermissionResult) ([]byte, error) {
	if question == nil {
		return nil, fmt.Errorf("%w: %w", errBuilt, ErrNotPermission)
	}
	ask, ok := question.Request.(*CanUseToolRequest)
	if !ok {
		return nil, fmt.Errorf("%w: %w", errBuilt, ErrNotPermission)
	}
	switch r := r.(type) {
	case *Allow:
		a := *r
		if len(a.UpdatedInput) == 0 {
			a.UpdatedInput = ask.Input
		}
		if !jsonObject(a.UpdatedInput) {
			return nil, fmt.Errorf("%w: %w", errBuilt, invalid("updatedInput", "an object", a.UpdatedInput))
		}
		if a.ToolUseID == "" {
			a.ToolUseID = ask.ToolUseID
		}
		return encodeResult(question.RequestID, &a)
	case *Deny:
		d := *r
		if strings.TrimSpace(d.Message) == "" {
			d.Message = DefaultDenial
		}
		if d.ToolUseID == "" {
			d.ToolUseID = ask.ToolUseID
		}
		return encodeResult(question.RequestID, &d)
	case *UnknownResult:
	}
	return nil, fmt.Errorf("%w: expected *Allow or *Deny", errBuilt)
}

func encodeResult(id string, r PermissionResult) ([]byte, error) {
	body, err := encodeObject(r)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errBuilt, err)
	}
	return newSuccess(id, body)
}

// A Choice is what a person answered to one question of AskUserQuestion.
type Choice struct {
	// Answers are the labels taken, or free text.
	Answers []string
	// Notes are the person's own words beside the choice. Versions that do not
	// know them ignore them.
	Notes string
	// Preview is what was shown with the choice that was taken.
	Preview string
}

// NewChoice returns the answer to an AskUserQuestion request. Choices are keyed
// by the question's text; a question may be left without one. The questions are
// repeated as they came, as some versions demand.
func NewChoice(question *ControlRequest, choices map[string]Choice) ([]byte, error) {
	if question == nil {
		return nil, fmt.Errorf("%w: %w", errBuilt, ErrNotPermission)
	}
	ask, ok := question.Request.(*CanUseToolRequest)
	if !ok || ask.ToolName != "AskUserQuestion" {
		return nil, fmt.Errorf("%w: expected a can_use_tool request for AskUserQuestion", errBuilt)
	}
	var set QuestionSet
	if err := json.Unmarshal(ask.Input, &set); err != nil {
		return nil, fmt.Errorf("%w: reading the questions: %w", errBuilt, err)
	}
	set.Answers = make(map[string]string, len(choices))
	for _, key := range slices.Sorted(maps.Keys(choices)) {
		c := choices[key]
		i := slices.IndexFunc(set.Questions, func(q Question) bool { return q.Question == key })
		if i < 0 {
			return nil, fmt.Errorf("%w: no question has the text %.80q", errBuilt, key)
		}
		if len(c.Answers) > 1 && !set.Questions[i].MultiSelect {
			return nil, fmt.Errorf("%w: question %.80q takes one answer, found %d", errBuilt, key, len(c.Answers))
		}
		set.Answers[key] = strings.Join(c.Answers, ", ")
		if c.Notes != "" || c.Preview != "" {
			if set.Annotations == nil {
				set.Annotations = map[string]QuestionNote{}
			}
			set.Annotations[key] = QuestionNote{Notes: c.Notes, Preview: c.Preview}
		}
	}
	input, err := encodeObject(&set)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errBuilt, err)
	}
	return NewPermission(question, &Allow{UpdatedInput: input})
}

// NewUUID returns a random UUID of version 4, as the id of a prompt ([User.UUID]) or of any other line.
func NewUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails, see crypto/rand
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// IsUUID reports whether a text has the form of a UUID of any version.
func IsUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case i == 8 || i == 13 || i == 18 || i == 23:
			if c != '-' {
				return false
			}
		case c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F':
		default:
			return false
		}
	}
	return true
}
