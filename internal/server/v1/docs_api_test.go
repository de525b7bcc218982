package v1

import (
	"bufio"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/wire"
)

// An example is a call of the shell function hub in docs/api.md.
type example struct {
	line, method, path, body string
	stream                   bool
}

var (
	argument = regexp.MustCompile(`'[^']*'|\S+`)
	address  = "http://switchboard"
)

// parse reads a line of a document as the shell would.
func parse(t *testing.T, line string) example {
	t.Helper()
	e := example{line: line, method: http.MethodGet}
	words := argument.FindAllString(line, -1)[1:]
	for i := 0; i < len(words); i++ {
		word := strings.Trim(words[i], "'")
		switch {
		case word == "-N":
		case word == "-X" && i+1 < len(words):
			i++
			e.method = words[i]
		case word == "-d" && i+1 < len(words):
			i++
			e.body = strings.Trim(words[i], "'")
			if e.method == http.MethodGet {
				e.method = http.MethodPost
			}
		case word == "-H" && i+1 < len(words):
			i++
			e.stream = words[i] == "'Accept: text/event-stream'"
		case strings.HasPrefix(word, address+"/"):
			e.path = strings.TrimPrefix(word, address)
		default:
			t.Errorf("%s: what is %s?", line, word)
		}
	}
	return e
}

// TestAPIDocument sends the examples of docs/api.md, and holds its tables against the code.
func TestAPIDocument(t *testing.T) {
	fences, whole := document(t, "api.md")
	w := newWorld(t)
	tried := map[string]int{}
	for _, f := range fences {
		switch f.language {
		case "sh":
			for line := range strings.SplitSeq(strings.TrimSpace(f.text), "\n") {
				if strings.HasPrefix(line, "SOCKET=") || strings.HasPrefix(line, "hub()") {
					continue
				}
				e := parse(t, line)
				header := []string{"Content-Type", "application/json"}
				if e.stream {
					header = append(header, "Accept", "text/event-stream")
				}
				w := w.of(t)
				situationOf(e.path)(w)
				path := w.fill(strings.NewReplacer("SESSION", "{session}", "QUESTION", "{question}").Replace(e.path))
				res := w.do(t, adminToken, e.method, path, e.body, header...)
				if got := strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream"); got != e.stream {
					t.Errorf("%s: a stream is %v", line, got)
				}
				if e.stream {
					if got := readEvent(t, bufio.NewReader(res.Body)); !strings.HasPrefix(got, "event: resume\n") {
						t.Errorf("%s: %s", line, got)
					}
					_ = res.Body.Close()
				} else if body := text(t, res); res.StatusCode >= 300 {
					t.Errorf("%s: %d %s", line, res.StatusCode, body)
				}
				tried[f.heading]++
			}
		case "json":
			if f.heading == "Errors" {
				if e := strictly[api.Error](t, f.text); e.Code == "" || e.Title == "" {
					t.Errorf("an error that is none: %s", f.text)
				}
				continue
			}
			frame := strictly[api.Frame](t, f.text)
			// What the server sends is just what is printed there.
			got, err := appendMessage(nil, &frame, hub.Text{})
			if err != nil || string(got) != strings.TrimSpace(f.text) {
				t.Errorf("the frame is sent as %s, %v", got, err)
			}
		}
	}
	for heading, least := range map[string]int{"Authenticating": 5, "Creating a session": 8, "Prompting": 5, "Following": 5, "Answering": 3, "Steering the CLI": 7, "Looking back": 9, "Compatibility": 1} {
		if tried[heading] < least {
			t.Errorf("%d examples below %s, want %d", tried[heading], heading, least)
		}
	}
	var want []string
	for _, o := range outcomes() {
		want = append(want, fmt.Sprintf("| %d | `%s` | %s |", o.status, o.code, o.means))
	}
	if diff := cmp.Diff(want, rows(whole, "Errors")); diff != "" {
		t.Errorf("the codes (-want +document):\n%s", diff)
	}
	want = nil
	for path, methods := range describedDocument(t).Paths {
		for method, op := range methods {
			want = append(want, fmt.Sprintf("| `%s %s` | %s | %s |", strings.ToUpper(method), path, op.Scope, op.Summary))
		}
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, slices.Sorted(slices.Values(rows(whole, "Operations")))); diff != "" {
		t.Errorf("the operations (-want +document):\n%s", diff)
	}
}

// TestAPIDocumentEnvironment holds what docs/api.md says of variables that an agent takes
// against a CLI that is newer than its example needs.
func TestAPIDocumentEnvironment(t *testing.T) {
	fences, whole := document(t, "api.md")
	w := newWorld(t).of(t)
	idle(w)
	set := func(body string) *response {
		return w.do(t, adminToken, "POST", w.fill("/v1/sessions/{session}/environment"), body)
	}
	until := wire.FeatureOf(wire.FeatureLine, "update_environment_variables").Until.String()
	tried := 0
	for _, f := range fences {
		for line := range strings.SplitSeq(f.text, "\n") {
			if !strings.HasSuffix(line, "/environment") {
				continue
			}
			tried++
			if e := expectProblem(t, set(parse(t, line).body), 422, api.CodeUnsupported); !strings.Contains(e.Title, until) {
				t.Errorf("it is refused by %s", e.Title)
			}
		}
	}
	_, told, found := strings.Cut(whole, "CLIs up to "+until+" take any environment variable. Newer ones take only their own tokens, such as `")
	name, _, _ := strings.Cut(told, "`")
	if tried != 1 || !found {
		t.Fatalf("%d examples; the document says which variables are taken: %v", tried, found)
	}
	if res := set(`{"variables":{"` + name + `":"x"}}`); res.StatusCode != 204 {
		t.Errorf("%s: %d %s", name, res.StatusCode, text(t, res))
	}
	w.agent.AwaitSent(`{"` + name + `":"x"}`)
}

// TestAPIDocumentFrames holds what docs/api.md says of frames against the types.
func TestAPIDocumentFrames(t *testing.T) {
	_, whole := document(t, "api.md")
	var types []string
	for _, row := range rows(whole, "Following") {
		cells := strings.Split(row, "|")
		name := strings.Trim(cells[1], " `")
		if len(cells) != 5 || strings.Contains(name, "=") {
			continue // the table of filters
		}
		types = append(types, name)
	}
	if diff := cmp.Diff(declared(t, "../../../api/event.go", "Frame"), slices.Sorted(slices.Values(types))); diff != "" {
		t.Errorf("the types of frames (-declared +document):\n%s", diff)
	}
	for _, text := range []string{
		fmt.Sprintf("%d KiB", maxIncoming>>10), fmt.Sprintf("%d MiB for messages", maxMessage>>20), fmt.Sprintf("%d MiB for rules", maxRules>>20),
		fmt.Sprintf("| a pause within a body | %.0f seconds |", bodyPause.Seconds()), fmt.Sprintf("| kinds or types in a filter | %d |", maxNames),
	} {
		if !strings.Contains(whole, text) {
			t.Errorf("the document does not say %q", text)
		}
	}
}

// rows returns the rows of the tables below a heading, without their heads.
func rows(text, heading string) []string {
	_, rest, _ := strings.Cut(text, "\n## "+heading+"\n")
	rest, _, _ = strings.Cut(rest, "\n## ")
	var out []string
	body := false
	for line := range strings.Lines(rest) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case !strings.HasPrefix(line, "|"):
			body = false
		case strings.HasPrefix(line, "| ---"):
			body = true
		case body:
			out = append(out, line)
		}
	}
	return out
}
