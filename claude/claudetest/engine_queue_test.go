package claudetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// user sends a prompt with an id and more members.
func (s *simTest) user(text, id, more string) {
	s.t.Helper()
	if more != "" {
		more = "," + more
	}
	s.send(fmt.Sprintf(`{"type":"user","message":{"role":"user","content":%s},"uuid":"%s"%s}`, plainJSON(text), testID(id), more))
}

// testID makes a UUID of a digit.
func testID(digit string) string {
	return strings.Repeat("0", 7) + digit + "-0000-4000-8000-000000000000"
}

// results receives so many results and returns their texts.
func (s *simTest) results(n int) []string {
	s.t.Helper()
	var texts []string
	for range n {
		text, _ := s.result()["result"].(string)
		texts = append(texts, text)
	}
	return texts
}

func TestSimQueueMerges(t *testing.T) {
	for _, version := range SimVersions() {
		t.Run(version, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := startSim(t, version)
				s.user("@slow 100ms\n@say First, in several words.", "1", "")
				time.Sleep(50 * time.Millisecond)
				s.user("@say Second.", "2", "")
				s.user("Third.", "3", "")
				want := []string{"First, in several words.", "Second."}
				if version == "2.1.37" {
					want = append(want, "The simulated model found no directive in the prompt. Try a line such as: @say hello")
				}
				if got := s.results(len(want)); !slices.Equal(got, want) {
					t.Errorf("the results are %q, want %q", got, want)
				}
			})
		})
	}
}

// What comes while a tool runs becomes part of the turn.
func TestSimQueueFolds(t *testing.T) {
	for _, version := range SimVersions() {
		t.Run(version, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := startSim(t, version, withArgs("--dangerously-skip-permissions", "--replay-user-messages"), inSandbox)
				s.user("@tool Bash {\"command\":\"sleep 5\"}\n@say Done.", "1", "")
				time.Sleep(time.Second)
				s.user("@say Hurry.", "2", `"priority":"next"`)
				s.user("@say Later.", "3", `"priority":"later"`)
				want := []string{"Done."}
				if version != "2.1.37" {
					want = append(want, "Later.")
				}
				if got := s.results(len(want)); !slices.Equal(got, want) {
					t.Errorf("the results are %q, want %q", got, want)
				}
				echoes := 0
				for _, line := range s.lines {
					if line["isReplay"] == true {
						echoes++
					}
				}
				if echoes != 3 {
					t.Errorf("%d prompts were echoed, want 3", echoes)
				}
			})
		})
	}
}

// A prompt that cannot wait ends a message in the middle, and a turn behind its tools.
func TestSimPriorityNow(t *testing.T) {
	for _, version := range []string{"2.1.120", "2.1.325"} {
		t.Run(version, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := startSim(t, version, withArgs("--dangerously-skip-permissions"), inSandbox)
				s.prompt("@slow 1s\n@say One, two, three, four, five, six, seven, eight.")
				time.Sleep(3500 * time.Millisecond)
				s.user("@say Now.", "1", `"priority":"now"`)
				first := s.result()
				if text, _ := first["result"].(string); first["subtype"] != "success" || first["terminal_reason"] != "aborted_streaming" || text == "" {
					t.Errorf("the first turn ended with %v", first)
				}
				if got := s.results(1); got[0] != "Now." {
					t.Errorf("the next turn ended with %q", got)
				}
				s.prompt("@tool Bash {\"command\":\"sleep 5\"}\n@say Never.")
				time.Sleep(time.Second)
				s.user("@say Again.", "2", `"priority":"now"`)
				second := s.result()
				if second["subtype"] != "success" || second["terminal_reason"] != "aborted_tools" || second["result"] != "" {
					t.Errorf("the turn with a tool ended with %v", second)
				}
				s.result()
			})
		})
	}
}

func TestSimAppendOnly(t *testing.T) {
	for _, version := range SimVersions() {
		s := startSim(t, version)
		s.user("@say Hello.", "1", `"shouldQuery":false`)
		want, turns := "", 0.0
		if version == "2.1.37" {
			want, turns = "Hello.", 1.0
		}
		if result := s.result(); result["result"] != want || result["num_turns"] != turns {
			t.Errorf("%s: the turn ended with %v", version, result)
		}
	}
}

// The lines about prompts, where there are any, say of each what became of it.
func TestSimLifecycle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startSim(t, "2.1.325", withArgs("--dangerously-skip-permissions"), inSandbox)
		s.user("@tool Bash {\"command\":\"sleep 5\"}\n@say Done.", "1", "")
		time.Sleep(time.Second)
		s.user("Hurry.", "2", "")
		s.result()
		s.await(isState("idle"))
		var got []string
		for _, line := range s.lines {
			switch line["type"] {
			case "command_lifecycle":
				got = append(got, line["command_uuid"].(string)[7:8]+" "+line["state"].(string))
			case "result":
				got = append(got, "result")
				if ids, _ := line["user_message_uuids"].([]any); len(ids) != 2 {
					t.Errorf("the result names %v", ids)
				}
			}
		}
		want := []string{"1 queued", "1 started", "2 queued", "2 started", "2 completed", "result", "1 completed"}
		if !slices.Equal(got, want) {
			t.Errorf("told %v, want %v", got, want)
		}
	})
}
