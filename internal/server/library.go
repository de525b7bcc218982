package server

import (
	"context"
	"iter"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/launch"
	"github.com/switchboard-dev/switchboard/internal/report"
)

// A library is what package launch sees of the disk, as the hub wants it.
type library struct{ launcher *launch.Launcher }

var _ report.Library = library{}

// Transcripts lists conversations on disk.
func (l library) Transcripts(ctx context.Context, q report.TranscriptQuery) ([]report.TranscriptFile, error) {
	found, err := l.launcher.Transcripts(ctx, query(q))
	if err != nil {
		return nil, err
	}
	files := make([]report.TranscriptFile, len(found))
	for i, t := range found {
		files[i] = file(t)
	}
	return files, nil
}

// SearchTranscripts looks for a text in conversations on disk.
func (l library) SearchTranscripts(ctx context.Context, q report.TranscriptQuery, text string) (*report.TranscriptSearch, error) {
	found, err := l.launcher.SearchTranscripts(ctx, query(q), text)
	if err != nil {
		return nil, err
	}
	out := &report.TranscriptSearch{Before: found.Before, BeforeAfter: found.BeforeAfter}
	for _, hit := range found.Found {
		f := file(hit.Transcript)
		f.Snippet = hit.Snippet
		for _, m := range hit.Marks {
			f.Marks = append(f.Marks, api.Mark{From: m[0], To: m[1]})
		}
		out.Files = append(out.Files, f)
	}
	return out, nil
}

// query returns a query as package launch wants it.
func query(q report.TranscriptQuery) launch.TranscriptQuery {
	return launch.TranscriptQuery{
		Dir: q.Dir, Conversation: q.Conversation, Prefix: q.Prefix, Before: q.Before, BeforeAfter: q.BeforeAfter, Limit: q.Limit,
	}
}

// file returns a transcript as the hub wants it.
func file(t launch.Transcript) report.TranscriptFile {
	return report.TranscriptFile{Conversation: t.Conversation, Dir: t.Dir, Title: t.Title, Modified: t.Modified, Bytes: t.Bytes}
}

// ReadTranscript returns the lines of a conversation on disk.
func (l library) ReadTranscript(ctx context.Context, dir, conversation string) (iter.Seq2[[]byte, error], error) {
	return l.launcher.ReadTranscript(ctx, dir, conversation)
}

// Folders completes the beginning of a path.
func (l library) Folders(ctx context.Context, prefix string, limit int) ([]api.Folder, error) {
	found, err := l.launcher.Folders(ctx, prefix, limit)
	return folders(found), err
}

// Look returns those of the paths that are folders.
func (l library) Look(ctx context.Context, paths []string) ([]api.Folder, error) {
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
