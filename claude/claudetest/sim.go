package claudetest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/switchboard-dev/switchboard/claude/claudetest/internal/flags"
	"github.com/switchboard-dev/switchboard/claude/claudetest/internal/history"
	"github.com/switchboard-dev/switchboard/claude/claudetest/internal/permit"
	"github.com/switchboard-dev/switchboard/wire"
)

// SimOptions say which CLI is simulated and how it was started. The zero value is the newest version, started as a program starts it to talk over
// standard input and output.
type SimOptions struct {
	// Quirks are those of the version to imitate. If nil, the newest.
	Quirks *Quirks

	// Args are the command line without the program's name. If nil, what a controller over standard input and output passes: print mode, both
	// stream-json formats, permission questions on the transport.
	Args []string

	// Env is the whole environment. HOME (or CLAUDE_CONFIG_DIR) is where transcripts and plans are written; without either, nothing is kept.
	// ANTHROPIC_BASE_URL is the model that is asked, usually that of a [Model]. Nothing is inherited.
	Env []string

	// Dir is the working folder. If empty, the one of the program.
	Dir string

	// Script is the model, instead of the one at ANTHROPIC_BASE_URL. If both are missing, the model takes its orders from the prompts, see
	// [Directives].
	Script func(Request) Reply

	// Tool says what a tool did, as none is ever run. If it is nil or returns false, the directives of the prompt decide, and else the simulated
	// CLI makes something up.
	Tool func(ToolCall) (ToolOutcome, bool)

	// Record gets every line written and read, as JSON lines of [Entry]. It may be nil.
	Record io.Writer

	// Stderr gets what the CLI says beside the protocol. If nil, it is dropped.
	Stderr io.Writer

	// Interrupt is where SIGINT comes from, as [os/signal.Notify] sends it: a CLI ends its turn, and then itself. It may be nil.
	Interrupt <-chan os.Signal
}

// defaultArgs are those of a controller over standard input and output.
func defaultArgs() []string {
	return []string{"--print", "--verbose", "--input-format=stream-json", "--output-format=stream-json", "--permission-prompt-tool=stdio"}
}

// RunSim is the simulated CLI as a process: it reads lines from stdin, writes lines to stdout (or dials the --sdk-url that its arguments name) and
// returns the exit code. The end of ctx ends it as a signal would.
//
// When it returns, a read of stdin may still be waiting, if stdin cannot be closed; a process ends with it.
func RunSim(ctx context.Context, o *SimOptions, stdin io.Reader, stdout io.Writer) int {
	e, err := newEngine(ctx, o, stdin, stdout)
	if err != nil {
		if end, ok := errors.AsType[*flags.ExitError](err); ok {
			_, _ = io.WriteString(stdout, end.Stdout) // the process ends anyway
			_, _ = io.WriteString(orDiscard(o.Stderr), end.Stderr)
			return end.Code
		}
		_, _ = fmt.Fprintln(orDiscard(o.Stderr), err)
		return 1
	}
	return e.run()
}

func orDiscard(w io.Writer) io.Writer {
	if w == nil {
		return io.Discard
	}
	return w
}

// newEngine reads flags and environment and prepares everything.
func newEngine(ctx context.Context, o *SimOptions, stdin io.Reader, stdout io.Writer) (*engine, error) {
	quirks := quirks325()
	if o.Quirks != nil {
		quirks = *o.Quirks
	}
	args := o.Args
	if args == nil {
		args = defaultArgs()
	}
	parsed, err := flags.Parse(args, quirks.Version)
	if err != nil {
		return nil, err
	}
	env := environment(o.Env)
	if err := parsed.CheckBypass(os.Geteuid() == 0, env["IS_SANDBOX"] == "1"); err != nil {
		return nil, err
	}
	dir, err := workingDir(o.Dir)
	if err != nil {
		return nil, err
	}
	e := &engine{
		quirks: quirks, flags: parsed, dir: dir, input: stdin, out: &streamCarrier{w: bufio.NewWriterSize(stdout, 64<<10)}, record: newRecord(o.Record), stderr: orDiscard(o.Stderr),
		outcome: o.Tool, started: time.Now(), env: env, session: wire.NewUUID(), main: &thread{}, news: make(chan struct{}), seen: map[string]bool{},
		model: quirks.models().resolve(parsed.Model), running: map[string]*task{}, readDone: make(chan struct{}),
	}
	e.signals = o.Interrupt
	if parsed.OutputFormat != "stream-json" {
		e.out = &printer{w: bufio.NewWriter(stdout), format: parsed.OutputFormat, verbose: parsed.Verbose}
	}
	e.ctx, e.cancel = context.WithCancelCause(ctx)
	e.brain = newBrain(o, env)
	homeless := env["HOME"] == "" && env["CLAUDE_CONFIG_DIR"] == ""
	if homeless {
		// A plan needs a place even where nothing is to be kept; the folder is made only for one, and removed at the end.
		e.scratch = filepath.Join(os.TempDir(), "claudetest-"+wire.NewUUID())
	}
	lookup := func(name string) string {
		if homeless && name == "CLAUDE_CONFIG_DIR" {
			return e.scratch
		}
		return env[name]
	}
	persist := !parsed.NoSessionPersistence && !homeless
	if e.store, err = history.Open(history.Options{Version: quirks.Version, Env: lookup, Dir: dir, Persist: persist}); err != nil {
		return nil, fmt.Errorf("opening the history: %w", err)
	}
	settings, err := readSettings(e.store.ConfigDir(), dir, parsed, &quirks)
	if err != nil {
		return nil, err
	}
	if err := e.readServers(); err != nil {
		return nil, err
	}
	e.settings = settings
	if plans := plansDirectory(settings, dir); plans != "" {
		e.store.SetPlanDir(plans)
	}
	e.gate, err = permit.New(permit.Options{
		Version: quirks.Version, Mode: parsed.PermissionMode, Dir: dir, AddDirs: parsed.AddDirs, AllowedTools: parsed.AllowedTools,
		DisallowedTools: parsed.DisallowedTools, Settings: settings, Home: env["HOME"], BypassLaunched: parsed.BypassLaunched, PlanFile: e.planPath,
	})
	if err != nil {
		return nil, fmt.Errorf("reading the permission rules: %w", err)
	}
	if parsed.SDKURL != "" {
		if err := e.dial(ctx); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// newBrain returns the way to the model.
func newBrain(o *SimOptions, env map[string]string) *brain {
	b := &brain{client: &http.Client{}, base: strings.TrimSuffix(env["ANTHROPIC_BASE_URL"], "/"), key: env["ANTHROPIC_API_KEY"], retries: maxRetries}
	b.plan = b.key == "" && env["CLAUDE_CODE_OAUTH_TOKEN"] != ""
	if n, err := strconv.Atoi(env["CLAUDE_CODE_MAX_RETRIES"]); err == nil && n >= 0 {
		b.retries = n
	}
	if o.Script == nil && b.base != "" {
		return b
	}
	script := o.Script
	if script == nil {
		script = Directives(nil)
	}
	b.base = "http://simulated.invalid"
	b.client.Transport = handlerTransport{newHandler(&ModelOptions{Script: script})}
	return b
}

// plansDirectory returns the folder of plans that settings name, empty for the usual one. It is below the working folder, or does not count.
func plansDirectory(settings []permit.Source, dir string) string {
	for _, source := range slices.Backward(settings) { // the strongest is the last
		var s struct {
			Plans string `json:"plansDirectory"`
		}
		if json.Unmarshal(source.Settings, &s) != nil || s.Plans == "" {
			continue
		}
		if filepath.IsLocal(s.Plans) {
			return filepath.Join(dir, s.Plans)
		}
		return ""
	}
	return ""
}

// readSettings reads the settings files that hold permission rules. A missing file is none.
func readSettings(configDir, dir string, f *flags.Flags, quirks *Quirks) ([]permit.Source, error) {
	wanted := func(source string) bool { return f.SettingSources == nil || slices.Contains(f.SettingSources, source) }
	var sources []permit.Source
	add := func(name, path string) {
		if data, err := os.ReadFile(path); err == nil && json.Valid(data) {
			sources = append(sources, permit.Source{Name: name, Settings: data})
		}
	}
	if wanted("user") {
		add("userSettings", filepath.Join(configDir, "settings.json"))
	}
	if wanted("project") {
		add("projectSettings", filepath.Join(dir, ".claude", "settings.json"))
	}
	if wanted("local") {
		add("localSettings", filepath.Join(dir, ".claude", "settings.local.json"))
	}
	if f.Settings != "" {
		data := []byte(f.Settings)
		if !strings.HasPrefix(strings.TrimSpace(f.Settings), "{") {
			var err error
			if data, err = os.ReadFile(f.Settings); err != nil {
				return nil, &flags.ExitError{Code: 1, Stderr: "Error: Settings file not found: " + f.Settings + "\n"}
			}
		}
		if !json.Valid(data) {
			return nil, &flags.ExitError{Code: 1, Stderr: "Error: Invalid JSON provided to --settings\n"}
		}
		if usableSettings(data, quirks.RulesChecked) {
			sources = append(sources, permit.Source{Name: "flagSettings", Settings: data})
		}
	}
	return sources, nil
}

// streamCarrier writes lines to a stream.
type streamCarrier struct{ w *bufio.Writer }

func (c *streamCarrier) writeLine(line []byte, _ string) (<-chan struct{}, error) {
	_, err := c.w.Write(line)
	if err == nil {
		err = c.w.WriteByte('\n')
	}
	if err == nil {
		err = c.w.Flush()
	}
	return nil, err
}

// A Sim is a simulated CLI in the process of its test. It has the methods of claude.Transport, so that whatever talks to a CLI talks to it.
type Sim struct {
	cancel  context.CancelCauseFunc
	record  *record
	input   *io.PipeWriter
	lines   chan []byte
	done    chan struct{} // closed when the CLI has ended
	written chan struct{} // closed when lines has all that it will have
	code    int
	reading sync.Mutex
	writing sync.Mutex

	mu      sync.Mutex
	state   string
	changed chan struct{}
}

// The states of a [Sim], in the words of claude.Transport.
const (
	simConnected = "connected"
	simClosing   = "closing"
	simClosed    = "closed"
)

// pipeLines is how many lines a simulated CLI can be ahead of its reader, as a process is by what its pipe holds: a caller that reads and writes in one
// goroutine is not to get stuck.
const pipeLines = 256

// errSimStopped is the cause with which Close ends a simulated CLI.
var errSimStopped = fmt.Errorf("the simulated CLI was closed: %w", context.Canceled)

// StartSim starts a simulated CLI; o may be nil. It panics on options that no CLI could be started with, which is a mistake in the test. The caller must
// call [Sim.Close].
func StartSim(o *SimOptions) *Sim {
	if o == nil {
		o = &SimOptions{}
	}
	input, inputWriter := io.Pipe()
	output, outputWriter := io.Pipe()
	ctx, cancel := context.WithCancelCause(context.Background())
	e, err := newEngine(ctx, o, input, outputWriter)
	if err != nil {
		panic(fmt.Sprintf("claudetest: starting a simulated CLI: %v", err))
	}
	s := &Sim{cancel: cancel, record: e.record, input: inputWriter, lines: make(chan []byte, pipeLines), done: make(chan struct{}), written: make(chan struct{}), state: simConnected, changed: make(chan struct{})}
	stop := context.AfterFunc(e.ctx, func() { _ = input.CloseWithError(io.ErrClosedPipe) }) // lets the reader go
	go func() {                                                                             // ends with the CLI; Close waits for it
		defer close(s.done)
		s.code = e.run()
		stop()
		_ = input.CloseWithError(io.ErrClosedPipe)
		<-e.readDone
		_ = outputWriter.Close()
	}()
	go func() { // ends with the output
		defer close(s.written)
		defer close(s.lines)
		reader := bufio.NewReaderSize(output, 64<<10)
		for {
			line, err := reader.ReadBytes('\n')
			if err != nil {
				return
			}
			line = line[:len(line)-1]
			select {
			case s.lines <- line: // what was written before the end is there to be read after it, as in a pipe
				continue
			default:
			}
			select {
			case s.lines <- line:
			case <-ctx.Done():
				_ = output.CloseWithError(io.ErrClosedPipe)
				return
			}
		}
	}()
	return s
}

// Read returns the next line that the CLI wrote, io.EOF after the last one.
func (s *Sim) Read(ctx context.Context) ([]byte, error) {
	s.reading.Lock()
	defer s.reading.Unlock()
	select {
	case line, ok := <-s.lines:
		if !ok {
			s.setState(simClosed)
			return nil, io.EOF
		}
		return line, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Write sends the CLI a line. Unlike a transport for real CLIs it takes anything, as that is what tests are for.
func (s *Sim) Write(ctx context.Context, line []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	if _, err := s.input.Write(append(slices.Clip(line), '\n')); err != nil {
		return fmt.Errorf("writing to the simulated CLI: %w", err)
	}
	return nil
}

// CloseInput ends the CLI's input; it finishes its work and ends.
func (s *Sim) CloseInput() error { return s.input.Close() }

// Close ends the CLI and waits until it is gone. What it had written can still be read.
func (s *Sim) Close() error {
	s.setState(simClosing)
	_ = s.input.Close() // always nil
	s.cancel(errSimStopped)
	<-s.done
	<-s.written
	s.setState(simClosed)
	return nil
}

// State returns the state of the transport, and a channel that is closed when it changes.
func (s *Sim) State() (string, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state, s.changed
}

func (s *Sim) setState(state string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state == state || s.state == simClosed {
		return
	}
	s.state = state
	close(s.changed)
	s.changed = make(chan struct{})
}

// Wait waits for the end of the CLI and returns its exit code.
func (s *Sim) Wait(ctx context.Context) (int, error) {
	select {
	case <-s.done:
		return s.code, nil
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// Record returns what the CLI wrote and read so far, numbered. The last 256 MiB are kept.
func (s *Sim) Record() []Entry { return s.record.all() }

// usableSettings reports whether the settings of the command line count. A value of the wrong type makes the CLI pass over all of them without a
// word; checked says that it only leaves out a rule that cannot be read. Not everything is looked at that a real CLI looks at.
func usableSettings(data []byte, checked bool) bool {
	var s struct {
		CleanupPeriodDays *float64                     `json:"cleanupPeriodDays"`
		Hooks             map[string][]json.RawMessage `json:"hooks"`
		Permissions       struct {
			Allow       []string `json:"allow"`
			Deny        []string `json:"deny"`
			Ask         []string `json:"ask"`
			DefaultMode string   `json:"defaultMode"`
		} `json:"permissions"`
	}
	if json.Unmarshal(data, &s) != nil {
		return false
	}
	p := s.Permissions
	if mode := wire.PermissionMode(p.DefaultMode); mode != "" && !slices.Contains(settingsModes(), mode) {
		return false
	}
	return checked || !slices.ContainsFunc(slices.Concat(p.Allow, p.Deny, p.Ask), unreadableRule)
}

// settingsModes are the permission modes that settings may name.
func settingsModes() []wire.PermissionMode {
	return []wire.PermissionMode{
		wire.PermissionModeDefault, wire.PermissionModeAcceptEdits, wire.PermissionModePlan, wire.PermissionModeBypassPermissions,
		wire.PermissionModeDontAsk, wire.PermissionModeAuto, wire.PermissionModeManual,
	}
}

// unreadableRule reports whether a rule's text has no meaning.
func unreadableRule(text string) bool {
	return strings.TrimSpace(text) == "" || strings.Count(text, "(") != strings.Count(text, ")") || strings.Contains(text, "()")
}
