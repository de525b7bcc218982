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
	"time"

	"github.com/switchboard-dev/switchboard/wire"
)

// ForkOptions say what is forked. Nil and the zero value are valid: all of the
// conversation.
type ForkOptions struct {
	ConversationOptions
	// UpTo is the uuid of the last message of the fork. If it is where the
	// conversation was compacted, the fork ends before that.
	UpTo string
	// Title is the title of the fork. If empty, that of the conversation with
	// " (fork)" behind it.
	Title string
}

// ForkConversation copies a conversation under a new id, which is returned, and
// with new uuids. Nothing is started; [Options.Resume] goes on with the copy.
//
// Only what leads to the end, or to [ForkOptions.UpTo], is copied: no branch
// that was given up, no transcript of a sub-agent, no checkpoint of files.
// Outputs of tools that the CLI has put into files of their own stay with the
// original, and are lost with it.
//
// The error is [fs.ErrNotExist] if there is no such conversation or message.
func ForkConversation(ctx context.Context, id string, o *ForkOptions) (string, error) {
	var options ForkOptions
	if o != nil {
		options = *o
	}
	fork, err := options.fork(ctx, id)
	if err != nil {
		return "", fmt.Errorf("forking the conversation %.40s: %w", id, err)
	}
	return fork, nil
}

func (o *ForkOptions) fork(ctx context.Context, id string) (string, error) {
	title, err := o.title(ctx, id)
	if err != nil {
		return "", err
	}
	t, done, path, err := openKept(ctx, id, "", &o.ConversationOptions)
	if err != nil {
		return "", err
	}
	defer done()
	chain, err := t.chain(ctx)
	if err != nil {
		return "", err
	}
	f := &forker{from: id, to: wire.NewUUID(), title: title, chain: chain, fresh: map[string]string{}}
	if err := f.choose(o.UpTo); err != nil {
		return "", err
	}
	if o.Store != nil {
		batch := newBatch(o.Store, o.key(f.to, ""))
		err := f.copy(ctx, t, func(line []byte) error { return batch.add(ctx, line) })
		if err == nil {
			err = batch.flush(ctx)
		}
		return f.to, err
	}
	lib, err := openLibrary(filepath.Dir(filepath.Dir(filepath.Dir(path))), o.Confined)
	if err != nil {
		return "", err
	}
	defer lib.close()
	to := &kept{lib: lib, project: filepath.Base(filepath.Dir(path)), id: f.to}
	err = lib.write(to.file(), func(file *os.File) error {
		w := bufio.NewWriterSize(file, 64<<10)
		err := f.copy(ctx, t, func(line []byte) error {
			_, err := w.Write(append(line, '\n'))
			return err
		})
		return errors.Join(err, w.Flush())
	})
	return f.to, err
}

// title returns the title of the fork.
func (o *ForkOptions) title(ctx context.Context, id string) (string, error) {
	title, err := checkTitle(o.Title)
	if err != nil || title != "" {
		return title, err
	}
	info, err := ConversationInfoOf(ctx, id, &o.ConversationOptions)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil // whether there is anything to copy shows soon
	}
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(info.Summary() + " (fork)"), nil
}

// A forker copies the lines of a conversation.
type forker struct {
	from, to, title string
	chain           *transcriptChain
	in              map[int]bool // the numbers of the lines to copy
	last            int          // the greatest of them
	fresh           map[string]string
	notes           map[string][]byte
}

// choose selects the lines that lead to one.
func (f *forker) choose(upTo string) error {
	end := f.chain.end()
	if upTo != "" {
		if end = f.chain.find(upTo); end < 0 {
			return fmt.Errorf("there is no message %.40q in it: %w", upTo, fs.ErrNotExist)
		}
	}
	for end >= 0 && upTo != "" && f.chain.nodes[end].kind == nodeCompacted {
		end = f.chain.before(end)
	}
	f.in = make(map[int]bool)
	for i, in := range f.chain.way(end) {
		// The rest of an answer, and results, may come behind the message.
		if in && i <= end && f.chain.nodes[i].kind != nodeLost {
			f.in[f.chain.nodes[i].line] = true
			f.last = max(f.last, f.chain.nodes[i].line)
		}
	}
	if len(f.in) == 0 {
		return fmt.Errorf("there is nothing to copy: %w", fs.ErrNotExist)
	}
	return nil
}

// copy writes the lines of the fork. The slice is the writer's.
func (f *forker) copy(ctx context.Context, t *Transcript, write func(line []byte) error) error {
	var failed error
	err := t.scan(ctx, func(number int, line []byte, tooLong *wire.LineTooLongError) bool {
		if tooLong != nil {
			return true
		}
		if f.in[number] {
			failed = write(f.line(line))
		} else if h, err := wire.Peek(line); err == nil && number <= f.last {
			failed = f.keepMetadata(string(h.Type), line, write)
		}
		return failed == nil
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		return err
	}
	for _, kind := range []string{"atis-latch", "tools-used"} {
		if line := f.notes[kind]; line != nil {
			if err := write(line); err != nil {
				return err
			}
		}
	}
	if f.title == "" {
		return nil
	}
	var w lineWriter
	w.text("type", "custom-title")
	w.text("customTitle", f.title)
	w.text("sessionId", f.to)
	w.text("uuid", wire.NewUUID())
	w.text("timestamp", time.Now().UTC().Format("2006-01-02T15:04:05.000Z"))
	return write(w.line())
}

// keepMetadata keeps what the CLI has noted about the conversation and what the model
// is shown depends on; the rest is about that process, or those uuids.
func (f *forker) keepMetadata(kind string, line []byte, write func(line []byte) error) error {
	switch kind {
	case "content-replacement":
		if json.Valid(line) {
			return write(f.line(line))
		}
	case "atis-latch", "tools-used": // each replaces the one before
		if json.Valid(line) {
			if f.notes == nil {
				f.notes = make(map[string][]byte)
			}
			f.notes[kind] = f.line(line)
		}
	}
	return nil
}

// line returns a line as it stands in the fork.
func (f *forker) line(line []byte) []byte {
	uuid, named := "", false
	out := rewriteObject(line, func(name string, value []byte) ([]byte, bool) {
		switch name {
		case "sessionId":
			named = true
			return quoted(f.to), true
		case "uuid":
			uuid = textOf(value)
			return f.renamed(value), true
		case "message", "toolUseResult", "attachment", "content":
			return value, true // what was said
		case "forkedFrom", "slug", "teamName", "agentName":
			return nil, false // the names of what belongs to the original
		default:
			return f.renamed(value), true
		}
	})
	if uuid == "" {
		return out
	}
	var w lineWriter
	w.text("sessionId", f.from)
	w.text("messageUuid", uuid)
	out = out[:len(out)-1]
	if !named {
		out = append(append(out, `,"sessionId":`...), quoted(f.to)...)
	}
	out = append(out, `,"forkedFrom":`...)
	return append(append(out, w.line()...), '}')
}

// renamed returns a value with the uuids in it that are those of lines replaced
// by new ones.
func (f *forker) renamed(value []byte) []byte {
	switch {
	case len(value) == 0:
		return value
	case value[0] == '"':
		old := textOf(value)
		if old == "" || !f.chain.has(old) {
			return value
		}
		fresh, ok := f.fresh[old]
		if !ok {
			fresh = wire.NewUUID()
			f.fresh[old] = fresh
		}
		return quoted(fresh)
	case value[0] == '{':
		return rewriteObject(value, func(_ string, value []byte) ([]byte, bool) { return f.renamed(value), true })
	case value[0] == '[':
		var b bytes.Buffer
		b.WriteByte('[')
		for element := range wire.Elements(value) {
			if b.Len() > 1 {
				b.WriteByte(',')
			}
			b.Write(f.renamed(element))
		}
		b.WriteByte(']')
		return b.Bytes()
	}
	return value
}

// rewriteObject returns an object with its members changed or left out, in their
// order. The text must be valid JSON.
func rewriteObject(text []byte, change func(name string, value []byte) ([]byte, bool)) []byte {
	out := make([]byte, 1, len(text)+256)
	out[0] = '{'
	for name, value := range wire.Members(text) {
		if value, keep := change(name, value); keep {
			if len(out) > 1 {
				out = append(out, ',')
			}
			out = append(append(append(out, quoted(name)...), ':'), value...)
		}
	}
	return append(out, '}')
}

// quoted returns a string as JSON.
func quoted(text string) []byte {
	data, err := json.Marshal(text)
	if err != nil {
		return []byte(`""`) // a string always has a form
	}
	return data
}
