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
	"slices"
	"strings"

	"github.com/switchboard-dev/switchboard/wire"
)

// How many entries, and of how many bytes together, are given to a store at once.
const (
	batchEntries = 500
	batchBytes   = 1 << 20
)

// key returns the key of what belongs to a conversation.
func (o *ConversationOptions) key(id, subpath string) StoreKey {
	project := o.Project
	if project == "" {
		dir := o.Dir
		if dir == "" {
			dir = "."
		}
		project = ProjectName(dir)
	}
	return StoreKey{Project: project, Conversation: id, Subpath: subpath}
}

// An entryReader reads the entries of a key as the lines of a file.
type entryReader struct {
	next func() (json.RawMessage, error, bool)
	stop func()
	line []byte // what is left of the entry
	err  error
}

func newEntryReader(ctx context.Context, store SessionStore, key StoreKey) *entryReader {
	next, stop := iter.Pull2(loadEntries(ctx, store, key))
	return &entryReader{next: next, stop: stop}
}

// Read implements [io.Reader].
func (r *entryReader) Read(p []byte) (int, error) {
	for len(r.line) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		entry, err, ok := r.next()
		switch {
		case !ok:
			r.err = io.EOF
		case err != nil:
			r.err = err
		default:
			r.line = append(append(r.line[:0:0], entry...), '\n')
		}
	}
	n := copy(p, r.line)
	r.line = r.line[n:]
	return n, nil
}

// Close implements [io.Closer].
func (r *entryReader) Close() error {
	r.stop()
	return nil
}

// loadEntries returns the entries of a key, each on one line. What a store
// returns that is no entry is an error: a conversation with a hole in it would
// be taken for whole.
func loadEntries(ctx context.Context, store SessionStore, key StoreKey) iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		for entry, err := range store.Load(ctx, key) {
			if err == nil {
				entry, err = entryLine(entry)
			}
			if err != nil {
				yield(nil, fmt.Errorf("loading %s from the store: %w", key, err))
				return
			}
			if !yield(entry, nil) {
				return
			}
		}
	}
}

// entryLine returns an entry as a line of a transcript.
func entryLine(entry json.RawMessage) (json.RawMessage, error) {
	if !isObject(entry) || !json.Valid(entry) {
		return nil, fmt.Errorf("%.60q is no entry of a transcript", entry)
	}
	if bytes.IndexByte(entry, '\n') < 0 {
		return entry, nil
	}
	var b bytes.Buffer
	err := json.Compact(&b, entry)
	return b.Bytes(), err
}

// A storeBatch adds entries to a key, many at a time.
type storeBatch struct {
	store   SessionStore
	key     StoreKey
	most    int
	entries []json.RawMessage
	bytes   int
}

func newBatch(store SessionStore, key StoreKey) *storeBatch {
	return &storeBatch{store: store, key: key, most: batchEntries}
}

// add adds an entry, which is the batch's from then on.
func (b *storeBatch) add(ctx context.Context, entry []byte) error {
	if len(b.entries) > 0 && (len(b.entries) >= b.most || b.bytes+len(entry) > batchBytes) {
		if err := b.flush(ctx); err != nil {
			return err
		}
	}
	b.entries = append(b.entries, entry)
	b.bytes += len(entry)
	return nil
}

func (b *storeBatch) flush(ctx context.Context) error {
	if len(b.entries) == 0 {
		return nil
	}
	if err := b.store.Append(ctx, b.key, b.entries); err != nil {
		return fmt.Errorf("adding to %s in the store: %w", b.key, err)
	}
	b.entries, b.bytes = nil, 0
	return nil
}

// appendStored adds a line to a conversation that is in a store.
func appendStored(ctx context.Context, id string, line []byte, o *ConversationOptions) error {
	key := o.key(id, "")
	if err := key.check(); err != nil {
		return err
	}
	for _, err := range loadEntries(ctx, o.Store, key) {
		if err != nil {
			return err // it may not be there
		}
		break
	}
	return o.Store.Append(ctx, key, []json.RawMessage{line})
}

// storedInfo tells of one conversation in a store.
func storedInfo(ctx context.Context, id string, o *ConversationOptions) (*ConversationInfo, error) {
	key := o.key(id, "")
	if err := key.check(); err != nil {
		return nil, err
	}
	scan := endScan{forward: true}
	for entry, err := range loadEntries(ctx, o.Store, key) {
		if err != nil {
			return nil, err
		}
		scan.entry(entry)
	}
	info := scan.done()
	if scan.aside || info.Summary() == "" {
		return nil, fmt.Errorf("nothing was said in the conversation %s: %w", id, fs.ErrNotExist)
	}
	info.ID = id
	return info, nil
}

// eachStored goes through the conversations of a store, the newest first.
func (o *ListOptions) eachStored(ctx context.Context, page *listPage) error {
	project := o.key("", "").Project
	all, err := listStored(ctx, o.Store, project)
	if err != nil {
		return err
	}
	for _, each := range all {
		if checkConversation(each.Conversation) != nil || !strings.HasPrefix(each.Conversation, o.Prefix) || !o.After.precedes(each.Modified, each.Conversation) {
			continue
		}
		info, err := storedInfo(ctx, each.Conversation, &o.ConversationOptions)
		if errors.Is(err, fs.ErrNotExist) {
			continue // nothing was said in it, or it is gone by now
		}
		if err != nil {
			return err
		}
		info.Modified = each.Modified
		if o.NoProgrammatic && info.programmatic() {
			continue
		}
		if !page.add(info) {
			return nil
		}
	}
	return nil
}

// listStored returns the conversations of a project, the newest first.
func listStored(ctx context.Context, store SessionStore, project string) ([]StoredConversation, error) {
	lister, ok := store.(StoreLister)
	if !ok {
		return nil, &OptionError{"Store", fmt.Sprintf("%T cannot list its conversations: it has no method List", store)}
	}
	all, err := lister.List(ctx, project)
	if err != nil {
		return nil, fmt.Errorf("listing the conversations of %s in the store: %w", project, err)
	}
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b StoredConversation) int {
		return cmp.Or(b.Modified.Compare(a.Modified), strings.Compare(a.Conversation, b.Conversation))
	})
	return all, nil
}

// storedSubagents lists the sub-agents of a conversation in a store.
func storedSubagents(ctx context.Context, id string, o *ConversationOptions) ([]Subagent, error) {
	subpaths, err := storedSubkeys(ctx, o.Store, o.key(id, ""))
	if err != nil {
		return nil, err
	}
	var all []Subagent
	for _, subpath := range subpaths {
		agent, ok := agentOf(subpath)
		if !ok {
			continue
		}
		s := Subagent{ID: agent, subpath: subpath}
		for entry, err := range loadEntries(ctx, o.Store, o.key(id, subpath)) {
			if err != nil {
				return nil, err
			}
			if h, err := wire.Peek(entry); err == nil && string(h.Type) == agentMetadata {
				s.describe(entry)
			}
		}
		all = append(all, s)
	}
	sortSubagents(all)
	return all, nil
}

// storedSubkeys returns the subpaths of a conversation, none if the store cannot
// tell.
func storedSubkeys(ctx context.Context, store SessionStore, key StoreKey) ([]string, error) {
	if err := key.check(); err != nil {
		return nil, err
	}
	lister, ok := store.(StoreSubkeys)
	if !ok {
		return nil, nil
	}
	subpaths, err := lister.Subkeys(ctx, key.Project, key.Conversation)
	if err != nil {
		return nil, fmt.Errorf("listing what belongs to %s in the store: %w", key, err)
	}
	subpaths = slices.Clone(subpaths)
	slices.Sort(subpaths)
	return slices.Compact(subpaths), nil
}
