package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	ws "github.com/coder/websocket"

	"github.com/switchboard-dev/switchboard/wire"
)

// A post is what a CLI has POSTed.
type post struct {
	upgrade *Upgrade
	lines   []json.RawMessage
}

// posted waits for the next POST.
func posted(s *Stage) post {
	upgrade := s.Accept()
	if upgrade.Request.Method != http.MethodPost {
		s.Fail("expected a POST, found %s %s", upgrade.Request.Method, upgrade.Request.URL)
	}
	var body struct {
		Events []json.RawMessage `json:"events"`
	}
	if err := json.Unmarshal(upgrade.Body, &body); err != nil {
		s.Fail("reading a POST: %w", err)
	}
	for _, line := range body.Events {
		s.lines = append(s.lines, line)
	}
	return post{upgrade, body.Events}
}

// postedLine waits for a POST with a line whose summary begins with one of the texts, which is left unanswered, and answers those before it.
func postedLine(s *Stage, prefixes ...string) (post, Seen) {
	for {
		p := posted(s)
		for _, line := range p.lines {
			message, err := wire.Decode(line)
			if err != nil {
				s.Fail("decoding a line: %w", err)
			}
			if seen := (Seen{0, line, message, s.normal.line(message)}); seen.Is(prefixes...) {
				return p, seen
			}
		}
		p.upgrade.Answer(http.StatusOK, "")
	}
}

// types names the lines of a POST.
func (p post) types(s *Stage) string {
	var all []string
	for _, line := range p.lines {
		message, err := wire.Decode(line)
		if err != nil {
			s.Fail("decoding a line: %w", err)
		}
		all = append(all, s.normal.line(message))
	}
	return strings.Join(all, ", ")
}

// hybridScenarios are about lines that are POSTed. The details are in docs/hybrid-post.md.
func hybridScenarios() []Scenario {
	run := func(s *Stage) {
		t := open(s)
		t.frame(ws.MessageText, initializing("first")+"\n")
		p := posted(s)
		r := p.upgrade.Request
		s.Note("POST %s, token %t, %s, %s, members: %s", strings.Replace(r.URL.Path, runKey, "KEY", 1), r.Header.Get("Authorization") == "Bearer "+runToken, r.Header.Get("Content-Type"),
			r.UserAgent(), strings.Join(names(p.upgrade.Body), " "))
		s.Note("%s", p.types(s))
		p.upgrade.Answer(http.StatusOK, "")
	}
	return []Scenario{
		{ID: "hybrid.posts", Facts: "§20 hybrid POST: address, headers, body", Where: hybridOnly, Bare: true, Run: run, Want: Per{
			"2.1.37":  {"POST /session/cli/KEY/events, token true, application/json, axios/1.8.4, members: events", "answers success"},
			"2.1.120": {"POST /session/cli/KEY/events, token true, application/json, axios/1.13.6, members: events", "answers success"},
		}},
		{ID: "hybrid.root", Facts: "hybrid where it posts for path /", Where: hybridOnly, Bare: true, Path: "/", Run: run, Want: Per{
			"2.1.37":  {"POST /events, token true, application/json, axios/1.8.4, members: events", "answers success"},
			"2.1.120": {"POST /events, token true, application/json, axios/1.13.6, members: events", "answers success"},
		}},
		{
			ID: "hybrid.again", Facts: "§20 hybrid POST: tried again after an error, dropped after a refusal", Where: hybridOnly, Bare: true,
			Run: func(s *Stage) {
				t := open(s)
				t.frame(ws.MessageText, initializing("first")+"\n")
				p := posted(s)
				begin := time.Now()
				p.upgrade.Answer(http.StatusInternalServerError, "")
				again := posted(s)
				took := time.Since(begin)
				s.Note("500: the same again: %t, after half a second or more: %t", string(again.upgrade.Body) == string(p.upgrade.Body), took > 400*time.Millisecond)
				again.upgrade.Answer(http.StatusNoContent, "")
				// The next request shows whether there is more to come of the first.
				t.frame(ws.MessageText, asking("second")+"\n")
				p = posted(s)
				s.Note("204: the same again: %t", string(again.upgrade.Body) == string(p.upgrade.Body))
				for member(p.lines[0], "response.request_id") != "second" {
					p.upgrade.Answer(http.StatusOK, "")
					p = posted(s)
				}
				p.upgrade.Answer(http.StatusBadRequest, "")
				t.frame(ws.MessageText, asking("third")+"\n")
				p = posted(s)
				s.Note("400: the next one is %s", member(p.lines[0], "response.request_id"))
				p.upgrade.Answer(http.StatusOK, "")
			},
			Want: Per{
				"2.1.37":  {"500: the same again: true, after half a second or more: true", "204: the same again: true", "400: the next one is third"},
				"2.1.120": {"500: the same again: true, after half a second or more: true", "204: the same again: false", "400: the next one is third"},
			},
		},
		{
			ID: "hybrid.early-answer", Facts: "§20 hybrid POST: an answer that comes before that of the POST", Where: hybridOnly, Bare: true,
			Run: func(s *Stage) {
				t := open(s)
				t.conn.CloseRead(s.ctx) // what comes over the WebSocket is nothing but pongs
				t.frame(ws.MessageText, initializing("first")+"\n")
				posted(s).upgrade.Answer(http.StatusOK, "")
				prompt, _ := prompting(s, `@tool Bash {"command":"touch asked-by-post","description":"Ask"}
					@say Done.`)
				t.frame(ws.MessageText, prompt+"\n")
				p, question := postedLine(s, "asks can_use_tool")
				deny := string(must(wire.NewPermission(question.Message.(*wire.ControlRequest), &wire.Deny{Message: "No."}))) + "\n"
				t.frame(ws.MessageText, deny)
				if s.AtLeast(2, 1, 120) {
					// It sends one POST at a time, so nothing tells what it has read but that the frame has come: this comes back after it.
					if err := t.conn.Ping(s.ctx); err != nil {
						s.Fail("waiting for the CLI to read: %w", err)
					}
					p.upgrade.Answer(http.StatusOK, "")
				} else {
					// The question's POST stays unanswered until a later line was answered: by then the CLI has read the answer.
					t.frame(ws.MessageText, asking("later")+"\n")
					later, _ := postedLine(s, "answers")
					later.upgrade.Answer(http.StatusOK, "")
					p.upgrade.Answer(http.StatusOK, "")
					// The CLI reads the POST's answer and the WebSocket in any order, and has the question on its list only after the former. It is
					// asked until it has, or until a result shows that the answer counted.
					for n, lost := 0, false; !lost; n++ {
						t.frame(ws.MessageText, initializing(fmt.Sprintf("again-%d", n))+"\n")
						p, line := postedLine(s, "answers", "result")
						if line.Is("result") {
							s.Fail("the answer counted though it came before that of the POST")
						}
						p.upgrade.Answer(http.StatusOK, "")
						lost = len(line.Message.(*wire.ControlResponse).Response.PendingPermissionRequests) == 1
					}
					s.Note("the answer is lost, and the question listed")
					t.frame(ws.MessageText, deny)
				}
				p, result := postedLine(s, "result")
				p.upgrade.Answer(http.StatusOK, "")
				s.Note("%s", result.Text)
			},
			Quirks: []string{"AnswersAfterPost"},
			Want:   Per{"2.1.37": {"the answer is lost, and the question listed", "result success: Done."}, "2.1.120": {"result success: Done."}},
		},
		{
			ID: "hybrid.down", Facts: "§20 hybrid POST: nothing is lost while the WebSocket is down", Where: hybridOnly, Bare: true,
			Run: func(s *Stage) {
				t := open(s)
				t.frame(ws.MessageText, initializing("first")+"\n")
				posted(s).upgrade.Answer(http.StatusOK, "")
				prompt, _ := prompting(s, "@say Said while nobody listened.")
				t.frame(ws.MessageText, prompt+"\n")
				first := posted(s)
				t.closes(1012)
				first.upgrade.Answer(http.StatusOK, "")
				for {
					upgrade := s.Accept()
					if upgrade.Request.Method != http.MethodPost {
						openIt(s, upgrade) // it comes back sooner or later than the result
						continue
					}
					upgrade.Answer(http.StatusOK, "")
					if bytes.Contains(upgrade.Body, []byte(`"type":"result"`)) {
						s.Note("the result came: %t", bytes.Contains(upgrade.Body, []byte("Said while nobody listened.")))
						break
					}
				}
			},
			Want: Same("the result came: true"),
		},
	}
}
