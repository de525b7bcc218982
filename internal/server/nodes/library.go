package nodes

import (
	"context"
	"iter"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/node"
	"github.com/switchboard-dev/switchboard/internal/report"
)

// A library is what is on the disk of a node.
type library struct{ launcher }

var _ report.Library = library{}

// Library returns the library of a node by its name or id, with both.
func (n *Nodes) Library(_ context.Context, name string) (l report.Library, id, display string, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	e := n.find(name)
	if e == nil {
		return nil, "", "", noNode(name)
	}
	return library{launcher{n, e.id}}, e.id, e.name, nil
}

// files returns conversations as reports want them.
func files(list []node.TranscriptFile) []report.TranscriptFile {
	out := make([]report.TranscriptFile, len(list))
	for i, f := range list {
		out[i] = report.TranscriptFile(f)
	}
	return out
}

// Transcripts lists conversations on the node's disk.
func (l library) Transcripts(ctx context.Context, q report.TranscriptQuery) ([]report.TranscriptFile, error) {
	var answer node.Transcripts
	if err := l.call(ctx, node.MethodTranscripts, node.TranscriptQuery(q), &answer); err != nil {
		return nil, err
	}
	return files(answer.Files), nil
}

// SearchTranscripts looks for a text in conversations on the node's disk.
func (l library) SearchTranscripts(ctx context.Context, q report.TranscriptQuery, text string) (*report.TranscriptSearch, error) {
	var answer node.TranscriptSearch
	if err := l.call(ctx, node.MethodSearch, node.Search{Query: node.TranscriptQuery(q), Text: text}, &answer); err != nil {
		return nil, err
	}
	return &report.TranscriptSearch{Files: files(answer.Files), Before: answer.Before, BeforeAfter: answer.BeforeAfter}, nil
}

// ReadTranscript returns the lines of a conversation on the node's disk.
func (l library) ReadTranscript(ctx context.Context, dir, conversation string) (iter.Seq2[[]byte, error], error) {
	return l.lines(ctx, node.MethodTranscript, node.History{Dir: dir, Conversation: conversation})
}

// Folders completes the beginning of a path.
func (l library) Folders(ctx context.Context, prefix string, limit int) ([]api.Folder, error) {
	var answer node.FolderList
	err := l.call(ctx, node.MethodFolders, node.Folders{Prefix: prefix, Limit: limit}, &answer)
	return answer.Folders[:min(len(answer.Folders), max(limit, 0))], err
}

// Look returns those of the paths that are folders.
func (l library) Look(ctx context.Context, paths []string) ([]api.Folder, error) {
	var list []api.Folder
	for len(paths) > 0 {
		part := paths[:min(len(paths), node.MaxPaths)]
		paths = paths[len(part):]
		var answer node.FolderList
		if err := l.call(ctx, node.MethodLook, node.Paths{Paths: part}, &answer); err != nil {
			return nil, err
		}
		list = append(list, answer.Folders...)
	}
	return list, nil
}
