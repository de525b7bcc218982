package rooms

import (
	"fmt"
	"go/scanner"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// dialect lists phrases that do not belong into texts for users, each with what
// to write instead. CONTRIBUTING.md has the terms.
var dialect = []struct {
	phrase *regexp.Regexp
	better string
}{
	{regexp.MustCompile(`(?i)\bmend(s|ed|ing)?\b`), `"fix"`},
	{regexp.MustCompile(`(?i)\b(go|goes|going|gone|went)\s+on\s+with\b`), `"continue" or "resume"`},
	{regexp.MustCompile(`(?i)\bby\s+(itself|themselves)\b`), `"automatically" or "on its own"`},
	{regexp.MustCompile(`(?i)\bin\s+vain\b`), `"failed"`},
	{regexp.MustCompile(`(?i)\bsomebody\s+(else\s+)?was\s+faster\b`), `"already answered by someone else"`},
	{regexp.MustCompile(`(?i)\bsomebody\b`), `"someone", or the client, caller or process that is meant`},
	{regexp.MustCompile(`(?i)\bwhoever\b`), `"anyone who", or the client, caller or process that is meant`},
	{regexp.MustCompile(`(?i)\bgood\s+(once|no\s+more)\b`), `"works once", "stops working"`},
	{regexp.MustCompile(`(?i)\b(is|are)\s+no\s+(valid\s+)?JSON\b`), `"isn't valid JSON"`},
	{regexp.MustCompile(`(?i)\blives?\s+on\b`), `"keeps running"`},
	{regexp.MustCompile(`(?i)\bwhich\s+there\s+(is|are|was|were|may\s+be)\b`), `a clause with a verb of its own, or two sentences`},
}

// A passage is a text that users read, with the line that it begins on.
type passage struct {
	line int
	text string
}

// checkWords says where passages of a file have a phrase of dialect in them, also
// if it is wrapped.
func checkWords(name string, passages []passage) []string {
	var wrong []string
	for _, p := range passages {
		for _, d := range dialect {
			for _, at := range d.phrase.FindAllStringIndex(p.text, -1) {
				line := p.line + strings.Count(p.text[:at[0]], "\n")
				phrase := strings.Join(strings.Fields(p.text[at[0]:at[1]]), " ")
				wrong = append(wrong, fmt.Sprintf("%s:%d: %q; write %s", name, line, phrase, d.better))
			}
		}
	}
	return wrong
}

// stringsOf returns the string literals of a Go file. Those that are added up are
// one, with the line ends between them.
func stringsOf(code string) []passage {
	var s scanner.Scanner
	files := token.NewFileSet()
	file := files.AddFile("", files.Base(), len(code))
	s.Init(file, []byte(code), nil, 0)
	var list []passage
	sum := false // the last tokens were a literal and a plus sign
	previous := token.ILLEGAL
	for {
		at, tok, text := s.Scan()
		switch tok {
		case token.EOF:
			return list
		case token.ADD:
			sum = previous == token.STRING
		case token.STRING:
			if plain, err := strconv.Unquote(text); err == nil && text[0] == '"' {
				text = strings.ReplaceAll(plain, "\n", " ")
			}
			line := file.Line(at)
			if sum {
				last := &list[len(list)-1]
				behind := line - last.line - strings.Count(last.text, "\n")
				last.text += strings.Repeat("\n", max(behind, 0)) + text
			} else {
				list = append(list, passage{line, text})
			}
			sum = false
		default:
			sum = false
		}
		previous = tok
	}
}

// scriptText returns a TypeScript file without its comments, which keep their
// line ends. Comments inside of texts, such as an address with //, follow a quote
// or a colon there and are left.
func scriptText(code string) []passage {
	blank := func(comment string) string { return strings.Repeat("\n", strings.Count(comment, "\n")) }
	code = regexp.MustCompile(`(?s)/\*.*?\*/`).ReplaceAllStringFunc(code, blank)
	code = regexp.MustCompile(`(?m)(^|\s)//.*$`).ReplaceAllString(code, "$1")
	return []passage{{1, strings.ReplaceAll(code, `\n`, "  ")}}
}

// helpTexts returns what the Makefile says about its targets.
func helpTexts(makefile string) []passage {
	var list []passage
	line := 0
	for text := range strings.Lines(makefile) {
		line++
		if _, help, found := strings.Cut(text, "## "); found {
			list = append(list, passage{line, help})
		} else if strings.Contains(text, "echo") {
			list = append(list, passage{line, text})
		}
	}
	return list
}

// unread says whether a Go file is of a tool or a simulator, whose texts no user of
// the program reads.
func unread(name string) bool {
	for _, dir := range []string{"claude/claudetest", "internal/conformance", "internal/e2e", "internal/testrun", "internal/rooms", "wire/internal", "internal/apigen"} {
		if strings.HasPrefix(name, dir+"/") {
			return true
		}
	}
	return false
}

// readable returns the texts for users in a file, nil if it has none.
func readable(name, text string) []passage {
	folder := func(dir string) bool { return strings.HasPrefix(name, dir+"/") }
	switch ext := path.Ext(name); {
	case name == "CHANGELOG.md": // what was released stays as it is
		return nil
	case ext == ".md":
		return []passage{{1, text}}
	case name == "Makefile":
		return helpTexts(text)
	case ext == ".go" && !strings.HasSuffix(name, "_test.go") && !unread(name):
		return stringsOf(text)
	case ext == ".ts" && !strings.HasSuffix(name, ".test.ts") && folder("web/src/texts"):
		return scriptText(text)
	}
	return nil
}

// TestWords looks for dialect in documentation, help texts, messages and errors of
// the program, and the texts of the console.
func TestWords(t *testing.T) {
	files := repository()
	looked := map[string]int{}
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return enter(files, name)
		}
		switch path.Ext(name) {
		case ".md", ".go", ".ts", "":
		default:
			return nil
		}
		if path.Ext(name) == "" && name != "Makefile" {
			return nil
		}
		passages := readable(name, read(t, files, name))
		if len(passages) > 0 {
			looked[path.Ext(name)]++
		}
		report(t, checkWords(name, passages))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if looked[".md"] < 20 || looked[".go"] < 50 || looked[".ts"] < 5 || looked[""] != 1 {
		t.Errorf("looked at %v, the walk over the repository must be broken", looked)
	}
}

func TestWordsNotices(t *testing.T) {
	tests := []struct {
		name, file, text string
		want             []string
	}{
		{"plain", "docs/a.md", "Fix the tests. The agent keeps running.", nil},
		{"parts of words", "docs/a.md", "We recommend amending the commit.", nil},
		{"page", "docs/a.md", "One.\n\nMend the tests.", []string{`docs/a.md:3: "Mend"; write "fix"`}},
		{"over the end of a line", "README.md", "- It restarts by\n  itself.", []string{`README.md:1: "by itself"`}},
		{"several", "docs/a.md", "whoever goes on with it", []string{`"goes on with"`, `"whoever"`}},
		{"literal", "cmd/switchboard/a.go", "package main\n\nconst a = `one\ntried in vain`\n", []string{`a.go:4: "in vain"`}},
		{"escape", "cmd/switchboard/a.go", "package main\n\nconst a = \"one\\nmend\"\n", []string{`a.go:3: "mend"`}},
		{"sum of literals", "cmd/switchboard/a.go", "package main\n\nconst a = \"it goes on \" +\n\t\"with\" + b + \"which\"\n\nconst c = \"there is\"", []string{`a.go:3: "goes on with"`}},
		{"comment of Go", "cmd/switchboard/a.go", "package main // mend\n\nvar mend = \"fix\"\n", nil},
		{"terminal", "internal/terminal/ask/a.go", "package ask\n\nvar a = \"somebody was faster\"", []string{"already answered by someone else", `"someone"`}},
		{"doctor", "internal/doctor/a.go", "package doctor\n\nvar a = \"it is no JSON\"", []string{"isn't valid JSON"}},
		{"test", "internal/doctor/a_test.go", "package doctor\n\nvar a = \"mend\"", nil},
		{"hub", "internal/hub/a.go", "package hub\n\nvar a = \"by somebody\"", []string{"someone"}},
		{"simulator", "claude/claudetest/a.go", "package claudetest\n\nvar a = \"mend\"", nil},
		{"console", "web/src/texts/a.ts", "/* mend\n */\nexport const a = 'good once'; // mend", []string{`a.ts:3: "good once"`}},
		{"address", "web/src/texts/a.ts", "export const a = 'https://example.com, which there is';", []string{`"which there is"`}},
		{"console's code", "web/src/store/a.ts", "export const a = 'mend';", nil},
		{"make", "Makefile", "# mend\nfix: ## let the linters mend\n\t@echo 'lives on'\n", []string{"Makefile:2", "Makefile:3"}},
		{"history", "CHANGELOG.md", "- mended", nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			expect(t, checkWords(test.file, readable(test.file, test.text)), test.want...)
		})
	}
}

// vague are words that hide the actor in a comment: a goroutine, a lock, a process, a caller, a client or a person.
var vague = regexp.MustCompile(`(?i)\b(whoever|somebody|anybody|everybody|nobody)\b`)

// relative is the word "who" with the word before it, person the words that may stand there: "who" is for people, or asks a question.
var (
	relative = regexp.MustCompile(`(?i)(?:([\w\x27]+),?\s+)?\bwho\b`)
	person   = regexp.MustCompile(`(?i)^(persons?|people|users?|developers?|readers?|operators?|says?|tells?|names?|knows?|learns?|proves?)$`)
)

// vagueComments returns the places in Go code where a comment does not name its actor. Lines that follow one another are one comment.
func vagueComments(name, code string) []string {
	var s scanner.Scanner
	files := token.NewFileSet()
	file := files.AddFile("", files.Base(), len(code))
	s.Init(file, []byte(code), nil, scanner.ScanComments)
	var list []string
	before, end := "", 0 // the last word of the comment that ends on that line
	for {
		at, tok, text := s.Scan()
		if tok == token.EOF {
			return list
		}
		if tok != token.COMMENT {
			continue
		}
		line := file.Line(at)
		if line != end+1 {
			before = ""
		}
		word := vague.FindString(text)
		text = before + " " + strings.TrimSpace(strings.TrimPrefix(text, "//"))
		for _, m := range relative.FindAllStringSubmatchIndex(text, -1) {
			noun := m[2] >= 0 && person.MatchString(text[m[2]:m[3]])
			if !noun && m[1] > len(before) { // else it was found on the line before
				word = strings.TrimSpace(text[m[0]:m[1]])
			}
		}
		if word != "" {
			list = append(list, fmt.Sprintf("%s:%d: %q; name the goroutine, lock, process, caller, client or person", name, line, word))
		}
		before, end = "", line+strings.Count(text, "\n")
		if words := strings.Fields(text); len(words) > 0 {
			before = words[len(words)-1]
		}
	}
}

// TestComments looks for comments that do not name their actor.
func TestComments(t *testing.T) {
	files := repository()
	looked := 0
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			return enter(files, name)
		case path.Ext(name) == ".go" && !strings.HasSuffix(name, "_test.go"):
			looked++
			report(t, vagueComments(name, read(t, files, name)))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if looked < 500 {
		t.Errorf("looked at %d files, the walk over the repository must be broken", looked)
	}
}

func TestCommentsNotices(t *testing.T) {
	tests := []struct{ name, code, want string }{
		{"a named goroutine", "// the session's goroutine", ""},
		{"not a comment", "var a = \"somebody\" // the session's goroutine", ""},
		{"whoever", "// wake wakes whoever waits.", `a.go:3: "whoever"`},
		{"nobody", "// Nobody waits.", `a.go:3: "Nobody"`},
		{"a person", "// A person who answers, and users\n// who wait.", ""},
		{"a question", "// It says who answered.", ""},
		{"a goroutine", "// It is done by the goroutine who waits.", `a.go:3: "goroutine who"`},
		{"without a noun", "// Who waits is woken.", `a.go:3: "Who"`},
		{"over the end of a line", "// It is done by\n// who waits.", `a.go:4: "by who"`},
		{"another comment", "// A person\n\n// who waits", `a.go:5: "who"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := strings.Join(vagueComments("a.go", "package a\n\n"+test.code+"\n"), "\n")
			if test.want == "" && got != "" || !strings.HasPrefix(got, test.want) {
				t.Errorf("found %q, expected %q", got, test.want)
			}
		})
	}
}
