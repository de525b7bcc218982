package claudetest

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/switchboard-dev/switchboard/claude/claudetest/internal/permit"
)

// applyFlagSettings merges settings into the layer of the command line. The model and the permission rules have an effect.
func (e *engine) applyFlagSettings(r controlRequest) *exit {
	var request struct {
		Settings map[string]json.RawMessage `json:"settings"`
	}
	r.read(&request)
	if problem := e.setFlagRules(request.Settings); problem != "" {
		e.fail(r, "apply_flag_settings: nothing in this request was applied and earlier settings stay in force: "+problem, "")
		return nil
	}
	e.mu.Lock()
	if e.applied == nil {
		e.applied = map[string]json.RawMessage{}
	}
	for name, value := range request.Settings {
		if has(value) {
			e.applied[name] = value
		} else {
			delete(e.applied, name) // null takes a setting back
		}
	}
	e.mu.Unlock()
	if raw, given := request.Settings["model"]; given {
		var name string
		_ = json.Unmarshal(raw, &name) // null and what is no name mean the standard model
		e.changeModel(name, false)
	}
	e.succeed(r, nil)
	return nil
}

// setFlagRules makes the permission rules among settings take effect. It returns what is wrong with them, and then nothing has changed.
func (e *engine) setFlagRules(settings map[string]json.RawMessage) (problem string) {
	raw, given := settings["permissions"]
	if !given || !e.quirks.FlagRules {
		return ""
	}
	if err := e.gate.SetFlags(raw, e.quirks.FlagsChecked); err != nil {
		return err.Error()
	}
	return ""
}

// getSettings tells the settings in force.
func (e *engine) getSettings(r controlRequest) *exit {
	e.mu.Lock()
	applied, model := maps.Clone(e.applied), e.model
	e.mu.Unlock()
	effective, sources := map[string]any{}, []members{}
	told := false
	add := func(name string, layer map[string]any) {
		merge(effective, layer)
		sources = append(sources, members{"source", name, "settings", layer})
	}
	for _, source := range e.settings {
		var layer map[string]any
		if json.Unmarshal(source.Settings, &layer) != nil {
			continue
		}
		if source.Name == permit.FlagSettings {
			told = true
			mergeRaw(layer, applied)
		}
		add(source.Name, layer)
	}
	if !told && len(applied) > 0 {
		layer := map[string]any{}
		mergeRaw(layer, applied)
		add(permit.FlagSettings, layer)
	}
	effort := any("medium")
	if value, ok := effective["effortLevel"]; ok {
		effort = value
	}
	e.succeed(r, members{"effective", effective, "sources", sources, "applied", members{"model", model, "effort", effort}})
	return nil
}

// merge puts the settings of a layer over others: objects are joined, everything else is replaced.
func merge(into, layer map[string]any) {
	for name, value := range layer {
		inner, ok := value.(map[string]any)
		known, there := into[name].(map[string]any)
		if ok && there {
			joined := maps.Clone(known)
			merge(joined, inner)
			into[name] = joined
			continue
		}
		into[name] = value
	}
}

func mergeRaw(into map[string]any, layer map[string]json.RawMessage) {
	for name, raw := range layer {
		var value any
		if json.Unmarshal(raw, &value) == nil {
			merge(into, map[string]any{name: value})
		}
	}
}

// updateSettings refuses: no file is changed by a simulation.
func (e *engine) updateSettings(r controlRequest) *exit {
	var request struct {
		Settings map[string]json.RawMessage `json:"settings"`
	}
	r.read(&request)
	e.fail(r, "update_settings keys not allowed: "+strings.Join(sortedKeys(request.Settings), ", "), "")
	return nil
}

// getBinaryVersion tells the version.
func (e *engine) getBinaryVersion(r controlRequest) *exit {
	e.succeed(r, members{"version", e.quirks.Version.String(), "buildTime", "2026-01-01T00:00:00Z"})
	return nil
}

// getModels tells the models that there are.
func (e *engine) getModels(r controlRequest) *exit {
	e.succeed(r, members{"models", e.listModels()})
	return nil
}

// getRules tells the permission rules.
func (e *engine) getRules(r controlRequest) *exit {
	e.succeed(r, members{"state", e.gate.List()})
	return nil
}

// getHooks tells the hooks of the settings. There are none: those that initialize registers do not count.
func (e *engine) getHooks(r controlRequest) *exit {
	e.succeed(r, members{
		"events",
		[]any{},
		"hooks",
		[]any{},
		"eventCatalog",
		[]any{},
		"policy",
		members{"disabledByPolicy", false, "managedOnly", false, "pluginOnly", false, "allDisabled", false, "policyHookCount", 0},
	})
	return nil
}

// reloadPlugins tells what there is after reading the plugins anew.
func (e *engine) reloadPlugins(r controlRequest) *exit {
	e.succeed(r, members{"commands", e.listCommands(), "agents", e.listAgents(), "plugins", []any{}, "mcpServers", e.mcpServers(), "error_count", 0})
	return nil
}

// reloadSkills answers with the skills after reading them anew, and announces them in a line of their own.
func (e *engine) reloadSkills(r controlRequest) *exit {
	e.succeed(r, members{"skills", []any{}})
	return nil
}

func (e *engine) reloadStyles(r controlRequest) *exit {
	e.succeed(r, members{"available_output_styles", []string{"default"}})
	return nil
}

// setSubscribers is told whether a front end watches.
func (e *engine) setSubscribers(r controlRequest) *exit {
	var request struct {
		Has json.RawMessage `json:"has_subscribers"`
	}
	r.read(&request)
	if !slices.Contains([]string{"true", "false", "null"}, string(request.Has)) {
		e.fail(r, "Invalid set_has_subscribers: has_subscribers must be true, false or null", "")
		return nil
	}
	e.succeed(r, nil)
	return nil
}

// getMemory tells which files hold instructions.
func (e *engine) getMemory(r controlRequest) *exit {
	file := func(kind, path, label string) members {
		return members{"kind", kind, "path", path, "label", label, "description", "", "exists", false}
	}
	e.succeed(r, members{
		"files",
		[]members{
			file("user", e.store.ConfigDir()+"/CLAUDE.md", "User instructions"),
			file("project", e.dir+"/CLAUDE.md", "Project instructions"),
		},
		"folders",
		[]members{{"kind", "auto", "path", e.memoryPath(), "label", "Memory", "description", ""}},
		"memories",
		[]any{},
		"auto_memory",
		members{"enabled", true, "toggleable", true, "status", "on"},
		"auto_dream",
		members{"shown", false, "enabled", false, "toggleable", true, "status", "off", "detail", ""},
	})
	return nil
}

func (e *engine) getSkills(r controlRequest) *exit {
	e.succeed(r, members{"skills", []any{}})
	return nil
}

// getStatus tells what people like to know about a session.
func (e *engine) getStatus(r controlRequest) *exit {
	e.mu.Lock()
	title, session, model := e.title, e.session, e.model
	e.mu.Unlock()
	row := func(label, value string) members { return members{"label", label, "value", value} }
	rows := []members{row("Version", e.quirks.Version.String())}
	if title != "" {
		rows = append(rows, row("Session name", title))
	}
	rows = append(rows, row("Session ID", session), row("cwd", e.dir), row("API key", e.keySource()))
	e.succeed(r, members{"sections", []members{
		{"title", "Session", "rows", rows},
		{"title", "Environment", "rows", []members{row("Model", model)}},
	}})
	return nil
}
