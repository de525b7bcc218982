package report

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/budget"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/record"
)

// conversationID is what the id of a conversation looks like: it becomes a part
// of a path.
var conversationID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$`) })

// checkConversation refuses what cannot be the id of a conversation.
func checkConversation(id string) error {
	if !conversationID().MatchString(id) {
		return record.Unfit("conversation: expected letters, digits, - and _, got %.40q", id)
	}
	return nil
}

// noTranscript says that there is no such conversation on the machine.
func noTranscript(conversation string) error {
	return &api.Error{
		Status: http.StatusNotFound, Code: api.CodeNotFound, Title: fmt.Sprintf("there is no transcript of conversation %q", conversation),
		Hint: "see GET /v1/transcripts for a list",
	}
}

// Transcripts lists conversations that the CLI has kept on disk, the newest
// first. One that looks for a text is a part of a search: there may be more,
// also behind a page with less than was asked for.
func (p *Reports) Transcripts(ctx context.Context, f api.TranscriptFilter) (*api.TranscriptList, error) {
	library, err := p.library(ctx, f.Node)
	if err != nil {
		return nil, err
	}
	if err := record.CheckFolder(f.Dir); err != nil {
		return nil, err
	}
	if f.Conversation != "" {
		if err := checkConversation(f.Conversation); err != nil {
			return nil, err
		}
	}
	limit := limited(f.Limit, 50, 200)
	q := TranscriptQuery{Dir: f.Dir, Prefix: f.Conversation, Limit: limit + 1} // one more tells whether there is a next page
	if f.Cursor != "" {
		var ok bool
		if q.Before, q.BeforeAfter, ok = parseTranscriptCursor(f.Cursor); !ok {
			return nil, p.problem(journal.ErrCursor, "")
		}
	}
	out := &api.TranscriptList{Transcripts: []api.Transcript{}}
	var files []TranscriptFile
	if f.Text == "" {
		if files, err = library.Transcripts(ctx, q); err != nil {
			return nil, p.problem(fmt.Errorf("listing transcripts: %w", err), "")
		}
		if len(files) > limit {
			files = files[:limit]
			last := files[limit-1]
			out.Next = transcriptCursor(last.Modified, last.Conversation)
		}
	} else if files, out.Next, err = p.searchDisk(ctx, library, q, f.Text, limit); err != nil {
		return nil, err
	}
	for _, file := range files {
		t := api.Transcript{
			Conversation: file.Conversation, Dir: file.Dir, Title: inOneLine(file.Title), Modified: file.Modified.UTC(), Bytes: file.Bytes,
			Snippet: file.Snippet, Marks: file.Marks, Node: library.name,
		}
		row, err := p.journal.SessionByConversation(ctx, file.Conversation)
		switch {
		case err == nil && row.Node == library.node:
			t.Session = row.ID
		case err == nil: // that of a copy on another machine
		case !errors.Is(err, journal.ErrNotFound):
			return nil, p.problem(err, "")
		}
		out.Transcripts = append(out.Transcripts, t)
	}
	return out, nil
}

// searchDisk looks for a text in conversations on disk.
func (p *Reports) searchDisk(ctx context.Context, library Library, q TranscriptQuery, text string, limit int) (files []TranscriptFile, next string, err error) {
	if strings.TrimSpace(text) == "" {
		return nil, "", record.Unfit("q: expected a word at least")
	}
	q.Limit = limit
	found, err := library.SearchTranscripts(ctx, q, text)
	if err != nil {
		return nil, "", p.problem(fmt.Errorf("searching transcripts: %w", err), "")
	}
	if !found.Before.IsZero() {
		next = transcriptCursor(found.Before, found.BeforeAfter)
	}
	return found.Files, next, nil
}

// transcriptCursor names the place after a transcript.
func transcriptCursor(modified time.Time, conversation string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatInt(modified.UnixNano(), 36) + "." + conversation))
}

// parseTranscriptCursor is the opposite of transcriptCursor.
func parseTranscriptCursor(cursor string) (modified time.Time, conversation string, ok bool) {
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		return time.Time{}, "", false
	}
	number, conversation, ok := strings.Cut(string(text), ".")
	nanos, err := strconv.ParseInt(number, 36, 64)
	if !ok || err != nil || !conversationID().MatchString(conversation) {
		return time.Time{}, "", false
	}
	return time.Unix(0, nanos), conversation, true
}

// maxTranscriptBytes is how much of a transcript a page holds, beyond its first
// line.
const maxTranscriptBytes = 8 << 20

// Transcript returns a part of a conversation on disk: at most limit of its lines,
// from the one with a number on, counted from 0. node is the name or id of the machine, ""
// for the hub's own.
func (p *Reports) Transcript(ctx context.Context, node, conversation, dir string, from, limit int) (*api.TranscriptPage, error) {
	library, err := p.library(ctx, node)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(checkConversation(conversation), record.CheckFolder(dir)); err != nil {
		return nil, p.problem(err, "")
	}
	if from < 0 {
		return nil, record.Unfit("from: expected the number of a line, got %d", from)
	}
	limit = limited(limit, 200, 1000)
	lines, err := library.ReadTranscript(ctx, dir, conversation)
	if err != nil {
		return nil, p.transcriptProblem(err, conversation)
	}
	page := &api.TranscriptPage{Lines: []json.RawMessage{}}
	number, size := 0, 0
	for line, err := range lines {
		if err != nil {
			return nil, p.transcriptProblem(err, conversation)
		}
		if number++; number <= from {
			continue
		}
		size += len(line)
		if n := len(page.Lines); n == limit || n > 0 && size > maxTranscriptBytes {
			page.Next, page.More = from+n, true
			break
		}
		page.Lines = append(page.Lines, slices.Clone(line))
	}
	return page, nil
}

// transcriptProblem explains why a transcript cannot be read.
func (p *Reports) transcriptProblem(err error, conversation string) error {
	if errors.Is(err, fs.ErrNotExist) {
		return noTranscript(conversation)
	}
	return p.problem(fmt.Errorf("reading a transcript: %w", err), "")
}

// Adopt returns the session to make that continues a conversation on disk, in
// the folder that it was held in unless another is named.
func (p *Reports) Adopt(ctx context.Context, conversation string, in api.Adopt) (api.CreateSession, error) {
	none := api.CreateSession{}
	library, err := p.library(ctx, in.Node)
	if err != nil {
		return none, err
	}
	if err := errors.Join(checkConversation(conversation), record.CheckFolder(in.Dir)); err != nil {
		return none, p.problem(err, "")
	}
	found, err := library.Transcripts(ctx, TranscriptQuery{Conversation: conversation, Limit: 1})
	if err != nil {
		return none, p.transcriptProblem(err, conversation)
	}
	if len(found) == 0 {
		return none, noTranscript(conversation)
	}
	out := api.CreateSession{
		ClientID: in.ClientID, Dir: in.Dir, Title: in.Title, Prompt: in.Prompt, Resume: conversation, Fork: in.Fork,
		Options: in.Options, Preset: in.Preset, Except: in.Except, Node: library.node,
	}
	if out.Dir == "" {
		if out.Dir = found[0].Dir; out.Dir == "" {
			return none, &api.Error{
				Status: http.StatusUnprocessableEntity, Code: api.CodeInvalid, Title: "the transcript doesn't say which folder it belongs to",
				Hint: "set dir",
			}
		}
	}
	if out.Title == "" {
		out.Title = inOneLine(found[0].Title)
	}
	return out, nil
}

// How many sessions and transcripts are looked at for folders.
const (
	recentSessions    = 1000
	recentTranscripts = 50
)

// Folders suggests folders to work in. Without a prefix these are the ones that
// sessions and conversations were held in, the last used first. With the
// beginning of a path they are followed by what it can be completed to; any other
// text finds those that were used with it anywhere in their path. node is the name or id
// of the machine, "" for the hub's own.
func (p *Reports) Folders(ctx context.Context, node, prefix string, limit int) (*api.Folders, error) {
	library, err := p.library(ctx, node)
	if err != nil {
		return nil, err
	}
	if strings.ContainsRune(prefix, 0) || len(prefix) > 4096 {
		return nil, record.Unfit("prefix: expected the beginning of a path")
	}
	limit = limited(limit, 20, 200)
	path := filepath.IsAbs(prefix) || strings.HasPrefix(prefix, "~")
	var completed []api.Folder
	if path {
		if completed, err = library.Folders(ctx, prefix, limit); err != nil {
			return nil, p.problem(fmt.Errorf("looking for folders: %w", err), "")
		}
	}
	used, err := p.usedFolders(ctx, library)
	if err != nil {
		return nil, err
	}
	for i := range completed {
		completed[i].Used = used[completed[i].Path]
	}
	recent, err := p.recentFolders(ctx, library, used, prefix, limit)
	if err != nil {
		return nil, err
	}
	out := &api.Folders{Folders: []api.Folder{}}
	had := map[string]bool{}
	for _, f := range slices.Concat(recent, completed) {
		if !had[f.Path] && len(out.Folders) < limit {
			had[f.Path] = true
			out.Folders = append(out.Folders, f)
		}
	}
	return out, nil
}

// usedFolders returns when folders were last used by sessions and conversations.
func (p *Reports) usedFolders(ctx context.Context, library shelf) (map[string]time.Time, error) {
	used := map[string]time.Time{}
	note := func(dir string, at time.Time) {
		if dir = budget.Folder(dir); filepath.IsAbs(dir) && at.After(used[dir]) {
			used[dir] = at.UTC()
		}
	}
	page, err := p.journal.Sessions(ctx, journal.SessionQuery{Archived: true, Node: library.node, Limit: recentSessions})
	if err != nil {
		return nil, p.problem(err, "")
	}
	for i := range page.Sessions {
		if row := &page.Sessions[i]; row.Node == library.node {
			note(row.Dir, row.Updated)
		}
	}
	files, err := library.Transcripts(ctx, TranscriptQuery{Limit: recentTranscripts})
	if err != nil {
		return nil, p.problem(fmt.Errorf("listing transcripts: %w", err), "")
	}
	for _, f := range files {
		note(f.Dir, f.Modified)
	}
	return used, nil
}

// recentFolders returns the folders that were used, that fit and that are still
// there, the last used first.
func (p *Reports) recentFolders(ctx context.Context, library Library, used map[string]time.Time, prefix string, limit int) ([]api.Folder, error) {
	var paths []string
	for dir := range used {
		fits := strings.Contains(strings.ToLower(dir), strings.ToLower(prefix))
		if filepath.IsAbs(prefix) {
			fits = strings.HasPrefix(dir, prefix)
		}
		if fits {
			paths = append(paths, dir)
		}
	}
	slices.SortFunc(paths, func(a, b string) int { return cmp.Or(used[b].Compare(used[a]), strings.Compare(a, b)) })
	// Some may be gone.
	folders, err := library.Look(ctx, paths[:min(len(paths), 4*limit)])
	if err != nil {
		return nil, p.problem(fmt.Errorf("looking at folders: %w", err), "")
	}
	for i := range folders {
		folders[i].Used = used[folders[i].Path]
	}
	return folders, nil
}
