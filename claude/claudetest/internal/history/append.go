package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/switchboard-dev/switchboard/wire"
)

// maxPrompt is how much of the last prompt a transcript repeats at its end, in characters.
const maxPrompt = 200

// Append writes a line to the transcript of its session, or of its sub-agent. An entry that lacks what its type needs is an error, and so is a
// session id that cannot be a file name.
func (s *Store) Append(e Entry) error {
	if err := e.check(); err != nil {
		return fmt.Errorf("writing to the transcript of session %s: %w", e.Session, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	st, err := s.session(e.Session)
	if err == nil {
		err = s.append(st, e)
	}
	if err != nil {
		return fmt.Errorf("writing to the transcript of session %s: %w", e.Session, err)
	}
	return nil
}

// append is Append for an entry that is in order, with the mutex held.
func (s *Store) append(st *session, e Entry) error {
	if e.UUID == "" {
		e.UUID = wire.NewUUID()
	}
	if e.Agent != "" {
		return s.appendAgent(st, e)
	}
	prompt := e.Type == User && e.PermissionMode != ""
	if e.Type == User {
		if e.PromptID == "" && (prompt || st.promptID == "") {
			e.PromptID = wire.NewUUID()
		}
		if e.PromptID == "" {
			e.PromptID = st.promptID
		}
		st.promptID = e.PromptID
	}
	if err := s.release(st, &e); err != nil {
		return err
	}
	if prompt {
		st.turns++
		st.prompt = promptText(e.Message)
		if !s.at120 { // the record of the files stands before the prompt there
			if err := s.snapshot(st, e.UUID); err != nil {
				return err
			}
		}
	}
	if e.Compact != nil && st.slug == "" {
		st.slug = s.newSlug("") // the CLI looks for a plan to take along then
	}
	if !s.kept(&e) {
		return nil
	}
	parent := st.leaf
	if e.SourceUUID != "" {
		parent = e.SourceUUID
	}
	line, err := s.encode(st, &e, parent)
	if err != nil {
		return err
	}
	if err := s.write(st, line); err != nil {
		return err
	}
	st.leaf = e.UUID
	st.said = st.said || e.Type == User || e.Type == Assistant
	if prompt && s.at120 {
		return s.snapshot(st, e.UUID)
	}
	return nil
}

// release writes what has waited for the first line of a fork, or for the first prompt after an interrupted turn.
func (s *Store) release(st *session, e *Entry) error {
	held := st.held
	st.held = nil
	for _, line := range held {
		if err := s.write(st, line); err != nil {
			return err
		}
		st.said = true
	}
	if e.Type != User && e.Type != Assistant {
		return nil
	}
	repairs := st.repairs
	st.repairs = nil
	for _, r := range repairs {
		r.Session, r.PromptID = e.Session, st.promptID
		if err := s.append(st, r); err != nil {
			return err
		}
	}
	return nil
}

// appendAgent writes a line of a sub-agent.
func (s *Store) appendAgent(st *session, e Entry) error {
	path, err := wire.SubagentTranscriptPath(filepath.Dir(st.path), e.Session, e.Agent)
	if err != nil {
		return err
	}
	if !s.kept(&e) {
		return nil
	}
	if e.PromptID == "" {
		e.PromptID = st.promptID
	}
	parent := st.agents[e.Agent]
	if e.SourceUUID != "" {
		parent = e.SourceUUID
	}
	line, err := s.encode(st, &e, parent)
	if err != nil {
		return err
	}
	if s.persist {
		if err := appendLine(path, line, false); err != nil {
			return err
		}
	}
	st.agents[e.Agent] = e.UUID
	return nil
}

// An AgentInfo is what is noted about a sub-agent beside its transcript.
type AgentInfo struct {
	Type        string // "general-purpose" and so on
	Description string
	ToolUseID   string // the call that started it
}

// StartAgent notes what a sub-agent is, if the version does. Its lines come with [Store.Append].
func (s *Store) StartAgent(session, agent string, info AgentInfo) error {
	path, err := s.AgentPath(session, agent)
	if err != nil {
		return err
	}
	if !s.at120 || !s.persist {
		return nil
	}
	var o object
	o.add("agentType", info.Type)
	o.add("description", info.Description)
	if s.at325 {
		o.add("toolUseId", info.ToolUseID)
		o.add("spawnDepth", 1)
	}
	if err := writeFile(strings.TrimSuffix(path, ".jsonl")+".meta.json", o.bytes()); err != nil {
		return fmt.Errorf("noting sub-agent %s of session %s: %w", agent, session, err)
	}
	return nil
}

// A QueueOp is what happens to a message that waits for its turn.
type QueueOp string

// The operations on the queue.
const (
	Enqueue QueueOp = "enqueue" // a message was read
	Dequeue QueueOp = "dequeue" // a turn took it
	Remove  QueueOp = "remove"  // it was folded into the running turn
)

// Queue writes what happens to the queue of prompts, as far as the version records it. Uuid and content are those of the prompt; Dequeue needs
// neither. Each operation is for one message.
func (s *Store) Queue(session string, op QueueOp, uuid, content string) error {
	if op == Enqueue && !s.at120 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	st, err := s.session(session)
	if err != nil {
		return fmt.Errorf("recording the queue of session %s: %w", session, err)
	}
	var o object
	o.add("type", "queue-operation")
	o.add("operation", op)
	o.add("timestamp", stamp(s.now()))
	o.add("sessionId", session)
	if op == Enqueue || op == Remove && s.at325 {
		o.add("content", content)
	}
	if op == Remove && s.at325 {
		o.add("reason", "absorbed_mid_turn")
		o.add("commandUuid", uuid)
	}
	if err := s.write(st, o.bytes()); err != nil {
		return fmt.Errorf("recording the queue of session %s: %w", session, err)
	}
	return nil
}

// Rename gives a session a title.
func (s *Store) Rename(session, title string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	st, err := s.session(session)
	if err != nil {
		return fmt.Errorf("renaming session %s: %w", session, err)
	}
	st.title = title
	if err := s.writeTitle(st, session); err != nil {
		return fmt.Errorf("renaming session %s: %w", session, err)
	}
	if !s.at325 || !s.persist || !st.said {
		return nil
	}
	var o object
	o.add("customTitle", title)
	if err := writeFile(filepath.Join(strings.TrimSuffix(st.path, ".jsonl"), "custom-title.json"), o.bytes()); err != nil {
		return fmt.Errorf("renaming session %s: %w", session, err)
	}
	return nil
}

// Title returns the title of a session of this process, or "".
func (s *Store) Title(session string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if st, ok := s.sessions[session]; ok {
		return st.title
	}
	return ""
}

// writeTitle writes the lines with the title, if there is one.
func (s *Store) writeTitle(st *session, id string) error {
	if st.title == "" {
		return nil
	}
	if err := s.writeNote(st, "custom-title", "customTitle", st.title, id); err != nil || !s.at325 {
		return err
	}
	return s.writeNote(st, "agent-name", "agentName", st.title, id)
}

// writeNote writes a line of one member beside its type and session.
func (s *Store) writeNote(st *session, kind, name, value, id string) error {
	var o object
	o.add("type", kind)
	o.add(name, value)
	o.add("sessionId", id)
	return s.write(st, o.bytes())
}

// Finish records the end of a process that ends in good order: the last prompt, the title, the costs, each as far as the version keeps it.
// Nothing is written for a session in which this process said nothing. A process that is killed never gets here, and so loses its costs.
func (s *Store) Finish(session string, costs Costs) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	st, ok := s.sessions[session]
	if !ok || !st.begun || !st.said || !s.at120 {
		return nil
	}
	err := s.finish(st, session, costs)
	if err != nil {
		return fmt.Errorf("finishing the transcript of session %s: %w", session, err)
	}
	return nil
}

func (s *Store) finish(st *session, id string, costs Costs) error {
	if st.prompt != "" {
		var o object
		o.add("type", "last-prompt")
		o.add("lastPrompt", st.prompt)
		o.add("leafUuid", st.leaf)
		o.add("sessionId", id)
		if err := s.write(st, o.bytes()); err != nil {
			return err
		}
	}
	if err := s.writeTitle(st, id); err != nil || !s.at325 {
		return err
	}
	line, err := costs.line(id)
	if err != nil {
		return err
	}
	return s.write(st, line)
}

// write adds a line to a session's transcript. The mutex must be held.
func (s *Store) write(st *session, line []byte) error {
	first := !st.begun
	st.begun = true
	if !s.persist {
		return nil
	}
	return appendLine(st.path, line, first)
}

// appendLine adds a line to a file with one call to the system, so that processes that write to the same file do not mix their lines. If mend is
// set, half a line at the end of the file is ended first.
func appendLine(path string, line []byte, mend bool) (err error) {
	f, err := openFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	out := make([]byte, 0, len(line)+2)
	if mend && endsInLine(f) {
		out = append(out, '\n')
	}
	out = append(out, line...)
	out = append(out, '\n')
	_, err = f.Write(out)
	return err
}

// endsInLine reports whether the file's last line has no end.
func endsInLine(f *os.File) bool {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil || size == 0 {
		return false
	}
	var last [1]byte
	_, err = f.ReadAt(last[:], size-1)
	return err == nil && last[0] != '\n'
}

// openFile opens a file and makes its folders if need be.
func openFile(path string, flags int) (*os.File, error) {
	f, err := os.OpenFile(path, flags, 0o600)
	if !errors.Is(err, os.ErrNotExist) {
		return f, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	return os.OpenFile(path, flags, 0o600)
}

// writeFile replaces a file.
func writeFile(path string, data []byte) (err error) {
	f, err := openFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = io.Copy(f, bytes.NewReader(data))
	return err
}

// promptText returns the text of a prompt as it is repeated at the end of a transcript: on one line and not too long.
func promptText(message json.RawMessage) string {
	text := ""
	for _, b := range messageBlocks(message) {
		if b.Type == "text" {
			text = b.Text
		}
	}
	text = strings.TrimSpace(strings.ReplaceAll(text, "\n", " "))
	if utf8.RuneCountInString(text) <= maxPrompt {
		return text
	}
	return strings.TrimSpace(string([]rune(text)[:maxPrompt])) + "…"
}
