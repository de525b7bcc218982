package v1

import (
	"encoding/json"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/api"
)

// A fence is a block of code in a document.
type fence struct {
	heading  string // the last one before it
	language string
	text     string
}

// document returns the blocks of code of a document, and the document itself.
func document(t *testing.T, name string) ([]fence, string) {
	t.Helper()
	raw, err := os.ReadFile("../../../docs/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var fences []fence
	var current *fence
	heading := ""
	for line := range strings.Lines(string(raw)) {
		language, mark := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "```")
		switch {
		case mark && current == nil:
			current = &fence{heading: heading, language: language}
		case mark:
			fences = append(fences, *current)
			current = nil
		case current != nil:
			current.text += line
		case strings.HasPrefix(line, "#"):
			heading = strings.TrimSpace(strings.TrimLeft(line, "#"))
		}
	}
	if current != nil || len(fences) == 0 {
		t.Fatalf("%s has no end of a block, or no blocks", name)
	}
	return fences, string(raw)
}

// strictly decodes JSON that must have no members that are not known.
func strictly[T any](t *testing.T, text string) T {
	t.Helper()
	var v T
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		t.Errorf("%v in %s", err, text)
	}
	return v
}

// TestQuestionsDocument sends the examples of docs/questions.md, and holds what it says of members against the types.
func TestQuestionsDocument(t *testing.T) {
	fences, whole := document(t, "questions.md")
	w := newWorld(t)
	asking := func() *world {
		w := w.of(t)
		asking(w)
		return w
	}
	example := regexp.MustCompile(`^answer QUESTION '(.*)'$`)
	look := regexp.MustCompile(`^hub '?http://switchboard(/[^']*)'?$`)
	sent := map[string]int{} // by heading
	for _, f := range fences {
		switch f.language {
		case "sh":
			for line := range strings.SplitSeq(strings.TrimSpace(f.text), "\n") {
				if m := example.FindStringSubmatch(line); m != nil {
					strictly[api.Answer](t, m[1]) // TestQuestionsDocumentOnHub sends it
					sent[f.heading]++
				} else if m := look.FindStringSubmatch(line); m != nil {
					w := asking()
					path := strings.NewReplacer("QUESTION", "{question}", "SESSION", "{session}").Replace(m[1])
					if res := w.do(t, observeToken, "GET", w.fill(path), ""); res.StatusCode != 200 {
						t.Errorf("%s: %d %s", line, res.StatusCode, text(t, res))
					}
					sent[f.heading]++
				} else if !strings.HasPrefix(line, "SOCKET=") && !strings.HasSuffix(line, "; }") {
					t.Errorf("an example that is not tried: %s", line)
				}
			}
		case "json":
			if f.heading == "Answering" {
				if e := strictly[api.Error](t, f.text); e.Question == nil || e.Code != api.CodeAlreadySettled {
					t.Errorf("an error that is none: %s", f.text)
				}
				continue
			}
			q := strictly[api.Question](t, f.text)
			want := strings.ToLower(strings.TrimSuffix(f.heading, "s"))
			if f.heading == "Hosts" {
				want = string(api.QuestionPermission)
			}
			if string(q.Kind) != want {
				t.Errorf("a %s below the heading %s", q.Kind, f.heading)
			}
		}
	}
	for heading, least := range map[string]int{"Looking at questions": 3, "Permissions": 9, "Choices": 5, "Plans": 10, "Forms": 3, "Dialogs": 2, "Hosts": 3} {
		if sent[heading] < least {
			t.Errorf("%d examples below %s, want %d", sent[heading], heading, least)
		}
	}
	for heading, of := range map[string]reflect.Type{"Looking at questions": reflect.TypeFor[api.Question](), "Answering": reflect.TypeFor[api.Answer]()} {
		if diff := cmp.Diff(membersOf(of), named(whole, heading)); diff != "" {
			t.Errorf("the members in the table below %s (-want +got):\n%s", heading, diff)
		}
	}
	for _, o := range []api.PlanOutcome{api.PlanFresh, api.PlanAcceptEdits, api.PlanAsk, api.PlanRevise, api.PlanReject, api.PlanOutline} {
		if !strings.Contains(whole, "\n| `"+string(o)+"` |") {
			t.Errorf("the outcome %s is not in a table", o)
		}
	}
}

// membersOf returns the names of a type's members in JSON.
func membersOf(of reflect.Type) []string {
	var names []string
	for f := range of.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// named returns the names in the first column of the table below a heading whose first column is called member.
func named(text, heading string) []string {
	_, rest, _ := strings.Cut(text, "\n## "+heading+"\n")
	_, rest, _ = strings.Cut(rest, "\n| member |")
	var names []string
	for line := range strings.Lines(rest) {
		if line == "\n" {
			break
		}
		cells := strings.Split(line, "|")
		if len(cells) < 3 {
			continue
		}
		for _, m := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(cells[1], -1) {
			names = append(names, m[1])
		}
	}
	slices.Sort(names)
	return names
}

// declared returns the values of the string constants in a file whose names begin
// so, sorted.
func declared(t *testing.T, file, prefix string) []string {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var values []string
	for _, m := range regexp.MustCompile(`(?m)^\t`+prefix+`[A-Z]\w*\s+(?:\w+ )?= "([^"]+)"`).FindAllStringSubmatch(string(raw), -1) {
		values = append(values, m[1])
	}
	slices.Sort(values)
	return values
}
