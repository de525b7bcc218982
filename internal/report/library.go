package report

import (
	"context"
	"iter"
	"time"

	"github.com/switchboard-dev/switchboard/api"
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
