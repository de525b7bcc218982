package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
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
		"":       func(*launch) {},
		"calc":   calculated,
		"events": eventful,
		"hooks":  hooked,
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

// TestSuite runs the table on every version of the real and the simulated CLI over every transport, and writes the matrix. Which cells run is
// decided in cells_test.go.
func TestSuite(t *testing.T) {
	t.Parallel()
	table, all := scenarios(), subjects(t)
	_, reports := asked()
	matrix := newMatrix(table, all)
	slow, err := readSlow()
	if err != nil {
		t.Fatal(err)
	}
	soak := os.Getenv(soakEnv) != ""
	t.Cleanup(func() {
		if err := matrix.save(t); err != nil {
			t.Error(err)
		}
		if soak && !reports {
			if err := errors.Join(slow.save(), matrix.saveDrift()); err != nil {
				t.Error(err)
			}
		}
	})
	chosen := newSelection(table, all, soak, reports, slow)
	programs := locateAll(t, matrix, all)
	work := make(chan *column)
	var workers sync.WaitGroup
	for range atOnce {
		workers.Go(func() {
			for c := range work {
				c.run(t)
			}
		})
	}
	for _, job := range split(table, all, chosen, matrix) {
		if cli := programs[job.subject]; cli != nil {
			work <- &column{subject: job.subject, rows: job.rows, matrix: matrix, chosen: chosen, reports: reports, cli: cli, base: temp(t)}
		}
	}
	close(work)
	workers.Wait()
}

// atOnce is how many jobs run at the same time. A CLI that starts takes a core for up to two seconds, but much of a scenario is waiting.
const atOnce = 4

// A job is a part of a column: scenarios that run on one subject, one after the other.
type job struct {
	subject Subject
	rows    []*Scenario
	cost    int
}

// split makes jobs of the cells that run and fills those that do not. Scenarios that can share a process are one job. The long ones come first, so
// that none of them is left to the end; real CLIs take their time.
func split(table []Scenario, all []Subject, chosen *selection, m *matrix) []job {
	const together = 10 // so many scenarios with processes of their own are a job
	var jobs []job
	for _, s := range all {
		shared := map[string][]*Scenario{}
		var alone []*Scenario
		for i := range table {
			sc := &table[i]
			if reason := sc.why(s); reason != "" {
				m.set(sc.ID, s, cell{kind: cellNone, reason: reason})
			} else if reason := chosen.leaves(sc, s); reason != "" {
				m.set(sc.ID, s, cell{kind: cellSoak, reason: reason})
			} else if sc.alone() {
				alone = append(alone, sc)
			} else {
				shared[sc.process()] = append(shared[sc.process()], sc)
			}
		}
		weight := 1
		if s.Kind == kindReal {
			weight = 10
		}
		for _, kind := range slices.Sorted(maps.Keys(shared)) {
			jobs = append(jobs, job{s, shared[kind], len(shared[kind]) * weight})
		}
		for rows := range slices.Chunk(alone, together) {
			jobs = append(jobs, job{s, rows, len(rows) * weight * 5})
		}
	}
	slices.SortStableFunc(jobs, func(a, b job) int { return b.cost - a.cost })
	return jobs
}

// process names the kind of warm process that a scenario shares with others.
func (sc *Scenario) process() string { return fmt.Sprintf("%s %t", sc.Warm, sc.Raw) }

// locateAll finds the CLI of every subject. One that is not there fills its column.
func locateAll(t *testing.T, m *matrix, all []Subject) map[Subject]*claude.CLI {
	t.Helper()
	type found struct {
		cli *claude.CLI
		err error
	}
	byVersion := map[string]found{}
	programs := map[Subject]*claude.CLI{}
	for _, s := range all {
		key := s.Kind + s.Name
		if _, tried := byVersion[key]; !tried {
			cli, err := locate(t.Context(), s, temp(t), "")
			byVersion[key] = found{cli, err}
		}
		f := byVersion[key]
		if f.err == nil {
			programs[s] = f.cli
			continue
		}
		for i := range m.table {
			m.set(m.table[i].ID, s, cell{kind: cellSkip, reason: f.err.Error()})
		}
		t.Run(s.String(), func(t *testing.T) {
			if _, missing := errors.AsType[*NotInstalledError](f.err); missing && os.Getenv(RequireEnv) != "1" {
				t.Skip(f.err)
			}
			t.Fatal(f.err)
		})
	}
	return programs
}

// locate finds the CLI of a subject; the field of the simulated one's quirks that broken names is changed. The error says why it cannot run here.
func locate(ctx context.Context, s Subject, base, broken string) (*claude.CLI, error) {
	if s.Kind == kindSimulated {
		path, err := simulatedProgram(base, s.Name, broken)
		return &claude.CLI{Path: path, Args: []string{path}, Version: s.Version}, err
	}
	path, err := Program(s.Name)
	if err != nil {
		return nil, err
	}
	return find(ctx, path, s.Name, base)
}

// A column runs scenarios on one subject, one after the other.
type column struct {
	subject Subject
	rows    []*Scenario
	model   *claudetest.Model
	matrix  *matrix
	chosen  *selection
	base    string // a folder for what its CLIs need
	broken  string // a quirk of the simulated CLI that is changed; "" for none
	reports bool   // what differs is told, and no failure
	cli     *claude.CLI
	tags    atomic.Int64

	warm     *host
	warmKind string
	warmAt   int64
}

// run plays the rows, each as a test that is named by the subject and the scenario. Its model is its own: what waits for a request looks through all
// that the model remembers.
func (c *column) run(t *testing.T) {
	t.Helper()
	c.model = claudetest.NewModel(&claudetest.ModelOptions{Script: claudetest.Directives(nil)})
	defer func() {
		if err := errors.Join(c.cool(), c.model.Close()); err != nil {
			t.Errorf("%s: ending what scenarios share: %v", c.subject, err)
		}
	}()
	for _, sc := range c.rows {
		t.Run(c.subject.String()+"/"+sc.ID, func(t *testing.T) { c.judge(t, sc) })
	}
}

// judge runs a scenario, compares its notes and fills its cell.
func (c *column) judge(t *testing.T, sc *Scenario) {
	t.Helper()
	begin := time.Now()
	if deadline, ok := t.Deadline(); ok && deadline.Sub(begin) < lastMinutes {
		// The test binary is about to be stopped, and with it the matrix would be lost.
		c.matrix.set(sc.ID, c.subject, cell{kind: cellFail})
		t.Fatal("there is no time left for it: see -timeout")
	}
	notes, err := c.play(t.Context(), sc)
	differs := sc.differs(c.subject)
	problem := c.compare(sc, notes, err)
	verdict := cell{kind: cellOK}
	if problem != "" && differs == "" && !c.reports && !sc.Slow && c.broken == "" && c.matrix.tries.Add(1) <= maxTries {
		// A line that comes late on a busy machine is told, and the cell is tried in a fresh process: what goes wrong twice is wrong, and so are many.
		t.Logf("SECOND TRY, at the first: %s", problem)
		if err := c.cool(); err != nil {
			t.Error(err)
		}
		notes, err = c.play(t.Context(), sc)
		if problem = c.compare(sc, notes, err); problem == "" {
			_, _ = fmt.Fprintf(os.Stderr, "SECOND TRY: %s passes, and did not at first; find out why\n", t.Name())
		}
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
	if c.chosen.remembers(sc, c.subject) {
		c.chosen.slow.record(sc.ID, c.subject, verdict)
	}
}

// maxTries is how many cells of a run may need a second try.
const maxTries = 3

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
	if c.broken != "" {
		// It is expected to fail, often by waiting for what does not come. A CLI that has started is quick.
		s.ctx, cancel = context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
	}
	s.use(h)
	if !sc.alone() && c.warmAt > 0 {
		s.at = c.warmAt
	}
	err = s.run(sc.Run)
	if !sc.alone() && err == nil && !s.host.spoiled && !s.host.ended() {
		// What the scenario has left behind must not get into the next one.
		err = s.run(func(s *Stage) { s.Settle() })
		if err == nil && strings.HasPrefix(sc.ID, "sdk.") {
			// A session of the SDK has read the lines, perhaps this one too.
			whole := s.ctx
			s.ctx, cancel = context.WithTimeout(whole, 2*time.Second)
			_ = s.run((*Stage).awaitIdle)
			cancel()
			s.ctx = whole
		} else if err == nil {
			err = s.run((*Stage).awaitIdle)
		}
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
	}
	return lastMinutes
}

// lastMinutes is how long a scenario may take that is not slow. It is for what hangs: on a machine with much else to do, a scenario of seconds has
// taken a minute. When so much time is left, the suite begins no other.
const lastMinutes = 3 * time.Minute

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
	kind := sc.process()
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
