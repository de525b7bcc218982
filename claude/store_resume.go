package claude

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/switchboard-dev/switchboard/wire"
)

// agentMetadata is the type of the entries that stand in a store for the file
// beside a sub-agent's transcript.
const agentMetadata = "agent_metadata"

// openStore prepares what a session needs that has a store. started are the
// options to start the CLI with, wrap is for the transport to it, and discard for
// when there is none. Without a store, nothing changes.
func openStore(ctx context.Context, o *Options) (started *Options, wrap func(Transport) Transport, discard func() error, err error) {
	cleanup := func() error { return nil }
	if o == nil || o.Store == nil {
		return o, func(t Transport) Transport { return t }, cleanup, nil
	}
	switch {
	case o.NoSessionPersistence:
		return nil, nil, nil, &OptionError{"Store", "it excludes NoSessionPersistence: the store gets a copy of what the CLI writes to disk"}
	case o.FileCheckpointing:
		return nil, nil, nil, &OptionError{"Store", "it excludes FileCheckpointing: the copies of files are not in the store, so that a conversation resumed from there cannot be rewound"}
	}
	options := *o
	options.SessionMirror = true
	stored := o.StoreOptions.filled()
	where := ConversationOptions{Dir: o.Dir, Store: o.Store, Project: stored.Project}
	stored.Project = where.key("", "").Project
	where.Project = stored.Project
	if options.Continue {
		all, err := listStored(ctx, o.Store, stored.Project)
		if err != nil {
			return nil, nil, nil, err
		}
		if len(all) == 0 {
			return nil, nil, nil, fmt.Errorf("there is no conversation to continue in the project %s of the store: %w", stored.Project, fs.ErrNotExist)
		}
		options.Continue, options.Resume = false, all[0].Conversation
	}
	if options.Resume != "" {
		ctx, cancel := context.WithTimeout(ctx, stored.Timeout)
		defer cancel()
		var config string
		if config, cleanup, err = prepareResume(ctx, &options, &stored); err != nil {
			return nil, nil, nil, err
		}
		if config != "" {
			options.ExtraEnv = append(append([]string(nil), options.ExtraEnv...), "CLAUDE_CONFIG_DIR="+config)
		}
	}
	wrap = func(t Transport) Transport { return newMirror(t, o.Store, &stored, cleanup) }
	return &options, wrap, cleanup, nil
}

// prepareResume brings a conversation from the store to where the CLI finds it:
// into its own configuration folder, or into a new one, which is returned.
func prepareResume(ctx context.Context, o *Options, stored *StoreOptions) (config string, cleanup func() error, err error) {
	where := &ConversationOptions{Dir: o.Dir, Project: stored.Project}
	if stored.InPlace {
		if where.ConfigDir, err = o.cliConfigDir(); err != nil {
			return "", nil, err
		}
		err := RestoreConversation(ctx, o.Store, o.Resume, where)
		if errors.Is(err, fs.ErrExist) {
			err = nil // it is there already
		}
		return "", func() error { return nil }, err
	}
	config, err = os.MkdirTemp(o.TempDir, "switchboard-store-*")
	if err != nil {
		return "", nil, fmt.Errorf("making a folder for the conversation: %w", err)
	}
	cleanup = func() error { return os.RemoveAll(config) }
	where.ConfigDir = config
	if err := RestoreConversation(ctx, o.Store, o.Resume, where); err != nil {
		return "", nil, errors.Join(err, cleanup())
	}
	return config, cleanup, nil
}

// cliConfigDir returns the configuration folder of the CLI that is started with
// these options.
func (o *Options) cliConfigDir() (string, error) {
	env := o.Env
	if env == nil {
		env = os.Environ()
	}
	values := map[string]string{}
	for _, kv := range append(append([]string(nil), env...), o.ExtraEnv...) {
		name, value, _ := strings.Cut(kv, "=")
		values[name] = value
	}
	home := values["HOME"]
	if home == "" {
		home = values["USERPROFILE"]
	}
	dir := wire.ConfigDir(func(name string) string { return values[name] }, home)
	if !filepath.IsAbs(dir) {
		return "", &OptionError{"StoreOptions.InPlace", "the CLI has no configuration folder: set CLAUDE_CONFIG_DIR or HOME"}
	}
	return dir, nil
}

// RestoreConversation writes a conversation of a store to the disk, with its
// sub-agents if the store is a [StoreSubkeys], so that a CLI can resume it:
// into ConfigDir, as one that was held in Dir, from the store's Project; the
// Store of the options is not used. The error is [fs.ErrExist] if there is a
// transcript of it in that folder, and [fs.ErrNotExist] if the store has none.
func RestoreConversation(ctx context.Context, store SessionStore, id string, o *ConversationOptions) error {
	if err := restoreConversation(ctx, store, id, o); err != nil {
		return fmt.Errorf("restoring the conversation %.40s: %w", id, err)
	}
	return nil
}

func restoreConversation(ctx context.Context, store SessionStore, id string, o *ConversationOptions) error {
	if o == nil {
		o = new(ConversationOptions)
	}
	key := o.key(id, "")
	if err := key.check(); err != nil {
		return err
	}
	config, err := o.configDir()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(config, "projects"), 0o700); err != nil {
		return err
	}
	lib, err := openLibrary(config, false)
	if err != nil {
		return err
	}
	defer lib.close()
	dir := o.Dir
	if dir == "" {
		dir = "."
	}
	k := &kept{lib: lib, project: ProjectName(dir), id: id}
	if _, err := lib.root.Lstat(k.file()); err == nil {
		return fmt.Errorf("%s: %w", k.path(), fs.ErrExist)
	}
	subpaths, err := storedSubkeys(ctx, store, key)
	if err != nil {
		return err
	}
	if err := lib.mkdir(k.project); err != nil {
		return err
	}
	for _, subpath := range subpaths {
		key.Subpath = subpath
		if err := key.check(); err != nil {
			return err // a store's names become paths here
		}
		name := filepath.Join(k.folder(), filepath.FromSlash(subpath))
		if err := lib.mkdir(filepath.Dir(name)); err != nil {
			return err
		}
		if err := lib.restore(ctx, store, key, name); err != nil {
			return err
		}
	}
	// The conversation comes last: with it, it is there.
	key.Subpath = ""
	return lib.restore(ctx, store, key, strings.TrimSuffix(k.file(), ".jsonl"))
}

// restore writes a transcript. Its name is without the ending.
func (l *library) restore(ctx context.Context, store SessionStore, key StoreKey, name string) error {
	var meta []byte
	err := l.write(name+".jsonl", func(f *os.File) error {
		w := bufio.NewWriterSize(f, 64<<10)
		for entry, err := range loadEntries(ctx, store, key) {
			if err != nil {
				return err
			}
			if h, err := wire.Peek(entry); err == nil && string(h.Type) == agentMetadata {
				meta = bytes.Clone(entry)
				continue
			}
			if _, err := w.Write(append(bytes.Clone(entry), '\n')); err != nil {
				return err
			}
		}
		return w.Flush()
	})
	if err != nil || meta == nil {
		return err
	}
	return l.write(name+".meta.json", func(f *os.File) error {
		_, err := f.Write(rewriteObject(meta, func(name string, value []byte) ([]byte, bool) { return value, name != "type" }))
		return err
	})
}

// ImportOptions say what is imported. Nil and the zero value are valid.
type ImportOptions struct {
	// ConversationOptions say where the conversation is on disk, and Project
	// where it comes to in the store. Their Store is not used.
	ConversationOptions
	// NoSubagents leaves out the sub-agents.
	NoSubagents bool
	// Batch is how many entries are given to the store at once. If zero, 500.
	// They are fewer if they are long.
	Batch int
}

// ImportConversation copies a conversation from the disk to a store. It may be
// called again for one that has gone on meanwhile: entries with a uuid are left
// out by a store that has them, and others, such as titles, are added once more.
// Lines that are damaged are left out.
func ImportConversation(ctx context.Context, id string, store SessionStore, o *ImportOptions) error {
	var options ImportOptions
	if o != nil {
		options = *o
	}
	options.Store = nil
	if err := options.run(ctx, id, store); err != nil {
		return fmt.Errorf("importing the conversation %.40s: %w", id, err)
	}
	return nil
}

func (o *ImportOptions) run(ctx context.Context, id string, store SessionStore) error {
	k, err := findKept(ctx, id, &o.ConversationOptions)
	if err != nil {
		return err
	}
	defer k.lib.close()
	if o.Project == "" && o.Dir == "" {
		o.Project = k.project // where it was found
	}
	if err := o.file(ctx, store, k, k.file(), o.key(id, ""), nil); err != nil || o.NoSubagents {
		return err
	}
	agents, err := Subagents(ctx, id, &o.ConversationOptions)
	if err != nil {
		return err
	}
	for _, agent := range agents {
		name := filepath.Join(k.folder(), filepath.FromSlash(agent.subpath))
		meta, err := k.lib.small(name + ".meta.json")
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := o.file(ctx, store, k, name+".jsonl", o.key(id, agent.subpath), meta); err != nil {
			return err
		}
	}
	return nil
}

// file copies a transcript, and what is kept beside it before it.
func (o *ImportOptions) file(ctx context.Context, store SessionStore, k *kept, name string, key StoreKey, meta []byte) error {
	if err := key.check(); err != nil {
		return err
	}
	batch := newBatch(store, key)
	if o.Batch > 0 {
		batch.most = o.Batch
	}
	if m, ok := objectOf(meta); ok && json.Valid(meta) {
		m["type"] = quoted(agentMetadata)
		entry, err := json.Marshal(m)
		if err != nil {
			return err
		}
		if err := batch.add(ctx, entry); err != nil {
			return err
		}
	}
	f, info, err := k.lib.open(name)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	t := &Transcript{path: filepath.Join(k.lib.path, name), file: info, maxLine: wire.DefaultMaxLine}
	var failed error
	err = t.scan(ctx, func(_ int, line []byte, tooLong *wire.LineTooLongError) bool {
		if tooLong != nil {
			failed = tooLong
			return false
		}
		if entry, err := entryLine(line); err == nil {
			failed = batch.add(ctx, bytes.Clone(entry))
		}
		return failed == nil
	})
	if err = errors.Join(err, failed); err != nil {
		return err
	}
	return batch.flush(ctx)
}
