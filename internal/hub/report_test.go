package hub_test

import (
	"context"
	"fmt"
	"io/fs"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/budget"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/report"
)

// searchFor searches until what is found satisfies the condition: the index lags
// behind.
func (l *lab) searchFor(f api.SearchFilter, enough func(*api.SearchResult) bool) *api.SearchResult {
	l.t.Helper()
	ctx := l.ctx()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		result, err := l.reports.Search(ctx, f)
		if err != nil && code(err) != api.CodeStorage {
			l.t.Fatal(err)
		}
		if err == nil && enough(result) {
			return result
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			l.t.Fatalf("the search for %q still gives %s", f.Text, encode(result))
		}
	}
}

func TestSearch(t *testing.T) {
	l := newLab(t)
	dir := t.TempDir()
	first := l.create(api.CreateSession{Dir: dir, Title: "Pears", Prompt: "@say über zwölf Birnen und a pear"})
	second := l.create(api.CreateSession{Title: "More", Prompt: "@say another pear"})
	l.awaitDone(first.ID, 1)
	l.awaitDone(second.ID, 1)

	// Prompt and answer of each.
	result := l.searchFor(api.SearchFilter{Text: "pear"}, func(r *api.SearchResult) bool { return len(r.Hits) == 4 })
	for _, hit := range result.Hits {
		if hit.Title == "" || hit.Dir == "" || len(hit.Marks) != 1 {
			t.Fatalf("a hit is %s", encode(hit))
		}
		if word := string([]rune(hit.Snippet)[hit.Marks[0].From:hit.Marks[0].To]); word != "pear" {
			t.Errorf("in %q the mark is on %q", hit.Snippet, word)
		}
		// The event is the one with that text.
		i := slices.IndexFunc(l.events(hit.Session), func(e api.Event) bool {
			return e.ID == hit.EventID && e.Seq == hit.Seq && strings.Contains(string(e.Line), "pear")
		})
		if i < 0 {
			t.Errorf("there is no event %s with a pear", hit.EventID)
		}
	}
	// In pages, and in one session; what counts are letters, not bytes.
	page := l.searchFor(api.SearchFilter{Text: "pear", Limit: 3}, func(r *api.SearchResult) bool { return len(r.Hits) == 3 })
	rest, err := l.reports.Search(l.ctx(), api.SearchFilter{Text: "pear", Limit: 3, Cursor: page.Next})
	if err != nil || len(rest.Hits) != 1 || rest.Next != "" {
		t.Errorf("the second page is %s, %v", encode(rest), err)
	}
	result, err = l.reports.Search(l.ctx(), api.SearchFilter{Text: "birnen ZWÖLF", Session: first.ID})
	if err != nil || len(result.Hits) != 2 {
		t.Fatalf("%s, %v", encode(result), err)
	}
	hit := result.Hits[0]
	want := []string{"zwölf", "Birnen"}
	for i, m := range hit.Marks {
		if got := string([]rune(hit.Snippet)[m.From:m.To]); got != want[i] {
			t.Errorf("mark %d of %q is on %q", i, hit.Snippet, got)
		}
	}
	// The last word may be the beginning of one, but not in quotes.
	for text, want := range map[string]int{"another pea": 2, "pea another": 0, `"pea"`: 0, "another pear ": 2} {
		if result, err = l.reports.Search(l.ctx(), api.SearchFilter{Text: text}); err != nil || len(result.Hits) != want {
			t.Errorf("%q finds %s, %v", text, encode(result), err)
		}
	}
	// What a tool gives is not what a person said, although its line is the user's.
	l.send(second.ID, "@tool Read {\"file_path\":\"a\"}\n@result a quince\n@say done")
	l.awaitDone(second.ID, 2)
	result = l.searchFor(api.SearchFilter{Text: "quince"}, func(r *api.SearchResult) bool { return len(r.Hits) == 2 })
	if result.Hits[0].Kind != "tool" || result.Hits[1].Kind != "user" {
		t.Errorf("the hits are %s", encode(result.Hits))
	}
	for _, test := range []struct {
		f    api.SearchFilter
		want string
	}{
		{api.SearchFilter{Text: " "}, api.CodeInvalid},
		{api.SearchFilter{Text: "pear", Cursor: "?"}, api.CodeInvalid},
		{api.SearchFilter{Text: "pear", Session: "snobody"}, api.CodeNotFound},
	} {
		if _, err := l.reports.Search(l.ctx(), test.f); code(err) != test.want {
			t.Errorf("%+v: %v", test.f, err)
		}
	}
}

func TestCosts(t *testing.T) {
	clock := &clock{now: noon}
	l := newLab(t, func(o *hub.Options) { o.Now = clock.Now })
	dir := t.TempDir()
	one := l.create(api.CreateSession{Dir: dir, Title: "One", Prompt: "@say a"})
	l.awaitDone(one.ID, 1)
	clock.add(24 * time.Hour)
	l.send(one.ID, "@say b")
	l.awaitDone(one.ID, 2)
	two := l.create(api.CreateSession{Dir: dir, Prompt: "@say c"})
	l.awaitDone(two.ID, 1)
	usd := l.snapshot(one.ID).Cost.USD
	all := usd + l.snapshot(two.ID).Cost.USD
	if usd <= 0 {
		t.Fatal("the simulated agent is free of charge")
	}
	near := func(a, b float64) bool { return a-b < 1e-6 && b-a < 1e-6 }
	costs := func(f api.CostFilter) *api.Costs {
		t.Helper()
		c, err := l.reports.Costs(l.ctx(), f)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, i := range c.Items {
			sum += i.USD
		}
		if !near(sum, c.USD) {
			t.Errorf("by %q: the parts are %v, the sum %v", f.By, sum, c.USD)
		}
		return c
	}
	for _, by := range []string{"", "session", "dir", "day", "model"} {
		c := costs(api.CostFilter{By: by})
		if !near(c.USD, all) || c.Turns != 3 {
			t.Errorf("by %q: %s, expected %v in 3 turns", by, encode(c), all)
		}
		var parts api.Tokens
		for _, i := range c.Items {
			if i.Tokens != nil {
				parts.Input, parts.Output = parts.Input+i.Tokens.Input, parts.Output+i.Tokens.Output
				parts.CacheRead, parts.CacheWrite = parts.CacheRead+i.Tokens.CacheRead, parts.CacheWrite+i.Tokens.CacheWrite
			}
		}
		if c.Tokens == nil || c.Tokens.Output == 0 || *c.Tokens != parts {
			t.Errorf("by %q: the tokens of the parts are %+v, all are %+v", by, parts, c.Tokens)
		}
	}
	if c := costs(api.CostFilter{By: "session"}); len(c.Items) != 2 || c.Items[0].Key != one.ID || c.Items[0].Title != "One" || c.Items[0].Turns != 2 || !near(c.Items[0].USD, usd) {
		t.Errorf("by session: %s", encode(c))
	}
	if c := costs(api.CostFilter{By: "dir"}); len(c.Items) != 1 || c.Items[0].Key != dir {
		t.Errorf("by folder: %s", encode(c))
	}
	c := costs(api.CostFilter{By: "day"})
	if len(c.Items) != 2 || c.Items[0].Key != noon.Add(24*time.Hour).Format(time.DateOnly) || c.Items[1].Key != noon.Format(time.DateOnly) || c.Items[1].Turns != 1 {
		t.Errorf("by day: %s", encode(c))
	}
	if c := costs(api.CostFilter{By: "model"}); len(c.Items) == 0 || c.Items[0].Key == "" {
		t.Errorf("by model: %s", encode(c))
	}
	if c := costs(api.CostFilter{By: "session", Since: noon.Add(12 * time.Hour)}); c.Turns != 2 {
		t.Errorf("since the second day: %s", encode(c))
	}
	if _, err := l.reports.Costs(l.ctx(), api.CostFilter{By: "star sign"}); code(err) != api.CodeInvalid {
		t.Errorf("by star sign: %v", err)
	}
}

func TestBudgets(t *testing.T) {
	dir := t.TempDir()
	l := newLimited(t, []budget.Budget{
		{Name: "turns", Per: "session", Turns: 5, Action: "ask"},
		{Name: "folder", Per: "folder", Folder: dir, Turns: 2, USD: 100, Action: "warn"},
		{Name: "day", Per: "day", Turns: 100, Idle: time.Hour, Action: "warn"},
	})
	a := l.create(api.CreateSession{Dir: dir, Prompt: "@say one"})
	b := l.create(api.CreateSession{Dir: dir, Prompt: "@say one"})
	c := l.create(api.CreateSession{Prompt: "@say one"})
	l.awaitDone(a.ID, 1)
	l.awaitDone(b.ID, 1)
	l.awaitDone(c.ID, 1)
	l.send(c.ID, "@say two")
	l.awaitDone(c.ID, 2)
	got, err := l.hub.Budgets(l.ctx())
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, u := range got.Budgets {
		if u.Unit == "usd" {
			if u.Used <= 0 || u.Limit != 100 {
				t.Errorf("money: %+v", u)
			}
			continue
		}
		lines = append(lines, fmt.Sprintf("%s %s %s: %v of %v, %s, %v", u.Name, u.Per, u.Unit, u.Used, u.Limit, u.Action, u.Over))
	}
	want := []string{
		"turns session turns: 2 of 5, ask, false", "folder folder turns: 2 of 2, warn, true", "day day turns: 4 of 100, warn, false", "day day idle: 0 of 3600, warn, false",
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("budgets (-want +got):\n%s", diff)
	}
}

func TestDrift(t *testing.T) {
	l := newLab(t, func(o *hub.Options) { o.Rest = time.Millisecond })
	prompt := `@line {"type":"weather","uuid":"w1"}` + "\n" + `@line {"type":"system","subtype":"weather","uuid":"w2"}` + "\n" +
		`@line {"type":"control_request","request_id":"r1","request":{"subtype":"make_coffee"}}` + "\n" + `@say done`
	first := l.create(api.CreateSession{Prompt: prompt})
	l.awaitDone(first.ID, 1)
	l.launcher.version = "2.1.120"
	second := l.create(api.CreateSession{Prompt: `@line {"type":"weather","uuid":"w3"}` + "\n@say done"})
	l.awaitDone(second.ID, 1)
	check := func(when string) {
		t.Helper()
		got, err := l.reports.Drift(l.ctx())
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []api.DriftItem{
			{Version: "2.1.325", Kind: "type", Name: "weather", Count: 1},
			{Version: "2.1.325", Kind: "subtype", Name: "system/weather", Count: 1},
			{Version: "2.1.325", Kind: "request", Name: "make_coffee", Count: 1},
			{Version: "2.1.120", Kind: "type", Name: "weather", Count: 1},
		} {
			if !slices.Contains(got.Items, want) {
				t.Errorf("%s there is no %+v in %s", when, want, encode(got))
			}
		}
	}
	check("in memory")
	// Ended and evicted, they are read from what is stored.
	for _, s := range []*api.Session{first, second} {
		if _, err := l.hub.Stop(l.ctx(), person, s.ID, api.Stop{}); err != nil {
			t.Fatal(err)
		}
	}
	l.launcher.cutAll()
	ctx := l.ctx()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for loaded := 1; loaded > 0; {
		stats, err := l.hub.Stats(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if loaded = stats.Loaded; loaded == 0 {
			break
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("%d sessions are still in memory", loaded)
		}
	}
	check("evicted")
}

// TestAudit lists decisions of rules and of people.
func TestAudit(t *testing.T) {
	l, _ := rulesLab(t, "allow = [\"Bash(make:*)\"]\ndeny = [\"Bash(dd:*)\"]\n")
	s := l.create(api.CreateSession{Prompt: `@tool Bash {"command":"make"}` + "\n" + `@tool Bash {"command":"touch x"}` + "\n@say over"})
	q := l.question(s.ID)
	l.answer(q.ID, api.Answer{Decision: "deny", Message: "Not now."})
	l.awaitDone(s.ID, 1)
	other := l.create(api.CreateSession{Prompt: `@tool Bash {"command":"touch y"}`})
	asked := l.question(other.ID)
	if _, err := l.hub.Interrupt(l.ctx(), person, other.ID, api.Interrupt{}); err != nil {
		t.Fatal(err)
	}

	list := func(f api.AuditFilter) (lines []string) {
		t.Helper()
		for {
			page, err := l.reports.Audit(l.ctx(), f)
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range page.Items {
				rule := "-"
				if i.Rule != nil {
					rule = i.Rule.Rule
				}
				if i.EventID == "" || i.Time.IsZero() || i.Question == "" {
					t.Errorf("an item is %s", encode(i))
				}
				lines = append(lines, fmt.Sprintf("%s: %s %s by %q (%s), rule %s", i.Decision, i.Tool, i.Title, i.By, i.Source, rule))
			}
			if page.Next == "" {
				return lines
			}
			f.Cursor = page.Next
		}
	}
	yes, no := true, false
	byRule := `allow: Bash make by "" (hub), rule Bash(make:*)`
	byAda := `deny: Bash touch x by "ada" (person), rule -`
	all := list(api.AuditFilter{})
	if len(all) != 3 || !strings.HasPrefix(all[0], "cancelled: Bash touch y") || all[1] != byAda || all[2] != byRule {
		t.Errorf("all: %q", all)
	}
	for _, test := range []struct {
		name string
		f    api.AuditFilter
		want []string
	}{
		{"one at a time", api.AuditFilter{Limit: 1}, all},
		{"by rules", api.AuditFilter{Automatic: &yes}, []string{byRule}},
		{"by people", api.AuditFilter{Automatic: &no}, []string{byAda}},
		{"by people, one at a time", api.AuditFilter{Automatic: &no, Limit: 1}, []string{byAda}},
		{"of a session", api.AuditFilter{Session: other.ID}, all[:1]},
		{"since", api.AuditFilter{Since: asked.Opened}, all[:1]},
	} {
		if diff := cmp.Diff(test.want, list(test.f)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
	if _, err := l.reports.Audit(l.ctx(), api.AuditFilter{Session: "snobody"}); code(err) != api.CodeNotFound {
		t.Errorf("of nobody: %v", err)
	}
}

// A shelf is a library in memory.
type shelf struct {
	files   []report.TranscriptFile // the newest first
	lines   map[string][]string
	folders map[string]bool // whether it is the top of a working tree
	queries []report.TranscriptQuery
}

func (s *shelf) Transcripts(_ context.Context, q report.TranscriptQuery) ([]report.TranscriptFile, error) {
	s.queries = append(s.queries, q)
	var list []report.TranscriptFile
	for _, f := range s.files {
		later := !q.Before.IsZero() && (f.Modified.After(q.Before) || f.Modified.Equal(q.Before) && f.Conversation <= q.BeforeAfter)
		if !later && (q.Conversation == "" || q.Conversation == f.Conversation) && (q.Dir == "" || q.Dir == f.Dir) && len(list) < q.Limit {
			list = append(list, f)
		}
	}
	return list, nil
}

// SearchTranscripts looks at one file at a time, and finds the text in its title.
func (s *shelf) SearchTranscripts(ctx context.Context, q report.TranscriptQuery, text string) (*report.TranscriptSearch, error) {
	q.Limit = 2
	files, err := s.Transcripts(ctx, q)
	out := &report.TranscriptSearch{}
	if len(files) > 1 {
		out.Before, out.BeforeAfter = files[0].Modified, files[0].Conversation
		files = files[:1]
	}
	for _, f := range files {
		if strings.Contains(f.Title, text) {
			f.Snippet, f.Marks = f.Title, []api.Mark{{From: 1, To: 2}}
			out.Files = append(out.Files, f)
		}
	}
	return out, err
}

func (s *shelf) ReadTranscript(_ context.Context, _, conversation string) (iter.Seq2[[]byte, error], error) {
	lines, ok := s.lines[conversation]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return func(yield func([]byte, error) bool) {
		for _, line := range lines {
			if !yield([]byte(line), nil) {
				return
			}
		}
	}, nil
}

func (s *shelf) Folders(_ context.Context, prefix string, limit int) ([]api.Folder, error) {
	var list []api.Folder
	for path, git := range s.folders {
		if strings.HasPrefix(path, prefix) {
			list = append(list, api.Folder{Path: path, Git: git})
		}
	}
	slices.SortFunc(list, func(a, b api.Folder) int { return strings.Compare(a.Path, b.Path) })
	return list[:min(len(list), limit)], nil
}

func (s *shelf) Look(_ context.Context, paths []string) ([]api.Folder, error) {
	var list []api.Folder
	for _, path := range paths {
		if git, ok := s.folders[path]; ok {
			list = append(list, api.Folder{Path: path, Git: git})
		}
	}
	return list, nil
}

func TestTranscripts(t *testing.T) {
	shelf := &shelf{lines: map[string][]string{"c1": {`{"n":0}`, `{"n":1}`, `{"n":2}`}}}
	for i, dir := range []string{"/a", "/b", "/a", "/c"} {
		shelf.files = append(shelf.files, report.TranscriptFile{
			Conversation: fmt.Sprint("c", i), Dir: dir, Title: fmt.Sprintf("Title\n%d \x1b[2J", i), Modified: noon.Add(-time.Duration(i/2) * time.Hour), Bytes: 7,
		})
	}
	l := newLab(t)
	l.report(shelf, "")
	var got []string
	f := api.TranscriptFilter{Limit: 3}
	for {
		page, err := l.reports.Transcripts(l.ctx(), f)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range page.Transcripts {
			got = append(got, file.Conversation+" "+file.Dir+" "+file.Title)
		}
		if f.Cursor = page.Next; f.Cursor == "" {
			break
		}
	}
	if diff := cmp.Diff([]string{"c0 /a Title 0 [2J", "c1 /b Title 1 [2J", "c2 /a Title 2 [2J", "c3 /c Title 3 [2J"}, got); diff != "" {
		t.Errorf("transcripts (-want +got):\n%s", diff)
	}
	if page, err := l.reports.Transcripts(l.ctx(), api.TranscriptFilter{Dir: "/a"}); err != nil || len(page.Transcripts) != 2 {
		t.Errorf("of a folder: %s, %v", encode(page), err)
	}
	// A search has as many pages as it takes, and some have nothing.
	f, got = api.TranscriptFilter{Text: "[2J", Conversation: "c"}, nil
	pages := 0
	for {
		page, err := l.reports.Transcripts(l.ctx(), f)
		if err != nil {
			t.Fatal(err)
		}
		pages++
		for _, file := range page.Transcripts {
			got = append(got, fmt.Sprint(file.Conversation, " ", file.Snippet != "", " ", file.Marks))
		}
		if q := shelf.queries[len(shelf.queries)-1]; q.Prefix != "c" {
			t.Errorf("the query is %+v", q)
		}
		if f.Cursor = page.Next; f.Cursor == "" {
			break
		}
	}
	if diff := cmp.Diff([]string{"c0 true [{1 2}]", "c1 true [{1 2}]", "c2 true [{1 2}]", "c3 true [{1 2}]"}, got); diff != "" || pages != 4 {
		t.Errorf("a search of %d pages (-want +got):\n%s", pages, diff)
	}
	page, err := l.reports.Transcript(l.ctx(), "", "c1", "", 0, 2)
	if err != nil || len(page.Lines) != 2 || string(page.Lines[1]) != `{"n":1}` || !page.More || page.Next != 2 {
		t.Errorf("the first page is %s, %v", encode(page), err)
	}
	if page, err = l.reports.Transcript(l.ctx(), "", "c1", "", page.Next, 2); err != nil || len(page.Lines) != 1 || string(page.Lines[0]) != `{"n":2}` || page.More {
		t.Errorf("the second page is %s, %v", encode(page), err)
	}
	for _, test := range []struct {
		name string
		call func() error
		want string
	}{
		{"a cursor that is none", func() error {
			_, err := l.reports.Transcripts(l.ctx(), api.TranscriptFilter{Cursor: "../x"})
			return err
		}, api.CodeInvalid},
		{"a search for nothing", func() error { _, err := l.reports.Transcripts(l.ctx(), api.TranscriptFilter{Text: " "}); return err }, api.CodeInvalid},
		{"an id that is none", func() error {
			_, err := l.reports.Transcripts(l.ctx(), api.TranscriptFilter{Conversation: "../"})
			return err
		}, api.CodeInvalid},
		{"a relative folder", func() error { _, err := l.reports.Transcripts(l.ctx(), api.TranscriptFilter{Dir: "a"}); return err }, api.CodeInvalid},
		{"a way out", func() error { _, err := l.reports.Transcript(l.ctx(), "", "../../etc/passwd", "", 0, 0); return err }, api.CodeInvalid},
		{"a negative number", func() error { _, err := l.reports.Transcript(l.ctx(), "", "c1", "", -1, 0); return err }, api.CodeInvalid},
		{"none", func() error { _, err := l.reports.Transcript(l.ctx(), "", "c9", "", 0, 0); return err }, api.CodeNotFound},
		{"adopting a way out", func() error { _, err := l.adopt("../c1", api.Adopt{}); return err }, api.CodeInvalid},
		{"adopting none", func() error { _, err := l.adopt("c9", api.Adopt{}); return err }, api.CodeNotFound},
	} {
		if err := test.call(); code(err) != test.want {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	bare := newLab(t)
	if _, err := bare.reports.Transcripts(bare.ctx(), api.TranscriptFilter{}); code(err) != api.CodeConflict {
		t.Errorf("without a library: %v", err)
	}
}

// TestAdopt goes on with a conversation on disk, which then belongs to that
// session.
func TestAdopt(t *testing.T) {
	dir := t.TempDir()
	shelf := &shelf{}
	l := newLab(t)
	l.report(shelf, "")
	// A conversation that the simulated CLI has kept.
	first := l.create(api.CreateSession{Dir: dir, Prompt: "@say remember"})
	conversation := l.awaitDone(first.ID, 1).Conversation
	shelf.files = []report.TranscriptFile{{Conversation: conversation, Dir: dir, Title: "Remember"}}
	l.launcher.history = map[string][]string{conversation: {`{"type":"user","message":{"role":"user","content":"once"},"uuid":"u1"}`}}

	_, err := l.adopt(conversation, api.Adopt{})
	if code(err) != api.CodeOwned {
		t.Errorf("a conversation of a live session was adopted: %v", err)
	}
	if list, err := l.reports.Transcripts(l.ctx(), api.TranscriptFilter{}); err != nil || list.Transcripts[0].Session != first.ID {
		t.Errorf("the list does not tell whose it is: %s, %v", encode(list), err)
	}
	copied, err := l.adopt(conversation, api.Adopt{Fork: true, Title: "A copy"})
	if err != nil {
		t.Fatal(err)
	}
	if spec := l.launcher.spec(copied.ID); !spec.Fork || spec.Resume != conversation || copied.Title != "A copy" {
		t.Errorf("the copy was started with %+v", spec)
	}
	if _, err := l.hub.Stop(l.ctx(), person, first.ID, api.Stop{}); err != nil {
		t.Fatal(err)
	}
	adopted, err := l.adopt(conversation, api.Adopt{ClientID: "mine", Prompt: "@say on"})
	if err != nil {
		t.Fatal(err)
	}
	if spec := l.launcher.spec(adopted.ID); spec.Fork || spec.Resume != conversation || spec.Dir != dir || adopted.Title != "Remember" {
		t.Errorf("the session was started with %+v, title %q", spec, adopted.Title)
	}
	l.awaitDone(adopted.ID, 1)
	if l.count(adopted.ID, api.KindHistory) != 1 {
		t.Error("its history is not shown")
	}
	if again, err := l.adopt(conversation, api.Adopt{ClientID: "mine", Prompt: "@say on"}); err != nil || again.ID != adopted.ID {
		t.Errorf("the same request again: %v", err)
	}
	shelf.files[0].Dir, shelf.files[0].Conversation = "", "elsewhere"
	if _, err := l.adopt("elsewhere", api.Adopt{}); code(err) != api.CodeInvalid {
		t.Errorf("without a folder: %v", err)
	}
}

func TestFolders(t *testing.T) {
	shelf := &shelf{
		folders: map[string]bool{"/home/ada/blog": true, "/home/ada/books": false, "/home/ada/music": false},
		files: []report.TranscriptFile{
			{Conversation: "c1", Dir: "/home/ada/books", Modified: noon.Add(time.Hour)},
			{Conversation: "c2", Dir: "/home/ada/gone", Modified: noon.Add(time.Minute)},
			{Conversation: "c3", Dir: "/home/ada/blog", Modified: noon},
		},
	}
	clock := &clock{now: noon}
	l := newLab(t, func(o *hub.Options) { o.Now = clock.Now })
	l.report(shelf, "")
	clock.add(2 * time.Hour)
	l.create(api.CreateSession{Dir: "/home/ada/blog", Transport: "websocket"})
	for _, test := range []struct {
		prefix string
		limit  int
		want   string
	}{
		{"", 0, "/home/ada/blog git used, /home/ada/books used"},
		{"", 1, "/home/ada/blog git used"},
		{"/home/ada/b", 0, "/home/ada/blog git used, /home/ada/books used"},
		{"/home/ada/", 0, "/home/ada/blog git used, /home/ada/books used, /home/ada/music"},
		{"/home/ada/m", 0, "/home/ada/music"},
		{"BOOK", 0, "/home/ada/books used"},
		{"nothing", 0, ""},
	} {
		got, err := l.reports.Folders(l.ctx(), "", test.prefix, test.limit)
		if err != nil {
			t.Fatal(err)
		}
		var list []string
		for _, f := range got.Folders {
			text := f.Path
			if f.Git {
				text += " git"
			}
			if !f.Used.IsZero() {
				text += " used"
			}
			list = append(list, text)
		}
		if text := strings.Join(list, ", "); text != test.want {
			t.Errorf("%q: %s, expected %s", test.prefix, text, test.want)
		}
	}
	if _, err := l.reports.Folders(l.ctx(), "", "/a\x00b", 0); code(err) != api.CodeInvalid {
		t.Errorf("a NUL byte: %v", err)
	}
}
