package server

import (
	"context"
	"iter"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/launch"
)

// A library is what package launch sees of the disk, as the hub wants it.
type library struct{ launcher *launch.Launcher }

var _ hub.Library = library{}

// Transcripts lists conversations on disk.
func (l library) Transcripts(ctx context.Context, q hub.TranscriptQuery) ([]hub.TranscriptFile, error) {
	found, err := l.launcher.Transcripts(ctx, launch.TranscriptQuery{
		Dir: q.Dir, Conversation: q.Conversation, Before: q.Before, BeforeAfter: q.BeforeAfter, Limit: q.Limit,
	})
	if err != nil {
		return nil, err
	}
	files := make([]hub.TranscriptFile, len(found))
	for i, t := range found {
		files[i] = hub.TranscriptFile{Conversation: t.Conversation, Dir: t.Dir, Title: t.Title, Modified: t.Modified, Bytes: t.Bytes}
	}
	return files, nil
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
