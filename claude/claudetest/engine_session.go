package claudetest

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/switchboard-dev/switchboard/claude/claudetest/internal/history"
	"github.com/switchboard-dev/switchboard/wire"
)

// simPID is the process id that the simulated CLI tells: tests that run it in their own process must not signal themselves.
const simPID = 4242

// resume finds the conversation to go on with. It reports whether the process is over: there is none of that name.
func (e *engine) resume() (over bool, err error) {
	f := e.flags
	id := f.Resume
	switch {
	case f.Continue:
		latest, ok := e.store.Latest()
		if !ok {
			return false, nil // it begins a new one
		}
		id = latest
	case id == "":
		if f.SessionID != "" {
			if e.store.Exists(f.SessionID) {
				return true, &exit{code: 1, says: fmt.Sprintf("Error: Session ID %s is already in use.", f.SessionID)}
			}
			e.mu.Lock()
			e.session = f.SessionID
			e.mu.Unlock()
		}
		return false, nil
	}
	conversation, err := e.load(id)
	if err != nil {
		return true, e.noConversation(id, err)
	}
	if f.ForkSession {
		to := f.SessionID
		if to == "" {
			to = wire.NewUUID()
		}
		if conversation, err = e.store.Fork(conversation, to); err != nil {
			return true, fmt.Errorf("forking the conversation: %w", err)
		}
	} else if err := e.store.Continue(conversation); err != nil {
		return true, fmt.Errorf("continuing the conversation: %w", err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.session, e.title = conversation.ID, conversation.Title
	for _, message := range conversation.Messages {
		e.main.messages = append(e.main.messages, plainJSON(members{"role", message.Role, "content", message.Content}))
		for _, uuid := range message.UUIDs {
			e.seen[uuid] = true
		}
	}
	if e.quirks.CostsContinue {
		e.spending = spendingOf(conversation.Costs)
	}
	return false, nil
}

// load reads a conversation, cut where the flags say.
func (e *engine) load(ref string) (*history.Conversation, error) {
	id, err := e.store.Find(ref)
	if err != nil {
		return nil, err
	}
	conversation, err := e.store.Load(id)
	if err != nil {
		return nil, err
	}
	if at := e.flags.ResumeSessionAt; at != "" {
		if err := conversation.Cut(at); err != nil {
			return nil, err
		}
	}
	return conversation, nil
}

// noConversation ends the process: with one result if the conversation or message is unknown.
func (e *engine) noConversation(id string, err error) error {
	var unknown *history.NotFoundError
	var cut *history.NoMessageError
	var several *history.AmbiguousError
	if !errors.As(err, &unknown) && !errors.As(err, &cut) && !errors.As(err, &several) {
		return fmt.Errorf("resuming the conversation: %w", err)
	}
	if !e.quirks.ResumeFreshID && wire.IsUUID(id) {
		e.mu.Lock()
		e.session = id
		e.mu.Unlock()
	}
	t := e.newTurn(nil)
	t.none = true
	e.emitResult(t, ending{subtype: "error_during_execution", failed: true, bare: true, errors: []string{err.Error()}})
	t.cancel(errEnded)
	if !e.quirks.ResumeErrorTold {
		return &exit{code: 1}
	}
	return &exit{code: 1, says: err.Error()}
}

// A mark is where a prompt stands in the conversation.
type mark struct {
	at   int // messages before it
	text string
}

// storeMessage writes a message in the user's role to the transcript. It was added to the thread before.
func (e *engine) storeMessage(th *thread, role string, content any, uuid string) {
	if uuid != "" && th.parent == "" {
		raw, _ := content.(json.RawMessage) // a merged prompt has none
		e.mu.Lock()
		if e.marks == nil {
			e.marks = map[string]mark{}
		}
		e.marks[uuid] = mark{at: max(0, th.length()-1), text: lastText(raw)}
		e.mu.Unlock()
	}
	entry := history.Entry{Session: e.conversation(), Type: history.User, UUID: uuid, Message: plainJSON(members{"role", role, "content", content})}
	if uuid != "" || th.parent == "" && isPrompt(content) {
		entry.PermissionMode = e.gate.Mode()
	}
	e.store1(th, entry)
}

// keepResult writes the result of a tool to the transcript, under the id of its line.
func (e *engine) keepResult(th *thread, block members, result playedResult, uuid string) {
	entry := history.Entry{Session: e.conversation(), Type: history.User, UUID: uuid, Message: plainJSON(members{"role", "user", "content", []members{block}})}
	if result.detail != nil {
		entry.ToolUseResult = plainJSON(result.detail)
	}
	e.store1(th, entry)
}

// isPrompt tells prompts from results of tools.
func isPrompt(content any) bool {
	switch content.(type) {
	case string, json.RawMessage:
		return true
	}
	return false
}

// keepAssistant writes a message of the model to the transcript, a line for each block.
func (e *engine) keepAssistant(th *thread, w *messageWriter) {
	for i, block := range w.reply.content {
		message := plainJSON(members{
			"id", w.message.ID, "type", "message", "role", "assistant", "model", w.message.Model, "content",
			[]json.RawMessage{block},
			"stop_reason", nil, "stop_sequence", nil, "usage", w.message.Usage.line(),
		})
		e.store1(th, history.Entry{Session: e.conversation(), Type: history.Assistant, UUID: w.lineID(i), Message: message, BlockIndex: i, RequestID: "req_" + w.message.ID})
	}
}

// store1 writes a line to the transcript. One that cannot be written is told on stderr, as the conversation goes on without it.
func (e *engine) store1(th *thread, entry history.Entry) {
	if th.agent != nil {
		entry.Agent = th.agent.id
	}
	if err := e.store.Append(entry); err != nil {
		_, _ = fmt.Fprintf(e.stderr, "writing the transcript: %v\n", err)
	}
}

// endInGoodOrder writes down what a clean exit leaves.
func (e *engine) endInGoodOrder() {
	e.mu.Lock()
	spending, prompted := e.spending.clone(), e.prompted
	e.mu.Unlock()
	if !prompted {
		return
	}
	if err := e.store.Finish(e.conversation(), spending.costs(e.started)); err != nil {
		_, _ = fmt.Fprintf(e.stderr, "writing the transcript: %v\n", err)
	}
}
