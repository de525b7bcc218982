package permit

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"sync"

	"github.com/switchboard-dev/switchboard/wire"
)

// The values of [Verdict.Behavior] and [Rule.Behavior].
const (
	Allow = "allow"
	Deny  = "deny"
	Ask   = "ask"
)

// The layers that rules come from, as the CLI names them.
const (
	UserSettings    = "userSettings"
	ProjectSettings = "projectSettings"
	LocalSettings   = "localSettings"
	FlagSettings    = "flagSettings"
	PolicySettings  = "policySettings"
	CLIArg          = "cliArg"
	Session         = "session"
)

// The permission modes.
const (
	modeDefault = string(wire.PermissionModeDefault)
	modeEdits   = string(wire.PermissionModeAcceptEdits)
	modeBypass  = string(wire.PermissionModeBypassPermissions)
	modePlan    = string(wire.PermissionModePlan)
	modeDontAsk = string(wire.PermissionModeDontAsk)
	modeAuto    = string(wire.PermissionModeAuto)
	modeManual  = string(wire.PermissionModeManual)
)

// A Source is one of the settings that hold permission rules.
type Source struct {
	// Name is the layer: one of the constants that end in Settings.
	Name string
	// Settings is the JSON object of the settings; empty means none.
	Settings json.RawMessage
}

// Options say how a CLI was launched.
type Options struct {
	// Version is the CLI that is imitated. If zero, the oldest.
	Version wire.Version
	// Mode is the permission mode at launch. If empty, what the settings say,
	// else default.
	Mode string
	// Dir is the working folder, an absolute path without symbolic links.
	Dir string
	// Home is the user's home folder, for paths that begin with "~". If empty,
	// such paths are outside every working folder.
	Home string
	// AddDirs are further working folders (--add-dir).
	AddDirs []string
	// AllowedTools and DisallowedTools are the values of --allowedTools and
	// --disallowedTools: each is a rule, or several parted by commas or spaces.
	AllowedTools, DisallowedTools []string
	// Settings are the layers of settings, in any order.
	Settings []Source
	// BypassLaunched says that the CLI was launched with a flag that makes
	// the mode bypassPermissions available. Mode bypassPermissions implies it.
	BypassLaunched bool
	// PlanFile returns the path of the session's plan file, which may be read
	// and written without asking. It may be nil, and return "" for none.
	PlanFile func() string
}

// A Rule is a permission rule with where it comes from.
type Rule struct {
	// Behavior is Allow, Deny or Ask.
	Behavior string
	// Source is the layer.
	Source string
	// Tool is the tool, for example Bash.
	Tool string
	// Content is what the call must match; empty means every call.
	Content string

	applied bool // it came after the launch, see [Gate.SetFlags]
}

// directory is a further working folder with the layer it comes from.
type directory struct{ path, source string }

// A Gate keeps the permission state of one simulated CLI. It is safe for
// concurrent use.
type Gate struct {
	// Static after construction.
	version  wire.Version
	dir      string
	home     string
	launched bool
	planFile func() string

	mu    sync.Mutex
	mode  string      // guarded by mu
	rules []Rule      // guarded by mu
	added []directory // guarded by mu
}

// settings are the members of a settings file that matter here.
type settings struct {
	Permissions struct {
		Allow                 []string `json:"allow"`
		Deny                  []string `json:"deny"`
		Ask                   []string `json:"ask"`
		DefaultMode           string   `json:"defaultMode"`
		AdditionalDirectories []string `json:"additionalDirectories"`
	} `json:"permissions"`
}

// New returns a gate in the state after launch. It fails on settings that
// cannot be read.
func New(o Options) (*Gate, error) {
	g := &Gate{
		version:  o.Version,
		dir:      filepath.Clean(o.Dir),
		home:     o.Home,
		launched: o.BypassLaunched || o.Mode == modeBypass,
		planFile: o.PlanFile,
		mode:     o.Mode,
	}
	if g.version.IsZero() {
		g.version = wire.Version{Major: 2, Minor: 1, Patch: 37}
	}
	if g.planFile == nil {
		g.planFile = func() string { return "" }
	}
	defaults := map[string]string{}
	for _, source := range o.Settings {
		if len(source.Settings) == 0 {
			continue
		}
		var s settings
		if err := json.Unmarshal(source.Settings, &s); err != nil {
			return nil, fmt.Errorf("reading the permissions of %s: %w", source.Name, err)
		}
		p := s.Permissions
		defaults[source.Name] = p.DefaultMode
		g.addAll(Deny, source.Name, p.Deny)
		g.addAll(Ask, source.Name, p.Ask)
		// 2.1.325 does not let a folder allow things that the user has not trusted.
		if source.Name != ProjectSettings || !g.is325() {
			g.addAll(Allow, source.Name, p.Allow)
		}
		for _, dir := range p.AdditionalDirectories {
			g.added = append(g.added, directory{g.resolve(dir), source.Name})
		}
	}
	for _, list := range o.AllowedTools {
		g.addAll(Allow, CLIArg, splitRules(list))
	}
	for _, list := range o.DisallowedTools {
		g.addAll(Deny, CLIArg, splitRules(list))
	}
	for _, dir := range o.AddDirs {
		g.added = append(g.added, directory{g.resolve(dir), CLIArg})
	}
	for _, name := range []string{PolicySettings, FlagSettings, LocalSettings, ProjectSettings, UserSettings} {
		if g.mode == "" {
			g.mode = defaults[name]
		}
	}
	if g.mode == "" || g.mode == modeManual && g.is325() {
		g.mode = modeDefault
	}
	return g, nil
}

// is120 and is325 say whether the CLI behaves as these versions did or newer.
func (g *Gate) is120() bool { return g.version.AtLeast(2, 1, 120) }
func (g *Gate) is325() bool { return g.version.AtLeast(2, 1, 325) }

// addAll adds rules in the form of settings files.
func (g *Gate) addAll(behavior, source string, list []string) {
	for _, text := range list {
		if tool, content := parseRule(text); tool != "" {
			g.add(Rule{Behavior: behavior, Source: source, Tool: tool, Content: content})
		}
	}
}

func (g *Gate) add(r Rule) {
	if !slices.Contains(g.rules, r) {
		g.rules = append(g.rules, r)
	}
}

// SetFlags makes the permissions of the control request apply_flag_settings take effect: they take the place of those that the last one brought,
// and stand beside those of the launch. What cannot be read is an error if checked is set, and then changes nothing; otherwise it means none.
func (g *Gate) SetFlags(raw json.RawMessage, checked bool) error {
	var s settings
	if err := json.Unmarshal(raw, &s.Permissions); err != nil {
		if checked {
			return fmt.Errorf("reading the permissions: %w", err)
		}
		s = settings{}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.rules = slices.DeleteFunc(g.rules, func(r Rule) bool { return r.applied })
	launched := len(g.rules)
	g.addAll(Deny, FlagSettings, s.Permissions.Deny)
	g.addAll(Ask, FlagSettings, s.Permissions.Ask)
	g.addAll(Allow, FlagSettings, s.Permissions.Allow)
	for i := range g.rules[launched:] {
		g.rules[launched+i].applied = true
	}
	return nil
}

// Mode returns the permission mode.
func (g *Gate) Mode() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.mode
}

// SetMode changes the mode without any check, for what the CLI does by itself:
// EnterPlanMode, and the mode before plan at its end.
func (g *Gate) SetMode(mode string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.mode = mode
}

// The words of a refused set_permission_mode.
const (
	badMode   = "Cannot set permission mode: must be one of acceptEdits, auto, bypassPermissions, default, dontAsk, plan"
	notLaunch = "Cannot set permission mode to bypassPermissions because the session was not launched with --dangerously-skip-permissions"
)

// Request changes the mode as the control request set_permission_mode does.
// effective is the mode afterwards. If ok is false the mode stays as it was, and
// the CLI answers with the error message and, where the version sends one, its
// code. Versions before 2.1.325 accept any string, which then acts as default.
func (g *Gate) Request(mode string) (effective, code, message string, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.is325() && mode == modeManual:
		mode = modeDefault
	case g.is325() && !known(mode):
		return g.mode, "invalid_mode", badMode, false
	case g.is120() && mode == modeBypass && !g.launched:
		if g.is325() {
			code = "bypass_not_launched"
		}
		return g.mode, code, notLaunch, false
	}
	g.mode = mode
	return mode, "", "", true
}

// known says whether 2.1.325 knows a mode.
func known(mode string) bool {
	switch mode {
	case modeDefault, modeEdits, modeBypass, modePlan, modeDontAsk, modeAuto:
		return true
	}
	return false
}

// Apply makes an update of an answer's updatedPermissions take effect. It
// reports false for what the version leaves without effect: an unknown update,
// an unknown mode, and bypassPermissions from 2.1.120 on unless the launch made
// it available. (2.1.37 refuses a whole answer with an unknown update or mode;
// that is for the caller to imitate.)
func (g *Gate) Apply(update wire.PermissionUpdate) (applied bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch u := update.(type) {
	case *wire.SetMode:
		mode := string(u.Mode)
		if g.is325() && mode == modeManual {
			mode = modeDefault
		}
		if !known(mode) || g.is120() && mode == modeBypass && !g.launched {
			return false
		}
		g.mode = mode
		return true
	case *wire.AddRules:
		g.addRules(u.Rules, u.Behavior, u.Destination)
		return true
	case *wire.ReplaceRules:
		g.rules = slices.DeleteFunc(g.rules, func(r Rule) bool {
			return r.Behavior == string(u.Behavior) && r.Source == string(u.Destination)
		})
		g.addRules(u.Rules, u.Behavior, u.Destination)
		return true
	case *wire.RemoveRules:
		g.rules = slices.DeleteFunc(g.rules, func(r Rule) bool {
			return slices.ContainsFunc(u.Rules, func(w wire.PermissionRule) bool {
				return r == fromWire(w, u.Behavior, u.Destination)
			})
		})
		return true
	case *wire.AddDirectories:
		for _, dir := range u.Directories {
			d := directory{g.resolve(dir), string(u.Destination)}
			if !slices.Contains(g.added, d) {
				g.added = append(g.added, d)
			}
		}
		return true
	case *wire.RemoveDirectories:
		g.added = slices.DeleteFunc(g.added, func(d directory) bool {
			return d.source == string(u.Destination) &&
				slices.ContainsFunc(u.Directories, func(dir string) bool { return g.resolve(dir) == d.path })
		})
		return true
	case *wire.UnknownUpdate:
		return false
	}
	return false
}

func (g *Gate) addRules(rules []wire.PermissionRule, behavior wire.RuleBehavior, destination wire.UpdateDestination) {
	for _, w := range rules {
		g.add(fromWire(w, behavior, destination))
	}
}

// fromWire turns the rule of an update into one of ours.
func fromWire(w wire.PermissionRule, behavior wire.RuleBehavior, destination wire.UpdateDestination) Rule {
	content := w.RuleContent
	if content == "*" {
		content = ""
	}
	return Rule{Behavior: string(behavior), Source: string(destination), Tool: w.ToolName, Content: content}
}

// Dirs returns the working folders, the one of the launch first.
func (g *Gate) Dirs() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.dirs()
}

func (g *Gate) dirs() []string {
	dirs := []string{g.dir}
	for _, d := range g.added {
		dirs = append(dirs, d.path)
	}
	return dirs
}

// Removes reports whether a rule denies every call of a tool. At launch such a
// tool is not offered to the model at all.
func (g *Gate) Removes(tool string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.whole(Deny, tool) != nil
}
