package policy

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"time"
)

// An Engine decides about calls. It never changes and is safe for concurrent use.
type Engine struct {
	enforce  string
	home     folder
	resolve  Resolver // nil is Real
	isDir    func(string) bool
	foldCase bool
	own      []ownPath
	// sealed says why no rule allows anything; mostly empty.
	sealed string
	// file and autoApprove are what the engine was made of.
	file        *File
	autoApprove []string
	// elsewhere says that agents run on another machine, whose links are known as far as
	// known says; missing are those that rules are about and that are not. See On.
	elsewhere bool
	known     map[string]Link
	missing   []string
	// base holds the rules of the file and of its sets, session those of one
	// session, which may be nil.
	base, session *table
	// dialed and unauthenticated are the engines for sessions of other origins. They
	// are nil in these engines themselves.
	dialed, unauthenticated *Engine
}

// New makes an engine of a file's rules; f may be nil, which is a file without
// any. The error is a *[RuleError].
func New(f *File, o Options) (*Engine, error) {
	o.FoldCase = o.FoldCase || runtime.GOOS == "darwin" || runtime.GOOS == "windows"
	return newEngine(f, o)
}

// newEngine is New on a file system that folds case as the options say.
func newEngine(f *File, o Options) (*Engine, error) {
	if f == nil {
		f = &File{}
	}
	e := &Engine{enforce: f.Enforce, resolve: o.Resolve, isDir: o.IsDir, foldCase: o.FoldCase, file: f, autoApprove: o.AutoApprove}
	if e.isDir == nil {
		e.isDir = isRealDir
	}
	if e.enforce == "" {
		e.enforce = EnforceCLI
	}
	e.home = locate(o.Home, e.resolve)
	e.own = e.ownPaths(o.Own)
	if err := e.addRules(f, o.AutoApprove); err != nil {
		return nil, err
	}
	return e, nil
}

// With returns an engine that also has a session's rules. It is cheap: the other
// rules are shared. If some rules cannot be read, the errors are *[RuleError],
// joined, and the engine that is returned along has the others, denies and asks
// by them, and allows nothing: it is not known what the missing ones would forbid.
func (e *Engine) With(session []Rule) (*Engine, error) {
	with := *e
	rules := make([]Rule, 0, len(session))
	var errs []error
	for _, r := range session {
		r.Scope = ScopeSession
		if err := CheckRuleFor(r.Text, r.Decision); err != nil {
			errs = append(errs, &RuleError{Rule: r, Err: err})
			with.sealed = "A rule of the session cannot be read, so that none allows anything: a person decides."
			continue
		}
		rules = append(rules, r)
	}
	compiler := e
	links := NewLinks(e.known)
	if e.elsewhere {
		compiler = new(*e)
		compiler.resolve = links.follow
	}
	var err error
	if with.session, err = newTable(rules, compiler); err != nil {
		return nil, err // cannot be: all of them have been checked
	}
	with.sealFor(links)
	return &with, errors.Join(errs...)
}

// Enforce returns EnforceCLI or EnforceHook.
func (e *Engine) Enforce() string { return e.enforce }

// Rules returns the rules that count for a session in a folder, expired ones
// included; all rules if dir is empty. First come those that no client can remove,
// then a session's, then the others in the file's order, then the sets', then
// those for sessions of other origins.
func (e *Engine) Rules(dir string) []Rule {
	var list []Rule
	for _, own := range e.own {
		list = append(list, own.rules()...)
	}
	j := judge{e: e, call: &Call{Dir: dir}}
	for _, t := range []*table{e.session, e.base} {
		if t == nil {
			continue
		}
		for _, r := range t.rules {
			if dir == "" || j.inFolder(&compiled{rule: &r, folder: e.locateFolder(r.Folder)}) {
				list = append(list, r)
			}
		}
	}
	if dir == "" && e.unauthenticated != nil {
		list = append(list, e.unauthenticated.base.elsewhere()...)
	}
	return list
}

func (e *Engine) locateFolder(name string) folder {
	if name == "" {
		return folder{}
	}
	return locate(name, e.resolve)
}

// Decide decides about a call: deny beats ask, ask beats allow, wherever the
// rules stand. No rule decides about plans and choices.
func (e *Engine) Decide(c Call) Verdict {
	if slices.Contains(undecided, c.Tool) {
		return Verdict{Reason: "No rule answers a plan or a choice: a person does."}
	}
	if e.elsewhere && c.Links == nil {
		c.Links = NewLinks(nil)
	}
	j := judge{e: e, call: &c}
	if v, ok := j.own(); ok {
		return v
	}
	if v, ok := j.forbid(Deny); ok {
		return v
	}
	if v, ok := j.forbid(Ask); ok {
		return v
	}
	return j.told(j.permit())
}

// A judge decides about one call. What it finds out about the call it finds out
// once, and only if a rule wants to know.
type judge struct {
	e    *Engine
	call *Call

	dirKnown bool
	dirFound folder

	rootsKnown bool
	rootsFound []folder

	filesKnown bool
	files      files

	commandKnown bool
	command      *script // nil if the call has none
	shellKnown   bool
	shellTargets []shellTarget

	// unseen says that there is more in the input than was looked at.
	unseen bool

	addressKnown bool
	address      *address // nil if the call has none
}

// each calls f for each rule with a decision that may be about the call and
// counts here and now, until f returns false.
func (j *judge) each(d Decision, f func(*compiled) bool) {
	for _, t := range [...]*table{j.e.session, j.e.base} {
		if t == nil {
			continue
		}
		if !j.some(t.every.withDecision(d), f) {
			return
		}
		if b := t.tools[j.call.Tool]; b != nil && !j.some(b.withDecision(d), f) {
			return
		}
		if d != Allow && j.call.Tool != "Bash" && runsCommands(j.call.Tool) {
			if b := t.tools["Bash"]; b != nil && !j.some(b.withDecision(d), f) {
				return
			}
		}
		for server := mcpServer(j.call.Tool); server != ""; {
			if b := t.tools[server]; b != nil && !j.some(b.withDecision(d), f) {
				return
			}
			if d == Allow {
				break
			}
			// Where the server's name ends is not certain if it has "__" in it.
			next := strings.Index(j.call.Tool[len(server)+2:], "__")
			if next < 0 {
				break
			}
			server = j.call.Tool[:len(server)+2+next]
		}
	}
}

// maxRules returns for how many rules each could call f.
func (j *judge) maxRules(d Decision) (n int) {
	for _, t := range [...]*table{j.e.session, j.e.base} {
		if t != nil {
			if b := t.tools[j.call.Tool]; b != nil {
				n += len(b.withDecision(d))
			}
		}
	}
	return n
}

func (j *judge) some(list []*compiled, f func(*compiled) bool) bool {
	for _, c := range list {
		if j.active(c) && !f(c) {
			return false
		}
	}
	return true
}

// active reports whether a rule counts here and now.
func (j *judge) active(c *compiled) bool {
	return (c.rule.Expires.IsZero() || c.counts(j.call.Now)) && (c.rule.Folder == "" || j.inFolder(c))
}

// inFolder reports whether the session runs where the rule counts.
func (j *judge) inFolder(c *compiled) bool {
	if c.rule.Folder == "" {
		return true
	}
	dir := j.dir()
	if c.rule.Decision == Allow {
		literal := isBelow(c.folder.literal, dir.literal) || isBelow(c.folder.real, dir.literal)
		return literal && isBelow(c.folder.real, dir.real)
	}
	for _, folder := range [...]string{c.folder.literal, c.folder.real} {
		if j.e.within(folder, dir.literal) || j.e.within(folder, dir.real) {
			return true
		}
	}
	return false
}

func isBelow(folder, name string) bool {
	if name == "" {
		return false
	}
	_, ok := below(folder, name)
	return ok
}

// mcpServer returns the rule that is about all tools of the server that a tool
// belongs to; "" if it is no MCP server's.
func mcpServer(tool string) string {
	rest, ok := strings.CutPrefix(tool, "mcp__")
	if !ok {
		return ""
	}
	server, _, ok := strings.Cut(rest, "__")
	if !ok {
		return ""
	}
	return tool[:len("mcp__")+len(server)]
}

// dir returns the session's folder.
func (j *judge) dir() folder {
	if !j.dirKnown {
		j.dirKnown, j.dirFound = true, locate(j.call.Dir, j.resolver())
	}
	return j.dirFound
}

// roots returns the session's folder and those that were added to it.
func (j *judge) roots() []folder {
	if !j.rootsKnown {
		j.rootsKnown = true
		j.rootsFound = append(j.rootsFound, j.dir())
		for _, name := range j.call.AddDirs {
			j.rootsFound = append(j.rootsFound, locate(j.absolute(name), j.resolver()))
		}
	}
	return j.rootsFound
}

// forbid looks for a deny or ask rule that covers the call in any way.
func (j *judge) forbid(d Decision) (v Verdict, found bool) {
	j.each(d, func(c *compiled) bool {
		ok, direct, reason := j.touched(c)
		if ok {
			found = true
			v = Verdict{Decision: d, Rule: c.rule, Reason: reason, Enforced: c.enforced(direct)}
			if d == Deny {
				v.Message = c.rule.Message
				if v.Message == "" {
					v.Message = "The rule " + c.rule.Text + " forbids this."
				}
			}
		}
		return !ok
	})
	return v, found
}

// touched reports whether a deny or ask rule covers the call. direct says that
// the CLI, given the rule, finds so too.
func (j *judge) touched(c *compiled) (ok, direct bool, reason string) {
	verb := "denies"
	if c.rule.Decision == Ask {
		verb = "has a person asked about"
	}
	switch c.kind {
	case kindTool:
		what := "every call of " + brief(j.call.Tool)
		switch {
		case c.rule.Text == everything:
			what = "everything in this session"
		case c.spec.tool == ruleNetwork:
			what = "every host"
		}
		return true, true, c.rule.Text + " " + verb + " " + what + "."
	case kindPath:
		if at := j.touchedPath(c); at != nil {
			return true, j.call.Tool != "Bash", c.rule.Text + " " + verb + " " + describe(at) + "."
		}
	case kindShell:
		if s := j.script(); s != nil {
			if ok, direct, why := s.matches(c.shell); ok {
				return true, direct, because(c.rule.Text+" "+verb+" this", why)
			}
		}
	case kindDomain:
		if a := j.url(); a != nil && c.domain.denied(a) {
			if j.call.Tool == ToolNetwork { // which the CLI does not know of
				return true, false, c.rule.Text + " " + verb + " the host " + brief(a.text) + "."
			}
			return true, a.doubt == "", c.rule.Text + " " + verb + " the host of " + brief(a.text) + "."
		}
	case kindName:
		if name, given := j.name(); c.name.match(name, true) {
			return true, given, c.rule.Text + " " + verb + " " + brief(name) + "."
		}
	}
	return false, false, ""
}

// because puts what a rule does and why into one sentence.
func because(what, why string) string {
	why = strings.TrimSuffix(why, ".")
	if why == "" {
		return what + "."
	}
	return what + ": " + lowerFirst(why) + "."
}

// lowerFirst makes a sentence the part of another one.
func lowerFirst(s string) string {
	for _, article := range []string{"The ", "A ", "An ", "It ", "No ", "Every ", "Each ", "After ", "In ", "There "} {
		if strings.HasPrefix(s, article) {
			return strings.ToLower(s[:1]) + s[1:]
		}
	}
	return s
}

// brief is short, which it calls where that makes a difference.
func brief(text string) string {
	if len(text) < 64 && strings.IndexFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) < 0 {
		return text
	}
	return short(text)
}

// describe names a path for people.
func describe(at *resolvedPath) string {
	text := brief(at.given)
	if text == "" {
		text = "an empty path"
	}
	if at.real != "" && at.real != at.literal {
		text += ", which leads to " + brief(at.real)
	}
	return text
}

// enforced says what enforces a deny or ask rule.
func (c *compiled) enforced(direct bool) string {
	if direct && c.rule.Expires.IsZero() && c.hasCLIForm() {
		return EnforcedBoth
	}
	return EnforcedHub
}

// Enforced says what enforces a rule: EnforcedHub or
// EnforcedBoth.
func Enforced(r Rule) string {
	if r.Decision == Allow || r.Text == everything {
		return EnforcedHub
	}
	c, err := compileText(r.Text)
	if err != nil {
		return EnforcedHub
	}
	c.rule = &r
	return c.enforced(true)
}

// Expired reports whether a rule does not count any more.
func (r *Rule) Expired(now time.Time) bool {
	return !r.Expires.IsZero() && !now.Before(r.Expires)
}
