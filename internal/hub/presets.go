package hub

import (
	"encoding/json"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/record"
)

// A Preset is a set of options that sessions can be started with by its name.
type Preset struct {
	Name, Description string
	Options           api.SessionOptions
}

// Presets returns the presets of the hub by name, without what may hold secrets.
// It may be called concurrently.
func (h *Hub) Presets() *api.Presets {
	list := &api.Presets{Presets: make([]api.Preset, 0, len(h.options.Presets))}
	for i := range h.options.Presets {
		p := &h.options.Presets[i]
		list.Presets = append(list.Presets, api.Preset{
			Name: p.Name, Description: p.Description, Options: record.ShownOptions(p.Options), Hidden: hiddenNames(&p.Options),
		})
	}
	slices.SortFunc(list.Presets, func(a, b api.Preset) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// hiddenNames returns what record.ShownOptions leaves out of options, by the names in
// it: those of variables, servers, settings and flags.
func hiddenNames(o *api.SessionOptions) map[string][]string {
	names := map[string][]string{}
	for option, raw := range map[string]json.RawMessage{"mcp_servers": o.MCPServers, "settings": o.Settings} {
		var members map[string]json.RawMessage
		if json.Unmarshal(raw, &members) == nil && len(members) > 0 {
			names[option] = slices.Sorted(maps.Keys(members))
		}
	}
	if len(o.Env) > 0 {
		names["env"] = slices.Sorted(maps.Keys(o.Env))
	}
	if len(o.ExtraArgs) > 0 {
		names["extra_args"] = slices.Sorted(maps.Keys(o.ExtraArgs))
	}
	if len(names) == 0 {
		return nil
	}
	return names
}

// withPreset returns the options of a request for a session, on top of those of the
// preset that it names.
func (h *Hub) withPreset(in *api.CreateSession) (api.SessionOptions, error) {
	invalid := func(format string, args ...any) error {
		return api.Errorf(http.StatusUnprocessableEntity, api.CodeInvalid, format, args...)
	}
	if in.Preset == "" {
		if len(in.Except) > 0 {
			return in.Options, invalid("except names options of a preset, and the request has no preset")
		}
		return in.Options, nil
	}
	at := slices.IndexFunc(h.options.Presets, func(p Preset) bool { return p.Name == in.Preset })
	if at < 0 {
		return in.Options, invalid("unknown preset %q; %s", in.Preset, h.presetNames())
	}
	known := api.OptionNames()
	for _, name := range in.Except {
		if !slices.Contains(known, name) {
			return in.Options, invalid("except: there is no option %q", name)
		}
	}
	merged := h.options.Presets[at].Options
	to, from := reflect.ValueOf(&merged).Elem(), reflect.ValueOf(&in.Options).Elem()
	for i, name := range known {
		switch {
		case !from.Field(i).IsZero():
			to.Field(i).Set(from.Field(i))
		case slices.Contains(in.Except, name):
			to.Field(i).SetZero()
		}
	}
	if preset := h.options.Presets[at].Options.Env; len(preset) > 0 && !slices.Contains(in.Except, "env") {
		merged.Env = maps.Clone(preset) // the session's own, and with the request's variables over those of the preset
		maps.Copy(merged.Env, in.Options.Env)
	}
	return merged, nil
}

// presetNames says which presets there are.
func (h *Hub) presetNames() string {
	names := make([]string, len(h.options.Presets))
	for i := range names {
		names[i] = h.options.Presets[i].Name
	}
	if len(names) == 0 {
		return "the hub's configuration has none"
	}
	slices.Sort(names)
	return "the hub has " + strings.Join(names, ", ")
}
