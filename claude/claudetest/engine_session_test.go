package claudetest

import (
	"fmt"
	"strings"
	"testing"
)

// sameHome lets several simulated CLIs share their folders.
func sameHome(home, dir string, args ...string) func(*SimOptions) {
	return func(o *SimOptions) {
		o.Dir, o.Env[0] = dir, "HOME="+home
		o.Args = append(defaultArgs(), args...)
	}
}

// ended closes the input and returns the exit code.
func (s *simTest) ended() int {
	s.t.Helper()
	if err := s.sim.CloseInput(); err != nil {
		s.t.Fatal(err)
	}
	for {
		raw, err := s.sim.Read(s.t.Context())
		if err != nil {
			break
		}
		_ = raw // what comes at the end does not matter here
	}
	code, err := s.sim.Wait(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	return code
}

func TestSessions(t *testing.T) {
	const dear = "@usage in=1000 out=1000\n@say "
	for _, version := range SimVersions() {
		t.Run(version, func(t *testing.T) {
			home, dir := t.TempDir(), t.TempDir()
			first := startSim(t, version, sameHome(home, dir))
			one := first.turn(dear + "One.")
			var reply map[string]any
			for _, line := range first.lines {
				if line["type"] == "assistant" {
					reply = line
				}
			}
			first.turn(dear + "Two.")
			id := one["session_id"].(string)
			if code := first.ended(); code != 0 {
				t.Fatalf("exit %d", code)
			}
			again := func(args ...string) (result map[string]any, seen string) {
				t.Helper()
				s := startSim(t, version, sameHome(home, dir, args...), func(o *SimOptions) {
					o.Script = func(r Request) Reply {
						seen = ""
						for _, message := range r.Messages {
							for _, part := range message.Content {
								seen += part.Text + " "
							}
						}
						return Directives(nil)(r)
					}
				})
				result = s.turn(dear + "Again.")
				if code := s.ended(); code != 0 {
					t.Errorf("%q: exit %d", args, code)
				}
				return result, seen
			}
			cost := one["total_cost_usd"].(float64)
			check := func(name string, result map[string]any, seen string, sameID, second bool, spent float64) {
				t.Helper()
				if got := result["session_id"] == id; got != sameID {
					t.Errorf("%s: the session is %v after %s", name, result["session_id"], id)
				}
				if !strings.Contains(seen, "One.") || strings.Contains(seen, "Two.") != second {
					t.Errorf("%s: the model sees %q", name, seen)
				}
				if version != "2.1.325" {
					spent = 1 // only the newest goes on counting
				}
				if got := result["total_cost_usd"].(float64) / cost; got < spent-0.01 || got > spent+0.01 {
					t.Errorf("%s: costs %v turns, want %v", name, got, spent)
				}
			}
			result, seen := again("--resume", id)
			check("resume", result, seen, true, true, 3)
			result, seen = again("--resume", id, "--fork-session")
			check("fork", result, seen, false, true, 4)
			fork := result["session_id"]
			result, seen = again("--continue")
			if result["session_id"] != fork || !strings.Contains(seen, "Two.") {
				t.Errorf("continue: session %v, want the fork %v; the model sees %q", result["session_id"], fork, seen)
			}
			result, _ = again("--resume", id, "--fork-session", "--session-id", "22222222-2222-4222-8222-222222222222")
			if result["session_id"] != "22222222-2222-4222-8222-222222222222" {
				t.Errorf("fork with an id: session %v", result["session_id"])
			}
			result, seen = again("--resume", id, "--resume-session-at", reply["uuid"].(string))
			check("resume at", result, seen, true, false, 4)
		})
	}
}

func TestNoSuchSession(t *testing.T) {
	const nobody = "11111111-1111-4111-8111-111111111111"
	tests := []struct {
		args  []string
		words string
	}{
		{[]string{"--resume", nobody}, "No conversation found with session ID: " + nobody},
		{[]string{"--resume", "a title"}, "--resume requires a valid session"},
	}
	for _, version := range SimVersions() {
		for _, test := range tests {
			t.Run(fmt.Sprint(version, test.args), func(t *testing.T) {
				var stderr strings.Builder
				s := startSim(t, version, withArgs(test.args...), func(o *SimOptions) { o.Stderr = &stderr })
				result := s.next() // without any input
				errors, _ := result["errors"].([]any)
				if result["subtype"] != "error_during_execution" || result["is_error"] != true || result["num_turns"] != 0.0 || len(errors) != 1 || !strings.Contains(errors[0].(string), test.words) {
					t.Errorf("the result is %v", result)
				}
				if asked := result["session_id"] == nobody; asked != (version == "2.1.325" && test.args[1] == nobody) {
					t.Errorf("the result has the session %v", result["session_id"])
				}
				if code, err := s.sim.Wait(t.Context()); code != 1 || err != nil {
					t.Errorf("exit %d, %v", code, err)
				}
				if told := strings.Contains(stderr.String(), test.words); told == (version == "2.1.37") {
					t.Errorf("standard error says %q", &stderr)
				}
			})
		}
	}
}

func TestSessionInUse(t *testing.T) {
	const id = "33333333-3333-4333-8333-333333333333"
	home, dir := t.TempDir(), t.TempDir()
	first := startSim(t, "2.1.325", sameHome(home, dir, "--session-id", id))
	if result := first.turn("@say One."); result["session_id"] != id {
		t.Errorf("the session is %v, want the one asked for", result["session_id"])
	}
	first.ended()
	var stderr strings.Builder
	second := startSim(t, "2.1.325", sameHome(home, dir, "--session-id", id), func(o *SimOptions) { o.Stderr = &stderr })
	if code, err := second.sim.Wait(t.Context()); code != 1 || err != nil || !strings.Contains(stderr.String(), "already in use") {
		t.Errorf("exit %d, %v: %s", code, err, &stderr)
	}
}

func TestExitCodes(t *testing.T) {
	tests := []struct {
		prompt          string
		v37, v120, v325 int
	}{
		{"@say Fine.", 0, 0, 0},
		{"@error 400", 1, 1, 1},
		{"@tool Bash {\"command\":\"echo x\"}\n@tool Bash {\"command\":\"echo y\"}", 0, 1, 1}, // one more than it may
	}
	for _, version := range SimVersions() {
		for _, test := range tests {
			s := startSim(t, version, withArgs("--max-turns", "1"))
			s.turn(test.prompt)
			want := map[string]int{"2.1.37": test.v37, "2.1.120": test.v120, "2.1.325": test.v325}[version]
			if code := s.ended(); code != want {
				t.Errorf("%s after %q: exit %d, want %d", version, test.prompt, code, want)
			}
		}
	}
}
