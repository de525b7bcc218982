package hub

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/answer"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/record"
	"github.com/switchboard-dev/switchboard/internal/sandbox"
	"github.com/switchboard-dev/switchboard/wire"
)

const (
	// maxPreferences is for how many folders a person may have preferences.
	maxPreferences = 500
	// maxPreferred is how many rules of a kind are preferred, maxPreferredText how long
	// each is, and maxModel how long the name of a model is.
	maxPreferred     = 100
	maxPreferredText = 4096
	maxModel         = 256
)

// Preferences lists what a person prefers, and what of it holds in a folder.
func (h *Hub) Preferences(ctx context.Context, person, dir string) (*api.PreferenceList, error) {
	if err := record.CheckFolder(dir); err != nil {
		return nil, err
	}
	rows, err := h.journal.Preferences(ctx, person)
	if err != nil {
		return nil, h.problem(err, "")
	}
	list := &api.PreferenceList{Person: person, Saved: []api.SavedPreferences{}}
	var everywhere, here api.Preferences
	for i := range rows {
		saved := preferencesOf(&rows[i])
		list.Saved = append(list.Saved, saved)
		switch saved.Dir {
		case "":
			everywhere = saved.Preferences
		case folderOf(dir):
			here = saved.Preferences
		}
	}
	list.Effective = here.Over(&everywhere)
	return list, nil
}

// SavePreferences replaces what a person prefers in a folder, or in all. Preferences
// without anything in them are removed.
func (h *Hub) SavePreferences(ctx context.Context, by Actor, person string, in api.SavePreferences) (*api.SavedPreferences, error) {
	if !by.Admin {
		return nil, api.Errorf(http.StatusForbidden, api.CodeForbidden, "what new sessions begin with needs the scope admin")
	}
	if err := checkPreferences(&in); err != nil {
		return nil, err
	}
	p := journal.Preference{Person: person, Dir: folderOf(in.Dir), Data: encoded(in.Preferences), Updated: h.clock()}
	if in.Preferences.IsZero() {
		if err := h.journal.ForgetPreference(ctx, person, p.Dir); err != nil {
			return nil, h.problem(err, "")
		}
		return &api.SavedPreferences{Dir: p.Dir, Updated: p.Updated}, nil
	}
	if err := h.journal.SavePreference(ctx, &p, maxPreferences); err != nil {
		if errors.Is(err, journal.ErrTooMany) {
			return nil, api.Errorf(http.StatusConflict, api.CodeConflict, "there are preferences for %d folders already; remove some", maxPreferences)
		}
		return nil, h.problem(err, "")
	}
	saved := preferencesOf(&p)
	return &saved, nil
}

// ForgetPreferences removes what a person prefers in a folder, or in all folders if dir
// is empty; everything, if all is set.
func (h *Hub) ForgetPreferences(ctx context.Context, by Actor, person, dir string, all bool) (*api.ForgottenPreferences, error) {
	if !by.Admin {
		return nil, api.Errorf(http.StatusForbidden, api.CodeForbidden, "what new sessions begin with needs the scope admin")
	}
	if err := record.CheckFolder(dir); err != nil {
		return nil, err
	}
	rows, err := h.journal.Preferences(ctx, person)
	if err != nil {
		return nil, h.problem(err, "")
	}
	gone := &api.ForgottenPreferences{Removed: []string{}}
	for i := range rows {
		if !all && rows[i].Dir != folderOf(dir) {
			continue
		}
		if err := h.journal.ForgetPreference(ctx, person, rows[i].Dir); err != nil {
			return nil, h.problem(err, "")
		}
		gone.Removed = append(gone.Removed, rows[i].Dir)
	}
	return gone, nil
}

// folderOf returns the name of a folder by which preferences are found.
func folderOf(dir string) string {
	if dir == "" {
		return ""
	}
	return filepath.Clean(dir)
}

// preferencesOf returns preferences as the interface shows them.
func preferencesOf(row *journal.Preference) api.SavedPreferences {
	saved := api.SavedPreferences{Dir: row.Dir, Updated: row.Updated.UTC()}
	_ = json.Unmarshal(row.Data, &saved.Preferences) // what a later version wrote in another form is left out
	if wire.PermissionMode(saved.PermissionMode) == wire.PermissionModeBypassPermissions {
		saved.PermissionMode = "" // never remembered, whatever the journal says
	}
	return saved
}

// checkPreferences says what is wrong with preferences.
func checkPreferences(in *api.SavePreferences) error {
	if err := record.CheckFolder(in.Dir); err != nil {
		return err
	}
	if len(in.Dir) > maxPreferredText || !utf8.ValidString(in.Dir) {
		return record.Unfit("dir: expected a path of at most %d bytes", maxPreferredText)
	}
	switch wire.PermissionMode(in.PermissionMode) {
	case "", wire.PermissionModePlan, wire.PermissionModeDontAsk, wire.PermissionModeDefault, wire.PermissionModeAcceptEdits, wire.PermissionModeAuto:
	case wire.PermissionModeBypassPermissions:
		e := api.Errorf(http.StatusUnprocessableEntity, api.CodeInvalid, "permission_mode: bypassPermissions is not remembered")
		e.Hint = "choose it for each session"
		return e
	default:
		return record.Unfit("permission_mode: expected plan, dontAsk, default, acceptEdits or auto, got %.40q", in.PermissionMode)
	}
	switch sandbox.Mode(in.Sandbox) {
	case "", sandbox.Off, sandbox.DenyOnly, sandbox.Strict:
	default:
		return record.Unfit("sandbox: expected off, deny-only or strict, got %.40q", in.Sandbox)
	}
	if in.SandboxAutoAllow && sandbox.Mode(in.Sandbox) != sandbox.Strict {
		return record.Unfit("sandbox_auto_allow: expected with the sandbox strict alone")
	}
	if len(in.Model) > maxModel || !utf8.ValidString(in.Model) || strings.ContainsFunc(in.Model, unicode.IsControl) {
		return record.Unfit("model: expected at most %d printable characters", maxModel)
	}
	for _, list := range []struct {
		name     string
		rules    []string
		decision api.RuleDecision
	}{{"allow", in.Allow, api.RuleAllow}, {"deny", in.Deny, api.RuleDeny}} {
		if len(list.rules) > maxPreferred {
			return record.Unfit("%s: expected at most %d rules, got %d", list.name, maxPreferred, len(list.rules))
		}
		for _, rule := range list.rules {
			if len(rule) > maxPreferredText {
				return record.Unfit("%s: expected rules of at most %d bytes", list.name, maxPreferredText)
			}
			if rule == answer.EveryTool {
				return record.Unfit("%s: a rule for every tool is not remembered", list.name)
			}
			if err := answer.CheckRule(rule, list.decision); err != nil {
				return err
			}
		}
	}
	return nil
}
