package claude

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"time"

	"github.com/switchboard-dev/switchboard/wire"
)

// A Transcript is what a CLI has kept of a conversation on disk. A CLI that
// resumes a conversation does not tell what was said before; the transcript
// does.
//
// It is a picture of the file at the moment of [OpenTranscript]: what is written
// later is not part of it. All methods are safe for concurrent use.
type Transcript struct {
	conversation string
	path         string
	file         os.FileInfo // as it was opened first
	maxLine      int
	side         bool   // it is a sub-agent's
	toolUse      string // the call that started the sub-agent, if that is known
	wanted       func(nodeKind) bool
	source       func() (io.ReadCloser, error) // what is read instead of the file, in tests
	kept         []int                         // the numbers of the lines that are part of the conversation, ascending
	damaged      int
}

// A TranscriptLine is a line of a conversation in the form in which the CLI
// sends such a line to its controller.
type TranscriptLine struct {
	// Bytes is the line without its line end; it is the caller's. It is nil for a
	// line that was too long.
	Bytes []byte
	// UUID is the line's uuid.
	UUID string
	// Time is when it was written; zero if the line does not say so.
	Time time.Time
	// TooLong tells of a line that was over the limit and is left out; nil for
	// all others.
	TooLong *wire.LineTooLongError
}

// OpenTranscript finds and reads the transcript of a conversation. configDir is
// the folder of [wire.ConfigDir], dir the folder that the CLI worked in. If dir
// is empty, or there is no such transcript for it, the newest one of that
// conversation in any folder is taken. If there is none at all, the error is
// [fs.ErrNotExist].
//
// Memory is needed for a few numbers per line and one line at a time.
func OpenTranscript(ctx context.Context, configDir, dir, conversation string) (*Transcript, error) {
	path, err := findTranscript(configDir, dir, conversation)
	if err != nil {
		return nil, err
	}
	t := &Transcript{conversation: conversation, path: path, maxLine: wire.DefaultMaxLine}
	if err := t.load(ctx); err != nil {
		return nil, fmt.Errorf("reading the transcript of %s: %w", conversation, err)
	}
	return t, nil
}

// ReadTranscript is [OpenTranscript] and [Transcript.Lines] in one, with nothing
// but the bytes of the lines. Lines that are too long are left out. The sequence
// ends with its first error.
func ReadTranscript(ctx context.Context, configDir, dir, conversation string) (iter.Seq2[[]byte, error], error) {
	t, err := OpenTranscript(ctx, configDir, dir, conversation)
	if err != nil {
		return nil, err
	}
	return func(yield func([]byte, error) bool) {
		for line, err := range t.Lines(ctx) {
			if err == nil && line.Bytes == nil {
				continue
			}
			if !yield(line.Bytes, err) {
				return
			}
		}
	}, nil
}

// Path returns the file's path.
func (t *Transcript) Path() string { return t.path }

// Conversation returns the id of the conversation.
func (t *Transcript) Conversation() string { return t.conversation }

// Damaged returns how many lines of the file could not be read: they are not
// JSON, which is what a CLI leaves behind that was killed while it wrote, or too
// long.
func (t *Transcript) Damaged() int { return t.damaged }

// Lines returns the conversation from its beginning, in the order in which it
// was written, as lines of types user, assistant and system/compact_boundary.
//
// Left out are branches that were given up by a rewind, the lines of sub-agents,
// notes that the CLI makes for itself, and what it adds for the model alone.
// What was said before a compaction is there. Prompts carry isReplay, as the
// echo of them does; a slash command is there as the CLI keeps it, with its
// name in tags, and its output follows in the same way.
//
// The lines have the uuids and contents of those that were sent, and are not the
// same bytes: what a transcript does not keep is missing, and stop_reason and
// usage of an answer may differ. 2.1.120 and 2.1.325 keep the final ones with
// every part of it, where what they sent had none yet. So the lines are for
// showing, not for counting.
//
// The sequence can be used more than once and reads the file each time. It ends
// with its first error.
func (t *Transcript) Lines(ctx context.Context) iter.Seq2[TranscriptLine, error] {
	return func(yield func(TranscriptLine, error) bool) {
		if err := t.lines(ctx, yield); err != nil {
			yield(TranscriptLine{}, fmt.Errorf("reading the transcript of %s: %w", t.conversation, err))
		}
	}
}

// lines yields the lines, and returns nil when that is no longer wanted.
func (t *Transcript) lines(ctx context.Context, yield func(TranscriptLine, error) bool) error {
	kept := t.kept
	return t.scan(ctx, func(number int, line []byte, tooLong *wire.LineTooLongError) bool {
		if len(kept) == 0 {
			return false
		}
		if number != kept[0] {
			return true
		}
		kept = kept[1:]
		if tooLong != nil {
			return yield(TranscriptLine{TooLong: tooLong}, nil)
		}
		out, ok := sentLine(line, t.conversation, t.toolUse)
		return !ok || yield(out, nil)
	})
}

// load reads the file once to see which lines belong to the conversation.
func (t *Transcript) load(ctx context.Context) error {
	chain, err := t.chain(ctx)
	if err != nil {
		return err
	}
	wanted := t.wanted
	if wanted == nil {
		wanted = isSaid
	}
	t.kept = chain.follow(wanted)
	return nil
}

// chain reads the file once and returns how its lines hang together.
func (t *Transcript) chain(ctx context.Context) (*transcriptChain, error) {
	chain := transcriptChain{side: t.side}
	err := t.scan(ctx, func(number int, line []byte, tooLong *wire.LineTooLongError) bool {
		if tooLong != nil || !chain.add(number, line) {
			t.damaged++
			chain.addDamaged(number, tooLong != nil)
		}
		return true
	})
	return &chain, err
}

// isSaid is for the lines of [Transcript.Lines].
func isSaid(kind nodeKind) bool {
	return kind == nodeShown || kind == nodeLost || kind == nodeCompacted
}

// open opens the file, up to where it ended when it was opened first.
func (t *Transcript) open() (io.ReadCloser, error) {
	if t.source != nil {
		return t.source()
	}
	f, err := os.Open(t.path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = errors.New("it is not a file")
	case t.file == nil:
		t.file = info
	case !os.SameFile(info, t.file) || info.Size() < t.file.Size():
		err = errors.New("it has been replaced meanwhile")
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return struct {
		io.Reader
		io.Closer
	}{io.NewSectionReader(f, 0, t.file.Size()), f}, nil
}

// scan calls visit for every line, until visit returns false. The line is only
// valid during the call.
func (t *Transcript) scan(ctx context.Context, visit func(number int, line []byte, tooLong *wire.LineTooLongError) bool) error {
	f, err := t.open()
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	lines := wire.NewLineReader(f, t.maxLine)
	for ctx.Err() == nil {
		line, err := lines.Next()
		tooLong, isTooLong := errors.AsType[*wire.LineTooLongError](err)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil && !isTooLong:
			return err
		case !visit(lines.Line(), line, tooLong):
			return nil
		}
	}
	return context.Cause(ctx)
}

// findTranscript returns the path of a conversation's transcript.
func findTranscript(configDir, dir, conversation string) (string, error) {
	projects := filepath.Join(configDir, "projects")
	if _, err := wire.TranscriptPath(projects, conversation); err != nil {
		return "", err // the id is no name for a file
	}
	if dir != "" {
		if real, err := filepath.EvalSymlinks(dir); err == nil { // the folder may be gone; its conversations are not
			dir = real
		}
		project, exact := wire.ProjectDir(configDir, dir)
		path, err := wire.TranscriptPath(project, conversation)
		if err == nil && exact && isRegular(path) {
			return path, nil
		}
	}
	entries, err := os.ReadDir(projects)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("looking for the transcript of %s: %w", conversation, err)
	}
	var newest string
	var modified time.Time
	for _, entry := range entries {
		path, err := wire.TranscriptPath(filepath.Join(projects, entry.Name()), conversation)
		if err != nil {
			continue // checked above
		}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && (newest == "" || info.ModTime().After(modified)) {
			newest, modified = path, info.ModTime()
		}
	}
	if newest == "" {
		return "", fmt.Errorf("there is no transcript of %s in %s: %w", conversation, projects, fs.ErrNotExist)
	}
	return newest, nil
}

func isRegular(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
