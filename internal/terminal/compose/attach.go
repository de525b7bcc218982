package compose

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
	"github.com/switchboard-dev/switchboard/internal/units"
)

// What may be attached. The model's API takes images of 5 MB in base64, which is three quarters of that in the file.
const (
	maxImage       = 5 << 20 / 4 * 3
	maxTextFile    = 1 << 20
	maxPDF         = 24 << 20
	maxAttached    = 32 << 20 // of all files of a message together
	maxAttachments = 20
	// sniffed is how much of a file is read to find out what it is.
	sniffed = 512
)

// An Attachment is a file that goes along with a message.
type Attachment struct {
	// Path is the file, Name what it is called.
	Path, Name string
	// MediaType says what it is: an image's, application/pdf, or text/plain for every other text.
	MediaType string
	// Size is the length of the file, in bytes.
	Size int64
	// Block is the content block that holds it.
	Block json.RawMessage

	// mention is the @path in the text that it stands for; empty if there is none.
	mention string
}

// Image reports whether it is an image.
func (a Attachment) Image() bool { return strings.HasPrefix(a.MediaType, "image/") }

// source is where the API finds what a block shows.
type source struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      string `json:"data"`
}

// A block is a content block of the API.
type block struct {
	Type   string  `json:"type"`
	Text   string  `json:"text,omitempty"`
	Source *source `json:"source,omitempty"`
	Title  string  `json:"title,omitempty"`
}

// Attach reads a file as an attachment: an image, a PDF or a text. Nothing is read of a file that is too long, or that is none.
func Attach(path string) (Attachment, error) {
	fail := func(format string, args ...any) (Attachment, error) {
		return Attachment{}, fmt.Errorf("attaching %s: "+format, append([]any{paint.CleanLine(path, 0)}, args...)...)
	}
	info, err := os.Stat(path) // before it is opened: a pipe would keep us waiting
	if errors.Is(err, fs.ErrNotExist) {
		return fail("no such file")
	}
	if err != nil {
		return fail("%w", err)
	}
	if info.IsDir() {
		return fail("that's a folder; name a file in it")
	}
	if !info.Mode().IsRegular() {
		return fail("not a regular file")
	}
	file, err := os.Open(path)
	if err != nil {
		return fail("%w", err)
	}
	defer file.Close()
	head := make([]byte, sniffed)
	n, err := io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return fail("%w", err)
	}
	head = head[:n]
	a := Attachment{Path: path, Name: filepath.Base(path), Size: info.Size()}
	most, hint := int64(maxTextFile), "write its path without @ instead, and the agent reads what it needs"
	switch kind := http.DetectContentType(head); {
	case n == 0:
		return fail("it is empty")
	case slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, kind):
		a.MediaType, most, hint = kind, maxImage, "make it smaller first"
	case kind == "application/pdf":
		a.MediaType, most = kind, maxPDF
	case strings.HasPrefix(kind, "image/"):
		return fail("%s images aren't supported; convert it to PNG or JPEG first", kind)
	case slices.Contains(head, 0) || !utf8.Valid(whole(head)):
		return fail("not an image, PDF or text; write its path without @ instead")
	default:
		a.MediaType = "text/plain"
	}
	if a.Size > most {
		return fail("it has %s, the limit for %s is %s; %s", units.Size(a.Size), class(a.MediaType), units.Size(most), hint)
	}
	rest, err := io.ReadAll(io.LimitReader(file, most+1-int64(n)))
	if err != nil {
		return fail("%w", err)
	}
	data := append(head, rest...)
	if a.Size = int64(len(data)); a.Size > most { // it grows
		return fail("it has over %s; %s", units.Size(most), hint)
	}
	if a.Block, err = blockOf(&a, data); err != nil {
		return fail("%w", err)
	}
	return a, nil
}

// whole leaves out the character at the end that is not there to its end.
func whole(head []byte) []byte {
	for i := 1; i < utf8.UTFMax && i <= len(head); i++ {
		if at := len(head) - i; utf8.RuneStart(head[at]) {
			if !utf8.FullRune(head[at:]) {
				return head[:at]
			}
			break
		}
	}
	return head
}

func class(mediaType string) string {
	switch {
	case strings.HasPrefix(mediaType, "image/"):
		return "an image"
	case mediaType == "application/pdf":
		return "a PDF"
	default:
		return "a text"
	}
}

// blockOf makes the content block of a file.
func blockOf(a *Attachment, data []byte) (json.RawMessage, error) {
	b := block{Type: "document", Title: a.Name, Source: &source{"base64", a.MediaType, ""}}
	switch {
	case a.Image():
		b.Type, b.Title = "image", ""
		b.Source.Data = base64.StdEncoding.EncodeToString(data)
	case a.MediaType == "application/pdf":
		b.Source.Data = base64.StdEncoding.EncodeToString(data)
	case !utf8.Valid(data):
		return nil, errors.New("not UTF-8 text; write its path without @ instead")
	default:
		b.Source.Type, b.Source.Data = "text", string(data)
	}
	return json.Marshal(b)
}

// Room is an error if another attachment is too much.
func Room(list []Attachment, another Attachment) error {
	if len(list) >= maxAttachments {
		return fmt.Errorf("attaching %s: a message can have %d attachments", another.Name, maxAttachments)
	}
	sum := int64(len(another.Block))
	for _, a := range list {
		sum += int64(len(a.Block))
	}
	if sum > maxAttached {
		return fmt.Errorf("attaching %s: all attachments together can have %s", another.Name, units.Size(maxAttached))
	}
	return nil
}

// Content returns a text and what is attached as content blocks, the text last; nil if nothing is attached.
func Content(text string, list []Attachment) json.RawMessage {
	if len(list) == 0 {
		return nil
	}
	blocks := make([][]byte, 0, len(list)+1)
	for _, a := range list {
		blocks = append(blocks, a.Block)
	}
	if strings.TrimSpace(text) != "" {
		words, _ := json.Marshal(block{Type: "text", Text: text}) // strings can always be written
		blocks = append(blocks, words)
	}
	return slices.Concat([]byte("["), bytes.Join(blocks, []byte(",")), []byte("]"))
}

// SubmitMsg says that a text is to be sent.
type SubmitMsg struct {
	Text        string
	Attachments []Attachment
	// Steer has it written into the running turn at once.
	Steer bool
}

// Message returns what the server is to be sent.
func (s SubmitMsg) Message() api.SendMessage {
	m := api.SendMessage{Content: Content(s.Text, s.Attachments)}
	if m.Content == nil {
		m.Text = s.Text
	}
	if s.Steer {
		m.Mode = "steer"
	}
	return m
}

// mentions returns the @paths in a text: words that begin with @, in quotes if there are spaces in them.
func mentions(text string) []string {
	var list []string
	for at := 0; at < len(text); {
		i := strings.IndexByte(text[at:], '@')
		if i < 0 {
			break
		}
		at += i
		if at > 0 && !strings.ContainsAny(text[at-1:at], " \t\n(") {
			at++ // an address of electronic mail
			continue
		}
		word := mention(text[at:])
		if len(word) > 1 && !slices.Contains(list, word) {
			list = append(list, word)
		}
		at += max(1, len(word))
	}
	return list
}

// mentionAt returns where a text has an @path, and not a longer one that begins with it; -1 if it has none.
func mentionAt(text, word string) int {
	for at := 0; at < len(text); {
		i := strings.Index(text[at:], word)
		if i < 0 {
			break
		}
		at += i
		if whole := mention(text[at:]); whole == word || strings.TrimRight(whole, marks) == word {
			return at
		}
		at++
	}
	return -1
}

// marks are a sentence's, which may follow an @path.
const marks = ".,;:!?)"

// mention returns the @path that a text begins with.
func mention(text string) string {
	if quoted, ok := strings.CutPrefix(text, `@"`); ok {
		if end := strings.IndexAny(quoted, "\"\n"); end >= 0 && quoted[end] == '"' {
			return text[:end+3]
		}
		return ""
	}
	word := text
	if end := strings.IndexAny(text, " \t\n"); end >= 0 {
		word = text[:end]
	}
	return word
}

// mentioned returns the path that an @path names, in a folder.
func mentioned(mention, dir string) string {
	return inside(strings.Trim(strings.TrimPrefix(mention, "@"), `"`), dir)
}

// inside returns a path that a person wrote, as one to open.
func inside(path, dir string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, rest)
		}
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// found returns which of the @paths in a text name files, with the sentences' marks after them left away. A word that names none is just
// a word.
func found(text, dir string) (words, paths []string) {
	for _, word := range mentions(text) {
		for _, w := range []string{word, strings.TrimRight(word, marks)} {
			if len(w) < 2 || slices.Contains(words, w) {
				continue
			}
			if info, err := os.Stat(mentioned(w, dir)); err == nil && !info.IsDir() {
				words, paths = append(words, w), append(paths, mentioned(w, dir))
				break
			}
		}
	}
	return words, paths
}

// ImagePath returns the path if what was pasted is nothing but that of an image, as terminals and file managers write it.
func ImagePath(pasted, dir string) (string, bool) {
	path := strings.TrimSpace(pasted)
	if path == "" || len(path) > 4096 || strings.ContainsAny(path, "\n\r\x00") {
		return "", false
	}
	if n := len(path); n > 1 && (path[0] == '\'' || path[0] == '"') && path[n-1] == path[0] {
		path = path[1 : n-1]
	} else if address, err := url.Parse(path); err == nil && address.Scheme == "file" {
		path = address.Path
	} else {
		path = strings.ReplaceAll(path, `\ `, " ")
	}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".png", ".jpg", ".jpeg", ".gif", ".webp":
		return inside(path, dir), true
	default:
		return "", false
	}
}
