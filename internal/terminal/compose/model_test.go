package compose

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
)

// play presses keys, does what commands say, and returns the messages that are for others.
func play(t testing.TB, m Model, script string) (Model, []tea.Msg) {
	t.Helper()
	var out []tea.Msg
	for _, key := range keys(t, script) {
		var msgs []tea.Msg
		m, msgs = tell(m, key)
		out = append(out, msgs...)
	}
	return m, out
}

// tell hands a message on, and all that comes of it.
func tell(m Model, msg tea.Msg) (Model, []tea.Msg) {
	var out []tea.Msg
	m, cmd := m.Update(msg)
	for todo := []tea.Cmd{cmd}; len(todo) > 0; todo = todo[1:] {
		if todo[0] == nil {
			continue
		}
		switch msg := todo[0]().(type) {
		case nil:
		case tea.BatchMsg:
			todo = append(todo, msg...)
		case SubmitMsg, CommandMsg:
			out = append(out, msg)
		default:
			m, cmd = m.Update(msg)
			todo = append(todo, cmd)
		}
	}
	return m, out
}

func picture(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// folder returns one with a few files.
func folder(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for name, data := range map[string]string{
		"notes.txt": "some notes", "main.go": "package main\n", "src/a.go": "package a\n", "src/b.go": "package b\n", "with space.txt": "spaced",
		".hidden": "h", "shot.png": string(picture(t)), "empty.txt": "", "program": "\x7fELF\x00\x01\x02", "latin.txt": strings.Repeat("a", 600) + "\xe9",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

var update = flag.Bool("update", false, "write the golden files anew")

func TestSend(t *testing.T) {
	dir := folder(t)
	slash := []Command{{"model", "choose the model"}, {"mode", "choose the mode"}, {"quit", "leave"}}
	commands := []Command{{"compact", "compact the conversation"}, {"review", ""}}
	text := func(text string) []tea.Msg { return []tea.Msg{SubmitMsg{Text: text}} }
	for _, test := range []struct {
		name, keys string
		want       []tea.Msg
		left       string // what is in the composer then
	}{
		{"a message", "hello<enter>", text("hello"), ""},
		{"nothing", "<enter>  <enter>", nil, "  "},
		{"several lines", "a<alt+enter>b<ctrl+j>c<enter>", text("a\nb\nc"), ""},
		{"a backslash at the end", `one\<enter>two<enter>`, text("one\ntwo"), ""},
		{"a backslash elsewhere", `one\<left><enter>`, text(`one\`), ""},
		{"steer", "stop that<ctrl+s>", []tea.Msg{SubmitMsg{Text: "stop that", Steer: true}}, ""},
		{"one of our commands", "/model opus 4<enter>", []tea.Msg{CommandMsg{"model", "opus 4"}}, ""},
		{"one of the CLI's", "/compact now<enter>", text("/compact now"), ""},
		{"one of nobody's", "/etc/passwd is a file<enter>", text("/etc/passwd is a file"), ""},
		{"a command in a text", "what is /model?<enter>", text("what is /model?"), ""},
		{"completed", "/q<tab><enter>", []tea.Msg{CommandMsg{"quit", ""}}, ""},
		{"completed, the second", "/mod<down><tab>plan<enter>", []tea.Msg{CommandMsg{"mode", "plan"}}, ""},
		{"completed, round and back", "/mod<up><up><tab>x<enter>", []tea.Msg{CommandMsg{"model", "x"}}, ""},
		{"completed with enter", "/comp<enter>", nil, "/compact "},
		{"written to its end", "/quit<enter>", []tea.Msg{CommandMsg{"quit", ""}}, ""},
		{"the list is closed", "/mod<esc><enter>", text("/mod"), ""},
		{"no such command", "/xyz<tab>", nil, "/xyz"},
		{"an address is no file", "ann@notes.txt<enter>", text("ann@notes.txt"), ""},
		{"a name that is no file", "ask @ann about it<enter>", text("ask @ann about it"), ""},
		{"up brings back what was sent", "one<enter>two<enter><up><up>", []tea.Msg{SubmitMsg{Text: "one"}, SubmitMsg{Text: "two"}}, "one"},
		{"and down again", "one<enter>dra<up><down>ft", []tea.Msg{SubmitMsg{Text: "one"}}, "draft"},
		{"the oldest stays", "<up><up><up><up>", nil, "oldest"},
		{"up in a text first", "a<alt+enter>b<up>x", nil, "ax\nb"},
		{"ctrl+p and ctrl+n", "<ctrl+p><ctrl+p><ctrl+n>", nil, "newest\nof two lines"},
		{"keys of others", "a<ctrl+c><pgup><esc>", nil, "a"},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := New(Options{Dir: dir, Slash: slash, Commands: commands, History: []string{"oldest", "newest\nof two lines"}})
			m, got := play(t, m, test.keys)
			if diff := cmp.Diff(test.want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(Attachment{})); diff != "" {
				t.Errorf("the messages differ (-want +got):\n%s", diff)
			}
			if m.Value() != test.left {
				t.Errorf("%q is left, want %q", m.Value(), test.left)
			}
		})
	}
}

func TestFilesAreAttached(t *testing.T) {
	dir := folder(t)
	document := func(name, data string) string {
		b, _ := json.Marshal(block{Type: "document", Title: name, Source: &source{"text", "text/plain", data}})
		return string(b)
	}
	shot := `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + base64.StdEncoding.EncodeToString(picture(t)) + `"}}`
	words := func(s string) string { return fmt.Sprintf(`{"type":"text","text":%q}`, s) }
	for _, test := range []struct {
		name, keys, content, words string
	}{
		{"written", "read @notes.txt please<enter>", "[" + document("notes.txt", "some notes") + "," + words("read @notes.txt please") + "]", ""},
		{"with a full stop", "(see @notes.txt).<enter>", "[" + document("notes.txt", "some notes") + "," + words("(see @notes.txt).") + "]", ""},
		{"twice is once", "@notes.txt @notes.txt<enter>", "[" + document("notes.txt", "some notes") + "," + words("@notes.txt @notes.txt") + "]", ""},
		{"completed", "@not<tab>ok<enter>", "[" + document("notes.txt", "some notes") + "," + words("@notes.txt ok") + "]", ""},
		{"in a folder", "@sr<tab><tab><enter>", "[" + document("a.go", "package a\n") + "," + words("@src/a.go") + "]", ""},
		{"in a folder, the second", "@src/<down><tab><enter>", "[" + document("b.go", "package b\n") + "," + words("@src/b.go") + "]", ""},
		{"with a space", "@with<tab><enter>", "[" + document("with space.txt", "spaced") + "," + words(`@"with space.txt"`) + "]", ""},
		{"an image", "what is @shot.png<enter>", "[" + shot + "," + words("what is @shot.png") + "]", ""},
		{"removed again", "@not<tab><ctrl+x>x<enter>", "", ""},
		{"empty", "@empty.txt<enter>", "", "it is empty"},
		{"a program", "@program<enter>", "", "not an image, PDF or text"},
		{"no UTF-8", "@latin.txt<enter>", "", "not UTF-8 text"},
		{"a folder is no file", "look into @src<enter>", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			m, out := play(t, New(Options{Dir: dir}), test.keys)
			if test.words != "" {
				if view := strings.ReplaceAll(m.View(), "\n", " "); len(out) != 0 || !strings.Contains(view, test.words) || m.Empty() {
					t.Errorf("got %v and\n%s", out, view)
				}
				return
			}
			if len(out) != 1 {
				t.Fatalf("got %d messages; the view is\n%s", len(out), m.View())
			}
			message := out[0].(SubmitMsg).Message()
			if got := string(message.Content); got != test.content {
				t.Errorf("got  %s\nwant %s", got, test.content)
			}
			if (message.Text == "") != (test.content != "") {
				t.Errorf("the text beside the blocks is %q", message.Text)
			}
			if !m.Empty() || len(m.attached) > 0 {
				t.Error("the composer is not empty")
			}
		})
	}
	m, _ := tell(New(Options{Dir: dir}), tea.PasteMsg{Content: filepath.Join(dir, "shot.png")})
	if len(m.Attachments()) != 1 || m.Value() != "" || !strings.Contains(m.View(), "+ shot.png (an image") {
		t.Errorf("a pasted path of an image is not attached:\n%s", m.View())
	}
	m, out := tell(m, named["enter"])
	if got := out[0].(SubmitMsg).Message(); !cmp.Equal(got, api.SendMessage{Content: json.RawMessage("[" + shot + "]")}) {
		t.Errorf("an image alone becomes %s", got.Content)
	}
	m, _ = tell(m, tea.PasteMsg{Content: "file:///gone/shot.png"})
	if m.Value() != "file:///gone/shot.png" || !strings.Contains(m.View(), "no such file") {
		t.Errorf("a pasted path of nothing becomes %q:\n%s", m.Value(), m.View())
	}
}

func TestAttachLimits(t *testing.T) {
	dir := t.TempDir()
	write := func(name, head string, size int64) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(head), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, size); err != nil { // nothing of it is on the disk
			t.Fatal(err)
		}
		return path
	}
	for _, test := range []struct{ path, want string }{
		{filepath.Join(dir, "gone"), "no such file"},
		{dir, "that's a folder; name a file in it"},
		{os.DevNull, "not a regular file"},
		{write("big.png", string(picture(t)), 4<<20), "the limit for an image is 3.7 MiB; make it smaller first"},
		{write("big.pdf", "%PDF-1.7\n", 1<<30), "the limit for a PDF is 24 MiB"},
		{write("big.txt", strings.Repeat("text ", 200), 10<<20), "the limit for a text is 1 MiB; write its path"},
		{write("x.bmp", "BM\x00\x00", 600), "convert it to PNG or JPEG first"},
	} {
		_, err := Attach(test.path)
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "attaching ") {
			t.Errorf("%s: got %v, want %q", filepath.Base(test.path), err, test.want)
		}
	}
	one := Attachment{Name: "a", Block: make(json.RawMessage, maxAttached/2)}
	if err := Room([]Attachment{one}, Attachment{Name: "b", Block: make(json.RawMessage, maxAttached/2+1)}); err == nil || !strings.Contains(err.Error(), "together can have 32 MiB") {
		t.Errorf("got %v", err)
	}
	if err := Room(make([]Attachment, maxAttachments), one); err == nil || !strings.Contains(err.Error(), "20 attachments") {
		t.Errorf("got %v", err)
	}
}

func TestFiles(t *testing.T) {
	dir := folder(t)
	for i := range 60 {
		if err := os.WriteFile(filepath.Join(dir, "src", fmt.Sprintf("many%02d", i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	files := Files(dir)
	for prefix, want := range map[string][]string{
		"":      {"empty.txt", "latin.txt", "main.go", "notes.txt", "program", "shot.png", "src/", "with space.txt"},
		"N":     {"notes.txt"},
		".":     {".hidden"},
		"src":   {"src/"},
		"src/a": {"src/a.go"},
		"gone/": nil, "notes.txt/": nil, "x": nil,
		dir + "/no": {dir + "/notes.txt"},
	} {
		if got := files(prefix); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", prefix, got, want)
		}
	}
	if got := files("src/many"); len(got) != maxCompletions || got[0] != "src/many00" {
		t.Errorf("%d are offered, from %q", len(got), got[0])
	}
}

func TestHistory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "history")
	if list, err := LoadHistory(path); err != nil || list != nil {
		t.Fatalf("no history: got %v, %v", list, err)
	}
	for _, text := range []string{"one", "two\nlines", "two\nlines", "  ", strings.Repeat("x", maxHistoryText+1), "three"} {
		if err := AppendHistory(path, text); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file has the mode %v (%v)", info.Mode(), err)
	}
	if folder, err := os.Stat(filepath.Dir(path)); err != nil || folder.Mode().Perm() != 0o700 {
		t.Errorf("its folder has the mode %v (%v)", folder.Mode(), err)
	}
	if list, err := LoadHistory(path); err != nil || !slices.Equal(list, []string{"one", "two\nlines", "three"}) {
		t.Errorf("got %q, %v", list, err)
	}

	// Something else has written into it, and let others read it.
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = file.WriteString("no JSON\n{}\n\"four\"\n")
	if err = errors.Join(err, file.Close(), os.Chmod(path, 0o644)); err != nil {
		t.Fatal(err)
	}
	if err := AppendHistory(path, "five"); err != nil {
		t.Fatal(err)
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 {
		t.Errorf("the file has the mode %v again", info.Mode())
	}
	if list, _ := LoadHistory(path); !slices.Equal(list, []string{"one", "two\nlines", "three", "four", "five"}) {
		t.Errorf("got %q", list)
	}

	// It is written anew before it becomes too long, and the last thousand are kept.
	line, _ := json.Marshal(strings.Repeat("y", 1000))
	if err := os.WriteFile(path, bytes.Repeat(append(line, '\n'), maxHistoryFile/1000), 0o600); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if err := AppendHistory(path, fmt.Sprint("last ", i)); err != nil {
			t.Fatal(err)
		}
	}
	if info, _ := os.Stat(path); info.Size() > maxHistoryFile || info.Mode().Perm() != 0o600 {
		t.Errorf("the file has %d bytes and the mode %v", info.Size(), info.Mode())
	}
	var many []byte
	for i := range 1500 {
		many = fmt.Appendf(many, "%q\n", fmt.Sprint(i))
	}
	if err := os.WriteFile(path, many, 0o600); err != nil {
		t.Fatal(err)
	}
	if list, _ := LoadHistory(path); len(list) != 1000 || list[0] != "500" {
		t.Errorf("%d are kept, from %q", len(list), list[0])
	}
	if _, err := LoadHistory(t.TempDir()); err == nil || !strings.Contains(err.Error(), "no ordinary file") {
		t.Errorf("a folder as history: %v", err)
	}
}

func TestHistoryOfTheComposer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history")
	m, _ := play(t, New(Options{HistoryFile: path, Slash: []Command{{"quit", ""}}}), "one<enter>/quit<enter>")
	if list, err := LoadHistory(path); err != nil || !slices.Equal(list, []string{"one", "/quit"}) {
		t.Errorf("got %q, %v", list, err)
	}
	if m, _ = play(t, m, "<up>"); m.Value() != "/quit" {
		t.Errorf("got %q", m.Value())
	}
	m, out := play(t, New(Options{HistoryFile: filepath.Join(path, "below a file")}), "one<enter>")
	if len(out) != 1 || !strings.Contains(m.View(), "writing the history") {
		t.Errorf("a history that cannot be written must be told, and stop nothing: %v\n%s", out, m.View())
	}
}

func TestEditorOfTheComposer(t *testing.T) {
	answer := EditedMsg{Text: "from the editor\n"}
	m := New(Options{Editor: func(text, suffix string) tea.Cmd {
		if text != "draft" || suffix != ".md" {
			t.Errorf("the editor gets %q, %q", text, suffix)
		}
		return func() tea.Msg { return answer }
	}})
	m, _ = tell(m, answer) // nobody waits for it
	if m.Value() != "" {
		t.Fatal("a text that nobody waits for was taken")
	}
	m, _ = play(t, m, "draft<ctrl+g>")
	if m.Value() != "from the editor" {
		t.Errorf("got %q", m.Value())
	}
	answer = EditedMsg{Err: errors.New("the editor is gone")}
	m, _ = play(t, m.SetValue("draft"), "<ctrl+g>")
	if m.Value() != "draft" || !strings.Contains(m.View(), "the editor is gone") {
		t.Errorf("got %q and\n%s", m.Value(), m.View())
	}
	answer = EditedMsg{Text: strings.Repeat("x", MaxText+1)}
	if m, _ = play(t, m, "<ctrl+g>"); m.Value() != "draft" || !strings.Contains(m.View(), "the limit is 1 MiB") {
		t.Errorf("too long a text: got\n%s", m.View())
	}
	if m, _ = play(t, New(Options{}), "<ctrl+g>"); !strings.Contains(m.View(), "set VISUAL or EDITOR") {
		t.Errorf("no editor: got\n%s", m.View())
	}
}

func TestEdit(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	env := func(values map[string]string) func(string) string {
		return func(name string) string { return values[name] }
	}
	var out bytes.Buffer
	text, err := Edit(env(map[string]string{"VISUAL": `f() { ls -l "$1" | cut -c1-10; pwd; tr a-z A-Z <"$1" >"$1.new" && mv "$1.new" "$1"; }; f`, "EDITOR": "false"}), dir, "hello\n", ".md", nil, &out, &out)
	if err != nil || text != "HELLO\n" {
		t.Errorf("got %q, %v", text, err)
	}
	if got, want := out.String(), "-rw-------\n"+dir+"\n"; got != want {
		t.Errorf("the editor says %q, want %q", got, want)
	}
	if _, err := Edit(env(map[string]string{"EDITOR": "false"}), dir, "hello", ".md", nil, &out, &out); err == nil || !strings.Contains(err.Error(), "nothing was changed") {
		t.Errorf("an editor that fails: %v", err)
	}
	if _, err := Edit(env(map[string]string{"EDITOR": "rm"}), dir, "hello", ".md", nil, &out, &out); err == nil {
		t.Error("an editor that removes the file is no error")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("%v is left behind (%v)", left, err)
	}
}

func TestComposerIsBounded(t *testing.T) {
	m, _ := tell(New(Options{}), tea.PasteMsg{Content: strings.Repeat("x", 10<<20)})
	if m.Value() != "" || !strings.Contains(strings.ReplaceAll(m.View(), "\n", " "), "attach it with @PATH") {
		t.Errorf("got %d bytes and\n%s", len(m.Value()), m.View())
	}
	m = m.SetValue(strings.Repeat("line\n", 1000))
	if h := m.Height(); h != 8 {
		t.Errorf("the composer has %d lines", h)
	}
	if m = m.SetSize(40, 3); m.Height() != 3 {
		t.Errorf("the composer has %d lines of 3", m.Height())
	}
}

func TestFocus(t *testing.T) {
	m := New(Options{Placeholder: "Say something\x1b[2J"})
	if m.Cursor() == nil || m.Cursor().X != 2 || !strings.Contains(m.View(), "Say something␛[2J") {
		t.Errorf("got the cursor %v and %q", m.Cursor(), m.View())
	}
	m, out := play(t, m.Blur(), "abc<enter>")
	if m.Focused() || m.Cursor() != nil || m.Value() != "" || out != nil {
		t.Error("a composer without the focus takes keys")
	}
	if m, _ = play(t, m.Focus(), "abc"); m.Value() != "abc" || m.Empty() {
		t.Error("a composer with the focus takes no keys")
	}
	m = m.SetPlaceholder("x").SetCommands([]Command{{"new", "n"}}).Reset()
	if m, _ = play(t, m, "/n"); !m.Completing() {
		t.Error("new commands are not offered")
	}
	for text, want := range map[string]bool{"": false, "a": false, "/n": true, "/n x": false, "see @a": true, "see @a b": false, `see @"a b`: true, `@"a b"`: false, "a@b": false} {
		if got := New(Options{}).SetValue(text).Completes(); got != want {
			t.Errorf("%q: tab completes: %v", text, got)
		}
	}
}

func TestComposerGolden(t *testing.T) {
	dir := folder(t)
	var b strings.Builder
	for _, width := range []int{40, 80, 120} {
		for _, colour := range []bool{false, true} {
			for _, script := range []string{"", "A text that is a little longer than the composer is wide, at least in forty columns.<alt+enter>And another line", "/mo", "@not<tab>see", "@"} {
				m := New(Options{Styles: paint.Profile{Color: colour}.Styles(), Width: width, Dir: dir, Placeholder: "Write to the agent", Slash: []Command{{"model", "choose the model, which the next turn is done with, and all that follow"}, {"mode", ""}}})
				m, _ = play(t, m, script)
				fmt.Fprintf(&b, "== %d %v %q (cursor %d, %d)\n%s\n\n", width, colour, script, m.Cursor().X, m.Cursor().Y, strings.ReplaceAll(strings.ReplaceAll(m.View(), "\x1b", "␛"), dir, "DIR"))
			}
		}
	}
	path := filepath.Join("testdata", "views.txt")
	if *update {
		if err := errors.Join(os.MkdirAll("testdata", 0o755), os.WriteFile(path, []byte(b.String()), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("the views differ (-want +got); -update writes them anew:\n%s", diff)
	}
}

func FuzzComposer(f *testing.F) {
	f.Add("/mo\x01@no\x02", "paste\x1b[31m", uint8(40))
	f.Add("@\"a b\x03\x04", "漢字\u202e", uint8(3))
	f.Add("x\\\x00/quit\x00", "/tmp/a.png", uint8(80))
	order := []string{"enter", "tab", "esc", "up", "down", "left", "right", "backspace", "ctrl+x", "ctrl+s", "ctrl+g", "ctrl+u", "alt+enter", "home"}
	f.Fuzz(func(t *testing.T, script, text string, columns uint8) {
		if len(script) > 200 || len(text) > 2000 {
			t.Skip("more of the same")
		}
		width := max(1, int(columns))
		m := New(Options{
			Width: width, Rows: 4, Dir: "/nonexistent", Slash: []Command{{"model", text}, {"mode", "m"}}, History: []string{text, "x"},
			Files:  func(prefix string) []string { return []string{prefix + "a", prefix + "b c", prefix + "d/"} },
			Editor: func(string, string) tea.Cmd { return func() tea.Msg { return EditedMsg{Text: text} } },
		})
		for i, r := range script {
			var msg tea.Msg = tea.KeyPressMsg{Code: r, Text: string(r)}
			switch {
			case r < 0x20:
				msg = named[order[int(r)%len(order)]]
			case i%13 == 12:
				msg = tea.PasteMsg{Content: text}
			}
			m, _ = tell(m, msg)
			view := m.View()
			lines := strings.Split(view, "\n")
			if len(lines) != m.Height() || !utf8.ValidString(view) {
				t.Fatalf("%d lines, and Height is %d: %q", len(lines), m.Height(), view)
			}
			for _, line := range lines {
				if ansi.StringWidth(line) > width || strings.Contains(line, "\x1b") {
					t.Fatalf("the line %q in %d columns", line, width)
				}
			}
			if c := m.Cursor(); c != nil && (c.X < 0 || c.X >= width || c.Y < 0 || c.Y >= len(lines)) {
				t.Fatalf("the cursor is at %d, %d in %d lines of %d columns", c.X, c.Y, len(lines), width)
			}
		}
	})
}
