package main

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/terminal"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
)

// overTCP returns a client of the server's port that is closed with the test.
func (s *serving) overTCP(token string) *client.Client {
	s.t.Helper()
	c, err := client.New(&client.Options{BaseURL: s.url, Token: token})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(c.Close)
	return c
}

// line waits for a line of standard output and returns what follows a word.
func (s *serving) line(word string) string {
	s.t.Helper()
	tick, late := time.NewTicker(5*time.Millisecond), time.After(patience)
	defer tick.Stop()
	for {
		s.mu.Lock()
		for _, line := range s.lines {
			if rest, found := strings.CutPrefix(line, word+" "); found {
				s.mu.Unlock()
				return rest
			}
		}
		s.mu.Unlock()
		select {
		case <-tick.C:
		case <-late:
			s.t.Fatalf("no line begins with %q", word)
		}
	}
}

// statusOf returns the status of an error of the server.
func statusOf(t *testing.T, err error) int {
	t.Helper()
	problem, ok := errors.AsType[*api.Error](err)
	if !ok {
		t.Fatalf("this is no error of the server: %v", err)
	}
	return problem.Status
}

func TestTokenVerbs(t *testing.T) {
	dir := filepath.Join(shortDir(t), "d")
	s := serve(t, dir, environment(t), "--agent", "sim", "--print-code", "--log-level", "debug")
	env := environment(t, "SWITCHBOARD_DATA_DIR="+dir)

	code, text, stderr := verb(t, env, "", "token", "create", "--name", "dashboard", "--scopes", "observe,prompt", "--ttl", "30d")
	text = strings.TrimSpace(text)
	if code != codeDone || !strings.HasPrefix(text, "sb_") || strings.Contains(text, "\n") || !strings.Contains(stderr, "dashboard: observe,prompt, expires ") || strings.Contains(stderr, text) {
		t.Fatalf("create: %d %q %s", code, text, stderr)
	}
	c := s.overTCP(text)
	if _, err := c.Info(t.Context()); err != nil {
		t.Errorf("with the token: %v", err)
	}
	if _, err := c.Create(t.Context(), api.CreateSession{Dir: dir}); statusOf(t, err) != http.StatusForbidden {
		t.Errorf("with too few rights: %v", err)
	}

	code, out, stderr := verb(t, env, "", "token", "create", "--name", "ci", "--scopes", "observe", "--json")
	var made api.CreatedToken
	if err := json.Unmarshal([]byte(out), &made); code != codeDone || err != nil || made.Name != "ci" || !made.Expires.IsZero() || stderr != "" {
		t.Errorf("create as JSON: %d %s %s", code, out, stderr)
	}
	code, out, _ = verb(t, env, "", "token", "list")
	rows := strings.Split(out, "\n")
	if code != codeDone || len(rows) != 4 || !strings.HasPrefix(rows[0], "ID ") || !strings.Contains(rows[1], " dashboard ") || !strings.Contains(rows[2], made.ID) {
		t.Errorf("list: %d\n%s", code, out)
	}
	code, out, _ = verb(t, env, "", "token", "list", "--json")
	var list api.TokenList
	if err := json.Unmarshal([]byte(out), &list); code != codeDone || err != nil || len(list.Tokens) != 2 || list.Tokens[0].Used.IsZero() {
		t.Errorf("list as JSON: %d %s", code, out)
	}

	// The whole token is taken for its id, and goes nowhere.
	code, out, stderr = verb(t, env, "", "token", "revoke", text, made.ID)
	if code != codeDone || out != "revoked "+list.Tokens[0].ID+"\nrevoked "+made.ID+"\n" {
		t.Errorf("revoke: %d %s %s", code, out, stderr)
	}
	if _, err := c.Info(t.Context()); statusOf(t, err) != http.StatusUnauthorized {
		t.Errorf("with the revoked token: %v", err)
	}
	if code, _, stderr = verb(t, env, "", "token", "revoke", made.ID); code != codeNotFound || !strings.Contains(stderr, "no such token") {
		t.Errorf("revoked twice: %d %s", code, stderr)
	}

	// A code lets in once.
	code, out, stderr = verb(t, env, "", "token", "code", "--name", "phone", "--scopes", "observe,approve")
	address := strings.TrimSpace(out)
	_, secret, found := strings.Cut(address, "#code=")
	if code != codeDone || !found || !strings.HasPrefix(address, s.url+"/#code=") || !strings.Contains(stderr, "Works once") {
		t.Fatalf("code: %d %s %s", code, out, stderr)
	}
	token, err := s.overTCP("").Login(t.Context(), api.Login{Code: secret, Name: "Firefox"})
	if err != nil || token.Name != "phone" || token.Kind != "device" || strings.Join(token.Scopes, ",") != "observe,approve" {
		t.Fatalf("login: %+v, %v", token, err)
	}
	if _, err := s.overTCP(token.Text).Info(t.Context()); err != nil {
		t.Errorf("with the token of a device: %v", err)
	}
	if _, err := s.overTCP("").Login(t.Context(), api.Login{Code: secret}); statusOf(t, err) != http.StatusUnauthorized {
		t.Errorf("a second time: %v", err)
	}
	code, out, _ = verb(t, env, "", "token", "code", "--json")
	var again api.Code
	if err := json.Unmarshal([]byte(out), &again); code != codeDone || err != nil || again.Code == "" || again.Expires.IsZero() {
		t.Errorf("code as JSON: %d %s", code, out)
	}

	// So does the one that serve has printed, with all rights.
	_, printed, _ := strings.Cut(s.line("console"), s.url+"/#code=")
	token, err = s.overTCP("").Login(t.Context(), api.Login{Code: printed, Name: "Firefox"})
	if err != nil || token.Name != "Firefox" || len(token.Scopes) != 4 {
		t.Errorf("login with the printed code: %+v, %v", token, err)
	}

	s.end()
	for _, hidden := range []string{text, secret, printed, made.Text, token.Text} {
		if hidden == "" || strings.Contains(s.stderr.String(), hidden) {
			t.Errorf("the log has %q:\n%s", hidden, s.stderr)
		}
	}
	if code, _, stderr := verb(t, env, "", "token", "list"); code != codeNoServer || !strings.Contains(stderr, "switchboard serve") {
		t.Errorf("without a server: %d %s", code, stderr)
	}
}

// TestTokenForSession runs the command that is printed for a CLI that is started by hand.
func TestTokenForSession(t *testing.T) {
	dir := filepath.Join(shortDir(t), "d")
	s := serve(t, dir, environment(t), "--agent", "sim")
	env := environment(t, "SWITCHBOARD_DATA_DIR="+dir)
	c := s.client()
	programs := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(programs, "claude")); err != nil {
		t.Fatal(err)
	}
	for _, transport := range []string{"websocket", "hybrid"} {
		t.Run(transport, func(t *testing.T) {
			work := filepath.Join(t.TempDir(), "it's here")
			if err := os.Mkdir(work, 0o700); err != nil {
				t.Fatal(err)
			}
			code, command, stderr := verb(t, env, "", "token", "create", "--session", "--dir", work, "--title", "by hand", "--transport", transport)
			if code != codeDone || !strings.Contains(stderr, "2.1.120") {
				t.Fatalf("%d %s", code, stderr)
			}
			before, arguments, found := strings.Cut(command, "claude --sdk-url=")
			if !found || !strings.Contains(before, "CLAUDE_CODE_SESSION_ACCESS_TOKEN=sbr_") || strings.Contains(arguments, "sbr_") {
				t.Errorf("the command is\n%s", command)
			}
			id, _, _ := strings.Cut(strings.TrimPrefix(stderr, "session "), " ")
			cli := exec.CommandContext(t.Context(), "/bin/sh", "-c", command)
			cli.Env = []string{"PATH=" + programs, "HOME=" + t.TempDir(), "GORACE=atexit_sleep_ms=0", envVersion + "=2.1.120"}
			if err := cli.Start(); err != nil {
				t.Fatal(err)
			}
			if _, err := c.Send(t.Context(), id, api.SendMessage{Text: "@say hello"}); err != nil {
				t.Error(err)
			}
			await(t, c, id, "it says hello", says("hello"))
			session, err := c.Session(t.Context(), id)
			if err != nil || session.Title != "by hand" || session.Dir != work {
				t.Errorf("%+v, %v", session, err)
			}
			if _, err := c.Stop(t.Context(), id, api.Stop{}); err != nil {
				t.Error(err)
			}
			if err := cli.Wait(); err != nil {
				t.Errorf("the CLI: %v", err)
			}
		})
	}
	code, out, _ := verb(t, env, "", "token", "create", "--session", "--json")
	var d dialling
	if err := json.Unmarshal([]byte(out), &d); code != codeDone || err != nil || !strings.HasSuffix(d.URL, "/ws/cli/"+d.Session) || len(d.Env) != 1 || d.Command[0] != "claude" || !filepath.IsAbs(d.Dir) {
		t.Errorf("%d %s", code, out)
	}
	s.end()
}

func TestTokenUsage(t *testing.T) {
	for _, test := range []struct{ args, want string }{
		{"create", "--name is missing"},
		{"create --name n", "--scopes is missing"},
		{"create --name n --scopes observe,root", `"root" is not one of`},
		{"create --name n --scopes observe --ttl soon", "--ttl"},
		{"create --name n --scopes observe --ttl 1ms", "at least one second"},
		{"create --name n --scopes observe --dir /", "add --session"},
		{"create --session --name n", "--name is for tokens"},
		{"create --session --ttl 1h", "--ttl is for tokens"},
		{"create --session --transport pigeon", `"pigeon"`},
		{"create now", `"now"`},
		{"list now", `"now"`},
		{"revoke", "use --devices"},
		{"code --scopes root", `"root" is not one of`},
		{"change", `"change"`},
	} {
		code, out, stderr := verb(t, []string{"HOME=" + t.TempDir()}, "", append([]string{"token"}, strings.Fields(test.args)...)...)
		if code != codeUsage || out != "" || !strings.Contains(stderr, test.want) {
			t.Errorf("token %s: %d %s%s", test.args, code, out, stderr)
		}
	}
	code, out, _ := verb(t, nil, "", "token")
	if code != codeDone || !strings.Contains(out, "create") || !strings.Contains(out, "observe   view") {
		t.Errorf("%d %s", code, out)
	}
}

func TestShowTokens(t *testing.T) {
	now := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	var out strings.Builder
	plain := &terminal.View{Styles: paint.Profile{}.Styles(), Headings: true, Now: now}
	err := writeLines(&out, plain.Tokens([]api.Token{
		{ID: "a", Name: "x\x1b[2J", Scopes: []string{"observe"}, Created: now, Expires: now, Kind: "device"},
		{ID: "b", Name: "y", Scopes: []string{"observe", "admin"}, Expires: now.Add(time.Hour), Used: now},
	}))
	if err != nil || strings.Contains(out.String(), "\x1b") || strings.Count(out.String(), "expired") != 1 || !strings.Contains(out.String(), "observe,admin") {
		t.Errorf("%s, %v", &out, err)
	}
}

func TestQuote(t *testing.T) {
	for word, want := range map[string]string{
		"": "''", "a": "a", "--sdk-url=ws://127.0.0.1:8765/x": "--sdk-url=ws://127.0.0.1:8765/x", "a b": "'a b'", "it's": `'it'\''s'`, "$(x)": "'$(x)'", "~": "'~'", "a\nb": `"$(printf '\141\012\142')"`,
	} {
		if got := quote(word); got != want {
			t.Errorf("%q: %s, want %s", word, got, want)
		}
	}
}

// TestQuoteShowsNothingHarmful has names of folders that would do something to a terminal: nothing of that is in the word, and a shell reads it as it was.
func TestQuoteShowsNothingHarmful(t *testing.T) {
	for _, word := range []string{"/a\x1b]0;owned\x07b", "/a\u202eb", "/a\x9bb", "/a\nrm -rf '/'", "/$(x)\u009b`y`%s\\n"} {
		quoted := quote(word)
		if paint.Clean(quoted) != quoted || strings.Contains(quoted, "\n") {
			t.Errorf("%q is written as %q", word, quoted)
		}
		out, err := exec.CommandContext(t.Context(), "sh", "-c", "printf %s "+quoted).Output()
		if err != nil || string(out) != word {
			t.Errorf("%q: a shell reads %q, %v", quoted, out, err)
		}
	}
}
