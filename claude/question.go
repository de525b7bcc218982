package claude

import (
	"context"
	"errors"
	"fmt"

	"github.com/switchboard-dev/switchboard/wire"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// A QuestionHandler answers what the CLI asks. It is called in a goroutine of its
// own, so that it may take as long as a person takes, and for several questions
// at once: sub-agents and parallel tool calls ask side by side.
//
// Its context ends when the question is withdrawn (the turn was interrupted, the
// tool call was decided elsewhere), when another goroutine has answered it with
// [Session.Answer], and with the session. What it returns then is dropped.
//
// It returns one of the question's own replies. [ErrLater] leaves the question
// open, for Session.Answer. Any other error, no reply at all, and a panic are a
// refusal with that as its message: nothing is ever allowed by accident.
//
//	func ask(ctx context.Context, q claude.Question) (claude.Reply, error) {
//		switch q := q.(type) {
//		case *claude.PermissionQuestion:
//			if q.Tool == "Read" {
//				return q.Allow(), nil
//			}
//			return q.Deny("Only reading is allowed."), nil
//		case *claude.ChoiceQuestion:
//			return q.Pick(q.Questions[0].Options[0].Label), nil
//		case *claude.PlanQuestion:
//			return q.Approve(wire.PermissionModeAcceptEdits), nil
//		default:
//			return q.Decline("No user is present."), nil
//		}
//	}
type QuestionHandler func(ctx context.Context, q Question) (Reply, error)

var (
	// ErrLater is returned by a [QuestionHandler] that leaves the question open, to
	// be answered with [Session.Answer].
	ErrLater = errors.New("the question is answered later")
	// ErrSettled is returned by [Session.Answer] when the question has its answer
	// already. It is also the cause with which a handler's context ends then.
	ErrSettled = errors.New("the question has been answered already")
	// ErrNoQuestion is returned by [Session.Answer] for an id that was never asked,
	// or so long ago that it is forgotten.
	ErrNoQuestion = errors.New("there is no such question")
)

// A Question is something that the CLI asks and waits for. It is one of
// [*PermissionQuestion], [*ChoiceQuestion], [*PlanQuestion], [*FormQuestion] and
// [*DialogQuestion], and each has the replies that fit it as methods. The methods
// of all are safe for concurrent use.
type Question interface {
	// ID is the id to answer it by.
	ID() string
	// Kind is the kind of question.
	Kind() fold.Kind
	// Ask is the request as the CLI made it. It is shared and must not be changed.
	Ask() *wire.ControlRequest
	// Title says in one line what is asked.
	Title() string
	// AgentID is the sub-agent that asks; empty for the main conversation, and
	// for what no agent asks.
	AgentID() string
	// ToolUseID is the tool call that is asked about; empty if there is none.
	ToolUseID() string
	// Recovered tells that the question was asked before this program was
	// connected, or while the connection was lost.
	Recovered() bool
	// Done is closed when no answer is wanted any more.
	Done() <-chan struct{}
	// Err is nil while the question is open. Then it is [ErrSettled] if it was
	// answered, and otherwise an error that is [ErrWithdrawn] and says why.
	Err() error
	// Decline refuses, whatever the kind: a permission, a choice and a plan are
	// denied with the message, which the model reads; a form is declined and a
	// dialog cancelled, which have no place for it.
	Decline(message string) Reply

	base() *asked
}

// A Reply is an answer to one question, made by the methods of the question.
type Reply interface {
	// Question is the id of the question that it answers.
	Question() string

	answer() *reply
}

// A reply is made when it is known for which version.
type reply struct {
	to   *asked
	line func(v wire.Version) ([]byte, error)
}

// Question returns the id of the question that it answers.
func (r *reply) Question() string { return r.to.ID() }

func (r *reply) answer() *reply { return r }

// asked is what all questions have.
type asked struct {
	// Static after construction.
	request   *wire.ControlRequest
	kind      fold.Kind
	title     string
	agent     string
	toolUse   string
	recovered bool
	byTool    bool            // asked with a call of an MCP tool, which its answer answers
	bypass    bool            // the CLI may be told to ask no more
	number    int64           // in the order of opening
	line      int64           // the number of the line that asks
	ctx       context.Context // the handler's; ends when the question is settled
	cancel    context.CancelCauseFunc
	stop      func() bool // stops watching for the end of the session
	done      chan struct{}

	// Written before done is closed, and not after.
	err   error
	given []byte // the line that answers it; nil if none does
}

// ID returns the request's id.
func (a *asked) ID() string { return a.request.RequestID }

// Kind returns the kind of question.
func (a *asked) Kind() fold.Kind { return a.kind }

// Ask returns the request as the CLI made it.
func (a *asked) Ask() *wire.ControlRequest { return a.request }

// Title says in one line what is asked.
func (a *asked) Title() string { return a.title }

// AgentID returns the sub-agent that asks.
func (a *asked) AgentID() string { return a.agent }

// ToolUseID returns the tool call that is asked about.
func (a *asked) ToolUseID() string { return a.toolUse }

// Recovered tells that the question was asked while the CLI was not connected.
func (a *asked) Recovered() bool { return a.recovered }

// Done is closed when no answer is wanted any more.
func (a *asked) Done() <-chan struct{} { return a.done }

// Err says what became of the question.
func (a *asked) Err() error {
	select {
	case <-a.done:
		return a.err
	default:
		return nil
	}
}

func (a *asked) base() *asked { return a }

func (a *asked) reply(line func(v wire.Version) ([]byte, error)) Reply {
	return &reply{to: a, line: line}
}

// permit answers a request for permission.
func (a *asked) permit(r wire.PermissionResult) Reply {
	return a.reply(func(wire.Version) ([]byte, error) { return wire.NewPermission(a.request, r) })
}

// refuse is a reply that cannot be given: the caller that gives it gets the error, and
// nothing is sent.
func (a *asked) refuse(format string, args ...any) Reply {
	err := fmt.Errorf("answering question %s: "+format, append([]any{a.ID()}, args...)...)
	return a.reply(func(wire.Version) ([]byte, error) { return nil, err })
}
