package claudetest

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// maxRead is how much of a file read_file tells if the request does not say less.
const maxRead = 10 << 20

// readFile tells what is in a file below the working folder.
func (e *engine) readFile(r controlRequest) *exit {
	var request struct {
		Path     string `json:"path"`
		MaxBytes int64  `json:"max_bytes"`
		Encoding string `json:"encoding"`
	}
	r.read(&request)
	path := request.Path
	if !filepath.IsAbs(path) {
		path = filepath.Join(e.dir, path)
	}
	limit := int64(maxRead)
	if request.MaxBytes > 0 {
		limit = min(limit, request.MaxBytes)
	}
	data, truncated, err := readBelow(e.dir, path, limit)
	switch {
	case err == nil:
		e.succeed(r, e.contents(request.Path, path, data, truncated, request.Encoding == "base64"))
	case errors.Is(err, os.ErrNotExist) && !e.quirks.InitializeTellsVersion:
		e.fail(r, fmt.Sprintf("ENOENT: no such file or directory, open '%s'", path), "")
	default:
		e.fail(r, "read denied: "+request.Path, "")
	}
	return nil
}

// contents is the answer to read_file.
func (e *engine) contents(requested, path string, data []byte, truncated, coded bool) members {
	contents := string(bytes.ToValidUTF8(data, []byte("\uFFFD")))
	coded = coded && e.quirks.InitializeTellsVersion
	if coded {
		contents = base64.StdEncoding.EncodeToString(data)
	}
	body := members{"contents", contents, "absPath", path}.when(truncated, "truncated", true).when(coded, "encoding", "base64")
	if e.quirks.InitializeTellsVersion {
		body = body.when(!coded, "lossy", !utf8.Valid(data)).with("requested_path", requested)
	}
	return body
}

// readBelow reads the beginning of a file that lies below a folder, also with all links followed.
func readBelow(folder, path string, limit int64) (data []byte, truncated bool, err error) {
	name, err := filepath.Rel(folder, path)
	if err != nil {
		return nil, false, err
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, false, err
	}
	defer func() { _ = root.Close() }() // nothing was written
	file, err := root.Open(name)
	if err != nil {
		return nil, false, err
	}
	defer func() { _ = file.Close() }() // nothing was written
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, false, errors.Join(err, os.ErrInvalid)
	}
	data, err = io.ReadAll(io.LimitReader(file, limit+1))
	if int64(len(data)) > limit {
		return data[:limit], true, err
	}
	return data, false, err
}

const (
	// maxSuggested is how many files are suggested, maxLooked at how many names is looked for them.
	maxSuggested = 15
	maxLooked    = 10_000
)

// suggestFiles completes the name of a file: with those of the working folder whose paths have the query in them, in the order of their names.
func (e *engine) suggestFiles(r controlRequest) *exit {
	var request struct {
		Query string `json:"query"`
	}
	r.read(&request)
	query := strings.ToLower(request.Query)
	found, looked := []any{}, 0
	// What cannot be read is left out, as it is where nothing fits.
	_ = fs.WalkDir(os.DirFS(e.dir), ".", func(path string, entry fs.DirEntry, err error) error {
		looked++
		switch {
		case err != nil || looked > maxLooked || len(found) == maxSuggested:
			return fs.SkipAll
		case path != "." && strings.HasPrefix(entry.Name(), "."):
			if entry.IsDir() {
				return fs.SkipDir
			}
		case entry.Type().IsRegular() && strings.Contains(strings.ToLower(path), query):
			found = append(found, members{"path", path})
		}
		return nil
	})
	e.succeed(r, members{"suggestions", found, "cwd", e.dir})
	return nil
}

// getDiff tells what was changed. The simulated CLI knows of no repository.
func (e *engine) getDiff(r controlRequest) *exit {
	e.succeed(r, members{"diff", nil, "noDiffReason", "no-repository"})
	return nil
}

// setFolder never changes the working folder: another one would have to be trusted first.
func (e *engine) setFolder(r controlRequest) *exit {
	var request struct {
		Path string `json:"path"`
	}
	r.read(&request)
	if request.Path == "" {
		e.fail(r, "set_cwd: invalid request — path must be a non-empty string", "")
		return nil
	}
	e.succeed(r, members{"status", "needs_trust", "directory", request.Path})
	return nil
}

// registerRoot takes folders below the working folder, which change nothing.
func (e *engine) registerRoot(r controlRequest) *exit {
	var request struct {
		Directory string `json:"directory"`
	}
	r.read(&request)
	if inside, err := filepath.Rel(e.dir, request.Directory); err == nil && filepath.IsLocal(inside) {
		e.succeed(r, members{})
		e.tasks.Go(func() { e.hookDirectory(request.Directory) }) // ends with the hooks' answers, or with the process
		return nil
	}
	e.fail(r, "register_repo_root: "+request.Directory+" is not a subdirectory of the session's working directory or of a launch-time --add-dir root", "")
	return nil
}

// rewindFiles takes back what tools claim to have written since a prompt. No file is touched, as none was.
func (e *engine) rewindFiles(r controlRequest) *exit {
	var request struct {
		User   string `json:"user_message_id"`
		DryRun bool   `json:"dry_run"`
	}
	r.read(&request)
	// A dry run never fails: it says that it could not be done.
	refuse := func(why string) *exit {
		if request.DryRun {
			e.succeed(r, members{"canRewind", false, "error", why})
		} else {
			e.fail(r, why, "")
		}
		return nil
	}
	if !e.store.CheckpointsEnabled() {
		return refuse("File rewinding is not enabled.")
	}
	rewound, ok, err := e.store.Rewind(e.conversation(), request.User, request.DryRun)
	switch {
	case err != nil:
		return refuse(err.Error())
	case !ok && !e.prompts(request.User):
		return refuse("No file checkpoint found for this message.")
	case request.DryRun:
		files := rewound.Files
		if files == nil {
			files = []string{} // a prompt that changed nothing has a checkpoint too
		}
		e.succeed(r, members{"canRewind", true, "filesChanged", files, "insertions", rewound.Insertions, "deletions", rewound.Deletions})
	default:
		e.succeed(r, members{"canRewind", true}.when(e.quirks.ResultIndex, "skippedLinks", 0))
	}
	return nil
}

// prompts reports whether a prompt of this id belongs to the conversation.
func (e *engine) prompts(uuid string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, ok := e.marks[uuid]
	return ok
}

// rewindConversation forgets what was said since a prompt, the prompt included.
func (e *engine) rewindConversation(r controlRequest) *exit {
	var request struct {
		UUID string `json:"target_message_uuid"`
	}
	r.read(&request)
	e.mu.Lock()
	mark, ok := e.marks[request.UUID]
	ok = ok && e.turn == nil
	e.mu.Unlock()
	if !ok {
		e.succeed(r, members{
			"rewound", false, "prefillText", nil, "precedingAssistantUuid", nil, "error", "target not found", "reason", "target_not_found",
		})
		return nil
	}
	e.main.cut(mark.at)
	e.succeed(r, members{"rewound", true, "targetMessageUuid", request.UUID, "prefillText", mark.text, "precedingAssistantUuid", nil})
	return nil
}
