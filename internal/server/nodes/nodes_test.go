//go:build linux || darwin

package nodes

import (
	"crypto/ed25519"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/node"
	"github.com/switchboard-dev/switchboard/internal/server/access"
)

// open opens the nodes of a file.
func open(t *testing.T, file string) (*Nodes, error) {
	t.Helper()
	n, err := Open(Options{File: file, Hub: testHub, Guard: access.New(nil), URL: func() string { return "https://hub.example" }, Pin: func() (string, bool) { return "sha256:x", true }})
	if err == nil {
		t.Cleanup(n.Close)
	}
	return n, err
}

func newKey(t *testing.T) string {
	t.Helper()
	public, _, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	return node.KeyText(public)
}

// TestInvitations: one works once, while it is valid, and a mistake of the machine does not
// use it up.
func TestInvitations(t *testing.T) {
	t.Parallel() // wrong credentials are answered after a while
	file := filepath.Join(t.TempDir(), File)
	n, err := open(t, file)
	if err != nil {
		t.Fatal(err)
	}
	invited, err := n.Invite(t.Context(), api.InviteNode{Name: "gpu-1", Labels: map[string]string{"gpu": "h100"}, MaxSessions: 2})
	if err != nil || invited.Command != "switchboard node join https://hub.example --code "+invited.Code+" --pin sha256:x" || time.Until(invited.Expires) > 15*time.Minute || time.Until(invited.Expires) < 14*time.Minute {
		t.Fatalf("%+v, %v", invited, err)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("an invitation was written to the disk")
	}
	for name, in := range map[string]api.JoinNode{
		"no key":        {Code: invited.Code},
		"no key at all": {Code: invited.Code, Key: "AAAA"},
	} {
		if _, err := n.Join(t.Context(), in); problemOf(err) == nil || problemOf(err).Status != http.StatusUnprocessableEntity {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Twenty machines with the same code: one of them joins.
	var joined atomic.Int64
	var tries sync.WaitGroup
	for range 20 {
		key := newKey(t)
		tries.Go(func() {
			made, err := n.Join(t.Context(), api.JoinNode{Code: invited.Code, Name: "other", Key: key})
			switch {
			case err == nil && made.Name == "gpu-1" && made.Labels["gpu"] == "h100" && node.IsID(made.ID):
				joined.Add(1)
			case problemOf(err) == nil || problemOf(err).Code != api.CodeUnauthorized:
				t.Errorf("%+v, %v", made, err)
			}
		})
	}
	tries.Wait()
	if joined.Load() != 1 {
		t.Errorf("%d machines joined with one code", joined.Load())
	}
	for _, code := range []string{"", "sbn_unknown", invited.Code, strings.ToUpper(invited.Code)} {
		if _, err := n.Join(t.Context(), api.JoinNode{Code: code, Name: "other", Key: newKey(t)}); problemOf(err) == nil || problemOf(err).Code != api.CodeUnauthorized {
			t.Errorf("the code %.6q: %v", code, err)
		}
	}
	late, err := n.Invite(t.Context(), api.InviteNode{TTL: 60})
	if err != nil {
		t.Fatal(err)
	}
	n.mu.Lock()
	n.invites[0].expires = time.Now()
	n.mu.Unlock()
	if _, err := n.Join(t.Context(), api.JoinNode{Code: late.Code, Name: "other", Key: newKey(t)}); problemOf(err) == nil || problemOf(err).Code != api.CodeUnauthorized {
		t.Errorf("an expired code: %v", err)
	}
	// Names: taken, none, wrong; keys: another's.
	if _, err := n.Invite(t.Context(), api.InviteNode{Name: "gpu-1"}); problemOf(err) == nil || problemOf(err).Status != http.StatusConflict {
		t.Errorf("a name that is taken: %v", err)
	}
	open, err := n.Invite(t.Context(), api.InviteNode{})
	if err != nil {
		t.Fatal(err)
	}
	n.mu.Lock()
	known := node.KeyText(n.find("gpu-1").key)
	n.mu.Unlock()
	for name, in := range map[string]api.JoinNode{
		"no name":           {Key: newKey(t)},
		"a name like an id": {Name: node.NewID(), Key: newKey(t)},
		"any":               {Name: "any", Key: newKey(t)},
		"a name in use":     {Name: "gpu-1", Key: newKey(t)},
		"another's key":     {Name: "gpu-2", Key: known},
	} {
		in.Code = open.Code
		if _, err := n.Join(t.Context(), in); problemOf(err) == nil || problemOf(err).Code == api.CodeUnauthorized {
			t.Errorf("%s: %v", name, err)
		}
	}
	if made, err := n.Join(t.Context(), api.JoinNode{Code: open.Code, Name: "gpu-2", Key: newKey(t)}); err != nil || made.Name != "gpu-2" {
		t.Errorf("%+v, %v", made, err)
	}
	for name, in := range map[string]api.InviteNode{
		"a wrong name": {Name: "A"}, "wrong labels": {Labels: map[string]string{"a b": ""}}, "too long": {TTL: 86401}, "below zero": {TTL: -1}, "no room": {MaxSessions: -1},
	} {
		if _, err := n.Invite(t.Context(), in); problemOf(err) == nil || problemOf(err).Status != http.StatusUnprocessableEntity {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Only so many are remembered.
	first, err := n.Invite(t.Context(), api.InviteNode{})
	if err != nil {
		t.Fatal(err)
	}
	for range maxInvites {
		if _, err := n.Invite(t.Context(), api.InviteNode{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := n.Join(t.Context(), api.JoinNode{Code: first.Code, Name: "gpu-3", Key: newKey(t)}); problemOf(err) == nil || problemOf(err).Code != api.CodeUnauthorized {
		t.Errorf("an invitation that was pushed out: %v", err)
	}
}

// TestStore: nodes are there again after a restart, as they were; a file that is damaged or
// that others can read is refused.
func TestStore(t *testing.T) {
	file := filepath.Join(t.TempDir(), File)
	n, err := open(t, file)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"gpu-1", "gpu-2", "gpu-3"} {
		invited, err := n.Invite(t.Context(), api.InviteNode{Name: name, MaxSessions: 3})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := n.Join(t.Context(), api.JoinNode{Code: invited.Code, Key: newKey(t)}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := n.Drain(t.Context(), "gpu-1", true); err != nil {
		t.Fatal(err)
	}
	if _, err := n.Revoke(t.Context(), "gpu-2"); err != nil {
		t.Fatal(err)
	}
	if _, err := n.Drain(t.Context(), "gpu-2", true); problemOf(err) == nil || problemOf(err).Status != http.StatusConflict {
		t.Errorf("draining a node that was revoked: %v", err)
	}
	if err := n.Forget(t.Context(), "gpu-3"); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{n.Forget(t.Context(), "gpu-3"), second(n.Revoke(t.Context(), "gpu-3")), second(n.Drain(t.Context(), "gpu-3", true)), second(n.Get(t.Context(), "gpu-3"))} {
		if problemOf(err) == nil || problemOf(err).Status != http.StatusNotFound {
			t.Errorf("a node that there is not: %v", err)
		}
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	again, err := open(t, file)
	if err != nil {
		t.Fatal(err)
	}
	list, err := again.List(t.Context())
	if err != nil || len(list) != 2 || list[0].Name != "gpu-1" || !list[0].Draining || list[0].State != api.NodeOffline || list[0].MaxSessions != 3 || list[1].State != api.NodeRevoked {
		t.Errorf("%+v, %v", list, err)
	}
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"nothing":         "",
		"half of it":      string(good[:len(good)/2]),
		"more":            string(good) + "{}",
		"another version": strings.Replace(string(good), `"version": 1`, `"version": 2`, 1),
		"a wrong key":     strings.Replace(string(good), `"key": "`, `"key": "A`, 1),
		"two of a name":   strings.Replace(string(good), `"gpu-2"`, `"gpu-1"`, 1),
		"a wrong name":    strings.Replace(string(good), `"gpu-2"`, `"GPU 2"`, 1),
		"a wrong id":      strings.Replace(string(good), `"id": "n`, `"id": "x`, 1),
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := open(t, file); err == nil || !strings.Contains(err.Error(), "invited again") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := os.WriteFile(file, good, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(file, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, file); err == nil || !strings.Contains(err.Error(), "can be read by others") {
		t.Errorf("a file that others can read: %v", err)
	}
}

func second[T any](_ T, err error) error { return err }

// TestUnwritable: what cannot be written down does not happen, but a node is cut off anyway.
func TestUnwritable(t *testing.T) {
	if os.Geteuid() == 0 {
		// Root may write everywhere: the folder is taken away instead.
		t.Log("running as root")
	}
	dir := filepath.Join(t.TempDir(), "d")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	n, err := open(t, filepath.Join(dir, File))
	if err != nil {
		t.Fatal(err)
	}
	invited, err := n.Invite(t.Context(), api.InviteNode{Name: "gpu-1"})
	if err != nil {
		t.Fatal(err)
	}
	join := api.JoinNode{Code: invited.Code, Key: newKey(t)}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := n.Join(t.Context(), join); problemOf(err) == nil || problemOf(err).Code != api.CodeStorage {
		t.Errorf("%v", err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := n.Join(t.Context(), join); err != nil {
		t.Errorf("the invitation was used up: %v", err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := n.Drain(t.Context(), "gpu-1", true); problemOf(err) == nil || problemOf(err).Code != api.CodeStorage {
		t.Errorf("%v", err)
	}
	if got, err := n.Get(t.Context(), "gpu-1"); err != nil || got.Draining {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := n.Revoke(t.Context(), "gpu-1"); problemOf(err) == nil || !strings.Contains(problemOf(err).Title, "after a restart") {
		t.Errorf("%v", err)
	}
	if got, err := n.Get(t.Context(), "gpu-1"); err != nil || got.State != api.NodeRevoked {
		t.Errorf("%+v, %v", got, err)
	}
}

// fakeRuns counts runs.
type fakeRuns struct {
	Runs
	counts map[string]int
}

func (f fakeRuns) NodeRuns() map[string]int { return f.counts }

// TestChoose: the node that was named, or the least loaded of those that fit, or why there
// is none.
func TestChoose(t *testing.T) {
	n, err := open(t, filepath.Join(t.TempDir(), File))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := n.Choose(t.Context(), "any", nil); problemOf(err) == nil || problemOf(err).Status != http.StatusNotFound {
		t.Errorf("without nodes: %v", err)
	}
	add := func(name string, labels map[string]string, change func(*entry)) {
		e := newEntry("n"+strings.Repeat("a", 18)+name[len(name)-2:], name, labels, nil, time.Now(), 2)
		e.conn = &conn{}
		e.facts.CPUs = 4
		if change != nil {
			change(e)
		}
		n.entries[e.id] = e
	}
	add("busy-aa", map[string]string{"gpu": "h100"}, func(e *entry) { e.facts.Load = 0.9 })
	add("idle-bb", map[string]string{"gpu": "h100", "zone": "a"}, func(e *entry) { e.facts.Load = 0.1 })
	add("full-cc", nil, nil)
	add("away-dd", map[string]string{"zone": "d"}, func(e *entry) { e.conn = nil })
	add("tired-ee", map[string]string{"zone": "e"}, func(e *entry) { e.draining = true })
	add("gone-ff", nil, func(e *entry) { e.revoked = true })
	n.Use(fakeRuns{counts: map[string]int{n.find("full-cc").id: 2, n.find("idle-bb").id: 1}})
	for _, test := range []struct {
		name   string
		labels map[string]string
		want   string
		status int
	}{
		{"busy-aa", nil, "busy-aa", 0},
		{n.find("busy-aa").id, nil, "busy-aa", 0},
		{"any", nil, "idle-bb", 0},
		{"", nil, "idle-bb", 0},
		{"any", map[string]string{"gpu": "h100"}, "idle-bb", 0},
		{"any", map[string]string{"gpu": "h100", "zone": "a"}, "idle-bb", 0},
		{"busy-aa", map[string]string{"zone": "a"}, "", 404},
		{"any", map[string]string{"gpu": "a100"}, "", 404},
		{"any", map[string]string{"zone": "d"}, "", 503},
		{"any", map[string]string{"zone": "e"}, "", 409},
		{"nothing", nil, "", 404},
		{"full-cc", nil, "", 409},
		{"away-dd", nil, "", 503},
		{"tired-ee", nil, "", 409},
		{"gone-ff", nil, "", 409},
	} {
		id, display, err := n.Choose(t.Context(), test.name, test.labels)
		switch e := problemOf(err); {
		case test.status == 0 && (err != nil || display != test.want || n.entries[id] == nil):
			t.Errorf("%+v: %s, %s, %v", test, id, display, err)
		case test.status != 0 && (e == nil || e.Status != test.status || e.Hint == "" || e.Title == ""):
			t.Errorf("%+v: %v", test, err)
		}
	}
	// One that was just given many sessions is not the least loaded any more.
	n.Use(fakeRuns{counts: map[string]int{n.find("full-cc").id: 2, n.find("idle-bb").id: 1, n.find("busy-aa").id: 0}})
	n.find("idle-bb").facts.Load = 0.8
	if _, display, err := n.Choose(t.Context(), "any", nil); err != nil || display != "busy-aa" {
		t.Errorf("%s, %v", display, err)
	}
	for _, e := range n.entries {
		e.conn = nil // it was none
	}
}
