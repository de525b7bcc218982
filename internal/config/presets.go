package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/wire"
)

// A Preset is one of the tables [preset.NAME]: options that sessions can be started with by its name.
type Preset struct {
	// Name is how it is asked for. No two have the same.
	Name string
	// Description says what it is for, in one line.
	Description string
	// Options are those of the sessions.
	Options api.SessionOptions
}

// presetName is what the name of a preset looks like. It stands in commands and in URLs.
var presetName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`) })

// Bounds of presets. The file itself has at most maxFile bytes.
const (
	maxPresets     = 100
	maxDescription = 200
)

// presets returns the tables [preset.NAME], sorted by name. An error is an *[Error]. It never shows a value: that may be a secret.
func (f *fileConfig) presets(name string, text []byte, home string) ([]Preset, error) {
	if len(f.Preset) > maxPresets {
		return nil, &Error{Source: name, Line: lineInPreset(text, "", ""), Column: 1, Reason: fmt.Sprintf("preset: there are %d presets, and at most %d can be", len(f.Preset), maxPresets)}
	}
	var list []Preset
	for _, preset := range slices.Sorted(maps.Keys(f.Preset)) {
		read, member, err := readPreset(preset, f.Preset[preset], home)
		if err != nil {
			key := "preset." + preset
			if member != "" {
				key += "." + member
			}
			return nil, &Error{Source: name, Line: lineInPreset(text, preset, member), Column: 1, Reason: key + ": " + err.Error()}
		}
		list = append(list, read)
	}
	return list, nil
}

// readPreset reads one table. If it cannot be read, member is the one that is wrong, "" if it is the table.
func readPreset(name string, table map[string]any, home string) (p Preset, member string, err error) {
	p.Name = name
	if !presetName().MatchString(name) {
		return p, "", fmt.Errorf("%q is no name of a preset; use up to 64 letters, digits, - and _", name)
	}
	options := reflect.ValueOf(&p.Options).Elem()
	names := api.OptionNames()
	for _, key := range slices.Sorted(maps.Keys(table)) {
		at := slices.Index(names, key)
		switch {
		case key == "description":
			description, ok := table[key].(string)
			if !ok || len(description) > maxDescription || strings.ContainsAny(description, "\n\r") {
				return p, key, fmt.Errorf("it has to be a text in quotes, in one line and of at most %d bytes", maxDescription)
			}
			p.Description = description
		case at < 0:
			return p, key, fmt.Errorf("unknown option; there are description, %s", strings.Join(names, ", "))
		default:
			if err := setOption(options.Field(at), key, table[key]); err != nil {
				return p, key, err
			}
		}
	}
	if key, err := checkPreset(&p.Options, home); err != nil {
		return p, key, err
	}
	return p, "", nil
}

// setOption puts a value of the file into an option.
func setOption(to reflect.Value, name string, value any) error {
	if name == "question_deadline" { // in the file it is a length of time, as all others are
		var d Duration
		text, ok := value.(string)
		if !ok {
			return errors.New("it has to be a length of time; write it as \"90m\", \"24h\" or \"30d\"")
		}
		if err := d.UnmarshalText([]byte(text)); err != nil {
			return err
		}
		if time.Duration(d)%time.Second != 0 || time.Duration(d) > 365*24*time.Hour {
			return errors.New("it has to be whole seconds, and at most 365d")
		}
		to.SetInt(int64(time.Duration(d) / time.Second))
		return nil
	}
	switch place := to.Addr().Interface().(type) {
	case *string:
		return assign(place, value, "a text in quotes")
	case *bool:
		return assign(place, value, "true or false")
	case *int:
		n, ok := value.(int64)
		if !ok || n < 0 || n > math.MaxInt32 {
			return fmt.Errorf("it has to be a whole number from 0 to %d", math.MaxInt32)
		}
		*place = int(n)
	case *float64:
		n, ok := value.(float64)
		if whole, is := value.(int64); is {
			n, ok = float64(whole), true
		}
		if !ok || n < 0 || math.IsInf(n, 0) || math.IsNaN(n) {
			return errors.New("it has to be a number from 0 on")
		}
		*place = n
	case *[]string:
		list, ok := value.([]any)
		texts := make([]string, len(list))
		for i := range list {
			each, is := list[i].(string)
			texts[i], ok = each, ok && is
		}
		if !ok {
			return errors.New("it has to be a list of texts: [\"a\", \"b\"]")
		}
		*place = texts
	case *map[string]string:
		read, err := textsByName(value, false)
		*place = map[string]string{}
		for key, text := range read {
			(*place)[key] = *text
		}
		return err
	case *map[string]*string:
		read, err := textsByName(value, true)
		*place = read
		return err
	case *json.RawMessage:
		table, ok := value.(map[string]any)
		if !ok {
			return errors.New("it has to be a table: { name = … }")
		}
		raw, err := json.Marshal(table)
		if err != nil {
			return errors.New("it has a value that JSON has not") // the error would show it
		}
		*place = raw
	default:
		panic(fmt.Sprintf("the option %s is a %s, which cannot be read from a file", name, to.Type()))
	}
	return nil
}

// assign sets a value of its own kind.
func assign[T any](to *T, value any, want string) error {
	read, ok := value.(T)
	if !ok {
		return fmt.Errorf("it has to be %s", want)
	}
	*to = read
	return nil
}

// textsByName reads a table of texts. If bare is set, true stands for a name without a text.
func textsByName(value any, bare bool) (map[string]*string, error) {
	want := "it has to be a table of texts: { NAME = \"value\" }"
	if bare {
		want = "it has to be a table of texts, with true for a flag without a value: { name = \"value\", other = true }"
	}
	table, ok := value.(map[string]any)
	if !ok {
		return nil, errors.New(want)
	}
	texts := map[string]*string{}
	for name, each := range table {
		switch each := each.(type) {
		case string:
			texts[name] = &each
		case bool:
			if !bare || !each {
				return nil, errors.New(want)
			}
			texts[name] = nil
		default:
			return nil, errors.New(want)
		}
	}
	return texts, nil
}

// checkPreset looks for options that no session could be started with, and makes folders absolute. It returns the name of the one that is wrong.
func checkPreset(o *api.SessionOptions, home string) (option string, err error) {
	oneOf := func(value string, words ...string) error {
		if value == "" || slices.Contains(words, value) {
			return nil
		}
		return fmt.Errorf("%q is none of %s", value, strings.Join(words, ", "))
	}
	names := []string{string(wire.PermissionModeBypassPermissions)}
	for _, mode := range modes {
		names = append(names, string(mode))
	}
	slices.Sort(names)
	if err := oneOf(o.PermissionMode, names...); err != nil {
		return "permission_mode", err
	}
	if err := oneOf(o.Effort, "low", "medium", "high", "xhigh", "max"); err != nil {
		return "effort", err
	}
	if err := oneOf(o.Thinking, "adaptive", "disabled"); err != nil {
		return "thinking", err
	}
	if err := oneOf(o.Sandbox, string(SandboxDenyOnly), string(SandboxOff), string(SandboxStrict)); err != nil {
		return "sandbox", err
	}
	for _, folders := range []struct {
		option string
		list   *[]string
	}{{"add_dirs", &o.AddDirs}, {"plugin_dirs", &o.PluginDirs}} {
		if *folders.list == nil {
			continue
		}
		if *folders.list, err = expandAll(*folders.list, home); err != nil {
			return folders.option, err
		}
	}
	for name := range o.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			return "env", fmt.Errorf("%q is no name of a variable", name)
		}
	}
	if len(o.JSONSchema) > 0 && o.MaxTurns == 0 {
		return "json_schema", errors.New("it needs max_turns: Claude Code insists on a limit")
	}
	return "", nil
}

// lineInPreset returns the line in which a member of a preset is set, from 1; that of the preset if it has no line of its own, and 1 if neither has.
func lineInPreset(text []byte, preset, member string) int {
	if preset == "" || !utf8.ValidString(preset+member) { // of which no pattern could be made
		return 1
	}
	const quote = `["']?`
	table := quote + "preset" + quote + `[ \t]*\.[ \t]*` + quote + regexp.QuoteMeta(preset) + quote
	begins := regexp.MustCompile(`^[ \t]*(\[[ \t]*` + table + `[ \t]*\]|` + table + `[ \t]*=)`)
	inner := regexp.MustCompile(`^[ \t]*\[[ \t]*` + table + `[ \t]*\.[ \t]*` + quote + regexp.QuoteMeta(member) + quote + `[ \t]*[\].]`)
	sets := regexp.MustCompile(`^[ \t]*` + quote + regexp.QuoteMeta(member) + quote + `[ \t]*[=.]`)
	found, inside := 1, false
	for i, line := range strings.Split(string(text), "\n") {
		switch {
		case member != "" && inner.MatchString(line):
			return i + 1
		case begins.MatchString(line):
			found, inside = i+1, true
		case strings.HasPrefix(strings.TrimLeft(line, " \t"), "["):
			inside = false
		case inside && member != "" && sets.MatchString(line):
			return i + 1
		}
	}
	return found
}
