package claude

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"path"
	"regexp"
	"strings"
	"sync"
	"time"
)

// A SessionStore keeps conversations somewhere else than on the disk of the CLI:
// in a database, in object storage. [Options.Store] has a session copied to one
// while it runs and resumed from one.
//
// The CLI always writes its own transcript first; the store gets a copy of it,
// entry by entry. An entry is one line of a transcript, a JSON object. What is in
// it is the CLI's business and changes from version to version: a store keeps
// it as it is. It may write it in another form of the same JSON, with the members
// in another order, but must not put a line end into it.
//
// A session with a store and [Options.Resume], or [Options.Continue], takes up the
// conversation that the store has. The CLI is given a temporary configuration
// folder with its transcript and nothing else, which is removed when the session
// is closed: no login and no settings are copied there, so that the CLI needs
// its key from the environment. [StoreOptions.InPlace] leaves the CLI in its own
// folder. 2.1.120 does not find a conversation there whose folder has a path of
// more than 200 characters.
//
// What is kept of a conversation elsewhere is not in a store: copies of edited
// files, and long outputs of tools that newer CLIs put into files of their own.
//
// A store may also be a [StoreLister], a [StoreDeleter] and a [StoreSubkeys].
// All methods must be safe for concurrent use. Package storetest has the tests
// that a store should pass.
type SessionStore interface {
	// Append adds entries behind those that are there, all or none of them. The
	// entries are the caller's again when it returns.
	//
	// A call that failed is made again, and a conversation may be imported that
	// is there in part already, so an entry with a uuid that is there (member
	// "uuid", in the same key) should be left out. Entries without one are
	// always added.
	Append(ctx context.Context, key StoreKey, entries []json.RawMessage) error
	// Load returns the entries of a key in their order. The sequence may be used
	// once. For a key that nothing was ever added to, it yields an error that is
	// [fs.ErrNotExist]; it ends with its first error.
	Load(ctx context.Context, key StoreKey) iter.Seq2[json.RawMessage, error]
}

// A StoreLister is a [SessionStore] that can say which conversations it has.
// [Options.Continue] and [ListConversations] need it.
type StoreLister interface {
	// List returns the conversations of a project in any order.
	List(ctx context.Context, project string) ([]StoredConversation, error)
}

// A StoredConversation is a conversation in a store.
type StoredConversation struct {
	// Conversation is its id.
	Conversation string
	// Modified is when something was last added to it, by the store's own clock.
	Modified time.Time
}

// A StoreDeleter is a [SessionStore] that can forget. Nothing is ever deleted
// unless [DeleteConversation] is called: how long conversations are kept is up to
// the store.
type StoreDeleter interface {
	// Delete removes a key; without a subpath, everything of the conversation,
	// its sub-agents included. A key that is not there is no error.
	Delete(ctx context.Context, key StoreKey) error
}

// A StoreSubkeys is a [SessionStore] that can say what belongs to a
// conversation. Without it a conversation is resumed without the transcripts of
// its sub-agents.
type StoreSubkeys interface {
	// Subkeys returns the subpaths of a conversation's keys, in any order.
	Subkeys(ctx context.Context, project, conversation string) ([]string, error)
}

// A StoreKey names a transcript in a store.
type StoreKey struct {
	// Project is what separates conversations from each other that have nothing
	// to do with each other. It is the name that the CLI gives the transcripts of
	// a folder (see [ProjectName]), or [StoreOptions.Project].
	Project string
	// Conversation is the conversation's id.
	Conversation string
	// Subpath is empty for the conversation itself. For what belongs to it, such
	// as a sub-agent, it is a path of slashes without an ending, such as
	// "subagents/agent-a1b2c3". It says nothing to the store.
	Subpath string
}

// String returns the parts of the key, separated by slashes.
func (k StoreKey) String() string { return path.Join(k.Project, k.Conversation, k.Subpath) }

// check refuses keys that no file could be named after: they may come from a
// CLI, from a store, and become paths again.
func (k StoreKey) check() error {
	if err := checkConversation(k.Conversation); err != nil {
		return err
	}
	if k.Project == "" || k.Project == "." || k.Project == ".." || strings.ContainsAny(k.Project, "/\\\x00") {
		return fmt.Errorf("%.60q is no name of a project: expected one without slashes", k.Project)
	}
	if k.Subpath != "" && (len(k.Subpath) > 1000 || !storeSubpath().MatchString(k.Subpath)) {
		return fmt.Errorf("%.60q is no subpath: expected names of letters, digits, dots, dashes and underscores between slashes", k.Subpath)
	}
	return nil
}

// storeSubpath is what a subpath looks like. No part of it begins with a dot.
var storeSubpath = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$`)
})

// StoreOptions say how a [SessionStore] is used. Nil and the zero value are
// valid.
type StoreOptions struct {
	// Project is the [StoreKey.Project] to use. If empty, the name that the CLI
	// gives the folder.
	Project string
	// Eager stores entries as soon as they come. Otherwise they are collected
	// until the end of a turn, or until there are many.
	Eager bool
	// Timeout bounds each call of the store. If zero, 60 s. An Append that took
	// longer is not tried again, since it may still succeed.
	Timeout time.Duration
	// ResultWait bounds how long the result of a turn is held back until the
	// turn is stored. While it is, nothing else is read from the CLI, so that
	// a caller that has seen a result can rely on the store. If zero, 10 s; if
	// negative, results are not held back.
	ResultWait time.Duration
	// MaxPending is how many bytes may wait for a slow store. What comes beyond
	// is not stored, which a mirror_error line tells. If zero, 64 MiB.
	MaxPending int
	// InPlace resumes a conversation of the store in the CLI's own configuration
	// folder, where its transcript stays. Otherwise the CLI is given a temporary
	// one, see [Options.Store].
	InPlace bool
}

// The defaults of StoreOptions.
const (
	storeTimeout    = 60 * time.Second
	storeResultWait = 10 * time.Second
	storeMaxPending = 64 << 20
)

// filled returns the options with their defaults.
func (o *StoreOptions) filled() StoreOptions {
	var out StoreOptions
	if o != nil {
		out = *o
	}
	if out.Timeout <= 0 {
		out.Timeout = storeTimeout
	}
	if out.ResultWait == 0 {
		out.ResultWait = storeResultWait
	}
	if out.MaxPending <= 0 {
		out.MaxPending = storeMaxPending
	}
	return out
}
