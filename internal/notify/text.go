package notify

import (
	"mime"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

const (
	// maxTitle and maxText bound what is sent of a title, a folder or a text, in
	// bytes. ntfy makes a file of a message of more than 4096 bytes.
	maxTitle = 200
	maxText  = 3000
)

// A payload is the body of a webhook's request. docs/notifications.md describes
// it.
type payload struct {
	ID      string    `json:"id"`
	Kind    string    `json:"kind"`
	Session string    `json:"session"`
	Time    time.Time `json:"time"`
	Link    string    `json:"link,omitempty"`

	// With Detail only.
	Title        string `json:"title,omitempty"`
	Dir          string `json:"dir,omitempty"`
	Question     string `json:"question,omitempty"`
	QuestionKind string `json:"question_kind,omitempty"`
	Text         string `json:"text,omitempty"`
}

// payload returns what a webhook is told.
func (c *courier) payload(l *letter) *payload {
	n := &l.notification
	p := &payload{ID: l.id, Kind: n.Kind, Session: n.Session, Time: n.Time.UTC().Truncate(time.Millisecond), Link: c.linkTo(n)}
	if c.target.Detail {
		p.Title, p.Dir, p.Text = shorten(n.Title, maxTitle), shorten(n.Dir, maxText), shorten(n.Text, maxText)
		p.Question, p.QuestionKind = n.Question, n.QuestionKind
	}
	return p
}

// linkTo returns the address at which the console shows what it is about.
func (c *courier) linkTo(n *Notification) string {
	if c.link == "" {
		return ""
	}
	link := c.link + "/#/sessions/" + url.PathEscape(n.Session)
	if n.Question != "" {
		link += "/questions/" + url.PathEscape(n.Question)
	}
	return link
}

// A look is how ntfy shows a kind.
type look struct{ title, sentence, tag, priority string }

// lookOf returns how a kind is shown. The sentences go on after "Session x".
func lookOf(kind string) look {
	switch kind {
	case NeedsInput:
		return look{"Your answer is needed", "waits for an answer.", "question", "high"}
	case Done:
		return look{"Done", "is done.", "white_check_mark", "default"}
	case Failed:
		return look{"Failed", "has failed.", "x", "high"}
	case Limit:
		return look{"Limit reached", "has reached a limit.", "warning", "high"}
	}
	return look{"Switchboard", "has news: " + kind + ".", "bell", "default"}
}

// ntfy returns the text of a message and sets the headers that go with it.
func (c *courier) ntfy(l *letter, header http.Header) []byte {
	n := &l.notification
	look := lookOf(n.Kind)
	title, text := look.title, "Session "+n.Session+" "+look.sentence
	if c.target.Detail {
		if n.Title != "" {
			title += ": " + n.Title
		}
		if n.Dir != "" {
			text += "\n" + filepath.Base(n.Dir)
		}
		if n.Text != "" {
			text += "\n\n" + n.Text
		}
	}
	header.Set("Content-Type", "text/plain; charset=utf-8")
	header.Set("Title", headerText(title))
	header.Set("Tags", look.tag)
	header.Set("Priority", look.priority)
	// Another attempt takes the place of one that did arrive after all.
	header.Set("X-Sequence-ID", l.id)
	if link := c.linkTo(n); link != "" {
		header.Set("Click", link)
	}
	return []byte(shorten(text, maxText))
}

// headerText makes a text fit for a header: one line, and in words of RFC 2047
// if there is more in it than ASCII.
func headerText(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	text = strings.Join(strings.Fields(text), " ")
	text = strings.ReplaceAll(text, "=?", "= ?") // it would be read as such a word
	return mime.QEncoding.Encode("utf-8", shorten(text, maxTitle))
}

// shorten cuts a text off after limit bytes, between two characters, and makes it
// valid.
func shorten(text string, limit int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= limit {
		return text
	}
	const dots = "…"
	cut := limit - len(dots)
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + dots
}
