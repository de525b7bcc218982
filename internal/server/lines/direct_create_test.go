package lines

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
)

// quoted returns a text as a JSON string.
func quoted(text string) string { return string(encode(text)) }

func TestDirectCreate(t *testing.T) {
	r := newDirectRig(t, nil)
	status, answer := r.call("POST", "/sessions", adminToken, `{"cwd":`+quoted(r.dir)+`,"permission_mode":"plan","max_lunch":3}`)
	if status != http.StatusCreated {
		t.Fatalf("status %d: %v", status, answer)
	}
	if answer["session_id"] != "s1" || answer["work_dir"] != r.dir || answer["session_key"] != nil {
		t.Errorf("the answer is %v", answer)
	}
	// The address is the configured one, whatever the request was sent to.
	if answer["ws_url"] != "ws://hub.example:1234/sessions/s1/ws" {
		t.Errorf("ws_url is %v", answer["ws_url"])
	}
	if made := r.hub.made[0]; made.Dir != r.dir || made.Options.PermissionMode != "plan" || made.ClientID != "" {
		t.Errorf("the hub was asked for %+v", made)
	}
	if by := r.hub.by[0]; !by.Admin || by.Source != "person" || by.Name != "tester (Direct Connect)" {
		t.Errorf("the hub was asked by %+v", by)
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
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := newDirectRig(t, test.options)
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
			if len(r.hub.made) > 0 {
				t.Errorf("the hub was asked for %+v", r.hub.made)
			}
			if strings.Contains(said, base) && !strings.Contains(test.body, base) {
				t.Errorf("the answer tells a path: %s", said)
			}
		})
	}
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
	want := func(name string, status int, id string, gotStatus int, answer map[string]any) {
		t.Helper()
		if gotStatus != status || answer["session_id"] != id {
			t.Errorf("%s: %d %v; want %d and %s", name, gotStatus, answer, status, id)
		}
	}
	change := func(id string, change func(*api.Session)) {
		r.hub.mu.Lock()
		defer r.hub.mu.Unlock()
		change(&r.hub.sessions[id].snapshot)
	}
	status, answer := ask(adminToken, "blue", r.dir)
	want("a new key", 201, "s1", status, answer)
	if answer["session_key"] != "blue" {
		t.Errorf("the key is told as %v", answer["session_key"])
	}
	change("s1", func(s *api.Session) { s.Run, s.LastEventID = 1, "e:12" })
	status, answer = ask(adminToken, "blue", r.dir)
	want("the same key", 200, "s1", status, answer)
	status, answer = ask(otherToken, "blue", r.dir)
	want("the same key of somebody else", 201, "s2", status, answer)
	status, answer = ask(adminToken, "red", r.dir)
	want("another key", 201, "s3", status, answer)
	status, answer = ask(adminToken, "blue", other)
	if status != http.StatusConflict || answer["code"] != api.CodeConflict || answer["session"] != "s1" {
		t.Errorf("the same key in another folder: %d %v", status, answer)
	}
	// It holds over a restart: the hub remembers.
	r.server.keys = newKeys()
	status, answer = ask(adminToken, "blue", r.dir)
	want("the same key after a restart", 200, "s1", status, answer)

	change("s1", func(s *api.Session) { s.State = api.StateEnded })
	status, answer = ask(adminToken, "blue", other)
	want("a key whose session has ended, in another folder", 201, "s4", status, answer)
	change("s4", func(s *api.Session) { s.Run, s.LastEventID = 1, "e:12" })
	r.server.keys = newKeys()
	status, answer = ask(adminToken, "blue", other)
	want("the second session of a key after a restart", 200, "s4", status, answer)
	change("s4", func(s *api.Session) { s.State = api.StateEnded })
	status, answer = ask(adminToken, "blue", other)
	want("a key whose second session has ended", 201, "s5", status, answer)
	status, answer = ask(adminToken, "blue", other)
	want("a key that nobody has come for", 201, "s5", status, answer)
	change("s5", func(s *api.Session) { s.State = api.StateEnded }) // as the hub says of one that has not begun
	status, answer = ask(adminToken, "blue", other)
	want("a key that nobody has come for since", 201, "s5", status, answer)
	r.hub.mu.Lock()
	delete(r.hub.sessions, "s5")
	r.hub.mu.Unlock()
	status, answer = ask(adminToken, "blue", other)
	want("a key whose session was removed", 201, "s5", status, answer)
}

func TestDirectDelete(t *testing.T) {
	r := newDirectRig(t, nil)
	r.hub.add("s1")
	tests := []struct {
		name, id, token string
		err             func(api.Stop) error
		status, stops   int
	}{
		{"only looking", "s1", observeToken, nil, 403, 0},
		{"no token", "s1", "", nil, 401, 0},
		{"another", "s9", adminToken, nil, 404, 0},
		{"it", "s1", adminToken, nil, 204, 1},
		{"by its conversation", "conv-s1", adminToken, nil, 204, 1},
		{"out of reach", "s1", adminToken, func(s api.Stop) error {
			if s.Force {
				return nil
			}
			return api.Errorf(409, api.CodeOffline, "offline")
		}, 204, 2},
		{"ended", "s1", adminToken, func(api.Stop) error { return api.Errorf(409, api.CodeEnded, "ended") }, 204, 1},
		{"a fault", "s1", adminToken, func(api.Stop) error { return os.ErrClosed }, 500, 1},
	}
	for _, test := range tests {
		r.hub.stops, r.hub.stopErr = nil, test.err
		status, answer := r.call("DELETE", "/sessions/"+test.id, test.token, "")
		if status != test.status || len(r.hub.stops) != test.stops {
			t.Errorf("%s: status %d after %d stops, %v; want %d and %d", test.name, status, len(r.hub.stops), answer, test.status, test.stops)
		}
		if strings.Contains(string(encode(answer)), os.ErrClosed.Error()) {
			t.Errorf("%s: the client is told of a fault of ours: %v", test.name, answer)
		}
	}
	if !strings.Contains(r.log.String(), os.ErrClosed.Error()) {
		t.Errorf("a fault of ours is not in the log: %s", r.log)
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
