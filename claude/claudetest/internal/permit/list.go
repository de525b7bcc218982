package permit

import (
	"cmp"
	"slices"
	"strings"
)

// A State is what list_permission_rules answers.
type State struct {
	Rules                []ListedRule      `json:"rules"`
	ManagedOnly          bool              `json:"managedOnly"`
	OriginalCwd          string            `json:"originalCwd"`
	WorkspaceDirectories []ListedDirectory `json:"workspaceDirectories"`
}

// A ListedRule is a rule as list_permission_rules shows it.
type ListedRule struct {
	Rule        string          `json:"rule"`
	Behavior    string          `json:"behavior"`
	Source      string          `json:"source"`
	Editability string          `json:"editability"`
	Description RuleDescription `json:"description"`
}

// A RuleDescription is a rule in words, with the part to stress in the middle.
type RuleDescription struct {
	Prefix   string `json:"prefix,omitempty"`
	Emphasis string `json:"emphasis"`
	Suffix   string `json:"suffix,omitempty"`
}

// A ListedDirectory is a further working folder with the layer it comes from.
type ListedDirectory struct {
	Path   string `json:"path"`
	Source string `json:"source"`
}

var (
	behaviorOrder = []string{Allow, Ask, Deny}
	sourceOrder   = []string{UserSettings, ProjectSettings, LocalSettings, FlagSettings, PolicySettings, CLIArg, Session}
)

// Rules returns the rules in force: those that allow, ask and deny, each in the
// order of the layers.
func (g *Gate) Rules() []Rule {
	g.mu.Lock()
	defer g.mu.Unlock()
	rules := slices.Clone(g.rules)
	slices.SortStableFunc(rules, func(a, b Rule) int {
		return cmp.Or(
			cmp.Compare(slices.Index(behaviorOrder, a.Behavior), slices.Index(behaviorOrder, b.Behavior)),
			cmp.Compare(slices.Index(sourceOrder, a.Source), slices.Index(sourceOrder, b.Source)),
		)
	})
	return rules
}

// List returns the state that list_permission_rules answers with.
func (g *Gate) List() State {
	s := State{OriginalCwd: g.dir, Rules: []ListedRule{}, WorkspaceDirectories: []ListedDirectory{}}
	for _, r := range g.Rules() {
		editability := "session"
		switch r.Source {
		case UserSettings, ProjectSettings, LocalSettings:
			editability = "persistent"
		case PolicySettings:
			editability = "none"
		}
		s.Rules = append(s.Rules, ListedRule{r.String(), r.Behavior, r.Source, editability, r.describe()})
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, d := range g.added {
		s.WorkspaceDirectories = append(s.WorkspaceDirectories, ListedDirectory{d.path, d.source})
	}
	return s
}

// describe says in words what a rule matches.
func (r Rule) describe() RuleDescription {
	prefix, isPrefix := strings.CutSuffix(r.Content, ":*")
	switch {
	case r.Content == "":
		return RuleDescription{"Any use of the ", r.Tool, " tool"}
	case r.Tool == "Bash" && isPrefix:
		return RuleDescription{"Any Bash command starting with ", prefix, ""}
	case r.Tool == "Bash":
		return RuleDescription{"The Bash command ", r.Content, ""}
	}
	return RuleDescription{Prefix: "The " + r.Tool + " calls that match ", Emphasis: r.Content}
}
