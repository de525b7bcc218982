//go:build linux || darwin

package nodeagent

import (
	"crypto/ed25519"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/internal/launch"
	"github.com/switchboard-dev/switchboard/internal/node"
)

// TestStartOnce: the same start over a cut, over a restart of the node and after the end of
// the process is one process, with the same answer.
func TestStartOnce(t *testing.T) {
	h := newHouse(t)
	h.start(nil)
	c := h.connected()
	start := h.run("s1", 1)
	c.ask(node.MethodStart, start)
	c.cut() // before the answer

	c = h.connected()
	var first, again node.Launched
	if failure := c.call(node.MethodStart, start, &first); failure != nil || first.PID == 0 || !first.Simulated || first.ConfigDir == "" {
		t.Fatalf("%+v, %v", first, failure)
	}
	// Two at once, on one connection.
	a, b := c.ask(node.MethodStart, start), c.ask(node.MethodStart, start)
	for id, answer := range c.answers(a, b) {
		if answer.Failure != nil || !strings.Contains(string(answer.Body), `"pid":`) {
			t.Errorf("%d: %+v", id, answer)
		}
	}
	h.oneProcess(first.PID)

	// The node restarts.
	if running := h.agent.Close(); running != 1 {
		t.Errorf("%d agents go on", running)
	}
	c.cut()
	h.start(nil)
	c = h.connected()
	if failure := c.call(node.MethodStart, start, &again); failure != nil || !reflect.DeepEqual(again, first) {
		t.Errorf("after a restart: %+v, %v; before %+v", again, failure, first)
	}
	var life node.LifeAnswer
	for _, p := range []node.Process{{Session: "s1", Run: 1}, {Session: "s1", Run: 1, PID: first.PID, PIDStart: first.PIDStart}} {
		if failure := c.call(node.MethodLife, p, &life); failure != nil || !life.Alive {
			t.Errorf("%+v: %+v, %v", p, life, failure)
		}
	}
	h.oneProcess(first.PID)

	// Its process ends: this is told, and the start is not done again.
	if err := syscall.Kill(first.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for {
		m := c.read()
		if exited, ok := m.(*node.Exited); ok {
			if exited.Session != "s1" || exited.Run != 1 {
				t.Errorf("%+v", exited)
			}
			break
		}
		if m == nil {
			t.Fatal("the end of the process is not told")
		}
	}
	if failure := c.call(node.MethodLife, node.Process{Session: "s1", Run: 1}, &life); failure != nil || life.Alive {
		t.Errorf("%+v, %v", life, failure)
	}
	if failure := c.call(node.MethodStart, start, &again); failure != nil || !reflect.DeepEqual(again, first) {
		t.Errorf("after its end: %+v, %v", again, failure)
	}
	var swept node.Swept
	if failure := c.call(node.MethodSweep, node.Sweep{Marker: start.Marker}, &swept); failure != nil {
		t.Error(failure)
	}
	if failure := c.call(node.MethodSweep, node.Sweep{}, &swept); failure == nil {
		t.Error("everything was swept")
	}
	for _, secret := range []string{"verysecret", start.Marker} {
		if secret == "verysecret" && strings.Contains(h.logged(), secret) {
			t.Errorf("%q is in the log:\n%s", secret, h.logged())
		}
	}
}

// oneProcess holds that the node has one run, which is this process.
func (h *house) oneProcess(pid int) {
	h.t.Helper()
	runs, err := launch.Runs(h.dir)
	if err != nil || len(runs) != 1 || runs[0].PID != pid || !runs[0].Alive {
		h.t.Errorf("%+v, %v; want %d", runs, err, pid)
	}
}

// TestGivenUp: a run that the hub has given up is not started any more.
func TestGivenUp(t *testing.T) {
	h := newHouse(t)
	h.start(nil)
	c := h.connected()
	var life node.LifeAnswer
	if failure := c.call(node.MethodLife, node.Process{Session: "s1", Run: 1}, &life); failure != nil || life.Alive {
		t.Errorf("%+v, %v", life, failure)
	}
	if failure := c.call(node.MethodStart, h.run("s1", 1), nil); failure == nil || !strings.Contains(failure.Reason, "given this run up") {
		t.Errorf("%v", failure)
	}
	if runs, err := launch.Runs(h.dir); err != nil || len(runs) != 0 {
		t.Errorf("%+v, %v", runs, err)
	}
	// A start and a question about it, in this order on one connection: it lives.
	start := h.run("s2", 1)
	id := c.ask(node.MethodStart, start)
	asked := c.ask(node.MethodLife, node.Process{Session: "s2", Run: 1})
	answers := c.answers(id, asked)
	if answers[id].Failure != nil || string(answers[asked].Body) != `{"alive":true}` {
		t.Errorf("%+v, %+v", answers[id], answers[asked])
	}
}

// TestRefusedStarts: what cannot be started is told with the reason, each time.
func TestRefusedStarts(t *testing.T) {
	h := newHouse(t)
	h.start(func(o *Options) { o.MaxSessions = 1 })
	c := h.connected()
	bad := h.run("s1", 1)
	bad.Dir = filepath.Join(h.work, "nowhere")
	for range 2 {
		if failure := c.call(node.MethodStart, bad, nil); failure == nil || failure.Code != string(launch.BadDir) {
			t.Errorf("%v", failure)
		}
	}
	if entries, err := os.ReadDir(filepath.Join(h.dir, startsFolder)); err != nil || len(entries) != 0 {
		t.Errorf("%v, %v", entries, err)
	}
	for name, change := range map[string]func(*node.Start){
		"a path for a session": func(s *node.Start) { s.Session = "../../x" },
		"no session":           func(s *node.Start) { s.Session = "" },
		"no run":               func(s *node.Start) { s.Run = 0 },
		"no marker":            func(s *node.Start) { s.Marker = "" },
		"no token":             func(s *node.Start) { s.Token = "" },
	} {
		s := h.run("s2", 1)
		change(&s)
		if failure := c.call(node.MethodStart, s, nil); failure == nil || failure.Code != node.Invalid {
			t.Errorf("%s: %v", name, failure)
		}
	}
	if failure := c.call(node.MethodStart, "x", nil); failure == nil || failure.Code != node.Invalid {
		t.Errorf("no start at all: %v", failure)
	}
	if failure := c.call("dance", nil, nil); failure == nil || failure.Code != node.Invalid {
		t.Errorf("an unknown call: %v", failure)
	}
	if failure := c.call(node.MethodStart, h.run("s3", 1), nil); failure != nil {
		t.Fatal(failure)
	}
	if failure := c.call(node.MethodStart, h.run("s4", 1), nil); failure == nil || failure.Code != node.Full {
		t.Errorf("one more than there may be: %v", failure)
	}
	other := h.run("s3", 1)
	other.Marker += "x"
	if failure := c.call(node.MethodStart, other, nil); failure == nil || failure.Code != "running" {
		t.Errorf("another run with the same number: %v", failure)
	}
}

// TestWrongHub: a node proves itself to its own hub alone, and goes on trying.
func TestWrongHub(t *testing.T) {
	h := newHouse(t)
	h.start(nil)
	c := h.dialed()
	if hello := c.challenge("hub2", node.Version); hello != nil {
		t.Error("the node signs for another hub")
	}
	c.cut()
	c = h.dialed()
	if hello := c.challenge(testHub, node.Version+1); hello != nil {
		t.Error("the node signs for another version")
	}
	c.cut()
	c = h.dialed()
	c.say(&node.Welcome{Ticket: "t"})
	if m := c.read(); m != nil {
		t.Errorf("without a challenge the node says %+v", m)
	}
	c.cut()
	c = h.dialed()
	nonce := node.NewNonce()
	c.say(&node.Challenge{Version: node.Version, Hub: testHub, Nonce: nonce})
	hello, ok := c.read().(*node.Hello)
	public, _ := h.identity.key.Public().(ed25519.PublicKey)
	if !ok || !node.Verify(public, node.Proof{Nonce: nonce, Hub: testHub, Host: node.Host(c.host), Node: h.identity.ID}, hello.Signature) {
		t.Errorf("the hello is %+v", hello)
	}
	c.say(&node.Refused{Code: node.RefusedUnknown, Reason: "who are you"})
	c.cut()
	c = h.dialed() // perhaps the hub finds its file again
	c.challenge(testHub, node.Version)
	c.say(&node.Refused{Code: node.RefusedRevoked, Reason: "this node was revoked"})
	c.cut()
	if err := h.agent.Wait(t.Context()); err == nil || !strings.Contains(err.Error(), "revoked") {
		t.Errorf("%v", err)
	}
}

// TestLinks: a shim's link goes to the hub with what the hub knows the node by; while
// there is no hub the shim is told to come again.
func TestLinks(t *testing.T) {
	h := newHouse(t)
	h.start(nil)
	c := h.connected()
	if failure := c.call(node.MethodStart, h.run("s1", 1), nil); failure != nil {
		t.Fatal(failure)
	}
	select {
	case header := <-h.links:
		for name, want := range map[string]string{
			node.HeaderNode: h.identity.ID, node.HeaderTicket: "ticket-verysecret", "Authorization": "Bearer sbr_s1_verysecret", "Upgrade": "websocket",
		} {
			if got := header.Get(name); got != want {
				t.Errorf("%s is %q", name, got)
			}
		}
		if header.Get("X-Forwarded-For") != "" {
			t.Error("the hub is told where the shim is")
		}
	case <-time.After(patience):
		t.Fatal("no link came")
	}
	if info, err := os.Stat(h.agent.socket()); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if strings.Contains(h.logged(), "verysecret") {
		t.Errorf("a secret is in the log:\n%s", h.logged())
	}
}

// TestFacts: the node tells what the hub needs to know of the machine.
func TestFacts(t *testing.T) {
	h := newHouse(t)
	if err := os.MkdirAll(filepath.Join(h.dir, "spool"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"s1-1.spool", ".spool-young", "x.damaged", "s2-1.spool.damaged"} {
		if err := os.WriteFile(filepath.Join(h.dir, "spool", name), []byte("lines"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	old := filepath.Join(h.dir, "spool", ".spool-old")
	if err := os.WriteFile(old, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(old, time.Time{}, time.Now().Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	h.start(nil)
	c := h.dialed()
	hello := c.challenge(testHub, node.Version)
	if f := hello.Facts; f.Home != h.dir || !slices.Contains(f.Own, filepath.Join(h.dir, IdentityFile)) || f.CPUs < 1 || f.Version != "1.2.3" || !slices.Equal(f.Spools, []string{".spool-old", "s1-1.spool"}) {
		t.Errorf("%+v", f)
	}
	c.say(&node.Welcome{Ticket: "t", Time: time.Now()})
	var opened node.Opened
	if failure := c.call(node.MethodSpool, node.Spool{Name: "s1-1.spool"}, &opened); failure != nil {
		t.Fatal(failure)
	}
	var piece node.Piece
	if failure := c.call(node.MethodNext, node.Handle(opened), &piece); failure != nil || string(piece.Bytes) != "lines" || !piece.End {
		t.Errorf("%+v, %v", piece, failure)
	}
	if failure := c.call(node.MethodNext, node.Handle(opened), &piece); failure == nil {
		t.Error("a file that was read to its end is still open")
	}
	for _, name := range []string{"../node.json", "/etc/passwd", ".", "", "s9-9.spool"} {
		if failure := c.call(node.MethodSpool, node.Spool{Name: name}, nil); failure == nil {
			t.Errorf("%q was opened", name)
		}
	}
	if failure := c.call(node.MethodTaken, node.Taken{Name: "../node.json"}, nil); failure == nil {
		t.Error("a file outside of the folder was removed")
	}
	for range 2 { // the answer to the first may be lost
		if failure := c.call(node.MethodTaken, node.Taken{Name: "s1-1.spool"}, nil); failure != nil {
			t.Error(failure)
		}
	}
	if failure := c.call(node.MethodTaken, node.Taken{Name: ".spool-old", Damaged: true}, nil); failure != nil {
		t.Error(failure)
	}
	if got := h.agent.spools(); len(got) != 0 {
		t.Errorf("%v are left", got)
	}
	// No more files are open than may be.
	link := filepath.Join(h.dir, "spool", "s3-1.spool")
	if err := os.Symlink(filepath.Join(h.dir, IdentityFile), link); err != nil {
		t.Fatal(err)
	}
	if failure := c.call(node.MethodSpool, node.Spool{Name: "s3-1.spool"}, nil); failure == nil {
		t.Error("a link was followed to the key")
	}
	if err := os.WriteFile(filepath.Join(h.dir, "spool", "s4-1.spool"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for i := range node.MaxStreams + 1 {
		failure := c.call(node.MethodSpool, node.Spool{Name: "s4-1.spool"}, &opened)
		if (failure != nil) != (i == node.MaxStreams) || failure != nil && failure.Code != node.Busy {
			t.Errorf("file %d: %v", i, failure)
		}
	}
	if failure := c.call(node.MethodClose, node.Handle(opened), nil); failure != nil {
		t.Error(failure)
	}
	if failure := c.call(node.MethodSpool, node.Spool{Name: "s4-1.spool"}, &opened); failure != nil {
		t.Errorf("after one was closed: %v", failure)
	}
}

// TestSecondNode: a data folder is one process's.
func TestSecondNode(t *testing.T) {
	h := newHouse(t)
	h.start(nil)
	if _, err := Start(t.Context(), Options{DataDir: h.dir}); err == nil || !strings.Contains(err.Error(), "--data-dir") {
		t.Errorf("%v", err)
	}
	h.agent.Close()
	h.start(nil) // the lock is given back
}

// TestIdentity: the key is the user's alone, and a file that is not whole is refused.
func TestIdentity(t *testing.T) {
	h := newHouse(t)
	path := filepath.Join(h.dir, IdentityFile)
	got, err := LoadIdentity(h.dir)
	if err != nil || !got.key.Equal(h.identity.key) || got.Fingerprint() != h.identity.Fingerprint() || got.Name != "gpu-1" {
		t.Fatalf("%+v, %v", got, err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"nothing": "", "half": string(good[:40]), "another version": strings.Replace(string(good), `"version": 1`, `"version": 9`, 1),
		"no key": strings.Replace(string(good), `"key": "`, `"key": "A`, 1), "no hub": strings.Replace(string(good), `"hub1"`, `""`, 1),
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadIdentity(h.dir); err == nil || !strings.Contains(err.Error(), "join again") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := os.WriteFile(path, good, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadIdentity(h.dir); err == nil || !strings.Contains(err.Error(), "can be read by others") {
		t.Errorf("a key that others can read: %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := Start(t.Context(), Options{DataDir: h.dir}); err == nil || !strings.Contains(err.Error(), "node invite") {
		t.Errorf("a machine that is no node: %v", err)
	}
	for host, want := range map[string]string{"Ann's Mac.local": "ann-s-mac", "gpu_1.example.com": "gpu-1", "x": "", "": "", "-": "", "local": "", strings.Repeat("a", 80): strings.Repeat("a", 63)} {
		if got := machineName(host); got != want {
			t.Errorf("%q becomes %q, want %q", host, got, want)
		}
	}
}
