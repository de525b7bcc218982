package permit

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/switchboard-dev/switchboard/wire"
)

// The words of questions about commands.
const (
	needsApproval = "This command requires approval"
	operators     = "This command uses shell operators that require approval for safety"
	newlines      = "Command contains newlines that could separate multiple commands"
	unquoted      = "Heredoc with unquoted delimiter undergoes shell expansion"
)

// access is what a command does with the paths it names.
type access int

const (
	noPaths   access = iota
	readPaths        // reads them
	editPaths        // changes them
	dirPaths         // reads folders
)

// pathCommands are the commands whose paths are checked.
var pathCommands = map[string]access{
	"mkdir": editPaths, "touch": editPaths, "rm": editPaths, "rmdir": editPaths, "mv": editPaths, "cp": editPaths, "sed": editPaths,
	"cd": dirPaths, "ls": dirPaths, "find": dirPaths, "tree": dirPaths, "du": dirPaths,
	"cat": readPaths, "head": readPaths, "tail": readPaths, "sort": readPaths, "uniq": readPaths, "wc": readPaths, "cut": readPaths,
	"file": readPaths, "stat": readPaths, "diff": readPaths, "strings": readPaths, "base64": readPaths, "nl": readPaths,
	"grep": readPaths, "rg": readPaths, "jq": readPaths, "md5sum": readPaths, "sha1sum": readPaths, "sha256sum": readPaths, "rev": readPaths,
}

// patternFirst are the commands whose first argument is no path.
var patternFirst = []string{"grep", "rg", "jq", "sed"}

// readOnly are the commands that are never asked about.
var readOnly = map[string]bool{
	"pwd": true, "date": true, "which": true, "whoami": true, "uname": true, "head": true, "tail": true, "wc": true, "grep": true, "rg": true,
	"find": true, "sort": true, "cut": true, "diff": true, "stat": true, "file": true, "du": true, "df": true, "ps": true, "basename": true,
	"dirname": true, "realpath": true, "readlink": true, "cd": true, "id": true, "jq": true, "tree": true, "false": true, "true": true,
	"ls": true, "cat": true, "echo": true, "sleep": true, "hostname": true, "tr": true, "rev": true, "md5sum": true, "sha1sum": true,
	"sha256sum": true, "base64": true, "strings": true, "history": true, "man": true, "uptime": true, "free": true, "nproc": true,
	"type": true, "nl": true, "tac": true, "groups": true,
}

// later are the commands that are not asked about from 2.1.120 on.
var later = map[string]bool{"test": true, "[": true, "seq": true, "printf": true, "expr": true}

// gitReads are the words of git that only look.
var gitReads = []string{"status", "log", "diff", "show", "blame", "ls-files", "rev-parse", "shortlog", "describe"}

// isReadOnly says whether a command is never asked about.
func (g *Gate) isReadOnly(words []string, odd bool) bool {
	if len(words) == 0 || odd && !g.is325() {
		return false
	}
	name, arguments := words[0], words[1:]
	switch name {
	case "find":
		return !slices.ContainsFunc(arguments, func(a string) bool {
			return a == "-delete" || strings.HasPrefix(a, "-exec") || strings.HasPrefix(a, "-ok") || strings.HasPrefix(a, "-fprint")
		})
	case "git":
		return len(arguments) > 0 && slices.Contains(gitReads, arguments[0]) || slices.Equal(arguments, []string{"branch"})
	case "python", "python3":
		return slices.Equal(arguments, []string{"--version"})
	case "node":
		return g.is120() && slices.Equal(arguments, []string{"--version"})
	case "docker":
		return slices.Equal(arguments, []string{"ps"}) || slices.Equal(arguments, []string{"images"})
	case "npm":
		return !g.is120() && len(arguments) > 0 && arguments[0] == "list"
	case "alias":
		return !g.is120()
	}
	return readOnly[name] || g.is120() && later[name]
}

// wrappers are commands that run another one. From 2.1.120 on a rule that
// denies or asks sees through them.
var wrappers = []string{"sudo", "time", "nohup", "nice", "timeout", "env", "command", "xargs"}

var (
	assignment = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)
	subcommand = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)
	number     = regexp.MustCompile(`^[0-9.]+[smhd]?$`)
)

// bare returns a command without the assignments and wrappers before it.
func bare(text string) string {
	fields := strings.Fields(text)
	for len(fields) > 1 {
		wrapper := slices.Contains(wrappers, fields[0])
		if !wrapper && !assignment.MatchString(fields[0]) {
			break
		}
		fields = fields[1:]
		for wrapper && len(fields) > 1 && (strings.HasPrefix(fields[0], "-") || number.MatchString(fields[0])) {
			fields = fields[1:]
		}
	}
	return strings.Join(fields, " ")
}

// suggested returns what a rule would match that saves the question about a
// command in future: the command itself, from 2.1.120 on its first two words if
// they look like a program and what it shall do.
func (g *Gate) suggested(text string) string {
	text = strings.TrimSpace(text)
	if !g.is120() {
		return text
	}
	fields := strings.Fields(text)
	if len(fields) > 0 && strings.HasPrefix(fields[0], "NODE_ENV=") { // the only harmless variable that was tried
		fields = fields[1:]
		text = strings.Join(fields, " ")
	}
	if len(fields) < 2 || !subcommand.MatchString(fields[1]) || strings.Contains(fields[0], "=") ||
		g.is325() && slices.Contains(wrappers, fields[0]) {
		return text
	}
	return fields[0] + " " + fields[1] + " *"
}

// commandRules suggests rules that allow commands.
func (g *Gate) commandRules(texts ...string) *wire.AddRules {
	update := &wire.AddRules{Behavior: wire.RuleBehaviorAllow, Destination: wire.UpdateDestinationLocalSettings}
	for _, text := range texts {
		rule := wire.PermissionRule{ToolName: "Bash", RuleContent: g.suggested(text)}
		if !slices.ContainsFunc(update.Rules, func(r wire.PermissionRule) bool { return r.RuleContent == rule.RuleContent }) {
			update.Rules = append(update.Rules, rule)
		}
	}
	return update
}

// keywords are words of the shell before a command.
var keywords = []string{"do", "then", "else", "elif", "if", "while", "until", "!", "{"}

// withoutKeywords takes the words of loops and conditions out of the parts of a
// line, as 2.1.120 does and 2.1.37 does not.
func withoutKeywords(parts []part) []part {
	var kept []part
	for _, p := range parts {
		for len(p.words) > 0 && slices.Contains(keywords, p.words[0]) {
			p.text = strings.TrimSpace(strings.TrimPrefix(p.text, p.words[0]))
			p.words = p.words[1:]
		}
		if len(p.words) > 0 && slices.Contains([]string{"done", "fi", "esac", "for", "case", "}"}, p.words[0]) {
			continue
		}
		if len(p.words) > 0 || len(p.targets) > 0 {
			kept = append(kept, p)
		}
	}
	return kept
}

// obstacle returns the question about a line with something in it that cannot
// be checked.
func (g *Gate) obstacle(l *line, command string) (Verdict, bool) {
	reasons := []struct {
		construct          construct
		old, middle, newer string
	}{
		{nested, "Command contains $() command substitution", "Contains command_substitution", "A nested command in this command can't be checked before it runs"},
		{backticks, "Command contains backticks (`) for command substitution", "Contains command_substitution", "A nested command in this command can't be checked before it runs"},
		{process, "Command contains process substitution <()", "Contains process_substitution", "A command used as a file in this command can't be checked before it runs"},
		{braces, "Command contains ${} parameter substitution", "Contains expansion", "A variable in braces in this command can't be checked before it runs"},
		{heredoc, newlines, unquoted, unquoted},
		{subshell, operators, operators, operators},
		{variable, "", "Contains simple_expansion", ""},
		{comment, operators, "", ""},
		{background, operators, "", ""},
		{inputFile, "Command contains input redirection (<) which could read sensitive files", "", ""},
	}
	for _, r := range reasons {
		reason := r.old
		switch {
		case g.is325():
			reason = r.newer
		case g.is120():
			reason = r.middle
		}
		if !l.is(r.construct) || reason == "" {
			continue
		}
		v := Verdict{Behavior: Ask, Reason: reason, ReasonType: string(wire.DecisionReasonTypeOther), Suggestions: []wire.PermissionUpdate{}}
		if r.construct == comment && strings.Contains(command, "\n") {
			v.Reason = newlines
		}
		if v.Reason == operators || !g.is120() && (r.construct == nested || r.construct == process || r.construct == inputFile) {
			v.Suggestions = nil
		}
		return v, true
	}
	return Verdict{}, false
}

// checkBash says what the CLI thinks of a command before the mode and rules for
// the whole tool are looked at.
func (g *Gate) checkBash(command string) finding {
	l := parse(command)
	parts := l.parts
	if g.is120() {
		parts = withoutKeywords(parts)
	}
	if f, ok := g.deniedCommand(command, parts, l.inputs); ok {
		return f
	}
	for _, p := range parts {
		if r := g.bashRule(Ask, g.forms(p.text)...); r != nil {
			return g.askedByRule(r)
		}
	}
	if r := g.bashRule(Ask, command); r != nil {
		return g.askedByRule(r)
	}
	if v, ok := g.obstacle(l, command); ok {
		return finding{Verdict: v}
	}
	var asked []string
	var paths []Verdict
	for _, p := range parts {
		v, isPath := g.checkPart(p, l.is(variable))
		switch {
		case v.Behavior == Allow:
		case v.ReasonType == string(wire.DecisionReasonTypeSafetyCheck):
			return finding{Verdict: v, firm: g.safetyFirm()}
		case isPath && !g.is120():
			// 2.1.37 looks at the paths of the whole line first.
			return finding{Verdict: v}
		case isPath:
			paths = append(paths, v)
			asked = append(asked, p.text)
		default:
			asked = append(asked, p.text)
		}
	}
	switch {
	case len(asked) == 0:
		return finding{Verdict: Verdict{Behavior: Allow}}
	case len(paths) == 1 && len(asked) == 1:
		v := paths[0]
		if g.is325() {
			v.Suggestions = slices.Insert(v.Suggestions, 0, wire.PermissionUpdate(g.commandRules(command)))
		}
		return finding{Verdict: v}
	}
	v := Verdict{Behavior: Ask, ReasonType: string(wire.DecisionReasonTypeSubcommandResults), Suggestions: []wire.PermissionUpdate{g.commandRules(asked...)}}
	if len(parts) == 1 {
		v.Reason, v.ReasonType = needsApproval, string(wire.DecisionReasonTypeOther)
	}
	if l.is(background) && g.is325() {
		v.Suggestions = nil
	}
	return finding{Verdict: v}
}

// forms returns the forms of a command that rules which deny or ask look at.
func (g *Gate) forms(text string) []string {
	switch {
	case g.is325():
		name, rest, _ := strings.Cut(bare(text), " ")
		return []string{text, bare(text), strings.TrimSpace(filepath.Base(name) + " " + rest)}
	case g.is120():
		return []string{text, bare(text)}
	case strings.HasPrefix(text, "timeout "): // the only one that 2.1.37 sees through
		return []string{text, bare(text)}
	}
	return []string{text}
}

// deniedCommand looks for a rule that denies a part of a command, or a path in
// it. Only 2.1.325 looks at the files that input comes from.
func (g *Gate) deniedCommand(command string, parts []part, inputs []string) (finding, bool) {
	v := Verdict{Behavior: Deny, Message: "Permission to use Bash with command " + command + " has been denied.", ReasonType: string(wire.DecisionReasonTypeSubcommandResults)}
	for _, p := range parts {
		r := g.bashRule(Deny, g.forms(p.text)...)
		paths, kind := g.commandPaths(p.words)
		for _, path := range paths {
			if r != nil {
				break
			}
			switch path = g.resolve(path); kind {
			case editPaths:
				r = g.pathRule(Deny, path, "Edit")
			case readPaths, dirPaths:
				r = g.pathRule(Deny, path, "Read")
			case noPaths:
			}
		}
		for _, target := range p.targets {
			if r == nil {
				r = g.pathRule(Deny, g.resolve(target), "Edit")
			}
		}
		if r == nil {
			continue
		}
		v.Rule = r
		if strings.TrimSuffix(r.Content, ":*") == strings.TrimSpace(command) {
			v.ReasonType = string(wire.DecisionReasonTypeRule)
		}
		return finding{Verdict: v}, true
	}
	for _, path := range inputs {
		if r := g.pathRule(Deny, g.resolve(path), "Read"); r != nil && g.is325() {
			v.Rule = r
			return finding{Verdict: v}, true
		}
	}
	if r := g.bashRule(Deny, command); r != nil {
		v.Rule, v.ReasonType = r, string(wire.DecisionReasonTypeRule)
		return finding{Verdict: v}, true
	}
	return finding{}, false
}

// commandPaths returns the paths that a command names and what it does with
// them.
func (g *Gate) commandPaths(words []string) ([]string, access) {
	if len(words) == 0 {
		return nil, noPaths
	}
	kind := pathCommands[words[0]]
	if words[0] == "tee" && g.is325() {
		kind = editPaths
	}
	if kind == noPaths {
		return nil, noPaths
	}
	var paths []string
	flags := true
	for _, word := range words[1:] {
		switch {
		case flags && word == "--":
			flags = false
		case flags && strings.HasPrefix(word, "-"):
			if words[0] == "find" { // what follows is the expression
				return paths, kind
			}
		default:
			paths = append(paths, word)
		}
	}
	if slices.Contains(patternFirst, words[0]) && len(paths) > 0 {
		paths = paths[1:]
	}
	return paths, kind
}

// checkPart judges one simple command. isPath says that a path is the reason to
// ask.
func (g *Gate) checkPart(p part, odd bool) (v Verdict, isPath bool) {
	allowed := g.bashRule(Allow, p.text) != nil
	paths, kind := g.commandPaths(p.words)
	for i, path := range paths {
		paths[i] = g.resolve(path)
	}
	if len(p.words) > 0 && (p.words[0] == "rm" || p.words[0] == "rmdir") {
		for _, path := range paths {
			if path == "/" || path == g.home {
				return g.dangerous(p.words[0], path), false
			}
		}
	}
	if kind == editPaths {
		if path, ok := g.blocked(paths, allowed); ok {
			return g.blockedEdit(path, true), true
		}
	}
	if kind == readPaths || kind == dirPaths {
		for _, path := range paths {
			if !g.readable(path) {
				dir := path
				if kind == readPaths {
					dir = filepath.Dir(path)
				}
				return Verdict{Behavior: Ask, BlockedPath: path, Suggestions: []wire.PermissionUpdate{readRule(dir)}}, true
			}
		}
	}
	var targets []string
	for _, target := range p.targets {
		if target != "/dev/null" {
			targets = append(targets, g.resolve(target))
		}
	}
	if path, ok := g.blocked(targets, allowed); ok {
		return g.blockedEdit(path, false), true
	}
	if allowed || kind == editPaths && len(paths) > 0 || g.isReadOnly(p.words, odd) {
		return Verdict{Behavior: Allow}, false
	}
	return Verdict{Behavior: Ask}, false
}

// dangerous is the question about removing what must not be removed.
func (g *Gate) dangerous(command, path string) Verdict {
	return Verdict{
		Behavior: Ask, Reason: "Dangerous " + command + " operation on critical path: " + path,
		ReasonType: string(wire.DecisionReasonTypeSafetyCheck), Suggestions: []wire.PermissionUpdate{},
		More: g.more(Member{"classifier_approvable", false}, Member{"suppress_always_allow_rule", true}),
	}
}

// blocked returns the first path that a command may not change unasked. Inside
// the working folders it may in mode acceptEdits, and 2.1.325 also lets it do so
// if a rule allows the command.
func (g *Gate) blocked(paths []string, allowed bool) (string, bool) {
	first := ""
	for _, path := range paths {
		switch {
		case g.inside(path) && (g.edits() || allowed && g.is325()):
		case g.pathRule(Allow, path, "Edit") != nil:
		case g.is325() && !g.inside(path):
			return path, true
		case first == "":
			first = path
		}
	}
	return first, first != ""
}

// blockedEdit is the question about a path that a command would change.
func (g *Gate) blockedEdit(path string, mode bool) Verdict {
	v := Verdict{Behavior: Ask, BlockedPath: path, Suggestions: []wire.PermissionUpdate{addDirectory(filepath.Dir(path))}}
	if mode && g.offersEdits() {
		v.Suggestions = append(v.Suggestions, acceptEdits())
	}
	return v
}
