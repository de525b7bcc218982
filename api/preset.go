package api

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
)

// A Preset is a set of options by a name, from the hub's configuration.
type Preset struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty" doc:"What it is for, in one line"`
	// Options are those of the preset, without what may hold secrets: of that,
	// Hidden has the names.
	Options SessionOptions      `json:"options,omitzero" doc:"Its options, without mcp_servers, settings, env and extra_args"`
	Hidden  map[string][]string `json:"hidden,omitempty" doc:"Options that are set and not shown, each with the names in it, such as those of variables"`
}

// Presets are the presets of a hub, by name.
type Presets struct {
	Presets []Preset `json:"presets"`
}

// OptionNames returns the names of all options of a session, in the order of
// [SessionOptions].
func OptionNames() []string {
	t := reflect.TypeFor[SessionOptions]()
	names := make([]string, t.NumField())
	for i := range names {
		names[i], _, _ = strings.Cut(t.Field(i).Tag.Get("json"), ",")
	}
	return names
}

// UnmarshalJSON reads a request. Options that it has and that are false, zero or
// empty are added to Except: they are meant as much as others, and would
// otherwise look like those that it does not have.
func (c *CreateSession) UnmarshalJSON(data []byte) error {
	type plain CreateSession
	if err := json.Unmarshal(data, (*plain)(c)); err != nil {
		return err
	}
	c.Except = exceptions(c.Preset, c.Except, &c.Options, data)
	return nil
}

// UnmarshalJSON reads a request, as that of [CreateSession] does.
func (a *Adopt) UnmarshalJSON(data []byte) error {
	type plain Adopt
	if err := json.Unmarshal(data, (*plain)(a)); err != nil {
		return err
	}
	a.Except = exceptions(a.Preset, a.Except, &a.Options, data)
	return nil
}

// exceptions returns except with the options that a request has and that are
// zero. Without a preset there is nothing that they could be exceptions of.
func exceptions(preset string, except []string, options *SessionOptions, request []byte) []string {
	if preset == "" {
		return except
	}
	var read struct {
		Options map[string]json.RawMessage `json:"options"`
	}
	if json.Unmarshal(request, &read) != nil {
		return except
	}
	value := reflect.ValueOf(options).Elem()
	for i, name := range OptionNames() {
		if _, has := read.Options[name]; has && value.Field(i).IsZero() && !slices.Contains(except, name) {
			except = append(except, name)
		}
	}
	return except
}
