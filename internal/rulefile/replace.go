package rulefile

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/policy"
)

// maxText is how long the text of a rules file may be: a longer one would not be read.
const maxText = 1 << 20

// Text returns the rules file as it is. One that does not exist is empty.
func (f *File) Text() (*api.RulesFile, error) {
	if f.options.File == "" {
		return nil, noFile()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.readFile()
	if now.problem != "" {
		return nil, unreadable(now.problem)
	}
	return &api.RulesFile{Path: f.options.File, Text: now.text, Hash: Sum([]byte(now.text))}, nil
}

// Replace writes another text into the rules file, as a whole or not at all, if the file is still the one that hash names; see [Sum]. A text that
// is wrong is refused, with the lines. What the new text allows beyond the confirmed one waits for confirmation, as with any other change; the
// rest is in force when Replace returns. What callers can do something about is an *[api.Error].
func (f *File) Replace(text, hash string) error {
	if f.options.File == "" {
		return noFile()
	}
	if _, err := f.Try(text); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.readFile()
	if now.problem != "" {
		return unreadable(now.problem)
	}
	if is := Sum([]byte(now.text)); is != hash {
		return &api.Error{
			Status: http.StatusConflict, Code: api.CodeConflict, Title: "The rules file is another one by now",
			Detail: fmt.Sprintf("the text that was to be replaced is %q, and it is %s", hash, is), Hint: "read it again, and make the change in that",
		}
	}
	if err := writeRules(f.options.File, text); err != nil {
		return &api.Error{Status: http.StatusServiceUnavailable, Code: api.CodeStorage, Title: "The rules file cannot be written", Detail: err.Error()}
	}
	// Read back, so that what is in force is what the next look finds.
	f.seen = f.readFile()
	f.apply(f.seen)
	return nil
}

// Try returns the rules of a text as they would hold once they were confirmed. It changes nothing. What is wrong with the text is an *[api.Error].
func (f *File) Try(text string) (*policy.Engine, error) {
	if len(text) > maxText {
		return nil, &api.Error{Status: http.StatusRequestEntityTooLarge, Code: api.CodeTooLarge, Title: "The rules are longer than 1 MiB"}
	}
	file, err := f.parse(text)
	if err != nil {
		return nil, wrong(err)
	}
	engine, err := policy.New(file, f.options.Policy)
	if err != nil {
		return nil, wrong(err)
	}
	return engine, nil
}

// wrong says that a text makes no sense as rules.
func wrong(err error) error {
	return &api.Error{Status: http.StatusUnprocessableEntity, Code: api.CodeInvalid, Title: "The rules are wrong", Detail: firstOf(err), Hint: "nothing was changed"}
}

// maxErrors is how many of the errors in a text are told. Each line of it may have one.
const maxErrors = 20

// firstOf returns the text of an error; of very many joined ones that of the first.
func firstOf(err error) string {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return err.Error()
	}
	list := joined.Unwrap()
	text := errors.Join(list[:min(len(list), maxErrors)]...).Error()
	if more := len(list) - maxErrors; more > 0 {
		text += fmt.Sprintf("\nand %d more", more)
	}
	return text
}

// unreadable says that the rules file cannot be read.
func unreadable(problem string) error {
	return &api.Error{
		Status: http.StatusConflict, Code: api.CodeConflict, Title: "The rules file cannot be read", Detail: problem,
		Hint: "fix it on the hub's machine",
	}
}

// noFile says that there is no rules file to read or to write.
func noFile() error {
	return &api.Error{
		Status: http.StatusConflict, Code: api.CodeConflict, Title: "This server has no rules file", Hint: "name one in the configuration, and start the server again",
	}
}

// writeRules writes the rules file, for us alone. A link to it stays one.
func writeRules(name, text string) error {
	if real, err := filepath.EvalSymlinks(name); err == nil {
		name = real
	} else if info, err := os.Lstat(name); err == nil && info.Mode()&os.ModeSymlink != 0 {
		return fmt.Errorf("%s is a link that leads nowhere", name)
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	return writeStore(name, text)
}
