package pane

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/terminal/compose"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
	"github.com/switchboard-dev/switchboard/wire"
)

// A Model is one that a CLI offers.
type Model struct {
	Value       string `json:"value"`
	Name        string `json:"displayName"`
	Description string `json:"description"`
}

// told is what a CLI tells of itself in its answer to initialize.
type told struct {
	Commands []struct {
		Name        string `json:"name"`
		Description string `json:"description"`
		Hint        string `json:"argumentHint"`
	} `json:"commands"`
	Models []Model `json:"models"`
}

// toldBy returns what the session's CLI has told. A version that tells it in another form is one that does not tell it.
func toldBy(s *api.Session) told {
	var t told
	if s == nil || json.Unmarshal(s.Initialize, &t) != nil {
		return told{}
	}
	return t
}

// Models returns the models that the session's CLI offers.
func Models(s *api.Session) []Model { return toldBy(s).Models }

// Commands returns what the session's CLI knows after a slash, but for what is a view's own command.
func Commands(s *api.Session, own []compose.Command) []compose.Command {
	var list []compose.Command
	add := func(name, hint string) {
		name = paint.CleanLine(strings.TrimPrefix(name, "/"), 60)
		if !slices.ContainsFunc(own, func(o compose.Command) bool { return o.Name == name }) {
			list = append(list, compose.Command{Name: name, Hint: paint.CleanLine(strings.TrimSpace(hint), 120)})
		}
	}
	for _, c := range toldBy(s).Commands {
		add(c.Name, c.Hint+" "+c.Description)
	}
	var init struct {
		Commands []string `json:"slash_commands"`
	}
	if len(list) == 0 && s != nil && json.Unmarshal(s.Init, &init) == nil {
		for _, name := range init.Commands {
			add(name, "")
		}
	}
	return list
}

// NextMode returns the permission mode after another one, of those that shift+tab goes around in.
func NextMode(mode string) wire.PermissionMode {
	around := []wire.PermissionMode{wire.PermissionModeDefault, wire.PermissionModeAcceptEdits, wire.PermissionModePlan}
	if mode == "" {
		mode = string(wire.PermissionModeDefault)
	}
	return around[(slices.Index(around, wire.PermissionMode(mode))+1)%len(around)]
}
