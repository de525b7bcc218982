package since

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/switchboard-dev/switchboard/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestState(t *testing.T) {
	path := filepath.Join(t.TempDir(), "below", "found.json")
	s, err := Load(path)
	if err != nil || len(s.Tried) != 0 {
		t.Fatalf("without a file: %v, %v", s, err)
	}
	s.Tried[patch(52)] = Findings{"flag effort": Yes, "flag bare": No}
	s.Fetched = []string{"2.1.52"}
	if err := s.Save(); err != nil {
		t.Fatal(err)
	}
	again, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s, again, cmp.AllowUnexported(State{})); diff != "" {
		t.Errorf("(-saved +loaded):\n%s", diff)
	}
	for _, text := range []string{"not JSON", `{"tried":{"latest":{}}}`} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(path); err == nil || !strings.Contains(err.Error(), "found so far") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestTable(t *testing.T) {
	got := string(Table(patch(37), patch(325), []Row{
		{Feature: Feature{Kind: wire.FeatureFlag, Name: "effort", Way: ByFlag}, Without: patch(51), Since: patch(52)},
		{Feature: Feature{Kind: wire.FeatureMode, Name: "delegate", Way: ByFlag}, Since: patch(37), Until: patch(60), Gone: patch(61)},
		{Feature: Feature{Kind: wire.FeatureRequest, Name: "set_color", Way: ByAnswer}, Without: patch(325)},
	}))
	want := "tried\t2.1.37\t2.1.325\n" +
		"flag\teffort\t2.1.51\t2.1.52\t-\t-\tflag\n" +
		"mode\tdelegate\t-\t2.1.37\t2.1.60\t2.1.61\tflag\n" +
		"request\tset_color\t2.1.325\t-\t-\t-\tanswer\n"
	if !strings.HasPrefix(got, "# ") || !strings.HasSuffix(got, "\n"+want) {
		t.Errorf("got %s", got)
	}
}

func TestSearch(t *testing.T) {
	far := strings.Repeat("x ", 6<<20)
	texts := []string{`hook_event_name:"Stop"`, ".planMode", "absent", ".title"}
	tests := []struct {
		name, program string
		want          []bool
	}{
		{"nothing", "", []bool{false, false, false, false}},
		{"all but one", `a={hook_event_name:"Stop"};b.planMode=1;c.title`, []bool{true, true, false, true}},
		{"longer words", `hook_event_name:"StopFailure" a.planModes a.titleOf`, []bool{false, false, false, false}},
		{"a longer word, then the word", "a.titles a.title;", []bool{false, false, false, true}},
		{"far behind", far + "a.planMode;" + far + "a.title", []bool{false, true, false, true}},
		// The window of the search ends within the text, and just behind it.
		{"at the edge", strings.Repeat("x", 8<<20-4) + ".planMode ", []bool{false, true, false, false}},
		{"before the edge", strings.Repeat("x", 8<<20-9) + ".planModes", []bool{false, false, false, false}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := search(strings.NewReader(test.program), texts)
			if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestUnknownAnswers(t *testing.T) {
	other := answer{Subtype: "error", Error: "Unsupported control request subtype: " + noSuchRequest}
	tests := []struct {
		name  string
		a     answer
		other answer
		want  bool
	}{
		{"success", answer{Subtype: "success"}, other, false},
		{"an error of its own", answer{Subtype: "error", Error: "Server not found: nobody"}, other, false},
		{"not known", answer{Subtype: "error", Error: "Unsupported control request subtype: get_plan"}, other, true},
		{"by its code", answer{Subtype: "error", Error: "Not here", ErrorCode: "unsupported_request"}, other, true},
		{"an error where unknown ones are not answered", answer{Subtype: "error"}, answer{}, false},
	}
	for _, test := range tests {
		if got := test.a.unknown("get_plan", test.other); got != test.want {
			t.Errorf("%s: %t", test.name, got)
		}
	}
}
