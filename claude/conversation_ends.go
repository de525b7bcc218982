package claude

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/switchboard-dev/switchboard/wire"
)

const (
	// endSize is how much is read of a transcript's beginning, and of its end.
	endSize = 64 << 10
	// maxHead is how much is read of the beginning if both ends tell nothing.
	maxHead = 512 << 10
	// maxPrompt is how much of a prompt is told.
	maxPrompt = 1000
)

// An endScan collects what the beginning and the end of a transcript tell. The
// zero value is ready.
type endScan struct {
	info    ConversationInfo
	begun   bool   // a line of the conversation was seen
	aside   bool   // it is a sub-agent's
	prompt  bool   // the first prompt is known
	command string // the first command, for want of a prompt
	notes   map[string]string
	branch  string // at the end
	dir     string // at the end, for want of one at the beginning
	forward bool   // the lines come in their order, all of them
}

// A buffer for both ends is used for one transcript after the other.
type endBuffer [2 * endSize]byte

// ends reads the beginning and the end of a transcript. It returns false if it
// is not one that a person would continue.
func (k *kept) ends(buffer *endBuffer) (*ConversationInfo, bool) {
	f, info, err := k.lib.open(k.file())
	if err != nil {
		return nil, false
	}
	defer func() { _ = f.Close() }() // it was only read
	var scan endScan
	if err := scan.file(f, info.Size(), buffer, k.lib.read); err != nil {
		return nil, false
	}
	if scan.aside {
		return nil, false
	}
	out := scan.done()
	k.beside(out)
	// What does not fit into what was read may yet have been said.
	if out.Summary() == "" && info.Size() <= maxHead {
		return nil, false
	}
	out.ID, out.Path, out.Modified, out.Bytes = k.id, k.path(), info.ModTime(), info.Size()
	return out, true
}

// file reads both ends of a file.
func (s *endScan) file(f io.ReaderAt, size int64, buffer *endBuffer, read func(int)) error {
	part := func(b []byte, at int64) ([]byte, error) {
		n, err := f.ReadAt(b, at)
		if read != nil {
			read(n)
		}
		if errors.Is(err, io.EOF) {
			err = nil // it was cut meanwhile
		}
		return b[:n], err
	}
	if size <= int64(len(buffer)) {
		all, err := part(buffer[:size], 0)
		if err == nil {
			s.tail(all)
			s.head(all, true)
		}
		return err
	}
	head, err := part(buffer[:endSize], 0)
	if err != nil {
		return err
	}
	tail, err := part(buffer[endSize:], size-endSize)
	if err != nil {
		return err
	}
	if _, rest, ok := bytes.Cut(tail, []byte("\n")); ok {
		s.tail(rest)
	}
	// Of the notes in the beginning the last ones count, too.
	s.tail(head[:bytes.LastIndexByte(head, '\n')+1])
	s.head(head, false)
	if told := *s; s.aside || told.done().Summary() != "" {
		return nil
	}
	head, err = part(make([]byte, min(size, maxHead)), 0)
	if err == nil {
		s.head(head, int64(len(head)) == size)
	}
	return err
}

// readMetadata reads a line that describes the conversation, and reports
// whether it is one. The last in the file counts, which comes first unless the
// lines come in their order.
func (s *endScan) readMetadata(kind, line []byte) bool {
	var name string
	switch string(kind) {
	case "custom-title":
		name = "customTitle"
	case "ai-title":
		name = "aiTitle"
	case "summary": // of old CLIs
		name = "summary"
	case "tag":
		name = "tag"
	case "last-prompt":
		name = "lastPrompt"
	default:
		return false
	}
	if _, had := s.notes[name]; (!had || s.forward) && json.Valid(line) {
		if s.notes == nil {
			s.notes = make(map[string]string)
		}
		s.notes[name] = textIn(line, name)
	}
	return true
}

// head takes in the lines at the beginning. whole says that the last one is not
// cut off.
func (s *endScan) head(text []byte, whole bool) {
	for len(text) > 0 && !s.aside {
		line, rest, ended := bytes.Cut(text, []byte("\n"))
		text = rest
		if !ended && !whole {
			s.cut(line)
			return
		}
		s.first(line)
	}
}

// first takes in a line of the beginning.
func (s *endScan) first(line []byte) {
	h, err := wire.Peek(line)
	if err != nil || s.readMetadata(h.Type, line) {
		return
	}
	if s.info.Created.IsZero() && json.Valid(line) {
		s.info.Created = timeIn(line, "timestamp")
	}
	if s.begun && s.prompt || !isTreeLine(h.Type) {
		return
	}
	if k, ok := readKept(line); ok {
		s.readStart(k)
		s.readPrompt(k)
	}
}

// entry takes in one of all lines, in their order.
func (s *endScan) entry(line []byte) {
	if s.aside {
		return
	}
	s.first(line)
	if h, err := wire.Peek(line); err == nil && isTreeLine(h.Type) {
		if branch := textIn(line, "gitBranch"); branch != "" {
			s.branch = branch
		}
	}
}

// isTreeLine reports whether lines of a type are part of a conversation.
func isTreeLine(kind []byte) bool {
	switch string(kind) {
	case "user", "assistant", "system", "attachment":
		return true
	}
	return false
}

// readStart reads the first line of the conversation.
func (s *endScan) readStart(k *keptLine) {
	if k.is("isSidechain") {
		s.aside = s.aside || !s.begun
		return
	}
	s.begun = true
	for name, value := range map[string]*string{"cwd": &s.info.Dir, "gitBranch": &s.info.GitBranch, "entrypoint": &s.info.Entrypoint, "version": &s.info.Version} {
		if *value == "" {
			*value = k.text(name)
		}
	}
}

// readPrompt keeps the first prompt.
func (s *endScan) readPrompt(k *keptLine) {
	if s.prompt || k.kind != "user" || k.is("isSidechain") || k.is("isMeta") || k.is("isCompactSummary") {
		return
	}
	if content := k.message["content"]; isText(content) {
		s.text(textOf(content))
		return
	}
	for _, block := range k.blocks {
		if textOf(block["type"]) == "text" && s.text(textOf(block["text"])) {
			return
		}
	}
}

// text notes a text in the user's name and reports whether it is a prompt.
func (s *endScan) text(text string) bool {
	text = strings.TrimSpace(text)
	if name, ok := commandIn(text); ok {
		if s.command == "" {
			s.command = name
		}
		return false
	}
	if !isPrompt(text) {
		return false
	}
	s.info.FirstPrompt, s.prompt = shortened(text), true
	return true
}

// isPrompt reports whether a text is what a person, or a program in their place,
// has asked: the CLI puts more than that into the user's name.
func isPrompt(text string) bool {
	if text == "" || strings.HasPrefix(text, interruptNote) {
		return false
	}
	for _, tag := range []string{"<local-command-", "<command-", "<task-notification>", "<bash-", "<ide_", "<session-start-hook>", "<system-reminder>", "<tick>"} {
		if strings.HasPrefix(text, tag) {
			return false
		}
	}
	return true
}

// commandIn returns the name of the command that a text stands for.
func commandIn(text string) (string, bool) {
	if !strings.HasPrefix(text, "<command-") {
		return "", false
	}
	_, name, ok := strings.Cut(text, "<command-name>")
	if !ok {
		return "", false
	}
	name, _, _ = strings.Cut(name, "<")
	return shortened(strings.TrimSpace(name)), true
}

// tail takes in the lines at the end, the last one first.
func (s *endScan) tail(text []byte) {
	for len(text) > 0 {
		text = bytes.TrimSuffix(text, []byte("\n"))
		i := bytes.LastIndexByte(text, '\n')
		line := text[i+1:]
		text = text[:i+1]
		h, err := wire.Peek(line)
		if err != nil || s.readMetadata(h.Type, line) || s.branch != "" || !isTreeLine(h.Type) || !json.Valid(line) {
			continue
		}
		s.branch = textIn(line, "gitBranch")
		if s.dir == "" {
			s.dir = textIn(line, "cwd")
		}
	}
}

// done returns what was found.
func (s *endScan) done() *ConversationInfo {
	out := &s.info
	out.Title, out.Tag = s.notes["customTitle"], s.notes["tag"]
	out.GeneratedTitle = cmp.Or(s.notes["aiTitle"], s.notes["summary"])
	out.LastPrompt = shortened(s.notes["lastPrompt"])
	out.FirstPrompt = cmp.Or(out.FirstPrompt, s.command)
	out.GitBranch = cmp.Or(s.branch, out.GitBranch)
	out.Dir = cmp.Or(out.Dir, s.dir)
	return out
}

// cut takes in a line of which only the beginning was read: one that begins with
// a picture or a long text may be longer than what is read in all.
func (s *endScan) cut(line []byte) {
	m, name, value := objectBegun(line)
	switch textOf(m["type"]) {
	case "", "user":
	default:
		return
	}
	// The type may come behind the message. A message without an id is no answer.
	k := &keptLine{jsonObject: m, kind: "user"}
	if len(m) == 0 || s.prompt && s.begun {
		return
	}
	if name != "message" {
		k.message, _ = objectOf(m["message"])
		k.blocks = objectsOf(k.message["content"])
		if k.message != nil && textOf(k.message["role"]) == "user" {
			s.readStart(k)
			s.readPrompt(k)
		}
		return
	}
	message, part, content := objectBegun(value)
	if textOf(message["role"]) != "user" || part != "content" || len(content) == 0 || k.is("isMeta") || k.is("isSidechain") {
		return
	}
	s.readStart(k)
	switch content[0] {
	case '"':
		s.text(textBegun(content))
	case '[':
		for element := range wire.Elements(content) {
			block, part, value := objectBegun(element)
			if textOf(block["type"]) == "text" {
				known := textOf(block["text"])
				if part == "text" {
					known = textBegun(value)
				}
				if s.text(known) {
					return
				}
			}
		}
	}
}

// objectBegun takes apart an object that may be cut off: the members that are
// whole, and the name and the beginning of the one that is not, if there is one.
func objectBegun(text []byte) (whole jsonObject, name string, value []byte) {
	if !isObject(text) {
		return nil, "", nil
	}
	whole = jsonObject{}
	for member, raw := range wire.Members(text) {
		if !json.Valid(raw) {
			return whole, member, raw
		}
		whole[member] = raw
	}
	return whole, "", nil
}

// textBegun reads a string that is cut off.
func textBegun(text []byte) string {
	if len(text) < 2 || text[0] != '"' {
		return ""
	}
	text = text[1:min(len(text), 8*maxPrompt)]
	// The cut may be inside of an escape or of a character, which are twelve
	// bytes at most.
	for n := range min(len(text), 12) {
		begun := text[:len(text)-n]
		if !utf8.Valid(begun) {
			continue
		}
		var out string
		if json.Unmarshal([]byte(`"`+string(begun)+`"`), &out) == nil {
			return out
		}
	}
	return ""
}

// shortened cuts a text to what is told of a prompt.
func shortened(text string) string {
	if len(text) <= maxPrompt {
		return strings.Clone(text)
	}
	return strings.Clone(strings.ToValidUTF8(text[:maxPrompt], ""))
}

// textIn returns a member of a line that is a string.
func textIn(line []byte, name string) string {
	text, _ := wire.LookupString(line, name)
	return strings.Clone(text)
}

// timeIn returns a member of a line that is a time.
func timeIn(line []byte, name string) time.Time {
	at, err := time.Parse(time.RFC3339, textIn(line, name))
	if err != nil {
		return time.Time{}
	}
	return at
}

// The files beside a transcript.
const (
	archivedFile = "archived.json"
	titleFile    = "custom-title.json"
)

// beside adds what the files beside a transcript tell.
func (k *kept) beside(info *ConversationInfo) {
	if folder, err := k.lib.root.Lstat(k.folder()); err != nil || !folder.IsDir() {
		return
	}
	member := func(name, member string) []byte {
		data, err := k.lib.small(filepath.Join(k.folder(), name))
		if err != nil || !json.Valid(data) {
			return nil
		}
		value, _ := wire.Lookup(data, member)
		return value
	}
	info.Archived = isTrue(member(archivedFile, "archived"))
	if info.Title == "" {
		info.Title = textOf(member(titleFile, "customTitle"))
	}
}
