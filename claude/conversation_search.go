package claude

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/switchboard-dev/switchboard/wire"
)

// maxSearchedLine is how long a line is that is searched: a longer one holds
// pictures or the output of tools, not what was said.
const maxSearchedLine = 4 << 20

// SearchOptions select the conversations that are searched. Nil and the zero value
// select all that are on disk.
type SearchOptions struct {
	ListOptions
	// MaxBytes bounds how much is read: a search stops behind the transcript with
	// which it has read so much. If zero, it goes through all.
	MaxBytes int64
}

// A ConversationSearch is what a search has found.
type ConversationSearch struct {
	Hits []ConversationHit
	// Next is where to go on, for [ListOptions.After]. It is zero if all were
	// searched.
	Next ListPlace
}

// A ConversationHit is a conversation in which the words were found.
type ConversationHit struct {
	ConversationInfo
	// Snippet is the text around the words, in one line.
	Snippet string
	// Marks are the words within Snippet: where each begins and ends, in runes.
	Marks [][2]int
}

// SearchConversations goes through conversations on disk, the last changed first, and
// returns those with a message or a title in which all words of a text occur, in
// upper or lower case. It stops when it has as many as are wanted, or has read
// enough. Messages on branches that a rewind gave up are searched, too. Memory is
// needed for the names of the files and for one line.
func SearchConversations(ctx context.Context, text string, o *SearchOptions) (*ConversationSearch, error) {
	var options SearchOptions
	if o != nil {
		options = *o
	}
	found, err := options.search(ctx, text)
	if err != nil {
		return nil, fmt.Errorf("searching conversations: %w", err)
	}
	return found, nil
}

func (o *SearchOptions) search(ctx context.Context, text string) (*ConversationSearch, error) {
	words := newSearcher(text)
	switch {
	case len(words.words) == 0:
		return nil, &OptionError{"text", "expected a word at least"}
	case o.Store != nil:
		return nil, &OptionError{"Store", "only conversations on disk can be searched"}
	case o.Offset < 0 || o.Limit < 0:
		return nil, &OptionError{"Limit and Offset", "they must not be negative"}
	}
	out := &ConversationSearch{}
	lib, err := o.library()
	if err != nil || lib == nil {
		return out, err
	}
	defer lib.close()
	s, err := lib.choose(ctx, &o.ListOptions)
	if err != nil {
		return nil, err
	}
	var hit ConversationHit
	page := &listPage{skip: o.Offset, left: o.Limit, all: o.Limit == 0, visit: func(info *ConversationInfo) bool {
		hit.ConversationInfo = *info
		out.Hits = append(out.Hits, hit)
		return true
	}}
	// Older copies of a conversation are not searched.
	files := slices.DeleteFunc(s.files, func(f listed) bool {
		had := s.seen[f.id]
		s.seen[f.id] = true
		return had
	})
	read := int64(0)
	for i, f := range files {
		size, err := words.search(ctx, s.kept(f), &hit)
		if err != nil {
			return nil, err
		}
		read += size
		more := true
		if hit.Snippet != "" {
			if info, ok := s.info(f); ok {
				more = page.add(info)
			}
		}
		if i < len(files)-1 && (!more || o.MaxBytes > 0 && read >= o.MaxBytes) {
			out.Next = ListPlace{time.Unix(0, f.modified), idText(f.id)}
			break
		}
	}
	return out, nil
}

// A searcher looks for words. It is used by one goroutine.
type searcher struct {
	words []string // in lower case
	plain [][]byte // those that a line of JSON holds as they are, if its text holds them at all
	lower []byte   // a line in lower case
}

func newSearcher(text string) *searcher {
	s := &searcher{}
	for word := range strings.FieldsSeq(lowerCase(text)) {
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

// lowerCase returns a text in lower case, with as many runes as before.
func lowerCase(text string) string { return strings.Map(unicode.ToLower, text) }

// search sets the snippet and the marks of a hit to what the words were found in; to
// nothing if they were not. It returns the size of the transcript.
func (s *searcher) search(ctx context.Context, k *kept, hit *ConversationHit) (int64, error) {
	hit.Snippet, hit.Marks = "", nil
	f, info, err := k.lib.open(k.file())
	if err != nil {
		return 0, context.Cause(ctx) // it is gone, or may not be read
	}
	defer func() { _ = f.Close() }() // it was only read
	lines := wire.NewLineReader(io.LimitReader(f, info.Size()), maxSearchedLine)
	for n := 0; ; n++ {
		if n%256 == 0 {
			if err := context.Cause(ctx); err != nil {
				return 0, err
			}
		}
		line, err := lines.Next()
		if _, long := errors.AsType[*wire.LineTooLongError](err); long {
			continue
		}
		if err != nil {
			return info.Size(), nil // its end, or the rest cannot be read
		}
		if !s.mayHold(line) {
			continue
		}
		for _, text := range spokenTexts(line) {
			if hit.Snippet, hit.Marks = s.find(text); hit.Snippet != "" {
				return info.Size(), nil
			}
		}
	}
}

// mayHold reports whether a line can hold the words. A search spends most of its
// time here.
func (s *searcher) mayHold(line []byte) bool {
	if len(s.plain) == 0 {
		return true
	}
	s.lower = append(s.lower[:0], line...)
	for i, c := range s.lower {
		if 'A' <= c && c <= 'Z' {
			s.lower[i] = c + 'a' - 'A'
		}
	}
	for _, word := range s.plain {
		if !bytes.Contains(s.lower, word) {
			return false
		}
	}
	return true
}

// spokenTexts returns what was said with a line of a transcript, or what the
// conversation was called.
func spokenTexts(line []byte) []string {
	header, err := wire.Peek(line)
	if err != nil {
		return nil
	}
	switch string(header.Type) {
	case "custom-title":
		return []string{textIn(line, "customTitle")}
	case "ai-title":
		return []string{textIn(line, "aiTitle")}
	case "user", "assistant":
	default:
		return nil
	}
	k, ok := readKept(line)
	if !ok || k.is("isSidechain") || k.is("isMeta") || k.is("isCompactSummary") {
		return nil
	}
	if content := k.message["content"]; isText(content) {
		return []string{textOf(content)}
	}
	var texts []string
	for _, block := range k.blocks {
		if textOf(block["type"]) == "text" {
			texts = append(texts, textOf(block["text"]))
		}
	}
	return texts
}

// How long a snippet is, in runes, and how much of it precedes the first word.
const (
	snippetRunes  = 160
	snippetBefore = 40
)

// find returns the part of a text that the words are in, if all are.
func (s *searcher) find(text string) (snippet string, marks [][2]int) {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "�")), " ")
	low := lowerCase(text)
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
