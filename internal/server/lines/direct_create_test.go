package lines

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/server/servertest"
)

// quoted returns a text as a JSON string.
func quoted(text string) string { return string(encode(text)) }

func TestDirectCreate(t *testing.T) {
	r := newDirectRig(t, nil)
	status, answer := r.call("POST", "/sessions", adminToken, `{"cwd":`+quoted(r.dir)+`,"permission_mode":"plan","max_lunch":3}`)
	if status != http.StatusCreated {
		t.Fatalf("status %d: %v", status, answer)
	}
	id, _ := answer["session_id"].(string)
	if answer["work_dir"] != r.dir || answer["session_key"] != nil {
		t.Errorf("the answer is %v", answer)
	}
	// The address is the configured one, whatever the request was sent to.
	if answer["ws_url"] != "ws://hub.example:1234/sessions/"+id+"/ws" {
		t.Errorf("ws_url is %v", answer["ws_url"])
	}
	page, err := r.hub.lab.Hub.Events(t.Context(), id, "", 1)
	if err != nil || len(page.Events) != 1 {
		t.Fatalf("%+v, %v", page, err)
	}
	if made := page.Events[0]; made.Kind != api.KindCreated || made.Source != "person" || made.By != "tester (Direct Connect)" ||
		!strings.Contains(string(made.Data), r.dir) || !strings.Contains(string(made.Data), `"permission_mode":"plan"`) {
		t.Errorf("the session was made by %+v with %s", made, made.Data)
	}
	// Without a folder it is the one that the server says.
	if status, answer = r.call("POST", "/sessions", adminToken, `{}`); status != http.StatusCreated || answer["work_dir"] != r.dir {
		t.Errorf("without a folder: %d %v", status, answer)
	}
}

func TestDirectCreateRefused(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	join := func(parts ...string) string { return filepath.Join(append([]string{base}, parts...)...) }
	for _, dir := range []string{"work/deep", "work2", "own/below", "elsewhere"} {
		if err := os.MkdirAll(join(dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(join("work", "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"work/out": "elsewhere", "work/own": "own/below", "in": "work/deep"} {
		if err := os.Symlink(join(target), join(link)); err != nil {
			t.Fatal(err)
		}
	}
	options := func(o DirectOptions) *Options {
		o.URL, o.Own = "ws://h", []string{join("own"), join("not there")}
		return &Options{Direct: o}
	}
	free, fenced := options(DirectOptions{Home: join("work")}), options(DirectOptions{Folders: []string{join("work"), join("gone")}, AllowBypass: true})
	cwd := func(path string) string { return `{"cwd":` + quoted(path) + `}` }
	tests := map[string]struct {
		options *Options
		token   string
		body    string
		status  int
		says    string // in what is answered; of a folder, where it is
	}{
		"anywhere":           {free, adminToken, cwd(join("elsewhere")), 201, join("elsewhere")},
		"null is nothing":    {free, adminToken, `{"cwd":null,"session_key":null,"permission_mode":null}`, 201, join("work")},
		"a link":             {free, adminToken, cwd(join("in")), 201, join("work", "deep")},
		"the fence itself":   {fenced, adminToken, cwd(join("work")), 201, join("work")},
		"inside the fence":   {fenced, adminToken, cwd(join("work", "deep")), 201, join("work", "deep")},
		"a link into it":     {fenced, adminToken, cwd(join("in")), 201, join("work", "deep")},
		"the first of them":  {fenced, adminToken, `{}`, 201, join("work")},
		"bypass, allowed":    {fenced, adminToken, `{"permission_mode":"bypassPermissions"}`, 201, join("work")},
		"other case":         {free, adminToken, `{"CWD":"/nowhere"}`, 201, join("work")},
		"the last one":       {free, adminToken, `{"cwd":"/nowhere","cwd":` + quoted(join("elsewhere")) + `}`, 201, join("elsewhere")},
		"outside of it":      {fenced, adminToken, cwd(join("elsewhere")), 403, "folders in [direct]"},
		"a link out of it":   {fenced, adminToken, cwd(join("work", "out")), 403, "folders in [direct]"},
		"beside it":          {fenced, adminToken, cwd(join("work2")), 403, "folders in [direct]"},
		"above it":           {fenced, adminToken, cwd(base), 403, "folders in [direct]"},
		"our own":            {free, adminToken, cwd(join("own")), 403, "own folders"},
		"below our own":      {free, adminToken, cwd(join("own", "below")), 403, "own folders"},
		"a link to our own":  {free, adminToken, cwd(join("work", "own")), 403, "own folders"},
		"upwards":            {free, adminToken, cwd(join("work") + "/../elsewhere"), 422, ".."},
		"upwards at the end": {free, adminToken, cwd(join("work") + "/.."), 422, ".."},
		"relative":           {free, adminToken, cwd("work"), 422, "absolute"},
		"not there":          {free, adminToken, cwd(join("nowhere")), 422, "no such folder"},
		"a file":             {free, adminToken, cwd(join("work", "file")), 422, "no folder"},
		"below a file":       {free, adminToken, cwd(join("work", "file", "x")), 422, "cannot be used"},
		"a zero":             {free, adminToken, `{"cwd":"/tmp\u0000/x"}`, 422, "no path"},
		"long":               {free, adminToken, cwd("/" + strings.Repeat("x", maxPath)), 422, "no path"},
		"no text":            {free, adminToken, `{"cwd":7}`, 422, "cwd: expected a string"},
		"a key that is none": {free, adminToken, `{"session_key":["a"]}`, 422, "session_key: expected a string"},
		"a long key":         {free, adminToken, `{"session_key":` + quoted(strings.Repeat("k", maxKey+1)) + `}`, 422, "at most 512"},
		"bypass":             {free, adminToken, `{"permission_mode":"bypassPermissions"}`, 403, "allow_bypass"},
		"no object":          {free, adminToken, `[]`, 400, "not a JSON object"},
		"null":               {free, adminToken, `null`, 400, "not a JSON object"},
		"no JSON":            {free, adminToken, `{"cwd":`, 400, "not a JSON object"},
		"nothing":            {free, adminToken, ``, 400, "not a JSON object"},
		"large":              {free, adminToken, `{"x":"` + strings.Repeat("x", maxBody) + `"}`, 413, "too large"},
		"no token":           {free, "", `{}`, 401, "token"},
		"a wrong token":      {free, wrongAdminToken, `{}`, 401, "token"},
		"only looking":       {free, observeToken, `{}`, 403, "admin"},
	}
	lab := servertest.New(t, nil)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := newDirectRigOn(t, lab, test.options)
			before := sessionsOf(t, lab)
			status, answer := r.call("POST", "/sessions", test.token, test.body)
			said := string(encode(answer))
			if status == http.StatusCreated {
				if said, _ = answer["work_dir"].(string); said != test.says || status != test.status {
					t.Errorf("it works in %q, status %d; want %q and %d", said, status, test.says, test.status)
				}
				return
			}
			if status != test.status || !strings.Contains(said, test.says) {
				t.Errorf("status %d, %s; want %d and %q", status, said, test.status, test.says)
			}
			if sessionsOf(t, lab) != before {
				t.Error("a session was made")
			}
			if strings.Contains(said, base) && !strings.Contains(test.body, base) {
				t.Errorf("the answer tells a path: %s", said)
			}
		})
	}
}

// sessionsOf returns how many sessions there are.
func sessionsOf(t *testing.T, lab *servertest.Lab) int {
	t.Helper()
	list, err := lab.Hub.List(t.Context(), api.SessionFilter{Archived: true, Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	return len(list.Sessions)
}

func TestDirectSessionKey(t *testing.T) {
	r := newDirectRig(t, nil)
	other := filepath.Join(r.dir, "other")
	if err := os.Mkdir(other, 0o700); err != nil {
		t.Fatal(err)
	}
	ask := func(token, key, dir string) (int, map[string]any) {
		return r.call("POST", "/sessions", token, `{"session_key":`+quoted(key)+`,"cwd":`+quoted(dir)+`}`)
	}
	known := map[string]string{} // sessions by the test's names
	want := func(name string, status int, session string, gotStatus int, answer map[string]any) {
		t.Helper()
		id, _ := answer["session_id"].(string)
		if known[session] == "" {
			for name, old := range known {
				if old == id {
					t.Errorf("%s is %s once more", session, name)
				}
			}
			known[session] = id
		}
		if gotStatus != status || id == "" || id != known[session] {
			t.Errorf("%s: %d %v; want %d and %s", name, gotStatus, answer, status, session)
		}
	}
	// begin has a session's first client come, end its process end.
	begin := func(session string) {
		t.Helper()
		c := r.dial(known[session], adminToken)
		c.send(initialize)
		is(t, c.next(), "control_response", "success", `"i1"`)
	}
	end := func(session string) {
		t.Helper()
		if _, err := r.hub.lab.Hub.Stop(t.Context(), servertest.Admin, known[session], api.Stop{}); err != nil {
			t.Fatal(err)
		}
	}
	status, answer := ask(adminToken, "blue", r.dir)
	want("a new key", 201, "s1", status, answer)
	if answer["session_key"] != "blue" {
		t.Errorf("the key is told as %v", answer["session_key"])
	}
	begin("s1")
	status, answer = ask(adminToken, "blue", r.dir)
	want("the same key", 200, "s1", status, answer)
	status, answer = ask(otherToken, "blue", r.dir)
	want("the same key of somebody else", 201, "s2", status, answer)
	status, answer = ask(adminToken, "red", r.dir)
	want("another key", 201, "s3", status, answer)
	status, answer = ask(adminToken, "blue", other)
	if status != http.StatusConflict || answer["code"] != api.CodeConflict || answer["session"] != known["s1"] {
		t.Errorf("the same key in another folder: %d %v", status, answer)
	}
	// It holds over a restart: the hub remembers.
	r.server.keys = newKeys()
	status, answer = ask(adminToken, "blue", r.dir)
	want("the same key after a restart", 200, "s1", status, answer)

	end("s1")
	status, answer = ask(adminToken, "blue", other)
	want("a key whose session has ended, in another folder", 201, "s4", status, answer)
	begin("s4")
	r.server.keys = newKeys()
	status, answer = ask(adminToken, "blue", other)
	want("the second session of a key after a restart", 200, "s4", status, answer)
	end("s4")
	status, answer = ask(adminToken, "blue", other)
	want("a key whose second session has ended", 201, "s5", status, answer)
	status, answer = ask(adminToken, "blue", other)
	want("a key that nobody has come for", 201, "s5", status, answer)
	// The sessions that have ended are removed, and what is known of keys is forgotten.
	if _, err := r.hub.lab.Hub.Retain(t.Context(), journal.Retention{MaxAge: time.Nanosecond, Now: time.Now().Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	r.server.keys = newKeys()
	if status, answer = ask(adminToken, "blue", other); status != http.StatusCreated || answer["session_id"] == known["s1"] || answer["session_id"] == known["s4"] {
		t.Errorf("a key whose sessions were removed: %d %v", status, answer)
	}
}

func TestDirectDelete(t *testing.T) {
	r := newDirectRig(t, nil)
	lab := r.hub.lab
	session := lab.Create(api.CreateSession{Prompt: "@say hello"}).Session
	conversation := lab.Await(session, "it has a conversation", func(s *api.Session) bool { return s.Conversation != "" && s.State == api.StateIdle }).Conversation
	lost := r.hub.add("lost")
	lab.Agent(lost.id).Cut()
	lab.Await(lost.id, "it is out of reach", func(s *api.Session) bool { return !s.Linked })
	tests := []struct {
		name, id, token string
		status          int
		ended           bool
	}{
		{"only looking", session, observeToken, 403, false},
		{"no token", session, "", 401, false},
		{"another", "s9", adminToken, 404, false},
		{"by its conversation", conversation, adminToken, 204, true},
		{"ended", session, adminToken, 204, true},
		{"out of reach", lost.id, adminToken, 204, true},
	}
	for _, test := range tests {
		status, answer := r.call("DELETE", "/sessions/"+test.id, test.token, "")
		if status != test.status {
			t.Errorf("%s: status %d, %v; want %d", test.name, status, answer, test.status)
		}
		id := session
		if test.id == lost.id {
			id = lost.id
		}
		if s, err := lab.Hub.Snapshot(t.Context(), id); err != nil || (s.State == api.StateEnded) != test.ended {
			t.Errorf("%s: the session is %+v, %v", test.name, s, err)
		}
	}
}

// A fault of ours is in the log, and the client is not told what it is.
func TestProblem(t *testing.T) {
	var log lockedBuffer
	s := New(nil, nil, &Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	for _, test := range []struct {
		err    error
		status int
		code   string
		logged bool
	}{
		{os.ErrClosed, 500, api.CodeInternal, true},
		{fmt.Errorf("asking: %w", context.DeadlineExceeded), 504, api.CodeTimeout, false},
		{fmt.Errorf("asking: %w", hub.ErrClosed), 503, api.CodeClosing, false},
		{fmt.Errorf("asking: %w", api.Errorf(409, api.CodeOffline, "away")), 409, api.CodeOffline, false},
		{&api.Error{Code: "odd", Title: "odd"}, 500, "odd", false},
	} {
		e := s.problem(test.err)
		if e.Status != test.status || e.Code != test.code || strings.Contains(e.Error(), os.ErrClosed.Error()) {
			t.Errorf("%v is told as %+v", test.err, e)
		}
		if logged := strings.Contains(log.String(), test.err.Error()); logged != test.logged {
			t.Errorf("%v is in the log: %t", test.err, logged)
		}
	}
}

func TestDirectNothingHere(t *testing.T) {
	r := newDirectRig(t, nil)
	for _, test := range []struct {
		method, path string
		status       int
	}{
		{"GET", "/sessions", 405},
		{"PUT", "/sessions/s1", 405},
		{"POST", "/sessions/s1/ws", 405},
		{"GET", "/sessions/s1/other", 404},
		{"POST", "/sessions/", 404},
	} {
		if status, answer := r.call(test.method, test.path, adminToken, ""); status != test.status {
			t.Errorf("%s %s: %d %v; want %d", test.method, test.path, status, answer, test.status)
		}
	}
	r.server.Close("gone")
	if status, answer := r.call("POST", "/sessions", adminToken, "{}"); status != 503 || answer["code"] != api.CodeClosing {
		t.Errorf("after the end: %d %v", status, answer)
	}
}
