package history

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/switchboard-dev/switchboard/wire"
)

// A record is a line of a transcript as it was read.
type record struct {
	Type              string          `json:"type"`
	UUID              string          `json:"uuid"`
	ParentUUID        string          `json:"parentUuid"` // empty for null
	IsSidechain       bool            `json:"isSidechain"`
	Timestamp         string          `json:"timestamp"`
	CWD               string          `json:"cwd"`
	Slug              string          `json:"slug"`
	PermissionMode    string          `json:"permissionMode"`
	IsAPIErrorMessage bool            `json:"isApiErrorMessage"`
	CustomTitle       string          `json:"customTitle"`
	MessageID         string          `json:"messageId"`
	IsSnapshotUpdate  bool            `json:"isSnapshotUpdate"`
	Message           json.RawMessage `json:"message"`
	Attachment        json.RawMessage `json:"attachment"`

	raw     []byte
	answer  string  // id of the API's message
	content []block // what the line tells the model, which for most types of lines is nothing
	text    bool    // whether that was a string
}

// role returns the role in which the line goes to the model.
func (r *record) role() string {
	if r.Type == string(Assistant) {
		return string(Assistant)
	}
	return string(User)
}

// linked reports whether the line is part of the chain in which each one names the one before.
func (r *record) linked() bool {
	switch r.Type {
	case string(User), string(Assistant), string(System), string(Attachment), "progress":
		return r.UUID != "" && !r.IsSidechain
	}
	return false
}

// parse reads a line.
func parse(raw []byte) (record, error) {
	var r record
	if err := json.Unmarshal(raw, &r); err != nil {
		return record{}, err
	}
	r.raw = raw
	var content json.RawMessage
	switch r.Type {
	case string(User), string(Assistant):
		var m struct {
			ID      string          `json:"id"`
			Content json.RawMessage `json:"content"`
		}
		if err := json.Unmarshal(r.Message, &m); err != nil {
			return record{}, err
		}
		r.answer = m.ID
		if !r.IsAPIErrorMessage {
			content = m.Content
		}
	case string(Attachment):
		var a struct {
			Type   string          `json:"type"`
			Prompt json.RawMessage `json:"prompt"`
		}
		if err := json.Unmarshal(r.Attachment, &a); err != nil {
			return record{}, err
		}
		if a.Type == "queued_command" {
			content = a.Prompt
		}
	}
	r.content = blocksOf(content)
	r.text = isString(content)
	return r, nil
}

// Load reads a session that [Store.Find] knows. Lines that cannot be read are skipped and counted. If there is no such session, or nothing was
// said in it, the error is a [*NotFoundError].
func (s *Store) Load(session string) (*Conversation, error) {
	path, err := s.locate(session)
	if err != nil {
		return nil, err
	}
	c, err := s.read(session, path)
	if err != nil {
		return nil, fmt.Errorf("loading session %s: %w", session, err)
	}
	if !c.alive() {
		return nil, &NotFoundError{Ref: session, text: "No conversation found with session ID: " + session}
	}
	return c, nil
}

// read reads a transcript; the conversation may be empty.
func (s *Store) read(session, path string) (*Conversation, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return s.readFrom(f, session, path)
}

// readFrom is read without the file.
func (s *Store) readFrom(from io.Reader, session, path string) (*Conversation, error) {
	c := &Conversation{ID: session, Path: path, at325: s.at325}
	var chain []record
	reader := wire.NewLineReader(from, 0)
	for {
		line, err := reader.Next()
		if _, tooLong := errors.AsType[*wire.LineTooLongError](err); tooLong {
			c.Damaged++
			continue
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		r, err := parse(bytes.Clone(line))
		if err != nil {
			c.Damaged++
			continue
		}
		if r.linked() {
			chain = append(chain, r)
			continue
		}
		c.readMetadata(r)
	}
	c.lines = s.follow(chain)
	for _, r := range c.lines {
		if r.Slug != "" {
			c.Slug = r.Slug
		}
		if r.CWD != "" {
			c.Dir = r.CWD
		}
		if at, err := time.Parse(time.RFC3339, r.Timestamp); err == nil && at.After(c.last) {
			c.last = at
		}
	}
	c.build()
	return c, nil
}

// readMetadata keeps what a line outside of the chain tells.
func (c *Conversation) readMetadata(r record) {
	switch r.Type {
	case "custom-title":
		c.Title = r.CustomTitle
	case "cost-state":
		var state costState
		if c.at325 && json.Unmarshal(r.raw, &state) == nil {
			c.Costs = state.costs()
		}
	case "file-history-snapshot":
		c.snapshots = append(c.snapshots, r.raw)
		if !r.IsSnapshotUpdate {
			c.prompts = append(c.prompts, r.MessageID)
		}
	case "file-history-delta":
		c.snapshots = append(c.snapshots, r.raw)
	}
}

// follow returns the lines of the conversation that was written to last: from its end back to its beginning, or to where it was summed up.
// Earlier branches, which --resume-session-at leaves behind, are not part of it.
func (s *Store) follow(chain []record) []record {
	at := make(map[string]int, len(chain)) // the first line of each uuid
	for i, r := range chain {
		if _, twice := at[r.UUID]; !twice {
			at[r.UUID] = i
		}
	}
	in := make([]bool, len(chain))
	said := false
	for i := s.end(chain); i >= 0 && !in[i]; {
		in[i] = true
		r := &chain[i]
		said = said || r.Type == string(User) || r.Type == string(Assistant)
		parent, ok := at[r.ParentUUID]
		switch {
		case r.ParentUUID == "":
			i = -1
		case ok && parent < i:
			i = parent
		case s.at120:
			i-- // its parent is damaged: what stands before it is the best guess
		default:
			i = -1 // the oldest versions forget everything before
		}
	}
	if !said {
		return nil
	}
	if s.at120 { // the oldest versions forget all results of an answer but the one that the chain leads through
		addSiblings(chain, in)
	}
	var lines []record
	for i, r := range chain {
		if in[i] && r.Type != "progress" && at[r.UUID] == i {
			lines = append(lines, r)
		}
	}
	return lines
}

// end returns the line at which the conversation ends, or -1.
func (s *Store) end(chain []record) int {
	for i, r := range slices.Backward(chain) {
		if r.Type != "progress" { // such lines come late and hang anywhere
			return i
		}
	}
	return -1
}

// addSiblings adds what belongs to an answer of which a part is in: its other blocks, and the results of all its calls. Each result hangs at
// its own call, so the chain leads through only one of them.
func addSiblings(chain []record, in []bool) {
	answers, calls := make(map[string]bool), make(map[string]bool)
	for i, r := range chain {
		if in[i] && r.Type == string(Assistant) && r.answer != "" {
			answers[r.answer] = true
		}
	}
	for i, r := range chain {
		if in[i] || r.Type != string(Assistant) || !answers[r.answer] {
			continue
		}
		in[i] = true
	}
	for i, r := range chain {
		if !in[i] || r.Type != string(Assistant) {
			continue
		}
		for _, b := range r.content {
			if b.Type == "tool_use" {
				calls[b.ID] = true
			}
		}
	}
	for i, r := range chain {
		if in[i] || r.Type != string(User) {
			continue
		}
		in[i] = slices.ContainsFunc(r.content, func(b block) bool { return b.Type == "tool_result" && calls[b.ToolUseID] })
	}
}

// Continue makes the lines that come for the conversation's session follow its end, for --resume and --continue.
func (s *Store) Continue(c *Conversation) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.resumed(c, c.Path)
	if err := st.checkpoint.restore(s.editsPath(c.ID), c.prompts); err != nil {
		return fmt.Errorf("continuing session %s: %w", c.ID, err)
	}
	s.sessions[c.ID] = st
	return nil
}

// resumed returns a session that goes on where a conversation ended.
func (s *Store) resumed(c *Conversation, path string) *session {
	return &session{
		path: path, agents: make(map[string]string), leaf: c.Leaf, turns: c.turns, title: c.Title, slug: c.Slug, said: true,
		repairs: slices.Clone(c.repairs),
	}
}

// Fork makes a copy of the conversation under a new id, which is then continued, and returns it. Its transcript begins with its first line.
func (s *Store) Fork(c *Conversation, to string) (*Conversation, error) {
	path, err := wire.TranscriptPath(s.project, to)
	if err != nil {
		return nil, fmt.Errorf("forking session %s: %w", c.ID, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.resumed(c, path)
	for _, r := range c.lines {
		line := r.raw
		if s.at120 { // the oldest versions leave the old id in the copies
			if line, err = withMember(r.raw, "sessionId", to); err != nil {
				return nil, fmt.Errorf("forking session %s: %w", c.ID, err)
			}
		}
		st.held = append(st.held, line)
	}
	st.held = append(st.held, c.snapshots...)
	if err := st.checkpoint.restore(s.editsPath(c.ID), c.prompts); err != nil {
		return nil, fmt.Errorf("forking session %s: %w", c.ID, err)
	}
	if s.persist {
		if err := st.checkpoint.save(s.editsPath(to)); err != nil {
			return nil, fmt.Errorf("forking session %s: %w", c.ID, err)
		}
	}
	if s.at325 {
		if err := s.writeTitle(st, to); err != nil {
			return nil, fmt.Errorf("forking session %s: %w", c.ID, err)
		}
	}
	s.sessions[to] = st
	fork := *c
	fork.ID, fork.Path, fork.Dir = to, path, s.dir
	return &fork, nil
}
