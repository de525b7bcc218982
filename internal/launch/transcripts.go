package launch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/wire"
)

// How much is looked at for a list of transcripts: of files in all, and of the
// beginning of each that is listed. The second is read to its end only where the
// first does not tell what a conversation is about.
const (
	mostTranscripts = 50_000
	headSize        = 64 << 10
	maxHead         = 512 << 10
)

// A TranscriptQuery selects transcripts. The zero value selects all.
type TranscriptQuery struct {
	// Dir is the folder that conversations were held in, Conversation the id of
	// one, Prefix what ids begin with.
	Dir, Conversation, Prefix string
	// Before leaves out what is newer than a time and, at that very time, what
	// does not come after the id in BeforeAfter. If zero, nothing is left out.
	Before      time.Time
	BeforeAfter string
	// Limit is how many are wanted. If zero, one hundred.
	Limit int
}

// A Transcript is a conversation that a CLI has kept on disk.
type Transcript struct {
	Conversation string
	// Dir is the folder that it was held in, Title its title, else the beginning
	// of its first prompt. Both are empty where the beginning of the file does
	// not tell.
	Dir, Title string
	Modified   time.Time
	Bytes      int64
}

// transcriptID is what a conversation's id looks like.
var transcriptID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$`)

// Transcripts lists the conversations in the folder of the CLI, each once, the
// newest first. Those of sub-agents, and those in which nothing was said, are left
// out. Links are not followed, and what may not be read is left out.
func (l *Launcher) Transcripts(ctx context.Context, q TranscriptQuery) ([]Transcript, error) {
	if q.Conversation != "" && !transcriptID.MatchString(q.Conversation) {
		return nil, fmt.Errorf("looking for a transcript: %.40q is no id of a conversation: %w", q.Conversation, fs.ErrNotExist)
	}
	if q.Limit <= 0 {
		q.Limit = 100
	}
	config := l.ConfigDir(&Spec{})
	projects, err := openProjects(config)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("looking for transcripts: %w", err)
	}
	defer func() { _ = projects.Close() }() // it was only read
	files, err := transcriptFiles(ctx, projects, config, &q)
	if err != nil {
		return nil, err
	}
	var list []Transcript
	for _, f := range files {
		if err := context.Cause(ctx); err != nil {
			return nil, fmt.Errorf("looking for transcripts: %w", err)
		}
		if len(list) == q.Limit {
			break
		}
		if t, ok := f.read(projects); ok && (q.Dir == "" || t.Dir == "" || sameFolder(t.Dir, q.Dir)) {
			list = append(list, t)
		}
	}
	return list, nil
}

// openProjects opens the folder of all transcripts. Its root keeps links from
// leading out of the CLI's own folder.
func openProjects(config string) (*os.Root, error) {
	if !filepath.IsAbs(config) {
		return nil, fmt.Errorf("the CLI has no folder: %w", fs.ErrNotExist)
	}
	root, err := os.OpenRoot(config)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // the other outlives it
	return root.OpenRoot("projects")
}

// A transcriptFile is one of which only the name was looked at.
type transcriptFile struct {
	project, conversation string
	modified              time.Time
	size                  int64
}

// transcriptFiles returns the files that a query selects by name and time, the
// newest first, one for each conversation.
func transcriptFiles(ctx context.Context, projects *os.Root, config string, q *TranscriptQuery) ([]transcriptFile, error) {
	folders, err := projectFolders(projects, config, q.Dir)
	if err != nil {
		return nil, err
	}
	newest := map[string]transcriptFile{}
	left := mostTranscripts
	for _, folder := range folders {
		if err := context.Cause(ctx); err != nil {
			return nil, fmt.Errorf("looking for transcripts: %w", err)
		}
		if left <= 0 {
			break
		}
		for _, f := range filesOf(projects, folder, q.Conversation, &left) {
			if old, had := newest[f.conversation]; !had || f.modified.After(old.modified) {
				newest[f.conversation] = f
			}
		}
	}
	var files []transcriptFile
	for _, f := range newest {
		if !strings.HasPrefix(f.conversation, q.Prefix) {
			continue
		}
		if c := f.modified.Compare(q.Before); q.Before.IsZero() || c < 0 || c == 0 && f.conversation > q.BeforeAfter {
			files = append(files, f)
		}
	}
	slices.SortFunc(files, func(a, b transcriptFile) int {
		return cmp.Or(b.modified.Compare(a.modified), strings.Compare(a.conversation, b.conversation))
	})
	return files, nil
}

// projectFolders returns the names of the folders with transcripts, the last
// changed first: all, or those that may be of one folder.
func projectFolders(projects *os.Root, config, dir string) ([]string, error) {
	entries, err := readDir(projects, ".", mostTranscripts)
	if err != nil {
		return nil, fmt.Errorf("looking for transcripts: %w", err)
	}
	type folder struct {
		name     string
		modified time.Time
	}
	var found []folder
	for _, e := range entries {
		if !e.IsDir() || dir != "" && !ofFolder(e.Name(), config, dir) {
			continue
		}
		if info, err := projects.Lstat(e.Name()); err == nil {
			found = append(found, folder{e.Name(), info.ModTime()})
		}
	}
	slices.SortFunc(found, func(a, b folder) int {
		return cmp.Or(b.modified.Compare(a.modified), strings.Compare(a.name, b.name))
	})
	names := make([]string, len(found))
	for i, f := range found {
		names[i] = f.name
	}
	return names, nil
}

// ofFolder reports whether a name is that of the transcripts of a folder.
func ofFolder(name, config, dir string) bool {
	spellings := []string{filepath.Clean(dir)}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		spellings = append(spellings, real)
	}
	return slices.ContainsFunc(spellings, func(dir string) bool {
		path, exact := wire.ProjectDir(config, dir)
		if base := filepath.Base(path); !exact {
			return strings.HasPrefix(name, base)
		} else {
			return name == base
		}
	})
}

// sameFolder reports whether two paths are of one folder, however they are spelt.
func sameFolder(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// filesOf returns the transcripts in a folder: all, or that of one conversation.
// left is how many more may be looked at.
func filesOf(projects *os.Root, folder, conversation string, left *int) []transcriptFile {
	root, err := projects.OpenRoot(folder)
	if err != nil {
		return nil // it may not be read
	}
	defer func() { _ = root.Close() }() // it was only read
	var names []string
	if conversation != "" {
		names = []string{conversation + ".jsonl"}
	} else {
		entries, err := readDir(root, ".", *left)
		if err != nil {
			return nil
		}
		for _, e := range entries {
			names = append(names, e.Name())
		}
	}
	*left -= len(names)
	var files []transcriptFile
	for _, name := range names {
		id, ok := strings.CutSuffix(name, ".jsonl")
		if !ok || !transcriptID.MatchString(id) || strings.HasPrefix(id, "agent-") { // a sub-agent's, as old CLIs keep them
			continue
		}
		if info, err := root.Lstat(name); err == nil && info.Mode().IsRegular() {
			files = append(files, transcriptFile{project: folder, conversation: id, modified: info.ModTime(), size: info.Size()})
		}
	}
	return files
}

// readDir reads so many entries of a folder.
func readDir(root *os.Root, name string, most int) ([]fs.DirEntry, error) {
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	entries, err := f.ReadDir(max(1, most))
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return entries, err
}

// read reads the beginning of a transcript. It returns false if it is not one
// that a person would continue.
func (t *transcriptFile) read(projects *os.Root) (Transcript, bool) {
	f, err := projects.OpenFile(filepath.Join(t.project, t.conversation+".jsonl"), readOnly, 0)
	if err != nil {
		return Transcript{}, false
	}
	defer func() { _ = f.Close() }() // it was only read
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return Transcript{}, false
	}
	var head transcriptHead
	counted := &countingReader{r: io.LimitReader(f, maxHead)}
	lines := wire.NewLineReader(counted, maxHead)
	for !head.aside && (counted.n <= headSize || head.prompt == "") {
		line, err := lines.Next()
		if _, long := errors.AsType[*wire.LineTooLongError](err); err != nil && !long {
			break // its end, or as much as is read
		}
		head.line(line)
	}
	if head.aside || head.title() == "" && t.size <= maxHead {
		return Transcript{}, false
	}
	return Transcript{Conversation: t.conversation, Dir: head.dir, Title: head.title(), Modified: t.modified, Bytes: t.size}, true
}

// A countingReader counts what is read.
type countingReader struct {
	r io.Reader
	n int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// A transcriptHead is what the beginning of a transcript tells.
type transcriptHead struct {
	dir             string
	given, guessed  string // titles: somebody's, the CLI's
	prompt, command string
	aside           bool // it is a sub-agent's
}

// line takes in a line; what cannot be read is left out.
func (h *transcriptHead) line(line []byte) {
	header, err := wire.Peek(line)
	if err != nil {
		return
	}
	text := func(name string) string {
		value, _ := wire.LookupString(line, name)
		return value
	}
	is := func(name string) bool {
		value, ok := wire.Lookup(line, name)
		return ok && string(value) == "true"
	}
	switch string(header.Type) {
	case "custom-title":
		h.given = text("customTitle")
	case "ai-title":
		h.guessed = text("aiTitle")
	case "user", "assistant", "system", "attachment":
		if is("isSidechain") {
			h.aside = h.prompt == "" && h.command == ""
			return
		}
		if h.dir == "" {
			h.dir = text("cwd")
		}
		if string(header.Type) == "user" && h.prompt == "" && !is("isMeta") && !is("isCompactSummary") {
			h.said(line)
		}
	}
}

// said notes what somebody said.
func (h *transcriptHead) said(line []byte) {
	m, err := wire.Decode(line)
	user, ok := m.(*wire.User)
	if err != nil || !ok {
		return
	}
	for _, b := range user.Message.Content.All() {
		block, ok := b.(*wire.TextBlock)
		if !ok {
			continue
		}
		switch text := strings.TrimSpace(block.Text); {
		case text == "" || strings.HasPrefix(text, "<local-command-") || strings.HasPrefix(text, "[Request interrupted"):
		case strings.HasPrefix(text, "<command-"):
			if _, name, ok := strings.Cut(text, "<command-name>"); ok && h.command == "" {
				h.command, _, _ = strings.Cut(name, "<")
			}
		default:
			h.prompt = cut(text)
			return
		}
	}
}

// title returns what the conversation is called.
func (h *transcriptHead) title() string {
	return cmp.Or(h.given, h.guessed, h.prompt, h.command)
}

// cut shortens a text to what a title shows at most.
func cut(text string) string {
	const most = 1000
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "")
}

// ReadTranscript returns the lines of a conversation from the CLI's transcript, as
// [Launcher.History] does, but follows no link out of the CLI's own folder. dir
// may be empty. The error is [fs.ErrNotExist] if there is none.
func (l *Launcher) ReadTranscript(ctx context.Context, dir, conversation string) (iter.Seq2[[]byte, error], error) {
	config := l.ConfigDir(&Spec{})
	if !transcriptID.MatchString(conversation) || !filepath.IsAbs(config) {
		return nil, fmt.Errorf("reading the transcript of %.40q: %w", conversation, fs.ErrNotExist)
	}
	t, err := claude.OpenTranscript(ctx, config, dir, conversation)
	if err != nil {
		return nil, err
	}
	if err := staysIn(config, t.Path()); err != nil {
		return nil, fmt.Errorf("reading the transcript of %s: %w: %w", conversation, err, fs.ErrNotExist)
	}
	return func(yield func([]byte, error) bool) {
		for line, err := range t.Lines(ctx) {
			if err == nil && line.Bytes == nil {
				continue // it was too long
			}
			if !yield(line.Bytes, err) {
				return
			}
		}
	}, nil
}

// staysIn says whether a path leads out of a folder that it begins with.
func staysIn(folder, path string) error {
	relative, err := filepath.Rel(folder, path)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // it was only looked at
	_, err = root.Stat(relative)
	return err
}
