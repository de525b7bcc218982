package claudetest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// simTest is a simulated CLI under test, driven with raw JSON.
type simTest struct {
	t     *testing.T
	sim   *Sim
	lines []map[string]any // all lines received so far
	asked int
}

// startSim starts a simulated CLI of a version with nothing kept on disk but in a temporary home. The options may be changed before the start.
func startSim(t *testing.T, version string, change ...func(*SimOptions)) *simTest {
	t.Helper()
	quirks, err := QuirksFor(version)
	if err != nil {
		t.Fatal(err)
	}
	o := &SimOptions{
		Quirks: &quirks, Dir: t.TempDir(), Stderr: t.Output(),
		Env: []string{"HOME=" + t.TempDir(), "ANTHROPIC_API_KEY=made-up", "CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS=1"},
	}
	for _, c := range change {
		c(o)
	}
	s := &simTest{t: t, sim: StartSim(o)}
	t.Cleanup(func() {
		if err := s.sim.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// withArgs adds arguments to the usual ones.
func withArgs(args ...string) func(*SimOptions) {
	return func(o *SimOptions) { o.Args = append(defaultArgs(), args...) }
}

// send writes a line.
func (s *simTest) send(line string) {
	s.t.Helper()
	if err := s.sim.Write(s.t.Context(), []byte(line)); err != nil {
		s.t.Fatalf("writing %.200s: %v", line, err)
	}
}

// prompt sends a user message.
func (s *simTest) prompt(text string) {
	s.t.Helper()
	s.send(string(plainJSON(members{"type", "user", "message", members{"role", "user", "content", text}, "parent_tool_use_id", nil, "session_id", ""})))
}

// next receives a line.
func (s *simTest) next() map[string]any {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 20*time.Minute) // in a bubble that is no time at all; elsewhere the test's own limit counts
	defer cancel()
	raw, err := s.sim.Read(ctx)
	if err != nil {
		s.t.Fatalf("reading: %v; so far:\n%s", err, s.story())
	}
	var line map[string]any
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if err := decoder.Decode(&line); err != nil {
		s.t.Fatalf("the CLI wrote %.200q: %v", raw, err)
	}
	s.lines = append(s.lines, line)
	return line
}

// await receives lines up to the first that matches.
func (s *simTest) await(match func(map[string]any) bool) map[string]any {
	s.t.Helper()
	for {
		if line := s.next(); match(line) {
			return line
		}
	}
}

// result receives lines up to a result.
func (s *simTest) result() map[string]any {
	s.t.Helper()
	return s.await(func(line map[string]any) bool { return line["type"] == "result" })
}

// turn sends a prompt and receives lines up to its result.
func (s *simTest) turn(text string) map[string]any {
	s.t.Helper()
	s.prompt(text)
	return s.result()
}

// request makes a control request, given as the members of its body, and returns the answer's "response".
func (s *simTest) request(body string) map[string]any {
	s.t.Helper()
	s.asked++
	id := fmt.Sprintf("test-%d", s.asked)
	s.send(`{"type":"control_request","request_id":"` + id + `","request":` + body + `}`)
	line := s.await(func(line map[string]any) bool {
		response, _ := line["response"].(map[string]any)
		return line["type"] == "control_response" && response["request_id"] == id
	})
	return line["response"].(map[string]any)
}

// question receives lines up to a request of the CLI with this subtype.
func (s *simTest) question(subtype string) (id string, request map[string]any) {
	s.t.Helper()
	line := s.await(func(line map[string]any) bool { return isQuestion(line, subtype) })
	return line["request_id"].(string), line["request"].(map[string]any)
}

func isQuestion(line map[string]any, subtype string) bool {
	request, _ := line["request"].(map[string]any)
	return line["type"] == "control_request" && request["subtype"] == subtype
}

// answer answers a request of the CLI with a body.
func (s *simTest) answer(id, body string) {
	s.t.Helper()
	s.send(`{"type":"control_response","response":{"subtype":"success","request_id":"` + id + `","response":` + body + `}}`)
}

// story is what was received, one line each, for failures.
func (s *simTest) story() string {
	var out strings.Builder
	for _, line := range s.lines {
		fmt.Fprintf(&out, "%.300s\n", plainJSON(line))
	}
	return out.String()
}

// kinds are the received lines as type/subtype, for comparing sequences. Stream events are left out.
func (s *simTest) kinds() []string {
	var kinds []string
	for _, line := range s.lines {
		kind, _ := line["type"].(string)
		if kind == "stream_event" {
			continue
		}
		if subtype, ok := line["subtype"].(string); ok {
			kind += "/" + subtype
		}
		kinds = append(kinds, kind)
	}
	return kinds
}

func TestSimConversation(t *testing.T) {
	for _, version := range SimVersions() {
		t.Run(version, func(t *testing.T) {
			s := startSim(t, version)
			if answer := s.request(`{"subtype":"initialize"}`); answer["subtype"] != "success" {
				t.Fatalf("initialize was answered with %v", answer)
			}
			s.prompt("@say I make it.\n@tool Bash {\"command\":\"touch made\"}\n@say Done.")
			id, request := s.question("can_use_tool")
			if request["tool_name"] != "Bash" {
				t.Errorf("asked for %v", request["tool_name"])
			}
			s.answer(id, `{"behavior":"allow","updatedInput":{"command":"touch made"}}`)
			if result := s.result(); result["result"] != "Done." || result["subtype"] != "success" {
				t.Errorf("the turn ended with %v", result)
			}
		})
	}
}
