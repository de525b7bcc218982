//go:build linux || darwin

package e2e

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
)

// An apiRow is an example of an operation. Those of the table are tried in its
// order, and may need what the ones before have made. call sees to what the example
// is about, and returns it.
type apiRow struct {
	operation string
	name      string // what is special about it
	call      func(t *testing.T) apiCall
}

// An apiStage is what the examples are about.
type apiStage struct {
	lab *lab
	k   *talk // the session that most of them are about
	// Set by examples for the ones after.
	question *api.Question
	prompt   *api.Message
	rule     string
	sum      string // of the rules that wait for confirmation
	hash     string // of the rules file
	token    string // the id of one
	relay    string // the id of one
	code     string
	invited  string // the code of an invitation
	adopted  string // a conversation
	held     *talk
}

// newAPIStage starts a hub with a session.
func newAPIStage(t *testing.T) *apiStage {
	t.Helper()
	l := newLab(t, nil)
	poor, _ := l.newDir("")
	l.options.config = fmt.Sprintf(`
[rules]
file = %q
[[budget]]
name = "one turn"
per = "session"
folder = %q
turns = 1
action = "ask"
`, filepath.Join(l.root, "rules.toml"), poor)
	l.start()
	s := &apiStage{lab: l}
	s.k = l.talk(t, func(c *api.CreateSession) {
		c.Options.MCPServers = json.RawMessage(`{"away":{"type":"stdio","command":"/nonexistent/server","args":[]}}`)
	})
	s.held = l.talk(t, func(c *api.CreateSession) { c.Dir, c.ClientID = poor, "held" })
	return s
}

// read decodes an answer.
func readAnswer[T any](t *testing.T, body []byte) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(body, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// just is an example that needs nothing.
func just(c apiCall) func(*testing.T) apiCall { return func(*testing.T) apiCall { return c } }

// of is an example about the session.
func (s *apiStage) of(c apiCall) func(*testing.T) apiCall {
	return func(*testing.T) apiCall {
		if c.path == nil {
			c.path = map[string]string{}
		}
		c.path["id"] = s.k.id
		return c
	}
}

// rows are all examples.
func (s *apiStage) rows() []apiRow {
	var rows []apiRow
	for _, part := range [][]apiRow{s.talkRows(), s.controlRows(), s.eventRows(), s.libraryRows(), s.ruleRows(), s.accessRows(), s.nodeRows(), s.lifeRows()} {
		rows = append(rows, part...)
	}
	return rows
}

func (s *apiStage) talkRows() []apiRow {
	ask := func(t *testing.T, file string) {
		t.Helper()
		s.k.prompt(bash("touch " + file))
		s.question = s.k.question(1)
	}
	return []apiRow{
		{"get-info", "", just(apiCall{})},
		{"list-sessions", "", just(apiCall{query: "limit=1"})},
		{"list-sessions", "some", just(apiCall{query: "state=idle,running&archived=true&q=w", until: func(b []byte) bool { return strings.Contains(string(b), s.k.id) }})},
		{"get-session", "", s.of(apiCall{})},
		{"get-session", "of nobody", just(apiCall{path: map[string]string{"id": "s000000000000000000000"[:21]}, status: 404})},
		{"update-session", "", s.of(apiCall{body: `{"title":"A title","model":"","max_thinking_tokens":1000}`})},
		{"send-message", "", func(t *testing.T) apiCall {
			t.Helper()
			s.k.from = s.k.mark()
			return apiCall{path: map[string]string{"id": s.k.id}, body: `{"client_id":"first","text":"@say A zebra.\n@tool Write {\"file_path\":\"` + s.k.dir + `/zebra.txt\",\"content\":\"z\"}"}`, then: func(b []byte) {
				m := readAnswer[api.Message](t, b)
				s.k.message, s.prompt = &m, &m
			}}
		}},
		{"list-questions", "", func(t *testing.T) apiCall {
			t.Helper()
			s.k.settle(s.k.question(1), api.Answer{Decision: "allow"})
			s.k.over()
			ask(t, "asked.txt")
			return apiCall{query: "state=open&kind=permission&limit=5&session=" + s.k.id, until: func(b []byte) bool { return strings.Contains(string(b), s.question.ID) }}
		}},
		{"get-question", "", func(*testing.T) apiCall { return apiCall{path: map[string]string{"id": s.question.ID}} }},
		{"send-message", "into the queue", s.of(apiCall{body: `{"client_id":"queued","content":[{"type":"text","text":"@say Later."}]}`})},
		{"send-message", "with another text", s.of(apiCall{body: `{"client_id":"queued","text":"@say Never."}`, status: 409})},
		{"edit-message", "", s.of(apiCall{path: map[string]string{"client_id": "queued"}, body: `{"text":"@say Much later."}`})},
		{"take-back-message", "", s.of(apiCall{path: map[string]string{"client_id": "queued"}})},
		{"take-back-message", "again", s.of(apiCall{path: map[string]string{"client_id": "first"}, status: 409})},
		{"answer-question", "that does not fit", func(*testing.T) apiCall {
			return apiCall{path: map[string]string{"id": s.question.ID}, body: `{"outcome":"fresh"}`, status: 422}
		}},
		{"answer-question", "", func(*testing.T) apiCall {
			return apiCall{path: map[string]string{"id": s.question.ID}, body: `{"client_id":"answer","decision":"deny","message":"Not now."}`}
		}},
		{"answer-question", "too late", func(*testing.T) apiCall {
			return apiCall{path: map[string]string{"id": s.question.ID}, body: `{"decision":"allow"}`, status: 409}
		}},
		{"interrupt-session", "", func(t *testing.T) apiCall {
			t.Helper()
			s.k.over()
			ask(t, "again.txt")
			return apiCall{path: map[string]string{"id": s.k.id}, body: `{"cancel_queued":true}`}
		}},
		{"interrupt-session", "without a turn", s.of(apiCall{})},
	}
}

func (s *apiStage) controlRows() []apiRow {
	away := map[string]string{"server": "away"}
	return []apiRow{
		{"control-session", "", s.of(apiCall{body: `{"request":{"subtype":"mcp_status"}}`})},
		{"control-session", "that the CLI refuses", s.of(apiCall{body: `{"request":{"subtype":"mcp_reconnect","serverName":"nobody"}}`, status: 422})},
		{"get-context", "", s.of(apiCall{})},
		{"suggest-files", "", s.of(apiCall{query: "q=a"})},
		{"get-mcp", "", s.of(apiCall{until: func(b []byte) bool { return strings.Contains(string(b), `"away"`) }})},
		{"set-mcp", "", s.of(apiCall{body: `{"servers":{}}`})},
		{"toggle-mcp-server", "", s.of(apiCall{path: away, body: `{"enabled":false}`})},
		// The simulated CLI reaches no server: what it says about that comes through.
		{"reconnect-mcp-server", "", s.of(apiCall{path: away, status: 422})},
		{"message-mcp-server", "", s.of(apiCall{path: away, body: `{"message":{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}}`})},
		{"rewind-session", "", func(*testing.T) apiCall {
			return apiCall{path: map[string]string{"id": s.k.id}, body: `{"user_message_id":"` + s.prompt.UUID + `","dry_run":true}`}
		}},
		{"rewind-session", "in earnest", func(*testing.T) apiCall {
			return apiCall{path: map[string]string{"id": s.k.id}, body: `{"user_message_id":"` + s.prompt.UUID + `"}`}
		}},
		{"set-environment", "", func(t *testing.T) apiCall {
			t.Helper()
			dir, _ := s.lab.newDir("2.1.120")
			old := s.lab.talk(t, func(c *api.CreateSession) { c.Dir, c.ClientID = dir, "old" })
			old.prompt("@say Hello.") // with which it tells its version
			old.over()
			return apiCall{path: map[string]string{"id": old.id}, body: `{"variables":{"SOME_NAME":"some value"}}`}
		}},
		{"set-environment", "that the CLI would not take", s.of(apiCall{body: `{"variables":{"SOME_NAME":"some value"}}`, status: 422})},
	}
}

func (s *apiStage) eventRows() []apiRow {
	return []apiRow{
		{"get-events", "", s.of(apiCall{query: "limit=1000"})},
		{"get-events", "the second page", s.of(apiCall{query: "limit=2"})},
		{"get-events", "a stream", s.of(apiCall{frames: 12})},
		{"get-events", "a part of a stream", s.of(apiCall{query: "kinds=line,question_opened&types=assistant&live=false", frames: 3})},
		{"get-events", "a WebSocket", s.of(apiCall{query: "messages=true", frames: 8, socket: true})},
		{"get-all-events", "", just(apiCall{query: "limit=1000"})},
		{"get-all-events", "a stream", just(apiCall{frames: 12})},
		{"get-all-events", "a WebSocket", just(apiCall{frames: 12, socket: true})},
	}
}

func (s *apiStage) libraryRows() []apiRow {
	conversation := func(t *testing.T) string {
		t.Helper()
		return s.k.shot().Conversation
	}
	return []apiRow{
		{"get-backup", "", just(apiCall{accept: "*/*"})},
		{"get-timeline", "", s.of(apiCall{query: "limit=100"})},
		{"export-session", "", s.of(apiCall{accept: "*/*"})},
		{"export-session", "jsonl", s.of(apiCall{query: "format=jsonl"})},
		{"export-session", "events", s.of(apiCall{query: "format=events"})},
		{"export-session", "markdown", s.of(apiCall{query: "format=markdown", until: func(b []byte) bool { return strings.Contains(string(b), "zebra") }})},
		{"search", "", just(apiCall{query: "q=zebra&limit=10", until: func(b []byte) bool { return strings.Contains(string(b), s.k.id) }})},
		{"get-costs", "", just(apiCall{})},
		{"get-costs", "by folder", just(apiCall{query: "by=dir&since=2020-01-01T00:00:00Z"})},
		{"get-costs", "by day", just(apiCall{query: "by=day"})},
		{"get-costs", "by model", just(apiCall{query: "by=model"})},
		{"get-drift", "", just(apiCall{})},
		{"get-budgets", "", just(apiCall{until: func(b []byte) bool { return strings.Contains(string(b), "one turn") }})},
		{"get-audit", "", just(apiCall{query: "limit=10", until: func(b []byte) bool { return strings.Contains(string(b), s.question.ID) }})},
		{"get-audit", "some", s.of(apiCall{query: "automatic=true&since=2020-01-01T00:00:00Z"})},
		{"list-transcripts", "", just(apiCall{query: "limit=10"})},
		{"get-transcript", "", func(t *testing.T) apiCall {
			t.Helper()
			s.adopted = conversation(t)
			return apiCall{path: map[string]string{"conversation": s.adopted}, query: "limit=2"}
		}},
		{"adopt-transcript", "that a session has", func(*testing.T) apiCall {
			return apiCall{path: map[string]string{"conversation": s.adopted}, body: `{}`, status: 409}
		}},
		{"adopt-transcript", "", func(*testing.T) apiCall {
			return apiCall{path: map[string]string{"conversation": s.adopted}, body: `{"client_id":"adopt","fork":true,"title":"Taken over"}`}
		}},
		{"list-presets", "", just(apiCall{})},
		{"list-folders", "", just(apiCall{})},
		{"list-folders", "with a prefix", func(*testing.T) apiCall {
			return apiCall{query: "limit=5&prefix=" + url.QueryEscape(filepath.Join(s.lab.root, "w")+"/")}
		}},
	}
}

func (s *apiStage) ruleRows() []apiRow {
	replace := func(text string) string {
		raw, err := json.Marshal(api.ReplaceRules{Text: text, Hash: s.hash})
		if err != nil {
			panic(err) // two strings
		}
		return string(raw)
	}
	return []apiRow{
		{"add-rule", "", func(t *testing.T) apiCall {
			t.Helper()
			return apiCall{path: map[string]string{"id": s.k.id}, body: `{"client_id":"rule","rule":"Bash(git push:*)","decision":"deny","message":"A person pushes.","for":600}`, then: func(b []byte) {
				s.rule = readAnswer[api.SessionRule](t, b).ID
			}}
		}},
		{"remove-rule", "", func(*testing.T) apiCall {
			return apiCall{path: map[string]string{"id": s.k.id, "rule": s.rule}}
		}},
		{"get-policy", "", just(apiCall{})},
		{"save-preferences", "", just(apiCall{body: `{"dir":"/src/blog","permission_mode":"plan","model":"opus","allow":["Bash(ls:*)"],"deny":["Bash(rm:*)"]}`})},
		{"get-preferences", "", just(apiCall{query: "dir=/src/blog"})},
		{"forget-preferences", "", just(apiCall{query: "all=true"})},
		{"get-rules-file", "", func(t *testing.T) apiCall {
			t.Helper()
			return apiCall{then: func(b []byte) { s.hash = readAnswer[api.RulesFile](t, b).Hash }}
		}},
		{"replace-rules-file", "that allows more", func(t *testing.T) apiCall {
			t.Helper()
			return apiCall{body: replace("allow = [\"Bash(npm test)\"]\ndeny = [\"Bash(git push:*)\"]\n"), then: func(b []byte) {
				p := readAnswer[api.Policy](t, b)
				if p.Pending == nil {
					t.Fatalf("nothing waits for confirmation: %s", b)
				}
				s.sum = p.Pending.Sum
			}}
		}},
		{"replace-rules-file", "that somebody has changed", func(*testing.T) apiCall { return apiCall{body: replace(""), status: 409} }},
		{"confirm-policy", "something else", just(apiCall{body: `{"sum":"0000"}`, status: 409})},
		{"confirm-policy", "", func(*testing.T) apiCall { return apiCall{body: `{"sum":"` + s.sum + `"}`} }},
		{"explain-call", "", just(apiCall{body: `{"tool":"Bash","input":{"command":"git push --force"},"dir":"/"}`})},
		{"test-rules", "", just(apiCall{body: `{"text":"allow = [\"Bash(touch:*)\"]","limit":10}`})},
		{"test-rules", "those in force", just(apiCall{})},
	}
}

func (s *apiStage) accessRows() []apiRow {
	return []apiRow{
		{"create-token", "", func(t *testing.T) apiCall {
			t.Helper()
			return apiCall{body: `{"name":"a phone","scopes":["observe","prompt"],"ttl":3600}`, then: func(b []byte) {
				s.token = readAnswer[api.CreatedToken](t, b).ID
			}}
		}},
		{"list-tokens", "", just(apiCall{until: func(b []byte) bool { return strings.Contains(string(b), s.token) }})},
		{"revoke-token", "", func(*testing.T) apiCall { return apiCall{path: map[string]string{"id": s.token}} }},
		{"revoke-token", "again", func(*testing.T) apiCall { return apiCall{path: map[string]string{"id": s.token}, status: 404} }},
		{"create-code", "", func(t *testing.T) apiCall {
			t.Helper()
			return apiCall{body: `{"name":"a browser","scopes":["observe"]}`, then: func(b []byte) { s.code = readAnswer[api.Code](t, b).Code }}
		}},
		{"login", "", func(*testing.T) apiCall { return apiCall{body: `{"code":"` + s.code + `","name":"Firefox"}`} }},
		{"revoke-devices", "", just(apiCall{})},
		{"logout", "", just(apiCall{})},
		{"open-phone", "", just(apiCall{body: `{"listen":"127.0.0.1:0"}`})},
		{"open-phone", "nowhere", just(apiCall{body: `{"listen":"192.0.2.77"}`, status: 422})},
		{"close-phone", "", just(apiCall{})},
		{"attach-relay", "", func(t *testing.T) apiCall {
			t.Helper()
			return apiCall{body: `{"url":"ws://127.0.0.1:9/ws"}`, then: func(b []byte) { s.relay = readAnswer[api.Relay](t, b).ID }}
		}},
		{"attach-relay", "again", just(apiCall{body: `{"url":"ws://127.0.0.1:9/ws"}`, status: 409})},
		{"attach-relay", "in the clear", just(apiCall{body: `{"url":"ws://relay.example/ws"}`, status: 422})},
		{"list-relays", "", just(apiCall{until: func(b []byte) bool { return strings.Contains(string(b), s.relay) }})},
		{"detach-relay", "", func(*testing.T) apiCall { return apiCall{path: map[string]string{"id": s.relay}} }},
		{"detach-relay", "again", func(*testing.T) apiCall { return apiCall{path: map[string]string{"id": s.relay}, status: 404} }},
		{"login", "again", func(*testing.T) apiCall { return apiCall{body: `{"code":"` + s.code + `"}`, status: 401} }},
	}
}

func (s *apiStage) nodeRows() []apiRow {
	key, _, err := ed25519.GenerateKey(nil)
	if err != nil {
		panic(err) // there is no randomness
	}
	join := func() string {
		return `{"code":` + quoted(s.invited) + `,"key":"` + base64.StdEncoding.EncodeToString(key) + `","version":"1","os":"linux","arch":"amd64","hostname":"h"}`
	}
	of := func(call apiCall) func(*testing.T) apiCall {
		call.path = map[string]string{"node": "gpu-1"}
		return just(call)
	}
	return []apiRow{
		{"invite-node", "", func(t *testing.T) apiCall {
			t.Helper()
			return apiCall{
				body: `{"name":"gpu-1","labels":{"gpu":"h100"},"max_sessions":4,"ttl":60}`,
				then: func(b []byte) { s.invited = readAnswer[api.NodeInvitation](t, b).Code },
			}
		}},
		{"invite-node", "with a name that cannot be", just(apiCall{body: `{"name":"any"}`, status: 422})},
		{"join-node", "", func(*testing.T) apiCall { return apiCall{body: join()} }},
		{"join-node", "again", func(*testing.T) apiCall { return apiCall{body: join(), status: 401} }},
		{"invite-node", "with a name that is taken", just(apiCall{body: `{"name":"gpu-1"}`, status: 409})},
		{"list-nodes", "", just(apiCall{until: func(b []byte) bool { return strings.Contains(string(b), `"offline"`) }})},
		{"get-node", "", of(apiCall{})},
		{"create-session", "on a node that is not connected", just(apiCall{body: `{"dir":"/","node":"gpu-1"}`, status: 503})},
		{"drain-node", "", of(apiCall{body: `{"draining":true}`})},
		{"revoke-node", "", of(apiCall{})},
		{"drain-node", "that was revoked", of(apiCall{body: `{"draining":false}`, status: 409})},
		{"forget-node", "", of(apiCall{})},
		{"forget-node", "again", of(apiCall{status: 404})},
		{"get-node", "that was forgotten", of(apiCall{status: 404})},
	}
}

func (s *apiStage) lifeRows() []apiRow {
	return []apiRow{
		{"create-session", "", func(*testing.T) apiCall {
			dir, _ := s.lab.newDir("")
			return apiCall{body: `{"client_id":"create","dir":` + quoted(dir) + `,"title":"Another","prompt":"@say Hello.","options":{"permission_mode":"plan","append_system_prompt":"Be brief."}}`}
		}},
		{"create-session", "for a CLI that dials in", func(*testing.T) apiCall {
			dir, _ := s.lab.newDir("")
			return apiCall{body: `{"dir":` + quoted(dir) + `,"transport":"websocket"}`}
		}},
		{"create-session", "nowhere", just(apiCall{body: `{"dir":"/nonexistent/folder"}`, status: 422})},
		{"release-session", "", func(t *testing.T) apiCall {
			t.Helper()
			s.held.prompt("@say The only one.")
			s.held.over()
			s.held.prompt("@say One too many.")
			shot := s.held.shot()
			if len(shot.Holds) != 1 {
				t.Fatalf("the holds are %+v", shot.Holds)
			}
			return apiCall{path: map[string]string{"id": s.held.id}, body: `{"client_id":"release","hold":"` + shot.Holds[0].ID + `","turns":1}`}
		}},
		{"archive-session", "", s.of(apiCall{})},
		{"unarchive-session", "", s.of(apiCall{})},
		{"fork-session", "", s.of(apiCall{body: `{"client_id":"fork","title":"A copy"}`})},
		{"retry-session", "", s.of(apiCall{status: 409})}, // nothing has failed
		{"stop-session", "", s.of(apiCall{body: `{"force":false}`})},
		{"send-message", "to one that has ended", s.of(apiCall{body: `{"text":"@say Hello?","no_resume":true}`, status: 409})},
		{"resume-session", "", s.of(apiCall{body: `{"client_id":"resume","prompt":"@say Here I am."}`})},
	}
}
