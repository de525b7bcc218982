package history

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/switchboard-dev/switchboard/wire"
)

// An Edit is what a simulated tool claims to have done to a file.
type Edit struct {
	Session    string
	User       string // uuid of the prompt whose turn it was
	Assistant  string // uuid of the Assistant entry with the call
	Path       string // absolute
	Insertions int    // lines
	Deletions  int    // lines
	Created    bool   // whether the file was new
}

// A Rewound says what going back does: it undoes edits, so what they inserted is deleted again.
type Rewound struct {
	Files      []string // absolute paths, in order of their first edit
	Insertions int
	Deletions  int
}

// A tracker records the edits of a session.
type tracker struct {
	prompts []string // that have a checkpoint
	edits   []edit
	files   []*file
}

// An edit is a line of edits.jsonl: either an edit, or that all since a prompt were taken back.
type edit struct {
	User       string `json:"user,omitempty"`
	Path       string `json:"path,omitempty"`
	Insertions int    `json:"insertions,omitempty"`
	Deletions  int    `json:"deletions,omitempty"`
	Rewind     string `json:"rewind,omitempty"`
}

// A file is one of which the CLI would keep copies.
type file struct {
	path    string
	name    string // of the newest copy; empty if the file did not exist
	version int
	time    string
	dirty   bool // edited since that copy
}

// CheckpointsEnabled reports whether CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING was set.
func (s *Store) CheckpointsEnabled() bool { return s.checkpoints }

// editsPath returns where the edits of a session are kept.
func (s *Store) editsPath(session string) string {
	return filepath.Join(s.config, "file-history", session, "edits.jsonl")
}

// Checkpoint records an edit. Nothing happens if checkpoints are not enabled.
func (s *Store) Checkpoint(e Edit) error {
	if !s.checkpoints {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	st, err := s.session(e.Session)
	if err == nil {
		err = s.checkpoint(st, e)
	}
	if err != nil {
		return fmt.Errorf("recording an edit of session %s: %w", e.Session, err)
	}
	return nil
}

func (s *Store) checkpoint(st *session, e Edit) error {
	t := &st.checkpoint
	if !slices.Contains(t.prompts, e.User) {
		return fmt.Errorf("expected a prompt with a checkpoint, found %q", e.User)
	}
	record := edit{User: e.User, Path: e.Path, Insertions: e.Insertions, Deletions: e.Deletions}
	t.edits = append(t.edits, record)
	if s.persist {
		line, err := json.Marshal(record)
		if err != nil {
			return err
		}
		if err := appendLine(s.editsPath(e.Session), line, false); err != nil {
			return err
		}
	}
	i := slices.IndexFunc(t.files, func(f *file) bool { return f.path == e.Path })
	if i >= 0 {
		t.files[i].dirty = true
		return nil
	}
	f := &file{path: e.Path, version: 1, time: stamp(s.now()), dirty: true}
	if !e.Created {
		f.name = copyName(f)
	}
	t.files = append(t.files, f)
	var o object
	if s.at325 {
		o.add("type", "file-history-delta")
		o.add("messageId", e.Assistant)
		o.add("snapshotMessageId", e.User)
		o.add("trackingPath", s.relative(f.path))
		o.add("backup", s.backup(f))
	} else {
		s.addSnapshot(&o, t, e.Assistant, e.User, true)
	}
	return s.write(st, o.bytes())
}

// snapshot records the state of the files at a prompt, if checkpoints are enabled.
func (s *Store) snapshot(st *session, user string) error {
	if !s.checkpoints {
		return nil
	}
	t := &st.checkpoint
	t.prompts = append(t.prompts, user)
	for _, f := range t.files {
		if f.dirty {
			f.version++
			f.name, f.time, f.dirty = copyName(f), stamp(s.now()), false
		}
	}
	var o object
	s.addSnapshot(&o, t, user, user, false)
	return s.write(st, o.bytes())
}

// addSnapshot makes the line with the state of all files.
func (s *Store) addSnapshot(o *object, t *tracker, message, user string, update bool) {
	var files, snapshot object
	for _, f := range t.files {
		files.add(s.relative(f.path), s.backup(f))
	}
	snapshot.add("messageId", user)
	snapshot.add("trackedFileBackups", json.RawMessage(files.bytes()))
	snapshot.add("timestamp", stamp(s.now()))
	o.add("type", "file-history-snapshot")
	o.add("messageId", message)
	o.add("snapshot", json.RawMessage(snapshot.bytes()))
	o.add("isSnapshotUpdate", update)
}

// backup describes the copy that the real CLI would have made of a file.
func (s *Store) backup(f *file) json.RawMessage {
	var o object
	o.addParent("backupFileName", f.name, false)
	o.add("version", f.version)
	o.add("backupTime", f.time)
	if s.at325 {
		o.add("realParentDir", filepath.Dir(f.path))
	}
	return o.bytes()
}

// copyName returns the name of the copy of a file.
func copyName(f *file) string {
	return fmt.Sprintf("%.8x@v%d", sha256.Sum256([]byte(f.path)), f.version)
}

// relative returns a path as the snapshots name it: relative if it is in the working folder.
func (s *Store) relative(path string) string {
	if rest, inside := strings.CutPrefix(path, s.dir+string(filepath.Separator)); inside {
		return rest
	}
	return path
}

// Rewind takes back all edits since a prompt of the session, those of its own turn included, or only says what it would do. It reports false
// if there is no checkpoint of that prompt; the CLI answers "No file checkpoint found for this message." then.
func (s *Store) Rewind(session, user string, dryRun bool) (r Rewound, ok bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st, found := s.sessions[session]
	if !found {
		return Rewound{}, false, nil
	}
	t := &st.checkpoint
	if r, ok = t.rewind(user, dryRun); !ok || dryRun || !s.persist {
		return r, ok, nil
	}
	line, err := json.Marshal(edit{Rewind: user})
	if err == nil {
		err = appendLine(s.editsPath(session), line, false)
	}
	if err != nil {
		return Rewound{}, false, fmt.Errorf("rewinding session %s: %w", session, err)
	}
	return r, true, nil
}

// rewind is Rewind without the disk.
func (t *tracker) rewind(user string, dryRun bool) (Rewound, bool) {
	from := slices.Index(t.prompts, user)
	if from < 0 {
		return Rewound{}, false
	}
	var r Rewound
	var kept []edit
	for _, e := range t.edits {
		if slices.Index(t.prompts, e.User) < from {
			kept = append(kept, e)
			continue
		}
		r.Insertions += e.Deletions
		r.Deletions += e.Insertions
		if !slices.Contains(r.Files, e.Path) {
			r.Files = append(r.Files, e.Path)
		}
	}
	if !dryRun {
		t.edits = kept
	}
	return r, true
}

// restore reads the edits of an earlier process. Lines that cannot be read are skipped.
func (t *tracker) restore(path string, prompts []string) error {
	*t = tracker{prompts: slices.Clone(prompts)}
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the edits: %w", err)
	}
	defer f.Close()
	reader := wire.NewLineReader(f, 0)
	for {
		line, err := reader.Next()
		if _, tooLong := errors.AsType[*wire.LineTooLongError](err); tooLong {
			continue
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading the edits: %w", err)
		}
		var e edit
		switch {
		case json.Unmarshal(line, &e) != nil:
		case e.Rewind != "":
			t.rewind(e.Rewind, false)
		case e.User != "":
			t.edits = append(t.edits, e)
			if !slices.ContainsFunc(t.files, func(f *file) bool { return f.path == e.Path }) {
				f := &file{path: e.Path, version: 1, dirty: true}
				f.name = copyName(f)
				t.files = append(t.files, f)
			}
		}
	}
}

// save writes the edits for the first process of a fork.
func (t *tracker) save(path string) error {
	if len(t.edits) == 0 {
		return nil
	}
	var buf bytes.Buffer
	for _, e := range t.edits {
		line, err := json.Marshal(e)
		if err != nil {
			return err
		}
		buf.Write(line)
		buf.WriteByte('\n')
	}
	return writeFile(path, buf.Bytes())
}
