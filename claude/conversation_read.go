package claude

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/switchboard-dev/switchboard/wire"
)

// ReadOptions say what of a conversation is read. Nil and the zero value are
// valid: everything that was said.
type ReadOptions struct {
	ConversationOptions
	// System includes the CLI's own notices: where the conversation was
	// compacted, and the like.
	System bool
	// Offset is how many messages are passed over, and Limit how many are wanted
	// then. If Limit is zero, all.
	Offset, Limit int
}

// A ConversationMessage is a message of a conversation.
type ConversationMessage struct {
	// Message is the message as the CLI sends such a one: a [*wire.User] or
	// [*wire.Assistant], with [ReadOptions.System] also a
	// [*wire.CompactBoundary] or another notice. It is nil if the line was too
	// long.
	Message wire.Message
	// UUID is its uuid, for [Options.ResumeSessionAt] and [ForkOptions.UpTo].
	UUID string
	// Time is when it was written; zero if the transcript does not say so.
	Time time.Time
	// Raw is the line as it stands in the transcript, with much that the CLI
	// keeps for itself.
	Raw json.RawMessage
	// TooLong tells of a line that was too long to be read; nil for all others.
	TooLong *wire.LineTooLongError
}

// ReadConversation reads what was said in a conversation, from the beginning, the
// way that the CLI takes it up again: branches that were given up by a rewind
// are left out, and what was said before a compaction is there. See
// [Transcript.Lines] for how the messages differ from those that were sent.
//
// The transcript is read twice, once to see how its lines hang together. Memory
// is needed for a few numbers per line and for one message. The sequence ends
// with its first error, which is [fs.ErrNotExist] if there is no such
// conversation.
func ReadConversation(ctx context.Context, id string, o *ReadOptions) iter.Seq2[ConversationMessage, error] {
	return readTranscript(ctx, id, o, func(ctx context.Context, o *ReadOptions) (*Transcript, func(), error) {
		t, done, _, err := openKept(ctx, id, "", &o.ConversationOptions)
		return t, done, err
	})
}

// ReadSubagent reads what a sub-agent of a conversation has said and was told,
// as [ReadConversation] does. agent is the [Subagent.ID].
func ReadSubagent(ctx context.Context, id, agent string, o *ReadOptions) iter.Seq2[ConversationMessage, error] {
	return readTranscript(ctx, id, o, func(ctx context.Context, o *ReadOptions) (*Transcript, func(), error) {
		if !agentID().MatchString(agent) {
			return nil, nil, fmt.Errorf("%.60q is no id of a sub-agent: expected letters, digits, - and _", agent)
		}
		all, err := Subagents(ctx, id, &o.ConversationOptions)
		if err != nil {
			return nil, nil, err
		}
		i := slices.IndexFunc(all, func(s Subagent) bool { return s.ID == agent })
		if i < 0 {
			return nil, nil, fmt.Errorf("the conversation has no sub-agent %s: %w", agent, fs.ErrNotExist)
		}
		t, done, _, err := openKept(ctx, id, all[i].subpath, &o.ConversationOptions)
		if err != nil {
			return nil, nil, err
		}
		t.side, t.toolUse = true, all[i].ToolUseID
		return t, done, nil
	})
}

// readTranscript yields the messages of a transcript.
func readTranscript(ctx context.Context, id string, o *ReadOptions, open func(context.Context, *ReadOptions) (*Transcript, func(), error)) iter.Seq2[ConversationMessage, error] {
	var options ReadOptions
	if o != nil {
		options = *o
	}
	return func(yield func(ConversationMessage, error) bool) {
		err := func() error {
			if options.Offset < 0 || options.Limit < 0 {
				return &OptionError{"Limit and Offset", "they must not be negative"}
			}
			t, done, err := open(ctx, &options)
			if err != nil {
				return err
			}
			defer done()
			t.wanted = func(kind nodeKind) bool {
				switch kind {
				case nodeShown, nodeLost:
					return true
				case nodeCompacted, nodeNotice:
					return options.System
				default:
					return false
				}
			}
			if err := t.load(ctx); err != nil {
				return err
			}
			t.kept = t.kept[min(options.Offset, len(t.kept)):]
			if options.Limit > 0 {
				t.kept = t.kept[:min(options.Limit, len(t.kept))]
			}
			return t.messages(ctx, func(m ConversationMessage) bool { return yield(m, nil) })
		}()
		if err != nil {
			yield(ConversationMessage{}, fmt.Errorf("reading the conversation %s: %w", id, err))
		}
	}
}

// messages calls visit for the lines that are kept, until it returns false.
func (t *Transcript) messages(ctx context.Context, visit func(ConversationMessage) bool) error {
	left := t.kept
	var failed error
	err := t.scan(ctx, func(number int, line []byte, tooLong *wire.LineTooLongError) bool {
		if len(left) == 0 {
			return false
		}
		if number != left[0] {
			return true
		}
		left = left[1:]
		if tooLong != nil {
			return visit(ConversationMessage{TooLong: tooLong})
		}
		sent, ok := sentLine(line, t.conversation, t.toolUse)
		if !ok {
			return true
		}
		m, err := wire.Decode(sent.Bytes)
		if err != nil {
			failed = fmt.Errorf("line %d: %w", number, err)
			return false
		}
		return visit(ConversationMessage{Message: m, UUID: sent.UUID, Time: sent.Time, Raw: bytes.Clone(line)})
	})
	if failed != nil {
		return failed
	}
	return err
}

// openKept opens a transcript, on disk or in a store; done is to be called when
// it is not needed any more. It is not loaded yet. path is where it is on disk.
func openKept(ctx context.Context, id, subpath string, o *ConversationOptions) (t *Transcript, done func(), path string, err error) {
	t = &Transcript{conversation: id, maxLine: wire.DefaultMaxLine}
	if o != nil && o.Store != nil {
		key := o.key(id, subpath)
		if err := key.check(); err != nil {
			return nil, nil, "", err
		}
		t.source = func() (io.ReadCloser, error) { return newEntryReader(ctx, o.Store, key), nil }
		return t, func() {}, "", nil
	}
	k, err := findKept(ctx, id, o)
	if err != nil {
		return nil, nil, "", err
	}
	name := k.file()
	if subpath != "" {
		name = filepath.Join(k.folder(), filepath.FromSlash(subpath)+".jsonl")
	}
	t.path = filepath.Join(k.lib.path, name)
	f, info, err := k.lib.open(name)
	if err != nil {
		k.lib.close()
		return nil, nil, "", err
	}
	// One file for both times: what is renamed or replaced meanwhile stays the
	// same here.
	t.source = func() (io.ReadCloser, error) { return io.NopCloser(io.NewSectionReader(f, 0, info.Size())), nil }
	return t, func() { _ = f.Close(); k.lib.close() }, t.path, nil
}

// A Subagent is a sub-agent of a conversation.
type Subagent struct {
	// ID is the agent's id.
	ID string
	// Path is its transcript; empty for one in a store.
	Path string
	// Type is the kind of agent, such as general-purpose, and Description what
	// it was started for. CLIs before 2.1.40 do not keep them.
	Type, Description string
	// ToolUseID is the call that started it, and Parent the sub-agent that made
	// it. Parent is empty for the conversation itself; both are empty where the
	// CLI did not keep them.
	ToolUseID, Parent string
	// Modified is when its transcript was last changed; zero in a store.
	Modified time.Time

	subpath string
}

// A conversation has as many sub-agents as it likes; these bound what is looked
// at.
const (
	maxSubagents  = 100_000
	maxAgentDepth = 5
)

// Subagents lists the sub-agents of a conversation whose transcripts are kept,
// by their ids. CLIs of 2025 kept them beside those of conversations; these are
// not listed. In a store they are found if it is a [StoreSubkeys].
func Subagents(ctx context.Context, id string, o *ConversationOptions) ([]Subagent, error) {
	if o != nil && o.Store != nil {
		return storedSubagents(ctx, id, o)
	}
	k, err := findKept(ctx, id, o)
	if err != nil {
		return nil, err
	}
	defer k.lib.close()
	var all []Subagent
	err = k.agents(ctx, "subagents", 0, &all)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("listing the sub-agents of %s: %w", id, err)
	}
	sortSubagents(all)
	return all, nil
}

func sortSubagents(all []Subagent) {
	slices.SortFunc(all, func(a, b Subagent) int {
		return cmp.Or(strings.Compare(a.ID, b.ID), strings.Compare(a.subpath, b.subpath))
	})
}

// agents adds the agents below a folder of the conversation's.
func (k *kept) agents(ctx context.Context, under string, depth int, all *[]Subagent) error {
	if depth > maxAgentDepth {
		return nil
	}
	var folders []string
	err := k.lib.names(filepath.Join(k.folder(), filepath.FromSlash(under)), func(entry fs.DirEntry) bool {
		if entry.IsDir() {
			folders = append(folders, under+"/"+entry.Name())
		}
		subpath, ok := strings.CutSuffix(under+"/"+entry.Name(), ".jsonl")
		agent, isAgent := agentOf(subpath)
		if !ok || !isAgent || !entry.Type().IsRegular() {
			return ctx.Err() == nil
		}
		s := Subagent{ID: agent, subpath: subpath, Path: filepath.Join(k.lib.path, k.folder(), filepath.FromSlash(subpath)+".jsonl")}
		if info, err := entry.Info(); err == nil {
			s.Modified = info.ModTime()
		}
		if meta, err := k.lib.small(filepath.Join(k.folder(), filepath.FromSlash(subpath)+".meta.json")); err == nil {
			s.describe(meta)
		}
		*all = append(*all, s)
		return ctx.Err() == nil && len(*all) < maxSubagents
	})
	if err == nil {
		err = context.Cause(ctx)
	}
	for _, folder := range folders {
		if err == nil {
			err = k.agents(ctx, folder, depth+1, all)
		}
	}
	return err
}

// agentOf returns the id of the agent that a subpath is of.
func agentOf(subpath string) (string, bool) {
	name := subpath[strings.LastIndexByte(subpath, '/')+1:]
	agent, ok := strings.CutPrefix(name, "agent-")
	return agent, ok && agentID().MatchString(agent) && strings.HasPrefix(subpath, "subagents/") && storeSubpath().MatchString(subpath)
}

// describe adds what the CLI has noted about the agent.
func (s *Subagent) describe(meta []byte) {
	if !json.Valid(meta) {
		return
	}
	s.Type, s.Description, s.ToolUseID = textIn(meta, "agentType"), textIn(meta, "description"), textIn(meta, "toolUseId")
	s.Parent = textIn(meta, "parentAgentId")
}
