package policy

import "slices"

// autoApproveSource is the source of the rules of [Options.AutoApprove]: the
// setting that they stand in.
const autoApproveSource = "dial.auto_approve"

// For returns the rules that count for a session of an origin. Deny and ask rules
// of the file count for all of them. What allows depends on the origin:
//
//   - OriginHub: the file's rules and sets.
//   - OriginDialed: these, and [Options.AutoApprove].
//   - OriginUnauthenticated: the section [unauthenticated], which may also deny and
//     ask, and [Options.AutoApprove]; nothing else of the file.
//   - Any other: nothing.
//
// The rules of one session, see [Engine.With], are added afterwards. For returns the
// same engine each time.
func (e *Engine) For(o Origin) *Engine {
	switch {
	case o == OriginHub || e.dialed == nil:
		return e
	case o == OriginDialed:
		return e.dialed
	default:
		return e.unauthenticated
	}
}

// CheckAutoApprove says what is wrong with an element of [Options.AutoApprove].
func CheckAutoApprove(text string) error {
	if slices.Contains(Sets(), text) {
		return nil
	}
	return CheckRuleFor(text, Allow)
}

// addRules makes the table of e, and the engines for the other origins, which share
// its compiled rules.
func (e *Engine) addRules(f *File, autoApprove []string) (err error) {
	var general, unauthenticated []Rule
	for _, r := range f.Rules {
		if r.Scope == ScopeUnauthenticated {
			unauthenticated = append(unauthenticated, r)
		} else {
			general = append(general, r)
		}
	}
	if e.base, err = newTable(general, e); err != nil {
		return err
	}
	if err := e.base.addSets(f.Sets, Rule{Scope: ScopeBuiltin}, e); err != nil {
		return err
	}
	own, err := newTable(unauthenticated, e)
	if err != nil {
		return err
	}
	if err := own.addSets(f.UnauthenticatedSets, Rule{Scope: ScopeUnauthenticated}, e); err != nil {
		return err
	}
	approved, err := newApproved(autoApprove, e)
	if err != nil {
		return err
	}
	dialed, open := *e, *e
	dialed.base = joinTables(e.base, approved)
	open.base = joinTables(e.base.withoutAllow(), own, approved)
	e.dialed, e.unauthenticated = &dialed, &open
	return nil
}

// addSets adds the rules of several sets.
func (t *table) addSets(names []string, like Rule, e *Engine) error {
	for _, name := range names {
		if err := t.addSet(name, like, e); err != nil {
			return err
		}
	}
	return nil
}

// newApproved returns the rules of [Options.AutoApprove].
func newApproved(texts []string, e *Engine) (*table, error) {
	like := Rule{Scope: ScopeDialed, Source: autoApproveSource}
	var rules []Rule
	var sets []string
	for _, text := range texts {
		if slices.Contains(Sets(), text) {
			sets = append(sets, text)
			continue
		}
		r := like
		r.Text, r.Decision = text, Allow
		rules = append(rules, r)
	}
	t, err := newTable(rules, e)
	if err != nil {
		return nil, err
	}
	return t, t.addSets(sets, like, e)
}

// joinTables returns a table with the rules of several tables, in their order.
func joinTables(tables ...*table) *table {
	all := &table{tools: map[string]*bucket{}}
	for _, t := range tables {
		all.rules = append(all.rules, t.rules...)
		all.every.join(&t.every)
		for tool, b := range t.tools {
			if all.tools[tool] == nil {
				all.tools[tool] = &bucket{}
			}
			all.tools[tool].join(b)
		}
	}
	return all
}

func (b *bucket) join(more *bucket) {
	b.deny, b.ask, b.allow = append(b.deny, more.deny...), append(b.ask, more.ask...), append(b.allow, more.allow...)
}

// withoutAllow returns a table with the rules that deny and ask.
func (t *table) withoutAllow() *table {
	narrow := &table{tools: make(map[string]*bucket, len(t.tools)), every: bucket{deny: t.every.deny, ask: t.every.ask}}
	for _, r := range t.rules {
		if r.Decision != Allow {
			narrow.rules = append(narrow.rules, r)
		}
	}
	for tool, b := range t.tools {
		narrow.tools[tool] = &bucket{deny: b.deny, ask: b.ask}
	}
	return narrow
}

// elsewhere returns the rules that count for sessions of some origins alone.
func (t *table) elsewhere() (list []Rule) {
	for _, r := range t.rules {
		if r.Scope == ScopeUnauthenticated || r.Scope == ScopeDialed {
			list = append(list, r)
		}
	}
	return list
}
