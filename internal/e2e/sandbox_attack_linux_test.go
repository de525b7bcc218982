package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/claude/claudetest"
	"github.com/switchboard-dev/switchboard/internal/conformance"
)

// attackRules deny what the attacks are after.
const attackRules = `deny = ["Read(~/.ssh/**)", "Read(.env)", "Edit(/locked/**)", "Network(host:localhost)"]
`

// A breakIn is a lab with things to be stolen, and servers that answer.
type breakIn struct {
	*lab
	t    *testing.T
	port int
	// vars are variables of the commands; guarded by the test's own goroutine.
	vars map[string]string
}

// TestSandboxAttacks has a real CLI run the table of attacks in a sandbox of each
// mode: by its tool Bash, by an MCP server and by a hook. Each attack is first
// shown to succeed without a sandbox.
func TestSandboxAttacks(t *testing.T) {
	t.Parallel()
	l, _ := newRealLabOf(t, conformance.Newest, claudetest.Directives(nil), labOptions{
		sandbox: sandboxAuto, away: true, config: "[sandbox]\nallow_hosts = [\"127.0.0.2\"]\n",
	})
	b := &breakIn{lab: l, t: t}
	b.listen()
	b.furnish()
	b.compile()
	l.start()
	b.without(l.talk(t, nil))
	for _, mode := range []string{sandboxDeny, sandboxStrict} {
		// Before the session starts: what is removed and made again while it runs is not hidden any more.
		b.furnish()
		k := l.talk(t, func(c *api.CreateSession) {
			b.clone(c.Dir, mode)
			c.Options.Sandbox, c.Options.SandboxAutoAllow = mode, mode == sandboxStrict
			c.Options.MCPServers = json.RawMessage(`{"hostile":{"type":"stdio","command":"sh","args":["attack/run.sh","mcp"]}}`)
		})
		k.contained(mode)
		b.within(k, mode)
		k.check(k.stopAgent(l.ctx()))
		_, err := k.awaitState(l.ctx(), api.StateEnded)
		k.check(err)
	}
}

// listen starts the servers that attacks try to reach. They end with the test.
func (b *breakIn) listen() {
	b.t.Helper()
	b.vars = map[string]string{
		"HOME": b.home, "DATA": b.data, "OUTSIDE": filepath.Join(b.root, "outside"), "MARK": lootMark,
		"DOCKER": filepath.Join(b.root, "docker.sock"), "BUS": filepath.Join(b.root, "bus"), "ABSTRACT": "sb-e2e-" + b.id,
		"GOFLAGS": "-trimpath", "GOTOOLCHAIN": "local", "GOWORK": "off",
	}
	if _, port, err := net.SplitHostPort(b.address); err == nil {
		b.vars["HUBPORT"] = port
	}
	for name, answer := range map[string]string{b.vars["DOCKER"]: lootDocker, b.vars["BUS"]: lootBus, "@" + b.vars["ABSTRACT"]: lootHidden} {
		b.answer(must(net.Listen("unix", name))(b.t), answer)
	}
	// Two addresses of one port, one of which rules allow.
	for range 100 {
		first := must(net.Listen("tcp", "127.0.0.1:0"))(b.t)
		b.port = first.Addr().(*net.TCPAddr).Port
		second, err := net.Listen("tcp", net.JoinHostPort("127.0.0.2", strconv.Itoa(b.port)))
		if err != nil {
			_ = first.Close() // the port is another program's on the other address
			continue
		}
		b.answer(first, lootWeb)
		b.answer(second, lootWeb)
		b.vars["PORT"] = strconv.Itoa(b.port)
		break
	}
	names := must(net.ListenPacket("udp", "127.0.0.1:0"))(b.t)
	b.vars["DNS"] = strconv.Itoa(names.LocalAddr().(*net.UDPAddr).Port)
	go func() { // ends when names is closed
		buffer := make([]byte, 512)
		for {
			_, from, err := names.ReadFrom(buffer)
			if err != nil {
				return
			}
			_, _ = names.WriteTo([]byte(lootDNS), from) // the other side sees that nothing comes
		}
	}()
	b.t.Cleanup(func() { _ = names.Close() })
}

// answer answers each connection with a text, as HTTP. It ends with the test.
func (b *breakIn) answer(listener net.Listener, text string) {
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprintln(w, text) })}
	go func() { _ = server.Serve(listener) }()
	b.t.Cleanup(func() { _ = server.Close() })
}

// must returns a value, or ends the test.
func must[T any](value T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

// furnish makes what is outside of the session's folder, as it was.
func (b *breakIn) furnish() {
	b.t.Helper()
	for _, path := range []string{"h/.ssh", "h/.moved", "outside", "d/made", "h/.profile"} {
		if err := os.RemoveAll(filepath.Join(b.root, path)); err != nil {
			b.t.Fatal(err)
		}
	}
	b.write(b.root, map[string]string{"h/.ssh/id": lootKey + "\n", "outside/kept": "kept\n", "h/.profile": "", "h/.config/switchboard/new": attackRules})
	// The hub reads its rules again when the file changes: it must find a whole one.
	rules := filepath.Join(b.home, ".config", "switchboard")
	if err := os.Rename(filepath.Join(rules, "new"), filepath.Join(rules, "rules.toml")); err != nil {
		b.t.Fatal(err)
	}
}

// clone fills a folder with a clone that means harm, and the commands that are
// tried in one of the modes.
func (b *breakIn) clone(dir string, modes ...string) {
	b.t.Helper()
	b.write(dir, hostileClone)
	b.write(dir, map[string]string{
		".claude/settings.json": `{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"sh attack/run.sh hook"}]}]}}`,
		// What is started by something else is run by that, and the rest at once.
		"attack/run.sh": `mkdir -p loot
for script in attack/"${1:-bash}"-*.sh; do
	name=$(basename "$script" .sh)
	timeout 30 sh "$script" > "loot/$name.part" 2>&1 </dev/null
	mv "loot/$name.part" "loot/$name"
done
`,
	})
	if err := os.Symlink(b.compiled(), filepath.Join(dir, "hostile", "hostile.test")); err != nil {
		b.t.Fatal(err)
	}
	for i, a := range b.rows() {
		if slices.ContainsFunc(modes, func(mode string) bool { return a.applies(mode) == "" }) {
			b.write(dir, map[string]string{"attack/" + a.file(i) + ".sh": ". attack/world\n" + a.command + "\n"})
		}
	}
	b.world(dir)
}

// rows are the attacks, and behind them the uses.
func (b *breakIn) rows() []attack { return slices.Concat(attacks(), uses()) }

// file is the name of the script and of the loot of an attack.
func (a *attack) file(i int) string {
	by := a.by
	if by == "" {
		by = "bash"
	}
	return fmt.Sprintf("%s-%03d", by, i)
}

// write writes files that can be run.
func (b *breakIn) write(dir string, files map[string]string) {
	b.t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o700)); err != nil {
			b.t.Fatal(err)
		}
	}
}

// compile compiles the Go test of the clone.
func (b *breakIn) compile() {
	b.t.Helper()
	dir := filepath.Join(b.root, "clone")
	b.write(dir, hostileClone)
	cache, err := exec.CommandContext(b.ctx(), "go", "env", "GOCACHE").Output()
	if err != nil {
		b.t.Fatal(err)
	}
	b.vars["GOCACHE"] = strings.TrimSpace(string(cache))
	cmd := exec.CommandContext(b.ctx(), "go", "test", "-c", "-o", b.compiled(), ".")
	cmd.Dir = filepath.Join(dir, "hostile", "go")
	cmd.Env = append(os.Environ(), "GOFLAGS=-trimpath", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		b.t.Fatalf("%v: %s", err, out)
	}
}

// compiled is the path of that test.
func (b *breakIn) compiled() string { return filepath.Join(b.root, "hostile.test") }

// world writes the file with the variables of the commands, some of which are
// known only when the session runs. PROXY is the sandbox's.
func (b *breakIn) world(dir string) {
	b.t.Helper()
	b.vars["HUB"] = strconv.Itoa(b.current().pid())
	if shims := b.shims(); len(shims) > 0 {
		b.vars["SHIM"] = strconv.Itoa(slices.Max(shims))
	}
	var text strings.Builder
	for name, value := range b.vars {
		fmt.Fprintf(&text, "export %s='%s'\n", name, value)
	}
	text.WriteString("PROXY=${HTTP_PROXY:-}\n")
	b.write(dir, map[string]string{"attack/world": text.String()})
}

// applies says whether an attack is tried in a mode on this machine, and why not.
func (a *attack) applies(mode string) string {
	switch {
	case a.strict && mode != sandboxStrict:
		return "not held back by " + mode
	case a.root && os.Getuid() != 0:
		return "only root succeeds without a sandbox"
	case a.name == "go test" && mode == sandboxStrict:
		return "the cache of the compiler is outside; the compiled test is run"
	case a.needs != "":
		if _, err := exec.LookPath(a.needs); err != nil {
			return a.needs + " is not installed"
		}
	}
	return ""
}

// succeeded says whether an attack has got what it is after.
func (b *breakIn) succeeded(a *attack, dir, printed string) bool {
	if a.leaves == "" {
		return strings.Contains(printed, a.loot)
	}
	path := filepath.Join(b.root, a.leaves)
	if rest, inside := strings.CutPrefix(a.leaves, "w/"); inside {
		path = filepath.Join(dir, rest)
	}
	text, err := os.ReadFile(path)
	return err == nil && strings.Contains(string(text), a.holds)
}

// without runs the attacks without a sandbox, while a session runs that is not
// attacked, and holds that each succeeds: otherwise it would show nothing.
func (b *breakIn) without(k *talk) {
	b.t.Helper()
	for i, a := range b.rows() {
		if a.inside || a.applies(sandboxStrict) != "" && a.applies(sandboxDeny) != "" {
			continue
		}
		b.furnish()
		dir := filepath.Join(b.root, "w", fmt.Sprint("without-", i))
		b.clone(dir, sandboxDeny, sandboxStrict)
		ctx, cancel := context.WithTimeout(b.t.Context(), patience)
		cmd := exec.CommandContext(ctx, "sh", "attack/"+a.file(i)+".sh")
		cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + b.home, "TMPDIR=" + b.temp, labEnv + "=" + b.id}
		printed, _ := cmd.CombinedOutput() // what counts is what it got
		cancel()
		if !b.succeeded(&a, dir, string(printed)) {
			b.t.Errorf("without a sandbox, %s gets nothing: %s", a.name, printed)
		}
	}
	k.check(k.stopAgent(b.ctx()))
	_, err := k.awaitState(b.ctx(), api.StateEnded)
	k.check(err)
}

// within has the agent run the attacks, and holds that none succeeds.
func (b *breakIn) within(k *talk, mode string) {
	b.t.Helper()
	b.world(k.dir)
	k.step(mode)
	k.prompt(`@tool Bash {"command":"sh attack/run.sh","description":"Run the tests","timeout":120000}`, "@say Over.")
	var asked []string
	k.attend(func(q *api.Question) string {
		if q.Tool == sandboxTool {
			asked = append(asked, k.host(q))
			return "deny"
		}
		if now, err := k.c.Question(b.ctx(), q.ID); err != nil || now.From != "hub" {
			asked = append(asked, q.Tool)
		}
		return "allow"
	})
	// In the strict sandbox commands are allowed without a question, and a host is asked about once.
	want := "Bash"
	if mode == sandboxStrict {
		want = lootAsked + ":80 for curl"
	}
	if got := strings.Join(asked, ", "); !strings.HasPrefix(got, want) || len(asked) != 1 {
		b.t.Errorf("%s: asked about %q; want %s", mode, got, want)
	}
	for i, a := range b.rows() {
		b.t.Run(mode+"/"+a.name, func(t *testing.T) {
			if why := a.applies(mode); why != "" {
				t.Skip(why)
			}
			printed, err := os.ReadFile(filepath.Join(k.dir, "loot", a.file(i)))
			if err != nil {
				t.Fatalf("it did not run: %v", err)
			}
			use := i >= len(attacks())
			if got := b.succeeded(&a, k.dir, string(printed)); got != use {
				t.Errorf("%s\nhas succeeded: %t; want %t. It printed:\n%s", a.command, got, use, printed)
			}
		})
	}
	k.refusedHosts("localhost")
}

// host says what a question of the sandbox is about.
func (k *talk) host(q *api.Question) string {
	var request struct {
		Request struct {
			Input struct {
				Host    string `json:"host"`
				Port    int    `json:"port"`
				Command string `json:"command"`
			} `json:"input"`
		} `json:"request"`
	}
	if err := json.Unmarshal(q.Request, &request); err != nil {
		k.t.Error(err)
	}
	input := request.Request.Input
	return fmt.Sprintf("%s:%d for %s", input.Host, input.Port, input.Command)
}

// sandboxTool is the tool of the questions that a sandbox asks.
const sandboxTool = "SandboxNetworkAccess"

// refusedHosts holds that the log says which hosts were refused, during which call.
func (k *talk) refusedHosts(want ...string) {
	k.t.Helper()
	var got []string
	for _, e := range k.events() {
		var r api.SandboxRefusal
		if e.Kind != api.KindSandboxRefused {
			continue
		}
		if err := json.Unmarshal(e.Data, &r); err != nil {
			k.fail("%v: %s", err, e.Data)
		}
		if r.Kind == "network" && r.ToolUseID == "" {
			k.t.Errorf("a refusal names no call: %s", e.Data)
		}
		got = append(got, strings.ToLower(strings.TrimSuffix(r.Host, ".")))
	}
	for _, host := range want {
		if !slices.Contains(got, host) {
			k.t.Errorf("the log has refusals of %v; want %s", got, host)
		}
	}
}

// userName is the user's.
func userName() string {
	u, err := user.Current()
	if err != nil {
		return "nobody knows"
	}
	return u.Username
}
