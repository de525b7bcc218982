package claude

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/switchboard-dev/switchboard/wire"
)

// maxTitle bounds titles and tags.
const maxTitle = 4096

// RenameConversation gives a conversation a title. A CLI that runs it does not
// notice; [Session.Request] with a [wire.RenameSessionRequest] tells it.
func RenameConversation(ctx context.Context, id, title string, o *ConversationOptions) error {
	title, err := checkTitle(title)
	if err == nil && title == "" {
		err = &OptionError{"title", "it is empty"}
	}
	if err == nil {
		err = appendNote(ctx, id, "custom-title", "customTitle", title, o)
	}
	if err != nil {
		return fmt.Errorf("renaming the conversation %.40s: %w", id, err)
	}
	return nil
}

// TagConversation gives a conversation a tag, in place of the one that it may
// have. An empty tag takes it away.
func TagConversation(ctx context.Context, id, tag string, o *ConversationOptions) error {
	tag, err := checkTitle(tag)
	if err == nil {
		err = appendNote(ctx, id, "tag", "tag", tag, o)
	}
	if err != nil {
		return fmt.Errorf("tagging the conversation %.40s: %w", id, err)
	}
	return nil
}

// checkTitle returns a title or tag without the space around it.
func checkTitle(text string) (string, error) {
	if text = strings.TrimSpace(text); !utf8.ValidString(text) || len(text) > maxTitle {
		return "", &OptionError{"title", fmt.Sprintf("it must be UTF-8 text of at most %d bytes", maxTitle)}
	}
	return text, nil
}

// appendNote adds a line of one member to a conversation.
func appendNote(ctx context.Context, id, kind, member, value string, o *ConversationOptions) error {
	var w lineWriter
	w.text("type", kind)
	w.text(member, value)
	w.text("sessionId", id)
	if o != nil && o.Store != nil {
		return appendStored(ctx, id, w.line(), o)
	}
	k, err := findKept(ctx, id, o)
	if err != nil {
		return err
	}
	defer k.lib.close()
	return k.append(ctx, w.line())
}

// append adds a line to the transcript. A CLI may write to it at the same time:
// what is written at once at the end of a file comes between two writes of
// others, never into one.
func (k *kept) append(ctx context.Context, line []byte) (err error) {
	// Never O_CREATE: it would bring back what another process deletes at this moment.
	f, err := k.lib.root.OpenFile(k.file(), os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !os.SameFile(info, k.info) {
		return fmt.Errorf("%s has been replaced meanwhile", k.path())
	}
	text := make([]byte, 0, len(line)+2)
	cut, err := isCutOff(ctx, f)
	if err != nil {
		return err
	}
	if cut {
		text = append(text, '\n')
	}
	text = append(append(text, line...), '\n')
	_, err = f.Write(text) // fails if not all of it could be written
	return err
}

// isCutOff reports whether a file ends in the middle of a line, as it does after a
// CLI that was killed while it wrote. One that is still writing is waited for: a
// long write is seen before it is complete.
func isCutOff(ctx context.Context, f *os.File) (bool, error) {
	for before := int64(-1); ; {
		info, err := f.Stat()
		if err != nil || info.Size() == 0 {
			return false, err
		}
		var last [1]byte
		if _, err := f.ReadAt(last[:], info.Size()-1); err != nil || last[0] == '\n' {
			return false, err
		}
		if info.Size() == before {
			return true, nil
		}
		before = info.Size()
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
	}
}

// ArchiveConversation marks a conversation as put away, for lists that leave out
// such ones; [ListConversations] does not. Its transcript is not changed. A CLI of
// 2.1.325 takes the mark away when it is prompted in that conversation. A store
// has no such mark.
func ArchiveConversation(ctx context.Context, id string, o *ConversationOptions) error {
	return archive(ctx, id, true, o)
}

// UnarchiveConversation takes back [ArchiveConversation].
func UnarchiveConversation(ctx context.Context, id string, o *ConversationOptions) error {
	return archive(ctx, id, false, o)
}

func archive(ctx context.Context, id string, archived bool, o *ConversationOptions) error {
	err := func() error {
		if o != nil && o.Store != nil {
			return &OptionError{"Store", "conversations in a store cannot be archived: the mark is a file beside the transcript"}
		}
		k, err := findKept(ctx, id, o)
		if err != nil {
			return err
		}
		defer k.lib.close()
		data, err := json.Marshal(struct {
			Archived bool   `json:"archived"`
			At       string `json:"at"`
			By       string `json:"by"`
		}{archived, time.Now().UTC().Format("2006-01-02T15:04:05.000Z"), "sdk"})
		if err != nil {
			return err
		}
		if err := k.lib.mkdir(k.folder()); err != nil {
			return err
		}
		return k.lib.write(filepath.Join(k.folder(), archivedFile), func(f *os.File) error {
			_, err := f.Write(data)
			return err
		})
	}()
	if err != nil {
		return fmt.Errorf("archiving the conversation %.40s: %w", id, err)
	}
	return nil
}

// mkdir makes a folder, unless it is there. A link is not taken for one.
func (l *library) mkdir(name string) error {
	if err := l.root.MkdirAll(name, 0o700); err != nil {
		return err
	}
	info, err := l.root.Lstat(name)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is not a folder", filepath.Join(l.path, name))
	}
	return err
}

// write writes a file so that it is there with all that is in it, or as it was.
func (l *library) write(name string, fill func(*os.File) error) error {
	draft := filepath.Join(filepath.Dir(name), "."+wire.NewUUID()+".tmp")
	f, err := l.root.OpenFile(draft, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	err = fill(f)
	if err = errors.Join(err, f.Close()); err == nil {
		err = l.root.Rename(draft, name)
	}
	if err != nil {
		return errors.Join(err, l.root.Remove(draft))
	}
	return nil
}

// DeleteConversation removes a conversation's transcript and the folder beside it
// with those of its sub-agents. Nothing else is removed: not what was edited,
// not what the CLI keeps of all conversations, nothing that is kept elsewhere. A
// CLI that runs it writes its next lines into a new file of that name.
//
// In a store, it is removed if that is a [StoreDeleter], and otherwise nothing
// happens.
func DeleteConversation(ctx context.Context, id string, o *ConversationOptions) error {
	if err := deleteConversation(ctx, id, o); err != nil {
		return fmt.Errorf("deleting the conversation %.40s: %w", id, err)
	}
	return nil
}

func deleteConversation(ctx context.Context, id string, o *ConversationOptions) error {
	if o != nil && o.Store != nil {
		key := o.key(id, "")
		if err := key.check(); err != nil {
			return err
		}
		if d, ok := o.Store.(StoreDeleter); ok {
			return d.Delete(ctx, key)
		}
		return nil
	}
	k, err := findKept(ctx, id, o)
	if err != nil {
		return err
	}
	defer k.lib.close()
	// The folder first: if it cannot be removed, the conversation is still there
	// to be deleted another time.
	if info, err := k.lib.root.Lstat(k.folder()); err == nil && info.IsDir() {
		if err := k.lib.root.RemoveAll(k.folder()); err != nil {
			return err
		}
	}
	if err := k.lib.root.Remove(k.file()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
