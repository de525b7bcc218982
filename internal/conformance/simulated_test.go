package conformance

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/claude/claudetest"
)

// simulatedProgram installs the simulated CLI of a version below a folder and returns its path. The field of its quirks that broken names is
// changed, if it is not empty.
func simulatedProgram(base, version, broken string) (string, error) {
	quirks, err := claudetest.QuirksFor(version)
	if err != nil {
		return "", err
	}
	if broken != "" {
		if err := flip(reflect.ValueOf(&quirks).Elem(), broken); err != nil {
			return "", err
		}
	}
	dir := filepath.Join(base, "simulated")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	program, err := buildSimulated()
	if err != nil {
		return "", err
	}
	return claudetest.InstallProgram(dir, program, &claudetest.InstallOptions{Quirks: &quirks})
}

// buildSimulated builds the simulated CLI, once, and returns its path. TestMain
// removes it.
var buildSimulated = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "simulated-cli-")
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	path := filepath.Join(dir, "sim")
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	if output, err := exec.CommandContext(ctx, "go", "build", "-ldflags=-w", "-o", path, "./cmd/sim").CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the simulated CLI: %w\n%s", err, output)
	}
	simulatedDir = dir
	return path, nil
})

// simulatedDir holds the simulated CLI, once it is built.
var simulatedDir string

// flip changes a field to something else.
func flip(v reflect.Value, path string) error {
	name, rest, nested := strings.Cut(path, ".")
	field := v.FieldByName(name)
	if !field.IsValid() {
		return fmt.Errorf("quirks have no field %s", name)
	}
	if nested {
		return flip(field, rest)
	}
	switch field.Kind() {
	case reflect.Bool:
		field.SetBool(!field.Bool())
	case reflect.String:
		// Where words are expected, any other word will do.
		field.SetString("not " + field.String())
	case reflect.Int, reflect.Int64:
		if field.Type() == reflect.TypeFor[time.Duration]() {
			field.SetInt(field.Int() + int64(time.Hour))
		} else {
			field.SetInt(field.Int() + 1)
		}
	case reflect.Float64:
		field.SetFloat(field.Float() + 1)
	case reflect.Slice, reflect.Map:
		if field.Len() == 0 {
			return fmt.Errorf("the field %s is empty: there is nothing to take away", path)
		}
		field.SetZero()
	default:
		return fmt.Errorf("the field %s is of a kind that cannot be changed: %s", path, field.Kind())
	}
	return nil
}

// TestBrokenQuirks breaks each quirk that a scenario guards, on one version after the other: on at least one the scenario must fail.
func TestBrokenQuirks(t *testing.T) {
	t.Parallel() // much of it is waiting for what does not come
	model := newModel(t, claudetest.Directives(nil))
	// With nothing broken the first scenario goes as the table says. Otherwise everything below would prove nothing.
	for _, subject := range subjects(t) {
		if sc := scenarios()[0]; subject.Kind == kindSimulated && sc.why(subject) == "" && fails(t, &sc, subject, model, "") {
			t.Fatalf("%s fails on %s though nothing is broken", sc.ID, subject)
		}
	}
	for _, sc := range scenarios() {
		if sc.Slow {
			continue
		}
		for _, field := range sc.Quirks {
			t.Run(sc.ID+"/"+field, func(t *testing.T) {
				t.Parallel()
				ran := 0
				for _, subject := range slices.Backward(subjects(t)) {
					if subject.Kind != kindSimulated || sc.why(subject) != "" || sc.differs(subject) != "" {
						continue
					}
					ran++
					if fails(t, &sc, subject, model, field) {
						return
					}
				}
				t.Errorf("the scenario goes as the table says with another %s, on each of %d subjects", field, ran)
			})
		}
	}
}

// fails reports whether a scenario fails on the simulated CLI with a broken quirk.
func fails(t *testing.T, sc *Scenario, subject Subject, model *claudetest.Model, field string) bool {
	t.Helper()
	c := &column{subject: subject, model: model, matrix: newMatrix(nil, nil), base: temp(t), broken: field}
	var err error
	if c.cli, err = locate(t.Context(), subject, c.base, field); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := c.cool(); err != nil {
			t.Error(err)
		}
	}()
	notes, err := c.play(t.Context(), sc)
	problem := c.compare(sc, notes, err)
	if problem != "" {
		t.Logf("on %s: %s", subject, problem)
	}
	return problem != ""
}

// TestQuirksAreGuarded holds that each quirk is guarded by a scenario, or says why it is not.
func TestQuirksAreGuarded(t *testing.T) {
	guarded := map[string]bool{
		"Version": true, // every scenario would fail without
	}
	for _, sc := range scenarios() {
		for _, field := range sc.Quirks {
			guarded[field] = true
		}
	}
	for field := range reflect.TypeFor[claudetest.Quirks]().Fields() {
		if !guarded[field.Name] {
			t.Errorf("no scenario guards the quirk %s", field.Name)
		}
	}
}
