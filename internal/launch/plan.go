package launch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/switchboard-dev/switchboard/wire"
)

// maxFile is how much is read of a plan, of a settings file, and of the end of a
// transcript.
const maxFile = 1 << 20

// readOnly opens a file for reading and does not wait for the other end of a
// pipe.
const readOnly = os.O_RDONLY | syscall.O_NONBLOCK

// A PlanQuery says whose plan is looked for.
type PlanQuery struct {
	// ConfigDir is the CLI's own folder, Dir the session's. Both must be
	// absolute.
	ConfigDir, Dir string
	// Path is the plan's file where the CLI has told it. If it is not empty, no
	// other file is looked at.
	Path string
	// Conversation is the CLI's session_id. If it is known, its transcript says
	// what its plan is called, and no other conversation's plan is taken for
	// it.
	Conversation string
	// Agent is the sub-agent whose plan it is. If empty, it is the
	// conversation's own.
	Agent string
	// Since is when the run began: an older file is another conversation's. If
	// zero, any file will do.
	Since time.Time
	// Settings are those that the session was given.
	Settings json.RawMessage
}

// A PlanFile is a plan as it was found.
type PlanFile struct {
	Path, Text string
}

// Plan returns the file that an agent has written its plan to: the one that the
// CLI has told, else the one that the conversation's transcript names, else the
// newest that fits, in the folders where this CLI may keep plans. The error is
// [fs.ErrNotExist] if there is none.
//
// Nothing outside of those folders is ever read, wherever a path or a link
// leads: what is read is shown to people and may be sent to a model.
func (l *Launcher) Plan(ctx context.Context, q PlanQuery) (*PlanFile, error) {
	if !filepath.IsAbs(q.ConfigDir) || !filepath.IsAbs(q.Dir) {
		// As of a CLI that dialled in from elsewhere.
		return nil, fmt.Errorf("looking for a plan: %q and %q are not absolute paths: %w", q.ConfigDir, q.Dir, fs.ErrNotExist)
	}
	if err := context.Cause(ctx); err != nil {
		return nil, fmt.Errorf("looking for a plan: %w", err)
	}
	folders := planFolders(&q)
	defer func() {
		for _, f := range folders {
			_ = f.root.Close() // it was only read
		}
	}()
	if q.Path != "" {
		return toldPlan(folders, q.Path)
	}
	if slug := planSlug(&q); slug != "" {
		name := slug + ".md"
		if q.Agent != "" {
			name = slug + "-agent-" + q.Agent + ".md"
		}
		return newestPlan(ctx, folders, func(candidate string, _ time.Time) bool { return candidate == name })
	}
	// Some file systems keep no more than seconds.
	since := q.Since.Truncate(time.Second)
	return newestPlan(ctx, folders, func(name string, modified time.Time) bool {
		return belongsTo(name, q.Agent) && !modified.Before(since)
	})
}

// A planFolder is a folder in which plans may be. Its root keeps links from
// leading out.
type planFolder struct {
	path string
	root *os.Root
}

// planFolders opens the folders in which such a CLI may keep plans: its own, the
// one that some settings name, and the one that old descriptions name.
func planFolders(q *PlanQuery) []planFolder {
	var folders []planFolder
	add := func(path string, root *os.Root, err error) {
		if err != nil {
			return // there is none, or it leads elsewhere
		}
		same := func(f planFolder) bool { return f.path == path }
		if slices.ContainsFunc(folders, same) {
			_ = root.Close()
			return
		}
		folders = append(folders, planFolder{path, root})
	}
	path := wire.PlanDir(q.ConfigDir)
	root, err := os.OpenRoot(path)
	add(path, root, err)

	project, err := os.OpenRoot(q.Dir)
	if err != nil {
		return folders
	}
	defer func() { _ = project.Close() }()
	for _, name := range append(plansDirectories(q), filepath.Join(".claude", "plans")) {
		// Like the CLI, which uses its own folder if this one is not in the project,
		// the root refuses what is outside.
		relative := name
		if filepath.IsAbs(name) {
			if relative, err = filepath.Rel(q.Dir, name); err != nil {
				continue
			}
		}
		root, err := project.OpenRoot(relative)
		add(filepath.Join(q.Dir, relative), root, err)
	}
	return folders
}

// plansDirectories returns what the settings say about the folder of plans. All
// of them count: which settings a CLI trusts depends on its version, and a
// folder in which nothing new is written does no harm.
func plansDirectories(q *PlanQuery) []string {
	texts := [][]byte{q.Settings}
	for _, path := range []string{
		filepath.Join(q.ConfigDir, "settings.json"),
		filepath.Join(q.Dir, ".claude", "settings.json"),
		filepath.Join(q.Dir, ".claude", "settings.local.json"),
	} {
		// Links are followed, since people keep their settings elsewhere; nothing
		// but the name of a folder is taken from what is read.
		if text, _, err := readRegular(os.OpenFile(path, readOnly, 0)); err == nil {
			texts = append(texts, text)
		}
	}
	var names []string
	for _, text := range texts {
		if name := stringMember(text, "plansDirectory"); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// stringMember returns a member of an object, "" if there is no such text.
func stringMember(object []byte, name string) string {
	// A map, since the fields of a struct are found whatever their case.
	var members map[string]json.RawMessage
	var text string
	if json.Unmarshal(object, &members) != nil || json.Unmarshal(members[name], &text) != nil {
		return ""
	}
	return text
}

// readRegular reads a file that has been opened, and closes it. more says that
// it goes on after maxFile bytes. A name that is no regular file does not exist.
func readRegular(f *os.File, err error) (text []byte, more bool, _ error) {
	if err != nil {
		return nil, false, err
	}
	defer func() { _ = f.Close() }() // it was only read
	info, err := f.Stat()
	if err != nil {
		return nil, false, err
	}
	if !info.Mode().IsRegular() {
		return nil, false, fmt.Errorf("it is not a regular file: %w", fs.ErrNotExist)
	}
	if text, err = io.ReadAll(io.LimitReader(f, maxFile+1)); err != nil {
		return nil, false, err
	}
	more = len(text) > maxFile
	return text[:min(len(text), maxFile)], more, nil
}

// readPlan reads one plan. One without a word is none.
func readPlan(folder planFolder, name string) (*PlanFile, error) {
	path := filepath.Join(folder.path, name)
	f, err := folder.root.OpenFile(name, readOnly, 0)
	if err != nil { // a link that leads out among other things
		return nil, fmt.Errorf("opening the plan %s: %w: %w", path, err, fs.ErrNotExist)
	}
	text, more, err := readRegular(f, nil)
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading the plan %s: %w", path, err)
	case more: // half a plan is nothing to approve
		return nil, fmt.Errorf("the plan %s has more than %d bytes", path, maxFile)
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, fmt.Errorf("the plan %s is empty: %w", path, fs.ErrNotExist)
	}
	return &PlanFile{Path: path, Text: strings.ToValidUTF8(string(text), "\uFFFD")}, nil
}

// toldPlan reads the plan whose path the CLI has told, if it is where plans are:
// the path is in the input of a tool, where a model may write what it likes.
func toldPlan(folders []planFolder, path string) (*PlanFile, error) {
	if filepath.IsAbs(path) && filepath.Ext(path) == ".md" {
		dir, err := os.Stat(filepath.Dir(path)) // the CLI may spell the folder without its links
		for _, folder := range folders {
			here, hereErr := folder.root.Stat(".")
			if err == nil && hereErr == nil && os.SameFile(dir, here) {
				return readPlan(folder, filepath.Base(path))
			}
		}
	}
	return nil, fmt.Errorf("the plan %q is not in a folder of plans: %w", path, fs.ErrNotExist)
}

// newestPlan reads the newest plan that fits.
func newestPlan(ctx context.Context, folders []planFolder, fits func(name string, modified time.Time) bool) (*PlanFile, error) {
	type candidate struct {
		folder   planFolder
		name     string
		modified time.Time
	}
	var found []candidate
	for _, folder := range folders {
		entries, err := fs.ReadDir(folder.root.FS(), ".")
		if err != nil {
			continue // as if it were not there
		}
		for _, entry := range entries {
			if filepath.Ext(entry.Name()) != ".md" {
				continue
			}
			// Of what a link leads to, not of the link.
			info, err := folder.root.Stat(entry.Name())
			if err == nil && info.Mode().IsRegular() && fits(entry.Name(), info.ModTime()) {
				found = append(found, candidate{folder, entry.Name(), info.ModTime()})
			}
		}
		if err := context.Cause(ctx); err != nil {
			return nil, fmt.Errorf("looking for a plan: %w", err)
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return b.modified.Compare(a.modified) })
	for _, c := range found {
		plan, err := readPlan(c.folder, c.name)
		if !errors.Is(err, fs.ErrNotExist) { // it may be empty, or gone since
			return plan, err
		}
	}
	return nil, fmt.Errorf("there is no plan: %w", fs.ErrNotExist)
}

// ofAgent is how the names of sub-agents' plans end. Their ids are hexadecimal,
// those of team members have an @; a plan may have the word agent in its own
// name.
var ofAgent = regexp.MustCompile(`-agent-(a?[0-9a-f]{6,}|.*@.*)\.md$`)

// belongsTo reports whether a plan of this name can be that of a sub-agent, or of
// the conversation itself.
func belongsTo(name, agent string) bool {
	if agent == "" {
		return !ofAgent.MatchString(name)
	}
	slug, ok := strings.CutSuffix(name, "-agent-"+agent+".md")
	return ok && slug != ""
}

// planSlug returns what a conversation's plans are called, as its transcript has
// it, "" if that is not known.
func planSlug(q *PlanQuery) string {
	if q.Conversation == "" {
		return ""
	}
	dir := q.Dir
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	project, exact := wire.ProjectDir(q.ConfigDir, dir)
	path, err := wire.TranscriptPath(project, q.Conversation)
	if err != nil || !exact {
		return ""
	}
	f, err := os.OpenFile(path, readOnly, 0)
	if err != nil {
		return ""
	}
	// Every entry that is written in plan mode has the name. What cannot be
	// sought in is no file, as the reader will find.
	if _, err := f.Seek(-maxFile, io.SeekEnd); err != nil { // it is shorter
		_, _ = f.Seek(0, io.SeekStart)
	}
	tail, _, err := readRegular(f, nil)
	if err != nil {
		return ""
	}
	lines := bytes.Split(tail, []byte("\n"))
	for _, line := range slices.Backward(lines) {
		if !bytes.Contains(line, []byte(`"slug"`)) {
			continue
		}
		if slug := stringMember(line, "slug"); slug != "" {
			return slug
		}
	}
	return ""
}
