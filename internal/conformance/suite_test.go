package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/claude/claudetest"
	"github.com/switchboard-dev/switchboard/wire"
)

const (
	// soakEnv makes the slow scenarios run.
	soakEnv = "SWITCHBOARD_SOAK"
	// versionsEnv replaces the pinned versions, separated by commas: make conformance VERSION=x sets it.
	versionsEnv = "SWITCHBOARD_VERSIONS"
)

// warmKinds are the kinds of processes that scenarios can share; see Scenario.Warm.
func warmKinds() map[string]func(*launch) {
	return map[string]func(*launch){
		"":      func(*launch) {},
		"calc":  calculated,
		"hooks": hooked,
		"impatient": func(l *launch) {
			l.options = append(l.options, func(o *claude.Options) { o.Env = append(o.Env, "CLAUDE_CODE_MAX_RETRIES=1") })
		},
		"partial": func(l *launch) {
			l.options = append(l.options, func(o *claude.Options) { o.IncludePartialMessages = true })
		},
		"ruled": ruled,
	}
}

// subjects returns every column of the matrix.
func subjects(t *testing.T) []Subject {
	t.Helper()
	versions, reports := asked()
	if !reports {
		versions = Versions()
	}
	var all []Subject
	for _, kind := range []string{kindReal, kindSimulated} {
		for _, name := range versions {
			version, err := wire.ParseVersion(name)
			if err != nil {
				t.Fatal(err)
			}
			if kind == kindSimulated && reports {
				continue // it says nothing about the real one
			}
			for _, transport := range []string{stdio, websocket, hybrid} {
				all = append(all, Subject{kind, name, version, transport})
			}
		}
	}
	return all
}

// TestSuite runs the table on every version of the real and the simulated CLI over every transport, and writes the matrix.
func TestSuite(t *testing.T) {
	table := scenarios()
	_, reports := asked()
	matrix := newMatrix(table, subjects(t))
	slow, err := readSlow()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := matrix.save(t); err != nil {
			t.Error(err)
		}
		if os.Getenv(soakEnv) != "" && !reports {
			if err := errors.Join(slow.save(), matrix.saveDrift()); err != nil {
				t.Error(err)
			}
		}
	})
	model := newModel(t, claudetest.Directives(nil))
	columns := make(chan Subject)
	var workers sync.WaitGroup
	for range atOnce {
		workers.Go(func() {
			for subject := range columns {
				t.Run(subject.String(), func(t *testing.T) {
					c := &column{subject: subject, model: model, matrix: matrix, slow: slow, reports: reports}
					c.run(t, table)
				})
			}
		})
	}
	// The long columns come first, so that none of them is left to the end; with t.Parallel their order would be anything.
	for _, subject := range longestFirst(subjects(t)) {
		if unreachable := (&Scenario{}).why(subject); unreachable != "" {
			for i := range table {
				matrix.set(table[i].ID, subject, cell{kind: cellNone, reason: unreachable})
			}
			continue
		}
		columns <- subject
	}
	close(columns)
	workers.Wait()
}

// atOnce is how many columns run at the same time. A CLI that starts takes a core for up to two seconds, but much of a scenario is waiting.
const atOnce = 4

// longestFirst returns subjects in the order in which they should be run: most scenarios are for stdio, and real CLIs take their time.
func longestFirst(all []Subject) []Subject {
	rank := func(s Subject) int {
		rank := 0
		if s.Kind != kindReal {
			rank += 2
		}
		if s.Transport != stdio {
			rank++
		}
		return rank
	}
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b Subject) int { return rank(a) - rank(b) })
	return all
}

// A column runs the scenarios of one subject, one after the other.
type column struct {
	subject Subject
	model   *claudetest.Model
	matrix  *matrix
	slow    *slowResults
	base    string
	broken  string // a quirk of the simulated CLI that is changed; "" for none
	reports bool   // what differs is told, and no failure
	cli     *claude.CLI
	tags    atomic.Int64

	warm     *host
	warmKind string
	warmAt   int64
}

// locate finds the CLI. The error says why it cannot run here.
func (c *column) locate(ctx context.Context) error {
	if c.subject.Kind == kindSimulated {
		path, err := simulatedProgram(c.base, c.subject.Name, c.broken)
		c.cli = &claude.CLI{Path: path, Args: []string{path}, Version: c.subject.Version}
		return err
	}
	path, err := Program(c.subject.Name)
	if err != nil {
		return err
	}
	c.cli, err = find(ctx, path, c.subject.Name, c.base)
	return err
}

func (c *column) run(t *testing.T, table []Scenario) {
	t.Helper()
	c.base = temp(t)
	if err := c.locate(t.Context()); err != nil {
		for i := range table {
			c.matrix.set(table[i].ID, c.subject, cell{kind: cellSkip, reason: err.Error()})
		}
		if _, missing := errors.AsType[*NotInstalledError](err); missing && os.Getenv(RequireEnv) != "1" {
			t.Skip(err)
		}
		t.Fatal(err)
	}
	defer func() {
		if err := c.cool(); err != nil {
			t.Error(err)
		}
	}()
	// Those that share a process come first, by its kind.
	order := slices.Clone(table)
	rank := func(sc Scenario) string {
		if sc.alone() {
			return "~"
		}
		return fmt.Sprintf("%t %s", sc.Raw, sc.Warm)
	}
	slices.SortStableFunc(order, func(a, b Scenario) int { return strings.Compare(rank(a), rank(b)) })
	for i := range order {
		sc := &order[i]
		t.Run(sc.ID, func(t *testing.T) { c.judge(t, sc) })
	}
}

// judge runs a scenario, compares its notes and fills its cell.
func (c *column) judge(t *testing.T, sc *Scenario) {
	t.Helper()
	if reason := sc.why(c.subject); reason != "" {
		c.matrix.set(sc.ID, c.subject, cell{kind: cellNone, reason: reason})
		return
	}
	if sc.soaks(c.subject) && os.Getenv(soakEnv) == "" {
		reason := c.slow.last(sc.ID, c.subject)
		if differs := sc.differs(c.subject); differs != "" {
			reason += ": " + differs
		}
		c.matrix.set(sc.ID, c.subject, cell{kind: cellSlow, reason: reason})
		return
	}
	begin := time.Now()
	if deadline, ok := t.Deadline(); ok && deadline.Sub(begin) < lastMinute {
		// The test binary is about to be stopped, and with it the matrix would be lost.
		c.matrix.set(sc.ID, c.subject, cell{kind: cellFail})
		t.Fatal("there is no time left for it: see -timeout")
	}
	notes, err := c.play(t.Context(), sc)
	differs := sc.differs(c.subject)
	problem := c.compare(sc, notes, err)
	verdict := cell{kind: cellOK}
	if problem != "" && differs == "" && !c.reports && !sc.Slow {
		// What happens at the same time inside a CLI, and on a busy machine, may come in another order once. It is told, and tried in a fresh process;
		// what goes wrong twice is wrong.
		t.Logf("at the first try: %s", problem)
		verdict.kind, verdict.reason = cellAgain, "at the first try: "+firstLines(problem)
		if err := c.cool(); err != nil {
			t.Error(err)
		}
		notes, err = c.play(t.Context(), sc)
		problem = c.compare(sc, notes, err)
	}
	verdict.took = time.Since(begin)
	switch {
	case problem == "" && differs != "":
		problem = fmt.Sprintf("the simulated CLI does not differ any more, though the table says: %s", differs)
		verdict.kind = cellFail
	case problem == "":
	case differs != "":
		t.Logf("differs as the table says (%s): %s", differs, problem)
		verdict.kind, verdict.reason, problem = cellDiffers, differs, ""
	default:
		verdict.kind, verdict.reason = cellFail, ""
	}
	if problem != "" && c.reports {
		verdict.reason = c.drifted(sc, notes, err)
	} else if problem != "" {
		t.Error(problem)
		c.matrix.noted(sc.ID, c.subject, notes)
	}
	c.matrix.set(sc.ID, c.subject, verdict)
	if sc.soaks(c.subject) {
		c.slow.record(sc.ID, c.subject, verdict)
	}
}

// firstLines is the beginning of a problem, on one line.
func firstLines(problem string) string {
	const enough = 300
	line := strings.Join(strings.Fields(problem), " ")
	if len(line) > enough {
		line = strings.ToValidUTF8(line[:enough], "") + " …"
	}
	return line
}

// compare returns how the outcome of a scenario differs from what it wants, or "".
func (c *column) compare(sc *Scenario, notes []string, err error) string {
	want, missing := sc.Want.on(c.subject)
	if err == nil {
		err = missing
	}
	diff := cmp.Diff(want, notes)
	if len(want) == 0 && len(notes) == 0 {
		diff = ""
	}
	var out []string
	if err != nil {
		out = append(out, err.Error())
	}
	if diff != "" {
		out = append(out, "notes (-want +got):\n"+diff+"as code: "+quote(notes))
	}
	return strings.Join(out, "\n")
}

// drifted tells how a version that the table does not know went otherwise than expected.
func (c *column) drifted(sc *Scenario, notes []string, err error) string {
	want, missing := sc.Want.on(c.subject)
	var out strings.Builder
	for _, err := range []error{err, missing} {
		if err != nil {
			fmt.Fprintf(&out, "%.300s\n", err.Error())
		}
	}
	out.WriteString(difference(want, notes))
	return out.String()
}

// quote returns notes as they stand in the table.
func quote(notes []string) string {
	var out strings.Builder
	for i, note := range notes {
		if i > 0 {
			out.WriteString(", ")
		}
		if strings.ContainsAny(note, `"\`) && !strings.Contains(note, "`") {
			out.WriteString("`" + note + "`")
		} else {
			fmt.Fprintf(&out, "%q", note)
		}
	}
	return out.String()
}

// launch returns how a scenario's process is started.
func (c *column) launch(s *Stage) *launch {
	sc := s.scenario
	l := &launch{
		handler: s.handlerFor,
		subject: c.subject, cli: c.cli, model: c.model, base: c.base,
		options: []func(*claude.Options){sc.Options}, args: sc.Args, initialize: sc.Initialize, noInitialize: sc.NoInitialize,
		raw: sc.Raw, path: sc.Path, tls: sc.TLS, bare: sc.Bare,
	}
	if change := warmKinds()[sc.Warm]; change != nil {
		change(l)
	}
	if c.broken != "" {
		// It is left in the middle of a turn, and would be waited for.
		l.options = append(l.options, func(o *claude.Options) { o.InputGrace = 50 * time.Millisecond })
	}
	return l
}

// play runs a scenario and returns its notes. An error tells that it could not come to its end, or that a line was not as it should be.
func (c *column) play(ctx context.Context, sc *Scenario) (notes []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.limit(sc))
	defer cancel()
	s := &Stage{Subject: c.subject, Model: c.model, ctx: ctx, scenario: sc, column: c, normal: newNormalizer("", "")}
	if sc.Before != nil {
		if err := s.run(sc.Before); err != nil {
			return nil, err
		}
	}
	h, err := c.hostFor(s)
	if err != nil {
		return nil, err
	}
	s.use(h)
	if !sc.alone() && c.warmAt > 0 {
		s.at = c.warmAt
	}
	err = s.run(sc.Run)
	if !sc.alone() && err == nil && !s.host.spoiled && !s.host.ended() {
		// What the scenario has left behind must not get into the next one.
		err = s.run(func(s *Stage) { s.Settle() })
	}
	if sc.alone() || err != nil || s.host.spoiled || s.host.ended() {
		err = errors.Join(err, s.host.close())
		if c.warm == s.host {
			c.warm = nil
		}
		s.drain()
	} else {
		s.host.setHandler(nil)
		c.warmAt = s.at
	}
	c.matrix.drift(c.subject, s.lines)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.notes, errors.Join(err, checkLines(s.lines))
}

// limit is how long a scenario may take, the start of its process included.
func (c *column) limit(sc *Scenario) time.Duration {
	switch {
	case sc.Slow:
		return 30 * time.Minute
	case c.reports:
		return 30 * time.Second // what waits for something that does not come any more differs
	case c.broken != "":
		return 5 * time.Second // it is expected to fail, and a CLI that has started at all is quick
	case c.subject.Kind == kindSimulated:
		return 30 * time.Second
	}
	return lastMinute
}

// lastMinute is how long a scenario may take that is not slow. When so much time is left, the suite begins no other.
const lastMinute = 60 * time.Second

// run calls a function of the scenario and returns what it failed with.
func (s *Stage) run(f func(*Stage)) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case failure:
			err = p.err
		default:
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	f(s)
	return nil
}

// hostFor returns a process for a scenario: the warm one if it fits, else a new one.
func (c *column) hostFor(s *Stage) (*host, error) {
	sc := s.scenario
	if sc.alone() {
		return c.launch(s).start(s.ctx)
	}
	kind := fmt.Sprintf("%s %t", sc.Warm, sc.Raw)
	if c.warm != nil && c.warmKind == kind && !c.warm.ended() {
		return c.warm, nil
	}
	if err := c.cool(); err != nil {
		return nil, err
	}
	h, err := c.launch(s).start(s.ctx)
	if err != nil {
		return nil, err
	}
	c.warm, c.warmKind, c.warmAt = h, kind, 0
	return h, nil
}

// cool ends the warm process.
func (c *column) cool() error {
	if c.warm == nil {
		return nil
	}
	h := c.warm
	c.warm = nil
	return h.close()
}

// checkLines checks that every line goes through decode and encode unharmed.
func checkLines(lines [][]byte) error {
	var errs []error
	for _, line := range lines {
		message, err := wire.Decode(line)
		if err != nil {
			errs = append(errs, fmt.Errorf("decoding %.200s: %w", line, err))
			continue
		}
		if _, ok := message.(*wire.ErrorLine); ok {
			errs = append(errs, fmt.Errorf("a line of a type that no CLI is known to write: %.200s", line))
		}
		encoded, err := wire.Encode(message)
		if err != nil {
			errs = append(errs, fmt.Errorf("encoding %.200s again: %w", line, err))
		} else if !bytes.Equal(encoded, line) {
			errs = append(errs, fmt.Errorf("decoded and encoded again, a line has changed:\n%.500s\n%.500s", line, encoded))
		}
	}
	return errors.Join(errs...)
}

// temp returns a folder with its real path that ends with the test.
func temp(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "conformance-") //nolint:usetesting // t.TempDir names the folder after the test, and a CLI names files after the folder
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	real, err := newFolder(dir, "x")
	if err != nil {
		t.Fatal(err)
	}
	return real
}
