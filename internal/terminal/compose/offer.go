package compose

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// maxOffered is how many completions are shown at once.
const maxOffered = 6

// An offer is what a word could become.
type offer struct {
	from   int // where the word begins
	word   string
	list   []string // what it could be
	hints  []string // what each of them does; may be empty
	at     int      // the one that is chosen
	asked  bool     // files were asked for
	only   bool     // complete it at once if there is only one
	folder bool     // files
}

// with returns the offer with the files that were found.
func (o offer) with(list []string) offer {
	o.asked, o.list, o.hints, o.at = false, list, nil, 0
	return o
}

// move chooses another one.
func (o offer) move(by int) offer {
	o.at = (o.at + by + len(o.list)) % len(o.list)
	return o
}

// whole reports whether the chosen one stands there already.
func (o offer) whole() bool {
	chosen := o.list[o.at]
	if o.folder {
		return strings.TrimSuffix(chosen, "/") == strings.TrimPrefix(o.word, `"`)
	}
	return chosen == o.word
}

// ask looks for completions of the word before the cursor. With only, a single one is taken at once.
func (m Model) ask(only bool) (Model, tea.Cmd) {
	m.offer = offer{}
	text := m.field.text[:m.field.pos]
	if strings.HasPrefix(text, "/") && !strings.ContainsAny(text, " \t\n") {
		return m.commands(text, only)
	}
	at, ok := m.word()
	if !ok {
		return m, nil
	}
	word := text[at+1:]
	m.offers++
	m.offer = offer{from: at, word: word, asked: true, only: only, folder: true}
	seq, files, prefix := m.offers, m.o.Files, strings.TrimPrefix(word, `"`)
	return m, func() tea.Msg { return offeredMsg{seq, files(prefix)} }
}

// word returns where the @path before the cursor begins, if there is one.
func (m Model) word() (at int, ok bool) {
	text := m.field.text[:m.field.pos]
	at = strings.LastIndexByte(text, '@')
	if at < 0 || at > 0 && !strings.ContainsAny(text[at-1:at], " \t\n(") {
		return 0, false
	}
	word := text[at+1:]
	quoted := strings.HasPrefix(word, `"`)
	return at, !strings.Contains(word, "\n") && (quoted || !strings.ContainsAny(word, " \t")) && (!quoted || strings.Count(word, `"`) == 1)
}

// commands offers the commands that begin like a text.
func (m Model) commands(text string, only bool) (Model, tea.Cmd) {
	o := offer{word: text}
	for _, c := range slices.Concat(m.o.Slash, m.o.Commands) {
		name := "/" + c.Name
		if len(name) >= len(text) && strings.EqualFold(name[:len(text)], text) && !slices.Contains(o.list, name) {
			o.list, o.hints = append(o.list, name), append(o.hints, c.Hint)
		}
	}
	if len(o.list) == 0 {
		return m, nil
	}
	m.offer = o
	if only && len(o.list) == 1 {
		return m.complete()
	}
	return m, nil
}

// complete writes the completion that is chosen. A file is attached, a folder is looked into.
func (m Model) complete() (Model, tea.Cmd) {
	o := m.offer
	m.offer = offer{}
	chosen := o.list[o.at]
	if !o.folder {
		m.field = m.field.cut(o.from, m.field.pos)
		m.field, _ = m.field.put(chosen + " ")
		return m, nil
	}
	word := "@" + chosen
	isFolder := strings.HasSuffix(chosen, "/")
	if strings.ContainsAny(chosen, " \t") {
		word = `@"` + chosen
		if !isFolder {
			word += `"`
		}
	}
	m.field = m.field.cut(o.from, m.field.pos)
	if isFolder {
		m.field, _ = m.field.put(word)
		return m.ask(false)
	}
	m.field, _ = m.field.put(word + " ")
	seq, path := m.seq, mentioned(word, m.o.Dir)
	return m, func() tea.Msg {
		a, err := Attach(path)
		if err != nil {
			return attachedMsg{seq: seq, err: err}
		}
		return attachedMsg{seq: seq, list: []Attachment{a}, mention: word}
	}
}
