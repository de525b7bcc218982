package rooms

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A lexeme is a token of Go with its text.
type lexeme struct {
	token token.Token
	text  string
}

// lexemes returns the tokens of some Go, without comments and line ends.
func lexemes(code string) []lexeme {
	var s scanner.Scanner
	files := token.NewFileSet()
	s.Init(files.AddFile("", files.Base(), len(code)), []byte(code), nil, 0)
	var list []lexeme
	for {
		switch _, tok, text := s.Scan(); tok {
		case token.EOF:
			return list
		case token.SEMICOLON:
		default:
			list = append(list, lexeme{tok, text})
		}
	}
}

// directive reports whether a string is a prompt for the simulated CLI. Pages for
// people show one for a model in its place.
func (l lexeme) directive() bool {
	return l.token == token.STRING && len(l.text) > 1 && l.text[1] == '@'
}

// contains reports whether an example contains a piece of a page.
func contains(example, piece []lexeme) bool {
	for start := range len(example) - len(piece) + 1 {
		same := true
		for i, want := range piece {
			have := example[start+i]
			if same = have == want || have.directive() && want.token == token.STRING; !same {
				break
			}
		}
		if same {
			return true
		}
	}
	return false
}

// checkPieces says which pieces of Go on a page are in none of the examples, which
// are run as tests. Whole files are not looked at.
func checkPieces(page string, examples []string) []string {
	var all [][]lexeme
	for _, example := range examples {
		var code strings.Builder
		for line := range strings.Lines(example) {
			if !strings.Contains(line, "defer simulate(") {
				code.WriteString(line)
			}
		}
		all = append(all, lexemes(code.String()))
	}
	var wrong []string
pieces:
	for _, piece := range snippets(page) {
		if strings.HasPrefix(piece, "package ") || strings.Contains(piece, "\npackage ") {
			continue
		}
		for _, example := range all {
			if contains(example, lexemes(piece)) {
				continue pieces
			}
		}
		wrong = append(wrong, "no example that is run has this in it:\n"+piece)
	}
	return wrong
}

// TestSDKPieces holds the pieces of Go in the pages about the SDK against the
// examples of its packages.
func TestSDKPieces(t *testing.T) {
	files := repository()
	var examples []string
	for _, dir := range []string{"claude", "claude/claudemcp", "claude/claudews"} {
		names, err := fs.Glob(files, dir+"/example*_test.go")
		if err != nil || len(names) == 0 {
			t.Fatalf("%s has no examples: %v", dir, err)
		}
		for _, name := range names {
			examples = append(examples, read(t, files, name))
		}
	}
	page := read(t, files, "docs/sdk.md")
	if n := len(snippets(page)); n < 20 {
		t.Fatalf("docs/sdk.md has only %d pieces of Go, the reading of it must be broken", n)
	}
	report(t, checkPieces(page, examples))
	report(t, checkPieces(read(t, files, "README.md"), examples))
}

func TestSDKPiecesNotices(t *testing.T) {
	const example = "package x\n\nfunc Example() {\n\to := &Options{}\n\tdefer simulate(o)()\n\tText(ctx, \"@say Yes.\", o) // why\n}\n"
	tests := []struct {
		name, piece string
		wrong       bool
	}{
		{"the same", "o := &Options{}\nText(ctx, \"@say Yes.\", o)", false},
		{"another prompt", "Text(ctx, \"Is it?\", o)", false},
		{"another argument", "Text(ctx, \"Is it?\", p)", true},
		{"no string for a prompt", "Text(ctx, prompt, o)", true},
		{"a whole file", "package main\n\nfunc main() {}", false},
		{"a comment", "Text(ctx, \"Is it?\", o) // another", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			wrong := checkPieces("# X\n\n```go\n"+test.piece+"\n```\n", []string{example})
			if (len(wrong) > 0) != test.wrong {
				t.Errorf("said %q", wrong)
			}
		})
	}
}

// TestApprovalProgram builds the program of the README that asks for approval in
// the terminal, and plays a person who allows one thing and not another.
func TestApprovalProgram(t *testing.T) {
	program, found := snippet(read(t, repository(), "README.md"))
	if !found || !strings.Contains(program, "OnQuestion") {
		t.Fatal("the first program in README.md does not answer questions")
	}
	if n := strings.Count(program, "\n"); n >= 40 {
		t.Errorf("it has %d lines, and should have less than 40", n)
	}
	if !strings.Contains(read(t, repository(), "docs/sdk.md"), program) {
		t.Error("docs/sdk.md has another one")
	}

	source := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(source, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	approve := executable(t.TempDir(), "approve")
	if err := build(approve, source); err != nil {
		t.Fatal(err)
	}

	const prompt = `@tool Bash {"command":"touch one"}
@next
@tool Bash {"command":"rm two"}
@say One is there, and two as well.`
	home := t.TempDir()
	command := exec.CommandContext(t.Context(), approve, prompt)
	command.Dir = t.TempDir()
	command.Env = []string{"PATH=" + simulated(t), "HOME=" + home, "USERPROFILE=" + home, "SYSTEMROOT=" + os.Getenv("SYSTEMROOT")}
	command.Stdin = strings.NewReader("y\nn\n")
	output, err := command.CombinedOutput()
	const want = `Bash {"command":"touch one"}
Allow? [y/N] Bash {"command":"rm two"}
Allow? [y/N] One is there, and two as well.
`
	if err != nil || string(output) != want {
		t.Errorf("it said %v:\n%s\nand should have said:\n%s", err, output, want)
	}
	// What the CLI made of the answers is in its transcript.
	transcripts, err := filepath.Glob(filepath.Join(home, ".claude", "projects", "*", "*.jsonl"))
	if err != nil || len(transcripts) != 1 {
		t.Fatalf("it left the transcripts %q, %v", transcripts, err)
	}
	transcript, err := os.ReadFile(transcripts[0])
	if err != nil {
		t.Fatal(err)
	}
	results := strings.Count(string(transcript), `"type":"tool_result"`)
	if denied := strings.Count(string(transcript), `"is_error":true`); results != 2 || denied != 1 || !strings.Contains(string(transcript), "The user said no.") {
		t.Errorf("of %d calls %d were denied:\n%s", results, denied, transcript)
	}
}
