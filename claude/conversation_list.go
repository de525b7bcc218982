package claude

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"github.com/switchboard-dev/switchboard/wire"
)

// ListOptions select conversations. Nil and the zero value select all.
type ListOptions struct {
	ConversationOptions
	// NoWorktrees leaves out the other worktrees of the git repository that Dir
	// is in. Otherwise their conversations are listed, too.
	NoWorktrees bool
	// NoProgrammatic leaves out conversations that programs have held, such as
	// this one. CLIs before 2.1.40 do not tell, and theirs are never left out.
	NoProgrammatic bool
	// Offset is how many conversations are passed over, and Limit how many are
	// wanted then. If Limit is zero, all.
	Offset, Limit int
}

// ListConversations lists the conversations that CLIs have kept on disk, the
// last changed first: with a Dir those held there, else those of all folders.
//
// Only the first and the last 64 KiB of a transcript are read, and those only
// when the loop gets to it, so that a list of a few is cheap among ten thousand
// and beside one of a gigabyte. A title or tag that was given long before the end
// of a long conversation is not seen; newer CLIs repeat them at its end.
// Conversations without a prompt or title are left out, those of sub-agents
// too, and what may not be read. Links are not followed.
//
// A folder that does not exist has no conversations; the sequence ends with its
// first error.
func ListConversations(ctx context.Context, o *ListOptions) iter.Seq2[ConversationInfo, error] {
	var options ListOptions
	if o != nil {
		options = *o
	}
	return func(yield func(ConversationInfo, error) bool) {
		err := options.each(ctx, func(info *ConversationInfo) bool { return yield(*info, nil) })
		if err != nil {
			yield(ConversationInfo{}, fmt.Errorf("listing conversations: %w", err))
		}
	}
}

// each calls visit for what is selected, until it returns false.
func (o *ListOptions) each(ctx context.Context, visit func(*ConversationInfo) bool) error {
	if o.Offset < 0 || o.Limit < 0 {
		return &OptionError{"Limit and Offset", "they must not be negative"}
	}
	page := &listPage{skip: o.Offset, left: o.Limit, all: o.Limit == 0, visit: visit}
	if o.Store != nil {
		return o.eachStored(ctx, page)
	}
	config, err := o.configDir()
	if err != nil {
		return err
	}
	lib, err := openLibrary(config)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer lib.close()
	return lib.list(ctx, o, page)
}

// A listPage is a part of a list.
type listPage struct {
	skip, left int
	all        bool
	visit      func(*ConversationInfo) bool
}

// add takes the next conversation and reports whether more are wanted.
func (p *listPage) add(info *ConversationInfo) bool {
	if p.skip > 0 {
		p.skip--
		return true
	}
	if !p.visit(info) {
		return false
	}
	p.left--
	return p.all || p.left > 0
}

// A listed is a transcript of which only the name was looked at. There may be
// very many of them.
type listed struct {
	modified int64
	project  int32
	id       [16]byte
}

// list goes through the transcripts, the newest first.
func (l *library) list(ctx context.Context, o *ListOptions, page *listPage) error {
	wanted := places{all: true}
	if o.Dir != "" {
		wanted = placesOf(o.Dir, !o.NoWorktrees)
	}
	projects, err := l.projects(wanted.mayHold)
	if err != nil {
		return err
	}
	var all []listed
	for i, project := range projects {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		// What may not be read is left out.
		_ = l.names(project, func(entry fs.DirEntry) bool {
			id, ok := strings.CutSuffix(entry.Name(), ".jsonl")
			if !ok || !entry.Type().IsRegular() || checkConversation(id) != nil || id != strings.ToLower(id) {
				return true
			}
			if info, err := entry.Info(); err == nil {
				all = append(all, listed{info.ModTime().UnixNano(), int32(i), idBytes(id)})
			}
			return true
		})
	}
	slices.SortFunc(all, func(a, b listed) int {
		return cmp.Or(cmp.Compare(b.modified, a.modified), bytes.Compare(a.id[:], b.id[:]), cmp.Compare(a.project, b.project))
	})
	var buffer endBuffer
	seen := map[[16]byte]bool{}
	for _, each := range all {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if seen[each.id] {
			continue // an older copy of one that was listed
		}
		k := &kept{lib: l, project: projects[each.project], id: idText(each.id)}
		info, ok := k.ends(&buffer)
		if !ok || o.NoProgrammatic && info.programmatic() || !wanted.holds(k.project, info.Dir) {
			continue
		}
		seen[each.id] = true
		if !page.add(info) {
			return nil
		}
	}
	return nil
}

// ConversationInfoOf tells of one conversation what [ListConversations] does. The
// error is [fs.ErrNotExist] if there is none of that id, or nothing was said in
// it.
func ConversationInfoOf(ctx context.Context, id string, o *ConversationOptions) (*ConversationInfo, error) {
	if o != nil && o.Store != nil {
		return storedInfo(ctx, id, o)
	}
	k, err := findKept(ctx, id, o)
	if err != nil {
		return nil, err
	}
	defer k.lib.close()
	info, ok := k.ends(new(endBuffer))
	if !ok {
		return nil, fmt.Errorf("nothing was said in the conversation %s: %w", id, fs.ErrNotExist)
	}
	return info, nil
}

// places are folders whose conversations are wanted.
type places struct {
	all   bool
	exact []func(name string) bool
	// below are folders that count with all that is in them, and prefixes what
	// the names of their transcripts begin with.
	below, prefixes []string
}

// placesOf returns a folder, and the worktrees of its repository if they are
// wanted.
func placesOf(dir string, worktrees bool) places {
	p := places{exact: []func(string) bool{folderOf(dir)}}
	if !worktrees {
		return p
	}
	for _, tree := range gitWorktrees(dir) {
		p.exact = append(p.exact, folderOf(tree))
		p.below = append(p.below, tree)
		path, exact := wire.ProjectDir("", tree)
		name := filepath.Base(path)
		if exact {
			name += "-"
		}
		p.prefixes = append(p.prefixes, name)
	}
	return p
}

// mayHold reports whether a name may be that of transcripts of these folders.
func (p places) mayHold(name string) bool {
	return p.all || p.isExact(name) || slices.ContainsFunc(p.prefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

func (p places) isExact(name string) bool {
	return slices.ContainsFunc(p.exact, func(is func(string) bool) bool { return is(name) })
}

// holds reports whether a conversation was held in one of the folders. Names do
// not tell in all cases: a-b and a/b have the same.
func (p places) holds(name, dir string) bool {
	if p.all || p.isExact(name) {
		return true
	}
	return dir != "" && slices.ContainsFunc(p.below, func(tree string) bool {
		relative, err := filepath.Rel(tree, dir)
		return err == nil && filepath.IsLocal(relative)
	})
}

// idBytes and idText keep ids short.
func idBytes(id string) (out [16]byte) {
	digits := strings.ReplaceAll(id, "-", "")
	for i := range out {
		out[i] = hexDigit(digits[2*i])<<4 | hexDigit(digits[2*i+1])
	}
	return out
}

func hexDigit(c byte) byte {
	switch {
	case c >= 'a':
		return c - 'a' + 10
	case c >= 'A':
		return c - 'A' + 10
	default:
		return c - '0'
	}
}

func idText(id [16]byte) string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}
