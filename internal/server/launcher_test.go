package server

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/launch"
)

// fill gives every field of a struct a value.
func fill(t *testing.T, v reflect.Value) {
	t.Helper()
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(1, 0)))
			return
		}
		for _, field := range v.Fields() {
			fill(t, field)
		}
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int:
		v.SetInt(7)
	case reflect.Float64:
		v.SetFloat(7)
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			v.SetBytes([]byte("{}"))
			return
		}
		one := reflect.MakeSlice(v.Type(), 1, 1)
		fill(t, one.Index(0))
		v.Set(one)
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(t, key)
		fill(t, value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem())
	default:
		t.Fatalf("the test cannot fill a %s", v.Type())
	}
}

// empty lists the fields that have no value.
func empty(v reflect.Value, path string) []string {
	var names []string
	for i := range v.NumField() {
		name := path + v.Type().Field(i).Name
		if field := v.Field(i); field.Kind() == reflect.Struct && field.Type() != reflect.TypeFor[time.Time]() {
			names = append(names, empty(field, name+".")...)
		} else if field.IsZero() {
			names = append(names, name)
		}
	}
	return names
}

// TestLauncherPassesAllOn finds what the hub asks for and package launch is not
// told.
func TestLauncherPassesAllOn(t *testing.T) {
	var spec hub.LaunchSpec
	fill(t, reflect.ValueOf(&spec).Elem())
	spec.Deny, spec.Ask = []string{"deny"}, []string{"ask"}
	got := launchSpec(&spec)
	// The hub has no say in these.
	if names, want := empty(reflect.ValueOf(*got), ""), []string{"SessionID", "Agent", "Before"}; !slices.Equal(names, want) {
		t.Errorf("not passed on are %q, expected %q", names, want)
	}
	if !slices.Equal(got.Deny, spec.Deny) || !slices.Equal(got.Ask, spec.Ask) {
		t.Errorf("the rules are %q and %q", got.Deny, got.Ask)
	}

	var query hub.PlanQuery
	fill(t, reflect.ValueOf(&query).Elem())
	if names := empty(reflect.ValueOf(planQuery(&query)), ""); len(names) > 0 {
		t.Errorf("not passed on are %q", names)
	}
}

func TestLauncherFindsPlans(t *testing.T) {
	dir := t.TempDir()
	inner, err := launch.New(launch.Config{DataDir: dir, Socket: filepath.Join(dir, "hub.sock"), Env: []string{}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = inner.Close() }()
	l, query := launcher{inner}, hub.PlanQuery{ConfigDir: filepath.Join(dir, "config"), Dir: dir}
	if plan, err := l.Plan(t.Context(), query); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("found %+v, %v", plan, err)
	}
	path := filepath.Join(query.ConfigDir, "plans", "a.md")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("# Plan"), 0o600); err != nil {
		t.Fatal(err)
	}
	if plan, err := l.Plan(t.Context(), query); err != nil || *plan != (hub.PlanFile{Path: path, Text: "# Plan"}) {
		t.Errorf("found %+v, %v", plan, err)
	}
}
