package conformance

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/wire"
)

// matrixEnv names the file that the matrix is written to, instead of the usual one.
const matrixEnv = "SWITCHBOARD_MATRIX"

// notesEnv names a file for the notes that the table does not expect, as code.
const notesEnv = "SWITCHBOARD_NOTES"

// matrixPath returns the file that the matrix is written to.
func matrixPath() string {
	if path := os.Getenv(matrixEnv); path != "" {
		return path
	}
	if versions, reports := asked(); reports {
		return filepath.Join("..", "..", "bin", "conformance-"+strings.Join(versions, "-")+".txt")
	}
	return filepath.Join("..", "..", "bin", "conformance.txt")
}

// The kinds of cells.
const (
	cellUnknown = ""       // the scenario was not run, because the tests were told to run others
	cellOK      = "ok"     // it went as the table says
	cellFail    = "FAIL"   // it did not
	cellDiffers = "differ" // the simulated CLI differs from the real one, and the table says so
	cellNone    = "n/a"    // it cannot run there
	cellSoak    = "soak"   // it runs with make soak only
	cellSkip    = "skip"   // the CLI is not there
)

// A cell is the outcome of one scenario on one subject.
type cell struct {
	kind   string
	reason string
	took   time.Duration
}

// A matrix collects the outcomes. Its methods are safe for concurrent use.
type matrix struct {
	table    []Scenario
	subjects []Subject

	mu     sync.Mutex
	cells  map[string]map[Subject]cell
	drifts map[string]map[string]int // by what is new: how often, by version
	notes  map[string]map[Subject][]string
	// tries counts the cells that passed at a second try only.
	tries atomic.Int32
}

func newMatrix(table []Scenario, subjects []Subject) *matrix {
	return &matrix{table: table, subjects: subjects, cells: map[string]map[Subject]cell{}, drifts: map[string]map[string]int{}, notes: map[string]map[Subject][]string{}}
}

func (m *matrix) set(id string, s Subject, c cell) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.cells[id] == nil {
		m.cells[id] = map[Subject]cell{}
	}
	m.cells[id][s] = c
}

// noted keeps the notes of a scenario that the table does not expect.
func (m *matrix) noted(id string, s Subject, notes []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.notes[id] == nil {
		m.notes[id] = map[Subject][]string{}
	}
	m.notes[id][s] = notes
}

// writeNotes writes the notes that the table does not expect as Go code, for whoever writes the table.
func (m *matrix) writeNotes(path string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out strings.Builder
	for i := range m.table {
		id := m.table[i].ID
		if len(m.notes[id]) == 0 {
			continue
		}
		fmt.Fprintf(&out, "%s\n", id)
		for _, s := range m.subjects {
			if notes, ok := m.notes[id][s]; ok {
				fmt.Fprintf(&out, "\t%q: {%s}, // %s\n", s.Name+"/"+s.Transport, quote(notes), s.Kind)
			}
		}
	}
	return os.WriteFile(path, []byte(out.String()), 0o600)
}

// drift counts what package wire does not know in the lines of a real CLI.
func (m *matrix) drift(s Subject, lines [][]byte) {
	if s.Kind != kindReal {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, line := range lines {
		message, err := wire.Decode(line)
		if err != nil {
			continue // reported elsewhere
		}
		typ, subtype := message.MessageType()
		name := strings.TrimSuffix(typ+"/"+subtype, "/")
		for _, found := range unknown(name, reflect.ValueOf(message)) {
			if m.drifts[found] == nil {
				m.drifts[found] = map[string]int{}
			}
			m.drifts[found][s.Name]++
		}
	}
}

// unknown returns the paths of what package wire does not know in a value.
func unknown(path string, v reflect.Value) []string {
	if !v.IsValid() {
		return nil
	}
	var found []string
	if v.CanInterface() {
		if holder, ok := reflect.TypeAssert[interface{ ExtraNames() []string }](v); ok && !(v.Kind() == reflect.Pointer && v.IsNil()) {
			if strings.HasPrefix(reflect.Indirect(v).Type().Name(), "Unknown") {
				return []string{path + " (unknown type)"}
			}
			for _, name := range holder.ExtraNames() {
				found = append(found, path+"."+name)
			}
		}
	}
	switch v.Kind() { //nolint:exhaustive // the rest holds no other values
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nil
		}
		if v.Kind() == reflect.Interface {
			return unknown(path, v.Elem())
		}
		elem := v.Elem()
		if elem.Kind() == reflect.Struct {
			for i := range elem.NumField() {
				field := elem.Type().Field(i)
				if !field.IsExported() || field.Anonymous {
					continue
				}
				name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
				value := elem.Field(i)
				if value.Kind() == reflect.Struct && value.CanAddr() {
					value = value.Addr()
				}
				found = append(found, unknown(path+"."+name, value)...)
			}
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return found
		}
		for i := range v.Len() {
			value := v.Index(i)
			if value.Kind() == reflect.Struct {
				value = value.Addr()
			}
			found = append(found, unknown(path+"[]", value)...)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// save writes the matrix to its file.
func (m *matrix) save(t *testing.T) error {
	t.Helper()
	path := matrixPath()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	text := m.String()
	if _, reports := asked(); reports {
		known, err := readDrift()
		if err != nil {
			return err
		}
		text = m.report(known)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return err
	}
	if notes := os.Getenv(notesEnv); notes != "" {
		return m.writeNotes(notes)
	}
	return nil
}

// String renders the matrix: a line for each scenario, a column for each subject, and what the numbers in it mean.
func (m *matrix) String() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out strings.Builder
	width := len("scenario")
	for i := range m.table {
		width = max(width, len(m.table[i].ID))
	}
	fmt.Fprintf(&out, "Conformance: scenario × CLI (R real, S simulated) × version × transport (p stdio, w WebSocket, h hybrid POST)\n\n%-*s", width, "scenario")
	for _, s := range m.subjects {
		fmt.Fprintf(&out, " %6s", label(s))
	}
	out.WriteString("   slowest\n")
	notes := &footnotes{numbers: map[string]int{}}
	counts := map[string]int{}
	perColumn := map[Subject]time.Duration{}
	for i := range m.table {
		id := m.table[i].ID
		fmt.Fprintf(&out, "%-*s", width, id)
		slowest := time.Duration(0)
		for _, s := range m.subjects {
			c := m.cells[id][s]
			counts[c.kind]++
			perColumn[s] += c.took
			slowest = max(slowest, c.took)
			fmt.Fprintf(&out, " %6s", notes.mark(c))
		}
		mark := ""
		if slowest > 15*time.Second && !m.table[i].Slow {
			mark = " over 15 s: mark it Slow"
		}
		fmt.Fprintf(&out, " %8.1fs%s\n", slowest.Seconds(), mark)
	}
	fmt.Fprintf(&out, "%-*s", width, "seconds")
	for _, s := range m.subjects {
		fmt.Fprintf(&out, " %6.1f", perColumn[s].Seconds())
	}
	fmt.Fprintf(&out, "\n\n%d scenarios: %d ok, %d FAIL, %d differ (d), %d cannot be (n), %d left to make soak (s), %d skipped (k), %d not asked for (·)\n", len(m.table),
		counts[cellOK], counts[cellFail], counts[cellDiffers], counts[cellNone], counts[cellSoak], counts[cellSkip], counts[cellUnknown])
	for _, note := range notes.list {
		fmt.Fprintln(&out, note)
	}
	m.writeDrift(&out)
	return out.String()
}

func (m *matrix) writeDrift(out *strings.Builder) {
	if len(m.drifts) == 0 {
		fmt.Fprintln(out, "drift: the real CLIs wrote nothing that package wire does not know")
		return
	}
	fmt.Fprintln(out, "drift: what the real CLIs wrote and package wire does not know")
	var keys []string
	for key := range m.drifts {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		fmt.Fprintf(out, "  %s: %v\n", key, m.drifts[key])
	}
}

// label names a column: R37p is the real 2.1.37 over stdio.
func label(s Subject) string {
	version := s.Name[strings.LastIndexByte(s.Name, '.')+1:]
	transport := map[string]string{stdio: "p", websocket: "w", hybrid: "h"}[s.Transport]
	return strings.ToUpper(s.Kind[:1]) + version + transport
}

// footnotes number the reasons in cells.
type footnotes struct {
	numbers map[string]int
	list    []string
}

func (f *footnotes) mark(c cell) string {
	letter := map[string]string{cellDiffers: "d", cellNone: "n", cellSoak: "s", cellSkip: "k"}[c.kind]
	if letter == "" {
		return cmp.Or(c.kind, "·")
	}
	key := letter + c.reason
	if f.numbers[key] == 0 {
		n := 1
		for _, other := range f.list {
			if strings.HasPrefix(other, letter) {
				n++
			}
		}
		f.numbers[key] = n
		f.list = append(f.list, fmt.Sprintf("%s%d: %s", letter, n, c.reason))
	}
	return fmt.Sprintf("%s%d", letter, f.numbers[key])
}

// slowResults are the last results of slow scenarios, kept in a file.
type slowResults struct {
	mu      sync.Mutex
	path    string
	results map[string]slowResult // by scenario and subject
}

// A slowResult is how a slow scenario last went.
type slowResult struct {
	Date    string `json:"date"`
	Result  string `json:"result"`
	Seconds int    `json:"seconds"`
}

func readSlow() (*slowResults, error) {
	r := &slowResults{path: filepath.Join("testdata", "slow.json"), results: map[string]slowResult{}}
	data, err := os.ReadFile(r.path)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &r.results)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the results of slow scenarios: %w", err)
	}
	return r, nil
}

func slowKey(id string, s Subject) string { return id + " " + s.String() }

// last says how a scenario last went.
func (r *slowResults) last(id string, s Subject) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	result, ok := r.results[slowKey(id, s)]
	if !ok {
		return "runs with make soak, has no result yet"
	}
	return fmt.Sprintf("%s on %s, in %d s", result.Result, result.Date, result.Seconds)
}

func (r *slowResults) record(id string, s Subject, c cell) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.results[slowKey(id, s)] = slowResult{time.Now().UTC().Format(time.DateOnly), c.kind, int(c.took.Seconds())}
}

func (r *slowResults) save() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	data, err := json.MarshalIndent(r.results, "", "\t")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(r.path), 0o700)
	}
	if err == nil {
		err = os.WriteFile(r.path, append(data, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("recording the results of slow scenarios: %w", err)
	}
	return nil
}
