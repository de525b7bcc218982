package compose

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
	"github.com/switchboard-dev/switchboard/internal/units"
)

// EditedMsg is what became of a text in an editor.
type EditedMsg struct {
	Text string
	Err  error
}

// maxEdited is how much is read of what an editor wrote.
const maxEdited = 16 << 20

// Editor returns a function whose commands open a text in the editor that $VISUAL or $EDITOR names (else vi), started in a folder, and
// end with an EditedMsg. The text is in a file of its own meanwhile, which only its owner can read; the suffix, such as .md, tells the
// editor what it is.
func Editor(getenv func(string) string, dir string) func(text, suffix string) tea.Cmd {
	return func(text, suffix string) tea.Cmd {
		e := newEdit(getenv, dir, text, suffix)
		return tea.Exec(e, func(err error) tea.Msg {
			if err != nil {
				return EditedMsg{Err: err}
			}
			return EditedMsg{Text: e.text}
		})
	}
}

// Edit opens a text in the editor as Editor does, without Bubble Tea, and returns what became of it.
func Edit(getenv func(string) string, dir, text, suffix string, in io.Reader, out, errs io.Writer) (string, error) {
	e := newEdit(getenv, dir, text, suffix)
	e.in, e.out, e.err = in, out, errs
	if err := e.Run(); err != nil {
		return "", err
	}
	return e.text, nil
}

func newEdit(getenv func(string) string, dir, text, suffix string) *edit {
	name := "vi"
	for _, variable := range []string{"VISUAL", "EDITOR"} {
		if value := strings.TrimSpace(getenv(variable)); value != "" {
			name = value
			break
		}
	}
	return &edit{name: name, dir: dir, text: text, suffix: suffix}
}

// An edit is a text in an editor. The file is made only when the editor is about to run, so that none stays behind of a command that
// never does.
type edit struct {
	name, dir    string
	text, suffix string

	in       io.Reader
	out, err io.Writer
}

// SetStdin tells where the editor reads from.
func (e *edit) SetStdin(r io.Reader) { e.in = r }

// SetStdout tells where the editor writes to.
func (e *edit) SetStdout(w io.Writer) { e.out = w }

// SetStderr tells where the editor complains to.
func (e *edit) SetStderr(w io.Writer) { e.err = w }

// Run has the text edited.
func (e *edit) Run() (err error) {
	file, err := os.CreateTemp("", "switchboard-*"+e.suffix) // 0600
	if err != nil {
		return fmt.Errorf("opening the editor: %w", err)
	}
	defer func() { err = errors.Join(err, os.Remove(file.Name())) }()
	_, err = file.WriteString(e.text)
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("opening the editor: %w", err)
	}
	// The variable may hold options, in the shell's manner: code --wait.
	cmd := exec.Command("sh", "-c", e.name+` "$1"`, "sh", file.Name())
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = e.dir, e.in, e.out, e.err
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("the editor %s: %w; nothing was changed. Set VISUAL or EDITOR to another one", paint.CleanLine(e.name, 60), err)
	}
	// Editors replace the file rather than write into it: it is opened anew.
	written, err := os.Open(file.Name())
	if err != nil {
		return fmt.Errorf("reading what was edited: %w", err)
	}
	defer written.Close()
	text, err := io.ReadAll(io.LimitReader(written, maxEdited+1))
	if err != nil {
		return fmt.Errorf("reading what was edited: %w", err)
	}
	if len(text) > maxEdited {
		return fmt.Errorf("the edited text has over %s; nothing was changed", units.Size(maxEdited))
	}
	e.text = string(text)
	return nil
}
