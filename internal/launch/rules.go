package launch

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/switchboard-dev/switchboard/wire"
)

// forgiving is the first version known to leave a rule aside that it cannot read,
// and not all the settings that it is in.
var forgiving = wire.Version{Major: 2, Minor: 1, Patch: 120}

// rules returns the settings of a run with the rules that the CLI is to enforce,
// and the tools to disallow by flags.
//
// Every version leaves the whole settings object aside, without a word, if any
// member of it has another type than it expects. The session's own object is in
// there too, so that the denials are said once more by flags, which are read in
// any case. For rules that ask there is no second way. Where flags would be too
// long for the system, only an object that is all ours will do.
func (l *Launcher) rules(version wire.Version, spec *Spec) (settings json.RawMessage, disallowed []string, err error) {
	deny, ask := spec.Deny, spec.Ask
	strict := version.Compare(forgiving) < 0
	if strict {
		deny, ask = slices.Clone(deny), slices.Clone(ask)
		deny = slices.DeleteFunc(deny, func(rule string) bool { return !readable(rule) })
		ask = slices.DeleteFunc(ask, func(rule string) bool {
			if readable(rule) {
				return false
			}
			l.log.Warn("this version of claude cannot read a rule and will not ask because of it", "session", spec.Session, "run", spec.Run, "version", version.String(), "rule", rule)
			return true
		})
	}
	if settings, err = withRules(spec.Options.Settings, deny, ask, strict); err != nil {
		return nil, nil, err
	}
	enforced := setOf(deny)
	size := 0
	for _, rule := range spec.Deny {
		size += len("--disallowedTools=") + len(rule) + 1
	}
	twice := size <= maxFlags
	if !twice && len(spec.Options.Settings) > 0 {
		return nil, nil, &StartError{
			Code: BadOption, Reason: "there are too many rules that deny for a session with settings of its own, which may spoil those that go with them",
			Hint: "leave the option Settings out, or have fewer rules",
		}
	}
	for _, rule := range spec.Deny {
		if !twice && enforced[rule] {
			continue
		}
		if oneFlag.MatchString(rule) {
			disallowed = append(disallowed, rule)
		} else if !enforced[rule] {
			l.log.Warn("this version of claude cannot read a rule and will not deny what it says", "session", spec.Session, "run", spec.Run, "version", version.String(), "rule", rule)
		}
	}
	return settings, disallowed, nil
}

// maxFlags is how many bytes of rules are given by flags. Systems take between
// one and two MiB for arguments and environment together.
const maxFlags = 256 << 10

// setOf returns the entries of a list.
func setOf(list []string) map[string]bool {
	set := make(map[string]bool, len(list))
	for _, entry := range list {
		set[entry] = true
	}
	return set
}

// oneFlag matches the rules that a flag can carry: the CLI parts a flag's value
// at commas and spaces that are not in parentheses, of which it counts one pair.
var oneFlag = regexp.MustCompile(`^[^\s,()]+(\([^()]*\))?$`)

// parentheses takes the backslashes from before parentheses and backslashes.
var parentheses = strings.NewReplacer(`\(`, "(", `\)`, ")", `\\`, `\`)

// readable reports whether 2.1.37 takes a text for a rule.
func readable(rule string) bool {
	if strings.TrimSpace(rule) == "" {
		return false
	}
	opening, closing := unescaped(rule, '('), unescaped(rule, ')')
	if len(opening) != len(closing) || slices.ContainsFunc(opening, func(i int) bool { return strings.HasPrefix(rule[i:], "()") }) {
		return false
	}
	tool, content, hasContent := rule, "", false
	if len(opening) > 0 && opening[0] > 0 && closing[len(closing)-1] == len(rule)-1 {
		tool, content = rule[:opening[0]], parentheses.Replace(rule[opening[0]+1:len(rule)-1])
		hasContent = content != "*"
	}
	if parts := strings.Split(tool, "__"); len(parts) > 1 && parts[0] == "mcp" && parts[1] != "" {
		return len(opening) == 0
	}
	if first, _ := utf8.DecodeRuneInString(tool); unicode.ToUpper(first) != first {
		return false
	}
	return !hasContent || readableContent(tool, content)
}

// placedStar is what a pattern of paths with a star must have in it.
var placedStar = regexp.MustCompile(`^\*|\*$|\*\*|/\*|\*\.|\*\)`)

// readableContent judges what is in a rule's parentheses.
func readableContent(tool, content string) bool {
	switch tool {
	case "Bash":
		return !strings.Contains(content, ":*") || strings.HasSuffix(content, ":*") && content != ":*"
	case "Read", "Write", "Edit", "Glob", "NotebookRead", "NotebookEdit":
		return !strings.Contains(content, ":*") && (!strings.Contains(content, "*") || placedStar.MatchString(content))
	case "WebFetch":
		return strings.HasPrefix(content, "domain:") && !strings.Contains(content, "://")
	case "WebSearch":
		return !strings.ContainsAny(content, "*?")
	}
	return true
}

// unescaped returns the places of a character that no backslash stands before.
func unescaped(text string, c byte) []int {
	var places []int
	for i := range len(text) {
		if text[i] != c {
			continue
		}
		before := strings.TrimRight(text[:i], `\`)
		if (i-len(before))%2 == 0 {
			places = append(places, i)
		}
	}
	return places
}
