package launch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/switchboard-dev/switchboard/wire"
)

// How much a part of a search reads: it stops behind the transcript with which it
// has read so much. A line that is longer than mostSearched holds pictures or the
// output of tools, not what somebody said, and is passed over.
const (
	searchBytes  = 256 << 20
	mostSearched = 4 << 20
)

// A TranscriptSearch is a part of a search through transcripts.
type TranscriptSearch struct {
	Found []TranscriptHit
	// Before and BeforeAfter are where to go on, for a [TranscriptQuery]. Before is
	// zero if all were looked at.
	Before      time.Time
	BeforeAfter string
}

// A TranscriptHit is a conversation in which somebody said what is looked for.
type TranscriptHit struct {
	Transcript
	// Snippet is the text around the words, in one line, Marks are the words within
	// it: where they begin and end, in runes.
	Snippet string
	Marks   [][2]int
}

// SearchTranscripts goes through the conversations that a query selects, the
// newest first, and returns those with a message, or a title, that all words of the
// text occur in, large or small. It stops when it has as many as are wanted, or has
// read enough. Messages that a rewind gave up count, too. Memory is needed for the
// names of the files and for a line of one of them.
func (l *Launcher) SearchTranscripts(ctx context.Context, q TranscriptQuery, text string) (*TranscriptSearch, error) {
	return l.searchTranscripts(ctx, q, text, searchBytes)
}

func (l *Launcher) searchTranscripts(ctx context.Context, q TranscriptQuery, text string, most int64) (*TranscriptSearch, error) {
	s := newSearcher(text)
	if len(s.words) == 0 {
		return nil, errors.New("searching transcripts: nothing is looked for")
	}
	if q.Limit <= 0 {
		q.Limit = 100
	}
	config := l.ConfigDir(&Spec{})
	projects, err := openProjects(config)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return &TranscriptSearch{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("searching transcripts: %w", err)
	}
	defer func() { _ = projects.Close() }() // it was only read
	files, err := transcriptFiles(ctx, projects, config, &q)
	if err != nil {
		return nil, err
	}
	out := &TranscriptSearch{}
	read := int64(0)
	for i := range files {
		f := &files[i]
		snippet, marks, err := s.search(ctx, projects, f)
		if err != nil {
			return nil, fmt.Errorf("searching transcripts: %w", err)
		}
		read += f.size
		if snippet != "" {
			if t, ok := f.read(projects); ok && (q.Dir == "" || t.Dir == "" || sameFolder(t.Dir, q.Dir)) {
				out.Found = append(out.Found, TranscriptHit{t, snippet, marks})
			}
		}
		if i < len(files)-1 && (len(out.Found) == q.Limit || read >= most) {
			out.Before, out.BeforeAfter = f.modified, f.conversation
			break
		}
	}
	return out, nil
}

// A searcher looks for words. It is used by one goroutine.
type searcher struct {
	words []string // in small letters
	plain [][]byte // those that stand in a line of JSON as they are, if they are in its text at all
	small []byte   // a line in small letters
}

func newSearcher(text string) *searcher {
	s := &searcher{}
	for word := range strings.FieldsSeq(small(text)) {
		s.words = append(s.words, word)
		escaped := func(r rune) bool {
			return r >= utf8.RuneSelf || r == '"' || r == '\\' || r == '/' || r == '<' || r == '>' || r == '&' || r == '\'' || unicode.IsControl(r)
		}
		if !strings.ContainsFunc(word, escaped) {
			s.plain = append(s.plain, []byte(word))
		}
	}
	return s
}

// small returns a text in small letters, with as many runes as before.
func small(text string) string { return strings.Map(unicode.ToLower, text) }

// search returns what the words were found in; nothing if they were not.
func (s *searcher) search(ctx context.Context, projects *os.Root, t *transcriptFile) (snippet string, marks [][2]int, err error) {
	f, err := projects.OpenFile(filepath.Join(t.project, t.conversation+".jsonl"), readOnly, 0)
	if err != nil {
		return "", nil, context.Cause(ctx) // it is gone, or may not be read
	}
	defer func() { _ = f.Close() }() // it was only read
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", nil, context.Cause(ctx)
	}
	lines := wire.NewLineReader(io.LimitReader(f, t.size), mostSearched)
	for n := 0; ; n++ {
		if n%256 == 0 {
			if err := context.Cause(ctx); err != nil {
				return "", nil, err
			}
		}
		line, err := lines.Next()
		if _, long := errors.AsType[*wire.LineTooLongError](err); long {
			continue
		}
		if err != nil {
			return "", nil, nil // its end, or it cannot be read on
		}
		if !s.may(line) {
			continue
		}
		for _, text := range spoken(line) {
			if snippet, marks = s.find(text); snippet != "" {
				return snippet, marks, nil
			}
		}
	}
}

// may reports whether a line can hold the words. It is what most of the time is
// spent with.
func (s *searcher) may(line []byte) bool {
	if len(s.plain) == 0 {
		return true
	}
	s.small = append(s.small[:0], line...)
	for i, c := range s.small {
		if 'A' <= c && c <= 'Z' {
			s.small[i] = c + 'a' - 'A'
		}
	}
	for _, word := range s.plain {
		if !bytes.Contains(s.small, word) {
			return false
		}
	}
	return true
}

// spoken returns what was said with a line of a transcript, or what the
// conversation was called.
func spoken(line []byte) []string {
	header, err := wire.Peek(line)
	if err != nil {
		return nil
	}
	one := func(name string) []string {
		text, ok := wire.LookupString(line, name)
		if !ok {
			return nil
		}
		return []string{text}
	}
	is := func(name string) bool {
		value, ok := wire.Lookup(line, name)
		return ok && string(value) == "true"
	}
	switch string(header.Type) {
	case "custom-title":
		return one("customTitle")
	case "ai-title":
		return one("aiTitle")
	case "user", "assistant":
		if is("isSidechain") || is("isMeta") || is("isCompactSummary") {
			return nil
		}
	default:
		return nil
	}
	m, err := wire.Decode(line)
	if err != nil {
		return nil
	}
	var blocks []wire.Block
	switch m := m.(type) { //nolint:gochecksumtype // nothing else is said by anybody
	case *wire.User:
		blocks = m.Message.Content.All()
	case *wire.Assistant:
		blocks = m.Message.Content
	}
	var texts []string
	for _, b := range blocks {
		if text, ok := b.(*wire.TextBlock); ok {
			texts = append(texts, text.Text)
		}
	}
	return texts
}

// How long a snippet is, in runes, and how much of it stands before the first word.
const (
	snippetRunes  = 160
	snippetBefore = 40
)

// find returns the part of a text that the words are in, if all are.
func (s *searcher) find(text string) (snippet string, marks [][2]int) {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "�")), " ")
	low := small(text)
	first := len(low)
	for _, word := range s.words {
		at := strings.Index(low, word)
		if at < 0 {
			return "", nil
		}
		first = min(first, at)
	}
	runes, lows := []rune(text), []rune(low)
	begin := max(0, utf8.RuneCountInString(low[:first])-snippetBefore)
	end := min(len(runes), begin+snippetRunes)
	begin = max(0, end-snippetRunes)
	snippet, shift := string(runes[begin:end]), 0
	if begin > 0 {
		snippet, shift = "…"+snippet, 1
	}
	if end < len(runes) {
		snippet += "…"
	}
	return snippet, s.marks(lows[begin:end], shift)
}

// marks returns where the words are in a text, in order, none within another.
func (s *searcher) marks(low []rune, shift int) [][2]int {
	var marks [][2]int
	for i := 0; i < len(low); i++ {
		longest := 0
		for _, word := range s.words {
			if w := []rune(word); len(w) > longest && len(w) <= len(low)-i && string(low[i:i+len(w)]) == word {
				longest = len(w)
			}
		}
		if longest > 0 {
			marks = append(marks, [2]int{i + shift, i + shift + longest})
			i += longest - 1
		}
	}
	return marks
}
