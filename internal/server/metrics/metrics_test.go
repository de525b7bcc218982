package metrics

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// scrape returns the lines that a scrape tells of the program's own metrics,
// without comments.
func scrape(t *testing.T, m *Metrics) []string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody))
	if w.Code != http.StatusOK {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	var lines []string
	for line := range strings.Lines(w.Body.String()) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "switchboard_") {
			lines = append(lines, line)
		}
	}
	return lines
}

// wants holds that lines are among those of a scrape.
func wants(t *testing.T, m *Metrics, want ...string) {
	t.Helper()
	lines := scrape(t, m)
	for _, line := range want {
		if !slices.Contains(lines, line) {
			name, _, _ := strings.Cut(line, " ")
			name, _, _ = strings.Cut(name, "{")
			var near []string
			for _, l := range lines {
				if strings.HasPrefix(l, name) && !strings.HasSuffix(l, " 0") {
					near = append(near, l)
				}
			}
			t.Errorf("there is no line %q, but:\n%s", line, strings.Join(near, "\n"))
		}
	}
}

func TestMeter(t *testing.T) {
	m := New(&Options{Version: "1.2.3"})
	m.Lines(api.KindLine, 3, 300)
	m.Lines(api.KindLine, 1, 50)
	m.Lines(api.KindLive, 7, 70)
	m.Lines("s7c2x4… a session", 2, 20)
	m.Lines(api.KindSent, -1, -1) // nobody may break a counter
	m.Commit(4, 2*time.Millisecond)
	m.Shown(300 * time.Microsecond)
	m.Question("permission", "answered", 2*time.Second)
	m.Question("permission", "nonsense", time.Hour)
	m.Question("/home/somebody", "cancelled", 0)
	m.Behind(30)
	wants(t, m,
		`switchboard_build_info{version="1.2.3"} 1`,
		`switchboard_lines_total{kind="line"} 4`,
		`switchboard_line_bytes_total{kind="line"} 350`,
		`switchboard_lines_total{kind="live"} 7`,
		`switchboard_lines_total{kind="other"} 2`,
		`switchboard_lines_total{kind="sent"} 0`,
		`switchboard_commit_entries_sum 4`,
		`switchboard_commit_seconds_bucket{le="0.001"} 0`,
		`switchboard_commit_seconds_bucket{le="0.0025"} 1`,
		`switchboard_show_lag_seconds_count 1`,
		`switchboard_questions_settled_total{kind="permission",outcome="answered"} 1`,
		`switchboard_questions_settled_total{kind="permission",outcome="other"} 1`,
		`switchboard_questions_settled_total{kind="other",outcome="cancelled"} 1`,
		`switchboard_question_wait_seconds_count{kind="permission"} 2`,
		`switchboard_follower_catchup_entries_sum 30`,
	)
}

func TestMetersDoNotMeet(t *testing.T) {
	one, two := New(nil), New(nil)
	one.Lines(api.KindLine, 5, 5)
	wants(t, two, `switchboard_lines_total{kind="line"} 0`)
	wants(t, one, `switchboard_lines_total{kind="line"} 5`)
}

func TestScrapeAsksTheHub(t *testing.T) {
	m := New(nil)
	m.Watch(Sources{
		Stats: func(ctx context.Context) (hub.Stats, error) {
			if _, bounded := ctx.Deadline(); !bounded {
				t.Error("a scrape may take for ever")
			}
			return hub.Stats{
				Sessions:      map[api.State]int{api.StateIdle: 2, api.StateEnded: 40, "made up": 9},
				OpenQuestions: map[api.QuestionKind]int{"plan": 1, "made up": 3}, Followers: 5, Loaded: 6,
			}, nil
		},
		Drift: func(context.Context) (*api.Drift, error) {
			return &api.Drift{Items: []api.DriftItem{
				{Kind: "member", Name: "a", Count: 3}, {Kind: "member", Name: "b", Count: 4}, {Kind: "made up", Name: "c", Count: 5},
			}}, nil
		},
	})
	wants(t, m,
		`switchboard_sessions{state="idle"} 2`, `switchboard_sessions{state="ended"} 40`, `switchboard_sessions{state="running"} 0`,
		`switchboard_questions_open{kind="plan"} 1`, `switchboard_questions_open{kind="other"} 3`, `switchboard_questions_open{kind="form"} 0`,
		`switchboard_followers 5`, `switchboard_sessions_loaded 6`,
		`switchboard_drift{kind="member"} 7`, `switchboard_drift{kind="other"} 5`,
	)
	for _, line := range scrape(t, m) {
		if strings.Contains(line, "made up") {
			t.Errorf("a label has a value that nobody has allowed: %s", line)
		}
	}
}

func TestDriftIsNotAskedAtEachScrape(t *testing.T) {
	asked := 0
	now := time.Unix(1_000_000, 0)
	s := &scraper{now: func() time.Time { return now }, sources: Sources{Drift: func(context.Context) (*api.Drift, error) {
		asked++
		if asked == 2 {
			return nil, errors.New("busy")
		}
		return &api.Drift{Items: []api.DriftItem{{Kind: "type", Count: int64(asked)}}}, nil
	}}}
	for i, want := range []struct {
		later time.Duration
		asked int
		count int64
		fails bool
	}{{0, 1, 1, false}, {59 * time.Second, 1, 1, false}, {time.Second, 2, 0, true}, {0, 3, 3, false}, {59 * time.Second, 3, 3, false}} {
		now = now.Add(want.later)
		counts, err := s.driftCounts(t.Context())
		if (err != nil) != want.fails || counts["type"] != want.count || asked != want.asked {
			t.Errorf("scrape %d: %v, %v, asked %d times; want %+v", i+1, counts, err, asked, want)
		}
	}
}

func TestScrapeTellsTheRestWhenTheHubFails(t *testing.T) {
	var log bytes.Buffer
	m := New(&Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	m.Watch(Sources{Stats: func(context.Context) (hub.Stats, error) { return hub.Stats{}, errors.New("the journal is stuck") }})
	m.Shown(time.Second)
	wants(t, m, `switchboard_show_lag_seconds_count 1`)
	if !strings.Contains(log.String(), "the journal is stuck") {
		t.Errorf("the log does not say why something is missing: %s", &log)
	}
}

// document returns the names in docs/metrics.md.
func document(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("../../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, found := range regexp.MustCompile("(?m)^\\| `(switchboard_[a-z_]+)` \\|").FindAllSubmatch(text, -1) {
		names = append(names, string(found[1]))
	}
	slices.Sort(names)
	return names
}

func TestDocumentHasEveryName(t *testing.T) {
	m := New(nil)
	m.Watch(Sources{
		Stats: func(context.Context) (hub.Stats, error) { return hub.Stats{}, nil },
		Drift: func(context.Context) (*api.Drift, error) { return &api.Drift{}, nil },
		Nodes: func() map[api.NodeState]int { return map[api.NodeState]int{api.NodeOnline: 1} },
	})
	m.Request(http.MethodGet, "GET /x", http.StatusOK, false, time.Second)
	m.Stream("GET /x", kindSSE)()
	names, err := m.names()
	if err != nil {
		t.Fatal(err)
	}
	families := map[string]bool{}
	names = slices.DeleteFunc(names, func(name string) bool {
		family, _, _ := strings.Cut(name, "_")
		families[family] = true
		return family == "go" || family == "process"
	})
	if diff := cmp.Diff(document(t), names); diff != "" {
		t.Errorf("docs/metrics.md (-) and the program (+) differ:\n%s", diff)
	}
	if !families["go"] {
		t.Error("Go's own are missing")
	}
}

func TestKindsAreComplete(t *testing.T) {
	// The kinds are those of api/event.go; a new one there belongs here too.
	source, err := os.ReadFile("../../../api/event.go")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^\tKind[A-Za-z]+ += "([a-z_]+)"`).FindAllSubmatch(source, -1)
	if len(found) < 20 {
		t.Fatalf("only %d kinds were found", len(found))
	}
	for _, kind := range found {
		if !slices.Contains(lineKinds(), string(kind[1])) {
			t.Errorf("the kind %s is counted as other", kind[1])
		}
	}
}

func TestHandlerSpeaksOpenMetrics(t *testing.T) {
	server := httptest.NewServer(New(nil).Handler())
	defer server.Close()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept", "application/openmetrics-text; version=1.0.0")
	answer, err := server.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }() // it was only read
	body, err := io.ReadAll(answer.Body)
	if err != nil || !strings.HasPrefix(answer.Header.Get("Content-Type"), "application/openmetrics-text") || !strings.HasSuffix(string(body), "# EOF\n") {
		t.Errorf("%v, %s: %.100s", err, answer.Header.Get("Content-Type"), body)
	}
}

// names returns the names of all that is told, sorted; see docs/metrics.md.
func (m *Metrics) names() ([]string, error) {
	families, err := m.registry.Gather()
	var list []string
	for _, f := range families {
		list = append(list, f.GetName())
	}
	slices.Sort(list)
	return list, err
}
