package claude

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

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
	// Prefix selects conversations by the beginning of their ids.
	Prefix string
	// After continues a list: conversations up to that place are left out. If
	// zero, none is.
	After ListPlace
	// MaxFiles bounds how many names of files on disk are looked at, those in the
	// last changed folders first. If zero, all are.
	MaxFiles int
	// Offset is how many conversations are passed over, and Limit how many are
	// wanted then. If Limit is zero, all.
	Offset, Limit int
}

// A ListPlace is a place in a list: behind the conversation of this id that was
// last changed at this time.
type ListPlace struct {
	Modified time.Time
	ID       string
}

// precedes reports whether a conversation comes behind the place in a list.
func (p ListPlace) precedes(modified time.Time, id string) bool {
	c := modified.Compare(p.Modified)
	return p == ListPlace{} || c < 0 || c == 0 && id > p.ID
}

// ListConversations lists the conversations that CLIs have kept on disk, the
// last changed first: with a Dir those held there, else those of all folders.
//
// Only the first and the last 64 KiB of a transcript are read, and those only
// when the loop gets to it, so that a list of a few is cheap among ten thousand
// and beside one of a gigabyte; where these tell nothing, the first 512 KiB are. A
// title or tag that was given long before the end of a long conversation is not
// seen; newer CLIs repeat them at its end. Conversations in which nothing was said
// are left out, those of sub-agents too, and what may not be read. Links are not
// followed.
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
	lib, err := o.library()
	if err != nil || lib == nil {
		return err
	}
	defer lib.close()
	return lib.list(ctx, o, page)
}

// library opens the folder of all transcripts. It returns nil if there is none.
func (o *ListOptions) library() (*library, error) {
	config, err := o.configDir()
	if err != nil {
		return nil, err
	}
	lib, err := openLibrary(config, o.Confined)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return lib, err
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

// A selection is the transcripts that options select by name and time.
type selection struct {
	lib      *library
	options  *ListOptions
	wanted   places
	projects []string
	files    []listed // the newest first
	seen     map[[16]byte]bool
	buffer   endBuffer
}

// choose looks at the names of transcripts.
func (l *library) choose(ctx context.Context, o *ListOptions) (*selection, error) {
	s := &selection{lib: l, options: o, wanted: places{all: true}, seen: map[[16]byte]bool{}}
	if o.Dir != "" {
		s.wanted = placesOf(o.Dir, !o.NoWorktrees)
	}
	var err error
	if s.projects, err = l.projects(o.MaxFiles, s.wanted.mayHold); err != nil {
		return nil, err
	}
	if o.MaxFiles > 0 {
		l.newestFirst(s.projects)
	}
	left := cmp.Or(o.MaxFiles, math.MaxInt)
	for i, project := range s.projects {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		if left <= 0 {
			break
		}
		// What may not be read is left out.
		_ = l.names(project, func(entry fs.DirEntry) bool {
			left--
			id, ok := strings.CutSuffix(entry.Name(), ".jsonl")
			if ok && entry.Type().IsRegular() && checkConversation(id) == nil && id == strings.ToLower(id) && strings.HasPrefix(id, o.Prefix) {
				if info, err := entry.Info(); err == nil {
					s.files = append(s.files, listed{info.ModTime().UnixNano(), int32(i), idBytes(id)})
				}
			}
			return left > 0
		})
	}
	slices.SortFunc(s.files, func(a, b listed) int {
		return cmp.Or(cmp.Compare(b.modified, a.modified), bytes.Compare(a.id[:], b.id[:]), cmp.Compare(a.project, b.project))
	})
	s.skip()
	return s, nil
}

// skip leaves out what an earlier part of the list had. Older copies of these are
// not listed either.
func (s *selection) skip() {
	for len(s.files) > 0 {
		first := s.files[0]
		if s.options.After.precedes(time.Unix(0, first.modified), idText(first.id)) {
			return
		}
		s.seen[first.id] = true
		s.files = s.files[1:]
	}
}

func (s *selection) kept(f listed) *kept {
	return &kept{lib: s.lib, project: s.projects[f.project], id: idText(f.id)}
}

// info reads what is to be told of a transcript. It returns false if it is not to
// be listed.
func (s *selection) info(f listed) (*ConversationInfo, bool) {
	k := s.kept(f)
	info, ok := k.ends(&s.buffer)
	if !ok || s.options.NoProgrammatic && info.programmatic() || !s.wanted.holds(k.project, info.Dir) {
		return nil, false
	}
	// Its place in the list, even if it has been changed since the names were read.
	info.Modified = time.Unix(0, f.modified)
	return info, true
}

// list goes through the transcripts, the newest first.
func (l *library) list(ctx context.Context, o *ListOptions, page *listPage) error {
	s, err := l.choose(ctx, o)
	if err != nil {
		return err
	}
	for _, f := range s.files {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if s.seen[f.id] {
			continue // an older copy of one that was listed
		}
		info, ok := s.info(f)
		if !ok {
			continue
		}
		s.seen[f.id] = true
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
	dirs  []string
	exact []func(name string) bool
	// below are folders that count with all that is in them, and prefixes what
	// the names of their transcripts begin with.
	below, prefixes []string
}

// placesOf returns a folder, and the worktrees of its repository if they are
// wanted.
func placesOf(dir string, worktrees bool) places {
	p := places{dirs: []string{dir}, exact: []func(string) bool{folderOf(dir)}}
	if !worktrees {
		return p
	}
	for _, tree := range gitWorktrees(dir) {
		p.dirs = append(p.dirs, tree)
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

// holds reports whether a conversation was held in one of the folders. dir is the
// folder that its transcript tells. Names do not tell in all cases: a-b and a/b
// have the same. A transcript that tells of a folder with another name was moved,
// and counts where it is.
func (p places) holds(name, dir string) bool {
	if p.all || p.isExact(name) && (dir == "" || !folderOf(dir)(name) || slices.ContainsFunc(p.dirs, func(d string) bool { return sameFolder(d, dir) })) {
		return true
	}
	return dir != "" && slices.ContainsFunc(p.below, func(tree string) bool {
		relative, err := filepath.Rel(tree, dir)
		return err == nil && filepath.IsLocal(relative)
	})
}

// sameFolder reports whether two paths are of one folder, however they are spelt.
func sameFolder(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
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
