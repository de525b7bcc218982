package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestListsRefuse has a mistake in every member of every table. The one that is wrong is always the second of its kind, since the line must be
// its own.
func TestListsRefuse(t *testing.T) {
	const (
		budget = "[[budget]]\nname = \"a\"\nusd = 1\n\n"                                        // the next line is the 5th
		target = "[[notify.target]]\nkind = \"ntfy\"\nurl = \"https://e.com/t\"\nevents = []\n" // and here too
	)
	tests := []struct{ name, text, want string }{
		{"unknown member", budget + "[[budget]]\nname = \"b\"\neuro = 1\n", "c.toml:7:1: unknown key budget.euro; table [[budget]] has name, per, folder, usd, turns, wall, idle, action, warn_at"},
		{"another type", budget + "[[budget]]\nusd = \"1\"\n", "c.toml:6:7: budget.usd: this is of the kind string; it has to be a number"},
		{"part of a turn", budget + "[[budget]]\nturns = 1.5\n", "c.toml:6:9: budget.turns: this is of the kind float; it has to be a whole number"},
		{"no table", "budget = 3\n", "c.toml:1:10: budget: this is of the kind integer; it has to be a table, which begins with a line [[budget]]"},
		{"no name", budget + "[[budget]]\nusd = 1\n", "c.toml:5:1: budget.name: the budget has no name"},
		{"blank name", budget + "[[budget]]\nusd = 1\nname = \" \"\n", "c.toml:7:1: budget.name: the budget has no name"},
		{"the same name", budget + "[[budget]]\nusd = 1\n\n\"name\" = \"a\"\n", "c.toml:8:1: budget.name: there is another budget \"a\""},
		{"per", budget + "[[budget]]\nname = \"b\"\n per = \"week\"\nusd = 1\n", "c.toml:7:1: budget.per: \"week\" is none of session, folder, day"},
		{"action", budget + "[[budget]]\nname = \"b\"\naction = \"kill\"\nusd = 1\n", "c.toml:7:1: budget.action: \"kill\" is none of warn, ask, interrupt"},
		{"less than nothing", budget + "[[budget]]\nname = \"b\"\nusd = -0.5\n", "c.toml:7:1: budget.usd: -0.5 is no amount of money"},
		{"endless money", budget + "[[budget]]\nname = \"b\"\nusd = inf\n", "c.toml:7:1: budget.usd: +Inf is no amount"},
		{"no number", budget + "[[budget]]\nname = \"b\"\nusd = nan\n", "c.toml:7:1: budget.usd: NaN is no amount"},
		{"turns", budget + "[[budget]]\nname = \"b\"\nturns = -3\n", "c.toml:7:1: budget.turns: -3 is less than nothing"},
		{"wall", budget + "[[budget]]\nname = \"b\"\nwall = \"long\"\n", "c.toml:7:8: budget.wall: \"long\" is no length of time"},
		{"wall without a unit", budget + "[[budget]]\nname = \"b\"\nwall = 90\n", "c.toml:7:1: budget.wall: \"90\" is no length of time"},
		{"warn_at", budget + "[[budget]]\nname = \"b\"\nusd = 1\nwarn_at = 80\n", "c.toml:8:1: budget.warn_at: 80 is no part of a budget"},
		{"never warn", budget + "[[budget]]\nname = \"b\"\nusd = 1\nwarn_at = 0.0\n", "c.toml:8:1: budget.warn_at: 0 is no part of a budget"},
		{"no limit", budget + "[[budget]]\nname = \"b\"\n", "c.toml:5:1: budget: the budget \"b\" limits nothing"},
		{"relative folder", budget + "[[budget]]\nname = \"b\"\nusd = 1\nfolder = \"src\"\n", "c.toml:8:10: budget.folder: \"src\" is not an absolute path"},
		{"in one line", "x = 1\nbudget = [{name = \"a\"}]\n", "c.toml:1:1: unknown key x"},
		{"alone in one line", "\nbudget = [{name = \"a\"}]\n", "c.toml:2:1: budget: the budget \"a\" limits nothing"},

		{"unknown member of a target", target + "[[notify.target]]\nuri = \"x\"\n", "c.toml:6:1: unknown key notify.target.uri; table [[notify.target]] has kind, url, secret_file, token_file, events, detail"},
		{"unknown member of notify", "[notify]\nsound = true\n", "c.toml:2:1: unknown key notify.sound; section [notify] has link"},
		{"kind", target + "[[ notify . target ]]\nkind = \"mail\"\nurl = \"https://e.com\"\n", "c.toml:6:1: notify.target.kind: \"mail\" is none of webhook, ntfy"},
		{"no kind", target + "[[notify.target]]\nurl = \"https://e.com\"\n", "c.toml:5:1: notify.target.kind: \"\" is none of webhook, ntfy"},
		{"no address", target + "[[notify.target]]\nkind = \"ntfy\"\n", "c.toml:5:1: notify.target.url: the target has no url"},
		{"another address", target + "[[notify.target]]\nkind = \"ntfy\"\nurl = \"ftp://e.com\"\n", "c.toml:7:7: notify.target.url: this is no address on the web"},
		{"no host", target + "[[notify.target]]\nkind = \"ntfy\"\nurl = \"https:///x\"\n", "c.toml:7:7: notify.target.url: this is no address on the web"},
		{"a password", target + "[[notify.target]]\nkind = \"ntfy\"\nurl = \"https://me:hush@e.com\"\n", "c.toml:7:7: notify.target.url: the address has a name or a password in it"},
		{"a password in no address", target + "[[notify.target]]\nkind = \"ntfy\"\nurl = \"https://me:hush%@e.com\"\n", "c.toml:7:7: notify.target.url: this is no address on the web"},
		{"a fragment", target + "[[notify.target]]\nkind = \"ntfy\"\nurl = \"https://e.com/#x\"\n", "c.toml:7:7: notify.target.url: the address has a # in it"},
		{"an event", target + "[[notify.target]]\nkind = \"ntfy\"\nurl = \"https://e.com\"\nevents = [\"done\", \"undone\"]\n", "c.toml:8:1: notify.target.events: \"undone\" is none of needs_input, done, failed, limit"},
		{"one event", target + "[[notify.target]]\nevents = \"done\"\n", "c.toml:6:10: notify.target.events: this is of the kind string; it has to be a list of texts"},
		{"no key", target + "[[notify.target]]\nkind = \"webhook\"\nurl = \"https://e.com\"\n", "c.toml:5:1: notify.target: the webhook has no secret_file"},
		{"a signed ntfy", target + "[[notify.target]]\nkind = \"ntfy\"\nurl = \"https://e.com\"\nsecret_file = \"/s\"\n", "c.toml:8:1: notify.target.secret_file: nothing for ntfy is signed"},
		{"relative file", target + "[[notify.target]]\nkind = \"ntfy\"\ntoken_file = \"t\"\n", "c.toml:7:14: notify.target.token_file: \"t\" is not an absolute path"},
		{"link", "[notify]\nlink = \"hub\"\n", "c.toml:2:8: notify.link: this is no address on the web"},
		{"deadline", "[questions]\ndeadline = \"soon\"\n", "c.toml:2:12: questions.deadline: \"soon\" is no length of time"},
		{"rules", "[rules]\nfile = \"rules.toml\"\n", "c.toml:2:8: rules.file: \"rules.toml\" is not an absolute path"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := Default()
			err := c.Parse("c.toml", []byte(test.text), "/home/x")
			if err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
			if _, ok := errors.AsType[*Error](err); !ok {
				t.Errorf("the error is a %T", err)
			}
			if err != nil && strings.Contains(err.Error(), "hush") {
				t.Error("the error tells the password")
			}
			if diff := cmp.Diff(Default(), c); diff != "" {
				t.Errorf("something was set all the same (-want +got):\n%s", diff)
			}
		})
	}
	for _, text := range []string{
		"[[budget]]\nname = \"b\"\nusd = 1\nfolder = \"~/x\"\n", "[[notify.target]]\nkind = \"ntfy\"\nurl = \"https://e.com\"\ntoken_file = \"~/x\"\n",
	} {
		if err := Default().Parse("c.toml", []byte(text), ""); err == nil || !strings.HasPrefix(err.Error(), "c.toml:4:1: ") || !strings.Contains(err.Error(), "HOME") {
			t.Errorf("~/ without a home: %v", err)
		}
	}
}

// TestMembers holds the table to the structs: every member can be set, and each sets something.
func TestMembers(t *testing.T) {
	given := map[string]string{"budget": "name = \"a\"\nusd = 1\n", "notify.target": "kind = \"ntfy\"\nurl = \"https://e.com\"\n"}
	changed := map[string]string{
		"budget.name": "name = \"b\"\nusd = 1\n", "budget.usd": "name = \"a\"\nusd = 2\n", "notify.target.url": "kind = \"ntfy\"\nurl = \"https://f.com\"\n",
		"notify.target.kind": "kind = \"webhook\"\nurl = \"https://e.com\"\nsecret_file = \"/s\"\n", "budget.per": "per = \"day\"", "budget.folder": "folder = \"/f\"",
		"budget.turns": "turns = 3", "budget.wall": "wall = \"1h\"", "budget.idle": "idle = \"1h\"", "budget.action": "action = \"ask\"",
		"budget.warn_at": "warn_at = 1", "notify.target.token_file": "token_file = \"/t\"", "notify.target.events": "events = [\"done\"]", "notify.target.detail": "detail = true",
		"notify.target.secret_file": "kind = \"webhook\"\nurl = \"https://e.com\"\nsecret_file = \"/s\"\n",
	}
	for _, m := range Members() {
		table := m.Key[:strings.LastIndexByte(m.Key, '.')]
		with, found := changed[m.Key]
		if !found {
			t.Errorf("this test has no value for %s", m.Key)
			continue
		}
		if !strings.Contains(with, "\n") {
			with = given[table] + with
		}
		read, plain := Default(), Default()
		if err := read.Parse("c.toml", []byte("[["+table+"]]\n"+with), ""); err != nil {
			t.Errorf("%s: %v", m.Key, err)
		}
		if err := plain.Parse("c.toml", []byte("[["+table+"]]\n"+given[table]), ""); err != nil {
			t.Fatal(err)
		}
		if cmp.Equal(read, plain) {
			t.Errorf("%s sets nothing", m.Key)
		}
	}
}

// TestListsDocumented reads every example of settings in the pages about budgets and notifications.
func TestListsDocumented(t *testing.T) {
	for _, page := range []string{"budgets.md", "notifications.md"} {
		document, err := os.ReadFile(filepath.Join("..", "..", "docs", page))
		if err != nil {
			t.Fatal(err)
		}
		parts := strings.Split(string(document), "```toml\n")
		if len(parts) < 2 {
			t.Errorf("docs/%s has no example", page)
		}
		for _, part := range parts[1:] {
			example, _, found := strings.Cut(part, "```")
			if err := Default().Parse("docs/"+page, []byte(example), "/home/ann"); !found || err != nil {
				t.Errorf("an example in docs/%s: %v", page, err)
			}
		}
	}
}
