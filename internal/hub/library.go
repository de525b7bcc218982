package hub

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/journal"
)

// A Library is what the hub needs of the disk: conversations that the CLI has
// kept there, and folders. Its methods are safe for concurrent use, read no more
// than they must, and leave out what may not be read.
type Library interface {
	// Transcripts lists conversations, the newest first.
	Transcripts(ctx context.Context, q TranscriptQuery) ([]TranscriptFile, error)
	// SearchTranscripts returns conversations with a message that all words of a
	// text occur in, the newest first. It may stop before it has looked at all, and
	// says then where to go on.
	SearchTranscripts(ctx context.Context, q TranscriptQuery, text string) (*TranscriptSearch, error)
	// ReadTranscript returns the lines of a conversation in the form in which the
	// CLI sends them. If dir is empty, the newest transcript in any folder is
	// meant. The error is fs.ErrNotExist if there is none.
	ReadTranscript(ctx context.Context, dir, conversation string) (iter.Seq2[[]byte, error], error)
	// Folders completes the beginning of an absolute path, or one that begins
	// with "~", to folders that there are, in the order of their names. Hidden
	// ones are left out unless the prefix asks for them.
	Folders(ctx context.Context, prefix string, limit int) ([]api.Folder, error)
	// Look returns those of the paths that are folders, in their order.
	Look(ctx context.Context, paths []string) ([]api.Folder, error)
}

// A TranscriptQuery selects transcripts. The zero value selects all.
type TranscriptQuery struct {
	// Dir is the folder that conversations were held in, Conversation the id of
	// one, Prefix what ids begin with.
	Dir, Conversation, Prefix string
	// Before leaves out what is not older than a time and, at that very time,
	// not after a conversation's id. If zero, the list begins with the newest.
	Before      time.Time
	BeforeAfter string
	Limit       int
}

// A TranscriptFile is a conversation on disk.
type TranscriptFile struct {
	Conversation string
	// Dir is the folder that it was held in, Title its title or the beginning of
	// its first prompt; both are empty if the file does not tell them early.
	Dir, Title string
	Modified   time.Time
	Bytes      int64
	// Snippet is the text around words that were looked for, in one line, Marks are
	// the words within it.
	Snippet string
	Marks   []api.Mark
}

// A TranscriptSearch is a part of a search through conversations on disk.
type TranscriptSearch struct {
	Files []TranscriptFile
	// Before and BeforeAfter are where to go on; Before is zero if all were looked
	// at.
	Before      time.Time
	BeforeAfter string
}

// library returns what the hub can see of the disk.
func (h *Hub) library() (Library, error) {
	if h.options.Library == nil {
		return nil, api.Errorf(http.StatusConflict, api.CodeConflict, "this hub doesn't read conversations from disk")
	}
	return h.options.Library, nil
}

// limited returns how many rows a page has: what was asked for within bounds, or
// the usual number.
func limited(asked, usual, most int) int {
	if asked <= 0 {
		return usual
	}
	return min(asked, most)
}

// An entryReader goes through the entries of a session, in order, up to the last that
// there was when it began. It holds no more than a part of them.
type entryReader struct {
	hub     *Hub
	session *journal.Session
	after   int64
	page    []journal.Entry
}

// How much an entryReader reads at once.
const (
	readEntries = 500
	readBytes   = 4 << 20
)

// read begins to go through a session's entries.
func (h *Hub) read(ctx context.Context, id string) (*entryReader, error) {
	row, err := h.journal.Session(ctx, id)
	if err != nil {
		return nil, h.problem(err, id)
	}
	return &entryReader{hub: h, session: row}, nil
}

// next returns the next entry, nil after the last.
func (r *entryReader) next(ctx context.Context) (*journal.Entry, error) {
	if len(r.page) == 0 && r.after < r.session.Seq {
		page, err := r.hub.journal.Entries(ctx, r.session.ID, r.after, readEntries, readBytes)
		if err != nil {
			return nil, r.hub.problem(err, r.session.ID)
		}
		if len(page) == 0 { // never silently a hole
			return nil, r.hub.problem(fmt.Errorf("reading a session that was removed meanwhile: %w", journal.ErrNotFound), r.session.ID)
		}
		r.page = page
	}
	if len(r.page) == 0 || r.page[0].Seq > r.session.Seq {
		return nil, nil
	}
	e := &r.page[0]
	r.page, r.after = r.page[1:], e.Seq
	return e, nil
}

// mostTitle is how long a title may be, in runes.
const mostTitle = 200

// inOneLine makes a text fit for a title: one line, without control characters,
// not too long.
func inOneLine(text string) string { return cutLine(text, mostTitle) }

// cutLine returns a text in one line, without control characters, cut to a number of
// runes.
func cutLine(text string, limit int) string {
	var b strings.Builder
	space, n := false, 0
	for _, r := range text {
		if unicode.IsSpace(r) || unicode.IsControl(r) || r == utf8.RuneError {
			space = n > 0
			continue
		}
		if n >= limit-1 {
			b.WriteRune('…')
			break
		}
		if space {
			b.WriteByte(' ')
			space, n = false, n+1
		}
		b.WriteRune(r)
		n++
	}
	return b.String()
}
