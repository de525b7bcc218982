package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// shellWords splits a line of shell as far as documents need it: quotes, comments, and the end of a command. What is in $(…) is one word.
func shellWords(line string) []string {
	var list []string
	var word strings.Builder
	begun := false
	quote := rune(0)
	depth := 0
	end := func() {
		if begun {
			list = append(list, word.String())
		}
		word.Reset()
		begun = false
	}
	for i, r := range line {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			} else {
				word.WriteRune(r)
			}
		case r == '\'' || r == '"':
			quote, begun = r, true
		case r == '(':
			depth++
			begun = true
		case r == ')':
			depth--
		case depth > 0:
			word.WriteRune(r)
		case r == ' ':
			end()
		case r == '#' && !begun, strings.ContainsRune("|;&<>", r):
			end()
			return append(list, string(line[i]))
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	end()
	return list
}

// ours returns the arguments of switchboard in a line of shell: called by its name, or the command of one of its images.
func ours(line string) ([]string, bool) {
	all := shellWords(line)
	if n := len(all); n > 0 && strings.ContainsAny(all[n-1], "|;&<>#") && len(all[n-1]) == 1 {
		all = all[:n-1]
	}
	for i, word := range all {
		called := filepath.Base(word) == "switchboard" && (i == 0 || slices.Contains(all[:i], "--") || all[i-1] == "switchboard-hub")
		image := (word == "switchboard-node" || word == "switchboard-hub") && slices.Contains(all[:i], "run") && !slices.Contains(all[:i], "--entrypoint") &&
			all[i-1] != "--name" && i+1 < len(all)
		if called || image {
			return all[i+1:], true
		}
	}
	return nil, false
}

// checkCommandLine says what is wrong with arguments of the program.
func checkCommandLine(args []string) error {
	root := newRoot(&env{stdin: strings.NewReader(""), stdout: io.Discard, stderr: io.Discard})
	cmd, rest, err := root.Find(args)
	if err != nil {
		return err
	}
	if err := cmd.ParseFlags(rest); err != nil {
		return err
	}
	if !cmd.Runnable() || cmd == root {
		return fmt.Errorf("%q is no command", strings.Join(args, " "))
	}
	if err := cmd.ValidateArgs(cmd.Flags().Args()); err != nil {
		return err
	}
	if err := cmd.ValidateRequiredFlags(); err != nil {
		return err
	}
	return cmd.ValidateFlagGroups()
}

var (
	inlineCommand = regexp.MustCompile("`(switchboard [a-z][^`]*)`")
	jsonList      = regexp.MustCompile(`(?m)^\s*(?:CMD|args:) (\[.*\])$`)
)

// documented returns the command lines of a file.
func documented(t *testing.T, name string) [][]string {
	t.Helper()
	raw, err := os.ReadFile(filepath.FromSlash("../../" + name))
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	var list [][]string
	if filepath.Ext(name) == ".md" {
		for _, block := range strings.Split(text, "\n```sh\n")[1:] {
			code, _, _ := strings.Cut(block, "\n```")
			for line := range strings.Lines(code) {
				if args, found := ours(strings.TrimSpace(line)); found {
					list = append(list, args)
				}
			}
		}
		for _, m := range inlineCommand.FindAllStringSubmatch(text, -1) {
			list = append(list, shellWords(m[1])[1:])
		}
		return list
	}
	for _, m := range jsonList.FindAllStringSubmatch(text, -1) {
		var args []string
		if err := json.Unmarshal([]byte(m[1]), &args); err != nil {
			t.Fatalf("%s: %s: %v", name, m[1], err)
		}
		list = append(list, args)
	}
	for line := range strings.Lines(text) {
		if command, found := strings.CutPrefix(strings.TrimSpace(line), "ExecStart="); found {
			if args, found := ours(command); found {
				list = append(list, args)
			}
		}
	}
	return list
}

// TestDocumentedCommands holds that the command lines in the page about nodes, the images, the manifests and the units are ones that the program
// takes.
func TestDocumentedCommands(t *testing.T) {
	for name, least := range map[string]int{
		"docs/nodes.md": 15, "contrib/docker/Dockerfile": 2, "contrib/kubernetes/hub.yaml": 1, "contrib/kubernetes/session.yaml": 2,
		"contrib/systemd/switchboard.service": 1, "contrib/systemd/switchboard-node.service": 1,
	} {
		list := documented(t, name)
		if len(list) < least {
			t.Errorf("%s has %d command lines; there were at least %d", name, len(list), least)
		}
		for _, args := range list {
			if err := checkCommandLine(args); err != nil {
				t.Errorf("%s: switchboard %s: %v", name, strings.Join(args, " "), err)
			}
		}
	}
}

// TestDocumentedCommandsNotices holds that a wrong line is found.
func TestDocumentedCommandsNotices(t *testing.T) {
	for line, want := range map[string]string{
		`switchboard ls --all`:                                       "ls --all",
		`switchboard run "Fix it" # x`:                               "run Fix it",
		`docker run --rm -v a:/data switchboard-node version --json`: "version --json",
		`docker exec switchboard-hub switchboard ls | head`:          "ls",
		`kubectl exec switchboard-0 -- switchboard ls`:               "ls",
		`cp bin/switchboard ~/.local/bin/`:                           "",
		`docker build --target node -t switchboard-node .`:           "",
	} {
		if args, _ := ours(line); strings.Join(args, " ") != want {
			t.Errorf("%s: %q, want %q", line, args, want)
		}
	}
	for _, line := range []string{"lss", "ls --no-such-flag", "ls extra words", "node join", "serve --addr"} {
		if checkCommandLine(strings.Fields(line)) == nil {
			t.Errorf("%s is taken for a command line", line)
		}
	}
	if err := checkCommandLine([]string{"run", "--detach", "Fix it"}); err != nil {
		t.Error(err)
	}
}
