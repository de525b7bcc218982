package disk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/internal/launch"
	"github.com/switchboard-dev/switchboard/internal/report"
)

// A Library is what packages claude and launch see of this machine's disk, as reports
// want it. Its methods are safe for concurrent use.
type Library struct{ launcher *launch.Launcher }

// New returns the library of the machine that a launcher starts agents on.
func New(l *launch.Launcher) Library { return Library{l} }

var _ report.Library = Library{}

// How many files are looked at for a list, and how much a part of a search reads.
const (
	maxTranscripts = 50_000
	maxSearched    = 256 << 20
)

// listOptions returns what a query selects, as package claude wants it. It returns
// false if the CLI has no folder.
func (l Library) listOptions(q report.TranscriptQuery) (*claude.ListOptions, bool) {
	config := l.launcher.ConfigDir(&launch.Spec{})
	o := &claude.ListOptions{
		ConversationOptions: claude.ConversationOptions{ConfigDir: config, Dir: q.Dir, Confined: true},
		NoWorktrees:         true,
		Prefix:              q.Prefix,
		After:               claude.ListPlace{Modified: q.Before, ID: q.BeforeAfter},
		MaxFiles:            maxTranscripts,
		Limit:               cmp.Or(q.Limit, 100),
	}
	if q.Conversation != "" {
		o.Prefix, o.MaxFiles, o.Limit = q.Conversation, 0, 1
	}
	return o, filepath.IsAbs(config)
}

// Transcripts lists conversations on disk.
func (l Library) Transcripts(ctx context.Context, q report.TranscriptQuery) ([]report.TranscriptFile, error) {
	o, ok := l.listOptions(q)
	if !ok {
		return nil, nil
	}
	var files []report.TranscriptFile
	for info, err := range claude.ListConversations(ctx, o) {
		if errors.Is(err, fs.ErrPermission) {
			return nil, nil // what may not be read is left out
		}
		if err != nil {
			return nil, err
		}
		if q.Conversation == "" || q.Conversation == info.ID {
			files = append(files, file(&info))
		}
	}
	return files, nil
}

// SearchTranscripts looks for a text in conversations on disk.
func (l Library) SearchTranscripts(ctx context.Context, q report.TranscriptQuery, text string) (*report.TranscriptSearch, error) {
	o, ok := l.listOptions(q)
	if !ok {
		return &report.TranscriptSearch{}, nil
	}
	found, err := claude.SearchConversations(ctx, text, &claude.SearchOptions{ListOptions: *o, MaxBytes: maxSearched})
	if errors.Is(err, fs.ErrPermission) {
		return &report.TranscriptSearch{}, nil
	}
	if err != nil {
		return nil, err
	}
	out := &report.TranscriptSearch{Before: found.Next.Modified, BeforeAfter: found.Next.ID}
	for i := range found.Hits {
		hit := &found.Hits[i]
		f := file(&hit.ConversationInfo)
		f.Snippet = hit.Snippet
		for _, m := range hit.Marks {
			f.Marks = append(f.Marks, api.Mark{From: m[0], To: m[1]})
		}
		out.Files = append(out.Files, f)
	}
	return out, nil
}

// file returns a conversation as the hub wants it.
func file(c *claude.ConversationInfo) report.TranscriptFile {
	return report.TranscriptFile{Conversation: c.ID, Dir: c.Dir, Title: c.Summary(), Modified: c.Modified, Bytes: c.Bytes}
}

// ReadTranscript returns the lines of a conversation on disk. Unlike
// [claude.ReadTranscript] it follows no link out of the CLI's own folder.
func (l Library) ReadTranscript(ctx context.Context, dir, conversation string) (iter.Seq2[[]byte, error], error) {
	config := l.launcher.ConfigDir(&launch.Spec{})
	if !filepath.IsAbs(config) {
		return nil, fmt.Errorf("reading the transcript of %.40q: the CLI has no folder: %w", conversation, fs.ErrNotExist)
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

// Folders completes the beginning of a path.
func (l Library) Folders(ctx context.Context, prefix string, limit int) ([]api.Folder, error) {
	found, err := l.launcher.Folders(ctx, prefix, limit)
	return folders(found), err
}

// Look returns those of the paths that are folders.
func (l Library) Look(ctx context.Context, paths []string) ([]api.Folder, error) {
	found, err := l.launcher.Look(ctx, paths)
	return folders(found), err
}

// folders returns folders as the interface shows them.
func folders(found []launch.Folder) []api.Folder {
	list := make([]api.Folder, len(found))
	for i, f := range found {
		list[i] = api.Folder{Path: f.Path, Git: f.Git}
	}
	return list
}
