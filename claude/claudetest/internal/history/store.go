package history

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf16"

	"github.com/switchboard-dev/switchboard/wire"
)

// maxName is the length of the longest file name that common file systems take.
const maxName = 255

var uuidPattern = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// Options are the choices of [Open].
type Options struct {
	// Version is the CLI that is imitated. The zero Version is treated as the oldest.
	Version wire.Version

	// Env looks up environment variables: HOME, CLAUDE_CONFIG_DIR, CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING. It must not be nil: the
	// simulated CLI never falls back to the environment of the process it runs in.
	Env func(string) string

	// Dir is the working folder; it must be absolute. Symbolic links in it are resolved.
	Dir string

	// Persist is false under --no-session-persistence: nothing is written but plan files.
	Persist bool

	// Now is the clock. If nil, [time.Now].
	Now func() time.Time
}

// A Store is the history of one simulated process. Its methods are safe for concurrent use, and several stores, also in several processes, may
// write to one folder and even to one session: like the real CLI, they do not lock each other out.
type Store struct {
	// Static after Open.
	version     string
	at120       bool // has the form of 2.1.120 or later
	at325       bool // has the form of 2.1.325 or later
	dir         string
	config      string
	project     string // folder of this working folder's transcripts
	persist     bool   // whether anything is written but plans
	checkpoints bool
	now         func() time.Time

	mu       sync.Mutex
	sessions map[string]*session // guarded by mu
	plans    string              // folder of plans, guarded by mu
}

// A session is what the store remembers of a session that this process writes to. The store's mutex guards it.
type session struct {
	path       string            // transcript
	begun      bool              // whether this process has written to the transcript
	said       bool              // whether it has a line of User or Assistant
	leaf       string            // uuid of the line that the next one follows
	agents     map[string]string // the same for each sub-agent
	promptID   string
	prompt     string // text of the last prompt
	turns      int    // number of prompts
	title      string
	slug       string
	held       [][]byte // lines of the fork's origin, written before its first own line
	repairs    []Entry  // what an interrupted turn lacks, written before the next prompt
	checkpoint tracker
}

// Open returns the store of a process. It creates no file or folder.
func Open(o Options) (*Store, error) {
	if o.Env == nil {
		return nil, errors.New("opening the history: expected a way to look up the environment, found none")
	}
	if !filepath.IsAbs(o.Dir) {
		return nil, fmt.Errorf("opening the history: expected the absolute path of a folder, found %q", o.Dir)
	}
	dir, err := filepath.EvalSymlinks(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("opening the history: resolving the working folder: %w", err)
	}
	config := wire.ConfigDir(o.Env, o.Env("HOME"))
	if !filepath.IsAbs(config) {
		return nil, fmt.Errorf("opening the history: expected HOME or CLAUDE_CONFIG_DIR to be an absolute path, found %q", config)
	}
	version := o.Version
	if version.IsZero() {
		version = wire.Version{Major: 2, Minor: 1, Patch: 37}
	}
	s := &Store{
		version:     version.String(),
		at120:       version.AtLeast(2, 1, 120),
		at325:       version.AtLeast(2, 1, 325),
		dir:         dir,
		config:      config,
		persist:     o.Persist,
		checkpoints: truthy(o.Env("CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING")),
		now:         o.Now,
		sessions:    make(map[string]*session),
		plans:       wire.PlanDir(config),
	}
	if s.now == nil {
		s.now = time.Now
	}
	s.project = s.projectDir()
	if len(filepath.Base(s.project)) > maxName {
		s.persist = false // the oldest versions cannot make the folder and say nothing about it
	}
	return s, nil
}

// truthy reports whether a variable is set in the way the CLI means by it.
func truthy(value string) bool {
	switch strings.ToLower(strings.TrimSpace(value)) {
	case "1", "true", "yes", "on":
		return true
	}
	return false
}

// projectDir returns the folder of the transcripts. Where the name is too long, newer versions cut it and add a hash of the path, and older
// ones do not.
func (s *Store) projectDir() string {
	path, exact := wire.ProjectDir(s.config, s.dir)
	switch {
	case exact:
		return path
	case s.at120:
		return path + pathHash(s.dir)
	}
	// The name that wire cut, put together from pieces that it does not cut. The mapping goes character by character.
	var name strings.Builder
	for piece := range slices.Chunk([]rune(s.dir), 50) {
		part, _ := wire.ProjectDir(s.config, string(piece))
		name.WriteString(filepath.Base(part))
	}
	return filepath.Join(filepath.Dir(path), name.String())
}

// pathHash is the hash that the CLI adds to a name it has cut: 31h + c over the path's UTF-16 units in 32 bits, its absolute value to base 36.
func pathHash(path string) string {
	var h int32
	for _, unit := range utf16.Encode([]rune(path)) {
		h = h*31 + int32(unit)
	}
	return strconv.FormatInt(max(int64(h), -int64(h)), 36)
}

// Dir returns the working folder with symbolic links resolved, as the transcripts name it.
func (s *Store) Dir() string { return s.dir }

// ConfigDir returns the folder that holds everything.
func (s *Store) ConfigDir() string { return s.config }

// Path returns where the transcript of a session lies, whether or not it exists or will be written; hooks are told it. A session of another
// folder that is continued stays where it is.
func (s *Store) Path(session string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.path(session)
}

// path is Path with the mutex held.
func (s *Store) path(session string) (string, error) {
	if st, ok := s.sessions[session]; ok {
		return st.path, nil
	}
	return wire.TranscriptPath(s.project, session)
}

// AgentPath returns where the transcript of a sub-agent lies; see [Store.Path].
func (s *Store) AgentPath(session, agent string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	path, err := s.path(session)
	if err != nil {
		return "", err
	}
	return wire.SubagentTranscriptPath(filepath.Dir(path), session, agent)
}

// session returns what is remembered of a session, which begins here if it is new. The mutex must be held.
func (s *Store) session(id string) (*session, error) {
	if st, ok := s.sessions[id]; ok {
		return st, nil
	}
	path, err := wire.TranscriptPath(s.project, id)
	if err != nil {
		return nil, err
	}
	st := &session{path: path, agents: make(map[string]string)}
	s.sessions[id] = st
	return st, nil
}

// Exists reports whether a session of this id exists in this folder, which makes --session-id fail with "already in use".
func (s *Store) Exists(session string) bool {
	path, err := wire.TranscriptPath(s.project, session)
	if err != nil {
		return false
	}
	_, err = os.Stat(path)
	return err == nil
}

// Latest returns the session of this folder that was written to last and in which something was said, which is the one that --continue takes.
func (s *Store) Latest() (session string, ok bool) {
	var newest transcript
	var said time.Time
	for _, t := range s.transcripts() {
		if ok && t.modified.Before(newest.modified) {
			break
		}
		c, err := s.read(t.id, t.path)
		if err == nil && c.alive() && (!ok || c.last.After(said)) { // file systems are slow to tell times apart, the lines are not
			newest, said, ok = t, c.last, true
		}
	}
	return newest.id, ok
}

// A transcript is a session's file.
type transcript struct {
	id, path string
	modified time.Time
}

// transcripts returns the sessions of this folder, the newest first.
func (s *Store) transcripts() []transcript {
	entries, err := os.ReadDir(s.project)
	if err != nil {
		return nil
	}
	var list []transcript
	for _, e := range entries {
		id, isTranscript := strings.CutSuffix(e.Name(), ".jsonl")
		if !isTranscript || !uuidPattern.MatchString(id) {
			continue
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			list = append(list, transcript{id, filepath.Join(s.project, e.Name()), info.ModTime()})
		}
	}
	slices.SortFunc(list, func(a, b transcript) int {
		return cmp.Or(b.modified.Compare(a.modified), cmp.Compare(a.id, b.id))
	})
	return list
}

// Find returns the session that the argument of --resume means: an id of this folder; on newer versions also an id of another folder, or the
// title of a session of this folder. If there is none, the error is a [*NotFoundError], and if several have that title an [*AmbiguousError].
func (s *Store) Find(ref string) (session string, err error) {
	if uuidPattern.MatchString(ref) {
		if _, err := s.locate(ref); err != nil {
			return "", err
		}
		return ref, nil
	}
	if !s.at120 {
		return "", &NotFoundError{Ref: ref, text: "Error: --resume requires a valid session ID when used with --print. Usage: claude -p --resume <session-id>. " +
			"Session IDs must be in UUID format (e.g., 550e8400-e29b-41d4-a716-446655440000). Provided value \"" + ref + "\" is not a valid UUID"}
	}
	var found []transcript
	for _, t := range s.transcripts() {
		c, err := s.read(t.id, t.path)
		if err == nil && c.alive() && c.Title != "" && strings.EqualFold(c.Title, ref) {
			found = append(found, transcript{id: t.id, modified: c.last})
		}
	}
	switch len(found) {
	case 0:
		return "", &NotFoundError{Ref: ref, text: "Error: --resume requires a valid session ID or session title when used with --print. " +
			"Usage: claude -p --resume <session-id|title>. Provided value \"" + ref + "\" is not a UUID and does not match any session title."}
	case 1:
		return found[0].id, nil
	}
	slices.SortStableFunc(found, func(a, b transcript) int { return b.modified.Compare(a.modified) })
	var text strings.Builder
	fmt.Fprintf(&text, "Error: --resume \"%s\" matches %d sessions. Pass one of these session IDs to disambiguate:", ref, len(found))
	ambiguous := &AmbiguousError{Ref: ref}
	for _, t := range found {
		text.WriteString("\n  " + t.id + "  (modified " + stamp(t.modified) + ")")
		ambiguous.Sessions = append(ambiguous.Sessions, t.id)
	}
	ambiguous.text = text.String()
	return "", ambiguous
}

// locate returns the transcript of a session: that of this folder, or on newer versions the newest of any other.
func (s *Store) locate(session string) (string, error) {
	missing := &NotFoundError{Ref: session, text: "No conversation found with session ID: " + session}
	path, err := s.Path(session)
	if err != nil {
		return "", missing
	}
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if !s.at325 {
		return "", missing
	}
	projects := filepath.Dir(s.project)
	entries, err := os.ReadDir(projects)
	if err != nil {
		return "", missing
	}
	var newest transcript
	for _, e := range entries {
		path, err := wire.TranscriptPath(filepath.Join(projects, e.Name()), session)
		if err != nil {
			return "", missing
		}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && (newest.path == "" || info.ModTime().After(newest.modified)) {
			newest = transcript{session, path, info.ModTime()}
		}
	}
	if newest.path == "" {
		return "", missing
	}
	return newest.path, nil
}

// stamp is a time as transcripts write it.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// A NotFoundError says that there is no session of the id or title that was asked for. Its text is the CLI's.
type NotFoundError struct {
	Ref  string
	text string
}

// Error returns the CLI's words.
func (e *NotFoundError) Error() string { return e.text }

// An AmbiguousError says that several sessions have the title that was asked for. Its text is the CLI's.
type AmbiguousError struct {
	Ref      string
	Sessions []string // the newest first
	text     string
}

// Error returns the CLI's words.
func (e *AmbiguousError) Error() string { return e.text }

// A NoMessageError says that a conversation has no message of the uuid that was asked for. Its text is the CLI's.
type NoMessageError struct {
	UUID string
}

// Error returns the CLI's words.
func (e *NoMessageError) Error() string {
	return "No message found with message.uuid of: " + e.UUID
}
