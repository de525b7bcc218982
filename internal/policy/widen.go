package policy

import (
	"fmt"
	"slices"
	"strings"
)

// Widens says, one sentence each, what new allows that old does not, or does not
// deny or ask any more. nil means that new only narrows. Either may be nil, which
// is a file without rules. What cannot be shown to narrow counts as widening.
func Widens(old, new *File) []string {
	old, new = orEmpty(old), orEmpty(new)
	var list []string
	for _, set := range new.Sets {
		if !slices.Contains(old.Sets, set) {
			list = append(list, fmt.Sprintf("The set %s is new: it allows what is in it.", set))
		}
	}
	for _, set := range new.UnauthenticatedSets {
		if !slices.Contains(old.UnauthenticatedSets, set) {
			list = append(list, fmt.Sprintf("The set %s is new for unauthenticated sessions: it allows what is in it.", set))
		}
	}
	if old.Enforce == EnforceHook && new.Enforce != EnforceHook {
		list = append(list, "Calls are no longer all brought to the hub: enforce was hook.")
	}
	before, after := rulesByText(old.Rules), rulesByText(new.Rules)
	for i := range new.Rules {
		r := &new.Rules[i]
		if r.Decision == Allow && !before.cover(r, Allow) {
			list = append(list, sentence("It allows", r, "."))
		}
	}
	for i := range old.Rules {
		r := &old.Rules[i]
		switch {
		case r.Decision == Deny && !after.cover(r, Deny):
			list = append(list, sentence("It no longer denies", r, "."))
		case r.Decision == Ask && !after.cover(r, Ask, Deny):
			list = append(list, sentence("It no longer asks about", r, "."))
		}
	}
	return unique(list)
}

// Narrowed returns the rules that may hold while new waits to be confirmed: what
// is denied or asked by either, and what is allowed by both. Either may be nil.
func Narrowed(old, new *File) *File {
	old, new = orEmpty(old), orEmpty(new)
	f := &File{Name: new.Name, Enforce: EnforceCLI}
	if old.Enforce == EnforceHook || new.Enforce == EnforceHook {
		f.Enforce = EnforceHook
	}
	f.Sets, f.UnauthenticatedSets = both(old.Sets, new.Sets), both(old.UnauthenticatedSets, new.UnauthenticatedSets)
	type name struct {
		decision     Decision
		scope        Scope
		text, folder string
		expires      int64
	}
	have := map[name]bool{}
	add := func(r Rule) {
		n := name{r.Decision, r.Scope, canonical(r.Text), r.Folder, r.Expires.UnixNano()}
		if !have[n] {
			have[n] = true
			f.Rules = append(f.Rules, r)
		}
	}
	before, after := rulesByText(old.Rules), rulesByText(new.Rules)
	for _, r := range new.Rules {
		if r.Decision != Allow || before.cover(&r, Allow) {
			add(r)
		}
	}
	for _, r := range old.Rules {
		if r.Decision != Allow || after.cover(&r, Allow) {
			add(r)
		}
	}
	return f
}

// both returns what is in both lists.
func both(a, b []string) (list []string) {
	for _, s := range a {
		if slices.Contains(b, s) {
			list = append(list, s)
		}
	}
	return list
}

func orEmpty(f *File) *File {
	if f == nil {
		return &File{}
	}
	return f
}

// rulesOf are rules by the one way to write them: a file may have thousands, and
// each is looked for among those of another version.
type rulesOf map[string][]*Rule

func rulesByText(rules []Rule) rulesOf {
	list := make(rulesOf, len(rules))
	for i := range rules {
		text := canonical(rules[i].Text)
		list[text] = append(list[text], &rules[i])
	}
	return list
}

// cover reports whether one of the rules, with one of the decisions, covers every
// call that r covers, wherever and as long as r counts.
func (l rulesOf) cover(r *Rule, decisions ...Decision) bool {
	for _, text := range widerTexts(r.Text) {
		for _, by := range l[text] {
			if slices.Contains(decisions, by.Decision) && lasts(by, r) && reaches(by, r) && (by.Folder == "" || r.Folder != "" && isBelow(by.Folder, r.Folder)) {
				return true
			}
		}
	}
	return false
}

// reaches reports whether a counts for the sessions that b counts for: one of the
// section [unauthenticated] counts for these alone, and what the others allow does
// not count for them.
func reaches(a, b *Rule) bool {
	switch {
	case a.Scope == ScopeUnauthenticated:
		return b.Scope == ScopeUnauthenticated
	case b.Scope == ScopeUnauthenticated:
		return a.Decision != Allow
	default:
		return true
	}
}

// lasts reports whether a counts at least as long as b.
func lasts(a, b *Rule) bool {
	return a.Expires.IsZero() || !b.Expires.IsZero() && !a.Expires.Before(b.Expires)
}

// widerTexts returns the texts of rules that certainly cover what a rule covers:
// its own, and that of a rule about all calls of the same tool.
func widerTexts(text string) []string {
	texts := []string{canonical(text)}
	s, err := parseRule(text)
	// Read(…) and Edit(…) are about more tools than Read and Edit: an allow rule
	// about the others that read and write, a deny rule about files that a shell
	// command names.
	if err == nil && s.content != "" && s.tool != "Read" && s.tool != "Edit" {
		texts = append(texts, s.tool)
	}
	if err == nil && s.tool == ruleNetwork {
		texts = append(texts, widerHosts(s)...)
	}
	return texts
}

// canonical returns the one way to write a rule.
func canonical(text string) string {
	s, err := parseRule(text)
	if err != nil {
		return text
	}
	s.tool = strings.TrimSuffix(s.tool, "__*")
	if s.tool == "Task" {
		s.tool = "Agent"
	}
	if s.tool == ruleNetwork {
		if s.content = strings.ToLower(s.content); s.content == "host:*" {
			s.content = ""
		}
	}
	return s.String()
}

// sentence says what happens to a rule.
func sentence(what string, r *Rule, end string) string {
	text := what + " " + r.Text
	if r.Folder != "" {
		text += " in " + r.Folder
	}
	if r.Scope == ScopeUnauthenticated {
		text += " for unauthenticated sessions"
	}
	if !r.Expires.IsZero() {
		text += " until " + r.Expires.UTC().Format("2006-01-02 15:04 MST")
	}
	return text + end
}
