package api

import (
	"slices"
	"time"
)

// Preferences are what new sessions begin with, where the request for one says nothing
// else. They belong to a person, and hold in one folder or in all.
type Preferences struct {
	PermissionMode string   `json:"permission_mode,omitempty" maxLength:"64" doc:"plan, dontAsk, default, acceptEdits or auto; bypassPermissions is not remembered"`
	Model          string   `json:"model,omitempty" maxLength:"256"`
	Allow          []string `json:"allow,omitempty" maxItems:"100" doc:"Rules to allow without asking, such as Bash(go test:*)"`
	Deny           []string `json:"deny,omitempty" maxItems:"100" doc:"Rules to deny"`
	// Sandbox and SandboxAutoAllow are as in [SessionOptions]. They belong together:
	// the latter counts with the former alone.
	Sandbox          string `json:"sandbox,omitempty" enum:"off,deny-only,strict" doc:"What the operating system enforces, as in the options of a session"`
	SandboxAutoAllow bool   `json:"sandbox_auto_allow,omitempty" doc:"Allow commands without asking; only with the sandbox strict"`
}

// IsZero reports whether nothing is preferred.
func (p *Preferences) IsZero() bool {
	return p.PermissionMode == "" && p.Model == "" && len(p.Allow) == 0 && len(p.Deny) == 0 && p.Sandbox == "" && !p.SandboxAutoAllow
}

// Over returns what holds where both p and wider do: the mode, the model and the sandbox
// of p if it has them, and the rules of both.
func (p *Preferences) Over(wider *Preferences) Preferences {
	out := Preferences{PermissionMode: p.PermissionMode, Model: p.Model, Allow: join(p.Allow, wider.Allow), Deny: join(p.Deny, wider.Deny)}
	if out.PermissionMode == "" {
		out.PermissionMode = wider.PermissionMode
	}
	if out.Model == "" {
		out.Model = wider.Model
	}
	out.Sandbox, out.SandboxAutoAllow = p.Sandbox, p.SandboxAutoAllow
	if out.Sandbox == "" {
		out.Sandbox, out.SandboxAutoAllow = wider.Sandbox, wider.SandboxAutoAllow
	}
	return out
}

// join returns the texts of two lists, each once.
func join(a, b []string) []string {
	var out []string
	for _, text := range slices.Concat(a, b) {
		if !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}

// Apply gives a new session's options what is preferred and what they lack. Options
// that are set stay; only the rules that deny are added to those that are there.
func (p *Preferences) Apply(o *SessionOptions) {
	if o.PermissionMode == "" {
		o.PermissionMode = p.PermissionMode
	}
	if o.Model == "" {
		o.Model = p.Model
	}
	if len(o.AllowedTools) == 0 {
		o.AllowedTools = p.Allow
	}
	o.DisallowedTools = join(o.DisallowedTools, p.Deny)
	if o.Sandbox == "" {
		o.Sandbox = p.Sandbox
		o.SandboxAutoAllow = o.SandboxAutoAllow || p.SandboxAutoAllow
	}
}

// SavePreferences replaces what a person prefers in a folder, or in all.
type SavePreferences struct {
	Dir string `json:"dir,omitempty" maxLength:"4096" doc:"The folder, an absolute path; absent for all folders"`
	Preferences
}

// SavedPreferences are preferences as they are kept.
type SavedPreferences struct {
	Dir string `json:"dir,omitempty" doc:"The folder; absent for all folders"`
	Preferences
	Updated time.Time `json:"updated"`
}

// PreferenceList is what a person prefers.
type PreferenceList struct {
	Person string             `json:"person" doc:"The user, or the name of the token; devices belong to the person whose code they used"`
	Saved  []SavedPreferences `json:"saved" doc:"Those for all folders first, then by folder"`
	// Effective is what holds in the folder that was asked about: the folder's own
	// preferences over those for all folders.
	Effective Preferences `json:"effective" doc:"What holds in the folder asked about; without one, in a folder that has none of its own"`
}

// ForgottenPreferences says what was removed.
type ForgottenPreferences struct {
	Removed []string `json:"removed" doc:"The folders they were for; empty for all folders"`
}
