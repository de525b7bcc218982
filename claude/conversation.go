package claude

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/switchboard-dev/switchboard/wire"
)

// ConversationOptions say where a conversation is. Nil and the zero value are
// valid.
type ConversationOptions struct {
	// ConfigDir is the CLI's configuration folder. If empty, the one that a CLI
	// started by this program would use: CLAUDE_CONFIG_DIR, else .claude in the
	// home folder.
	ConfigDir string
	// Dir is the folder that the conversation was held in. Its transcripts are
	// looked at first, then those of all others. With a Store and no Project it
	// gives the name of the project; if both are empty, that of the program's
	// working directory does.
	Dir string
	// Store is where conversations are instead of on disk, and Project the
	// [StoreKey.Project] in it.
	Store   SessionStore
	Project string
	// Confined refuses to follow a link that leads out of ConfigDir, also where
	// the folder of all transcripts is one. Links to single transcripts and to
	// folders of transcripts are never followed.
	Confined bool
}

// A ConversationInfo is what can be told of a conversation without reading all
// of it. What its beginning and its end do not tell is empty.
type ConversationInfo struct {
	// ID is the conversation's id, for [Options.Resume].
	ID string
	// Path is its transcript; empty for one in a store.
	Path string
	// Dir is the folder in which it was begun, and GitBranch the branch that
	// was checked out there at its end.
	Dir, GitBranch string
	// Title is the title that a person gave it, GeneratedTitle the one that the
	// CLI did.
	Title, GeneratedTitle string
	// FirstPrompt and LastPrompt are the beginnings of what was asked first and
	// last, at most 1000 bytes each. Commands and what programs say in the
	// user's name do not count, unless there is nothing else.
	FirstPrompt, LastPrompt string
	// Tag is what it was tagged with.
	Tag string
	// Entrypoint says what kind of program it was held with, such as cli or
	// sdk-go, and Version which CLI began it.
	Entrypoint, Version string
	// Archived tells that it was put away; see [ArchiveConversation].
	Archived bool
	// Created is the time in its first line, Modified that of the last change.
	Created, Modified time.Time
	// Bytes is the length of its transcript; zero for one in a store.
	Bytes int64
}

// maxSummary is how long a summary is, in characters.
const maxSummary = 200

// Summary returns what to call the conversation in a list: its title, else the
// CLI's, else the last or the first prompt, on one line of at most 200
// characters, without control characters. It is empty where neither end of a very
// long transcript tells.
func (c *ConversationInfo) Summary() string {
	for _, text := range []string{c.Title, c.GeneratedTitle, c.LastPrompt, c.FirstPrompt} {
		if line := summaryLine(text); line != "" {
			return line
		}
	}
	return ""
}

// summaryLine returns the beginning of a text as one line. Control characters separate
// words: a list may be shown on a terminal, and the text is what others wrote.
func summaryLine(text string) string {
	var b strings.Builder
	space, n := false, 0
	for _, r := range text {
		if unicode.IsSpace(r) || unicode.IsControl(r) || r == utf8.RuneError {
			space = n > 0
			continue
		}
		if n >= maxSummary-1 {
			return b.String() + "…"
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

// programmatic reports whether no person was at the keyboard.
func (c *ConversationInfo) programmatic() bool {
	return strings.HasPrefix(c.Entrypoint, "sdk-") || strings.HasPrefix(c.Entrypoint, "daemon")
}

// ProjectName returns the name that the CLI gives the transcripts of a folder.
// Links are resolved if the folder exists. For a very long path it is only the
// beginning of the name, the same for all such paths that begin so.
func ProjectName(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	project, _ := wire.ProjectDir("", dir)
	return filepath.Base(project)
}

var (
	conversationID = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}$`)
	})
	agentID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$`) })
)

// checkConversation refuses what is no id, since it becomes part of a path.
func checkConversation(id string) error {
	if !conversationID().MatchString(id) {
		return fmt.Errorf("%.60q is no id of a conversation: expected a UUID", id)
	}
	return nil
}

// configDir returns the configuration folder.
func (o *ConversationOptions) configDir() (string, error) {
	if o != nil && o.ConfigDir != "" {
		return o.ConfigDir, nil
	}
	home, err := os.UserHomeDir()
	if dir := wire.ConfigDir(os.Getenv, home); filepath.IsAbs(dir) {
		return dir, nil
	}
	return "", fmt.Errorf("there is no configuration folder: set ConfigDir, CLAUDE_CONFIG_DIR or HOME: %w", errors.Join(err, fs.ErrNotExist))
}

// A library is the folder of all transcripts. Its root keeps ids and links from
// leading out of it.
type library struct {
	root *os.Root
	path string
	// read is told how many bytes were read of a transcript, in tests. It may be
	// nil.
	read func(n int)
}

// openLibrary opens the folder. If confined, it may not be a link that leads out of
// configDir. The error is [fs.ErrNotExist] if there is none.
func openLibrary(configDir string, confined bool) (*library, error) {
	path := filepath.Join(configDir, "projects")
	open := os.OpenRoot
	if confined {
		config, err := os.OpenRoot(configDir)
		if err != nil {
			return nil, err
		}
		defer func() { _ = config.Close() }() // the library has a root of its own
		open = func(string) (*os.Root, error) { return config.OpenRoot("projects") }
	}
	root, err := open(path)
	if err != nil {
		return nil, err
	}
	return &library{root: root, path: path}, nil
}

func (l *library) close() { _ = l.root.Close() } // it is only a way in

// names calls visit with the entries of a folder, a few at a time so that a
// large folder needs no more memory than a small one. It goes on behind entries
// that cannot be read, and stops when visit returns false.
func (l *library) names(folder string, visit func(fs.DirEntry) bool) error {
	f, err := l.root.Open(folder)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	for {
		entries, err := f.ReadDir(256)
		for _, entry := range entries {
			if !visit(entry) {
				return nil
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// projects returns the names of the folders with transcripts that are wanted.
// limit is how many entries are looked at; zero means all.
func (l *library) projects(limit int, wanted func(name string) bool) ([]string, error) {
	var names []string
	looked := 0
	err := l.names(".", func(entry fs.DirEntry) bool {
		if entry.IsDir() && (wanted == nil || wanted(entry.Name())) {
			names = append(names, entry.Name())
		}
		looked++
		return limit == 0 || looked < limit
	})
	return names, err
}

// newestFirst sorts folders with transcripts, the last changed first.
func (l *library) newestFirst(projects []string) {
	modified := make(map[string]time.Time, len(projects))
	for _, name := range projects {
		if info, err := l.root.Lstat(name); err == nil {
			modified[name] = info.ModTime()
		}
	}
	slices.SortFunc(projects, func(a, b string) int { return cmp.Or(modified[b].Compare(modified[a]), strings.Compare(a, b)) })
}

// A kept is a conversation's place on disk.
type kept struct {
	lib     *library
	project string // the name of its folder
	id      string
	info    os.FileInfo
}

func (k *kept) file() string   { return filepath.Join(k.project, k.id+".jsonl") }
func (k *kept) folder() string { return filepath.Join(k.project, k.id) }
func (k *kept) path() string   { return filepath.Join(k.lib.path, k.file()) }

// findKept finds a conversation's transcript: in the folders of one directory if
// it is there, else the newest in any. Its library is to be closed.
func findKept(ctx context.Context, id string, o *ConversationOptions) (*kept, error) {
	if err := checkConversation(id); err != nil {
		return nil, err
	}
	config, err := o.configDir()
	if err != nil {
		return nil, err
	}
	lib, err := openLibrary(config, o != nil && o.Confined)
	if err != nil {
		return nil, fmt.Errorf("there is no transcript of %s: %w", id, err)
	}
	found, err := lib.find(ctx, id, o)
	if err != nil {
		lib.close()
		return nil, err
	}
	return found, nil
}

func (l *library) find(ctx context.Context, id string, o *ConversationOptions) (*kept, error) {
	var near func(string) bool
	if o != nil && o.Dir != "" {
		near = folderOf(o.Dir)
	}
	projects, err := l.projects(0, nil)
	if err != nil {
		return nil, fmt.Errorf("looking for the transcript of %s: %w", id, err)
	}
	var best *kept
	bestNear := false
	for _, project := range projects {
		if err := context.Cause(ctx); err != nil {
			return nil, fmt.Errorf("looking for the transcript of %s: %w", id, err)
		}
		k := &kept{lib: l, project: project, id: id}
		info, err := l.root.Lstat(k.file())
		if err != nil || !info.Mode().IsRegular() {
			continue // a link is none of the CLI's files
		}
		k.info = info
		isNear := near != nil && near(project)
		if best == nil || isNear && !bestNear || isNear == bestNear && info.ModTime().After(best.info.ModTime()) {
			best, bestNear = k, isNear
		}
	}
	if best == nil {
		return nil, fmt.Errorf("there is no transcript of %s in %s: %w", id, l.path, fs.ErrNotExist)
	}
	return best, nil
}

// folderOf returns a test for the names of the transcripts of a folder, however
// it is spelt.
func folderOf(dir string) func(name string) bool {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	names := map[string]bool{}
	var prefixes []string
	add := func(dir string) {
		path, exact := wire.ProjectDir("", dir)
		if name := filepath.Base(path); exact {
			names[name] = true
		} else {
			prefixes = append(prefixes, name)
		}
	}
	add(dir)
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		add(real)
	}
	return func(name string) bool {
		if names[name] {
			return true
		}
		for _, prefix := range prefixes {
			if strings.HasPrefix(name, prefix) {
				return true
			}
		}
		return false
	}
}

// readOnly opens a file for reading without waiting for a writer, should it have
// been replaced by a pipe.
const readOnly = os.O_RDONLY | syscall.O_NONBLOCK

// open opens a file of the library for reading, if it is a file and no link.
func (l *library) open(name string) (*os.File, os.FileInfo, error) {
	before, err := l.root.Lstat(name)
	if err != nil {
		return nil, nil, err
	}
	if !before.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%s is not a file: %w", filepath.Join(l.path, name), fs.ErrNotExist)
	}
	f, err := l.root.OpenFile(name, readOnly, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !os.SameFile(before, info) {
		err = fmt.Errorf("%s has been replaced meanwhile", filepath.Join(l.path, name))
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

// small reads a file of at most 64 KiB.
func (l *library) small(name string) ([]byte, error) {
	f, info, err := l.open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	if info.Size() > endSize {
		return nil, fmt.Errorf("%s is too large", name)
	}
	return io.ReadAll(io.LimitReader(f, endSize))
}
