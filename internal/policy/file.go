package policy

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"
)

// A FileError says what is wrong with a rules file, and where.
type FileError struct {
	Name string
	// Line and Column are the place, from 1.
	Line, Column int
	Reason       string
}

// Error returns place and reason, as compilers print them.
func (e *FileError) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.Name, e.Line, e.Column, e.Reason)
}

// The text of a file, as the decoder sees it.
type (
	fileText struct {
		Enforce *string  `toml:"enforce"`
		Sets    []string `toml:"sets"`
		ruleTexts
		Folder          []folderText         `toml:"folder"`
		Unauthenticated *unauthenticatedText `toml:"unauthenticated"`
	}
	unauthenticatedText struct {
		Sets []string `toml:"sets"`
		ruleTexts
	}
	folderText struct {
		Path *string `toml:"path"`
		ruleTexts
	}
	ruleTexts struct {
		Allow []string   `toml:"allow"`
		Ask   []string   `toml:"ask"`
		Deny  []string   `toml:"deny"`
		Rule  []ruleText `toml:"rule"`
	}
	ruleText struct {
		Rule     string     `toml:"rule"`
		Decision string     `toml:"decision"`
		Message  string     `toml:"message"`
		Expires  *time.Time `toml:"expires"`
	}
)

// ParseFile reads the text of a rules file. It is strict: what it does not know,
// and rules that make no sense, are errors, all of them *[FileError], joined if
// there are several. name is the file's, for messages and sources; home is what
// "~/" stands for in folders.
func ParseFile(name string, text []byte, home string) (*File, error) {
	var t fileText
	if err := toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields().Decode(&t); err != nil {
		return nil, explainTOML(name, err)
	}
	r := fileReader{name: name, home: home, at: findPositions(text), file: &File{Name: name, Enforce: EnforceCLI}}
	if t.Enforce != nil {
		if r.file.Enforce = *t.Enforce; *t.Enforce != EnforceCLI && *t.Enforce != EnforceHook {
			r.fail("enforce", fmt.Errorf("%q is no way to enforce rules; write %q or %q", *t.Enforce, EnforceCLI, EnforceHook))
		}
	}
	r.file.Sets = r.sets("", t.Sets)
	r.rules("", Rule{Scope: ScopeGlobal}, &t.ruleTexts)
	for i := range t.Folder {
		r.folder(fmt.Sprintf("folder[%d]", i), &t.Folder[i])
	}
	if u := t.Unauthenticated; u != nil {
		r.file.UnauthenticatedSets = r.sets("unauthenticated.", u.Sets)
		r.rules("unauthenticated.", Rule{Scope: ScopeUnauthenticated}, &u.ruleTexts)
	}
	if len(r.errs) > 0 {
		return nil, errors.Join(r.errs...)
	}
	return r.file, nil
}

// A fileReader turns the text of a file into rules.
type fileReader struct {
	name, home string
	at         map[string]position
	file       *File
	errs       []error
}

// fail records what is wrong with the value that has a path.
func (r *fileReader) fail(at string, err error) {
	p := r.find(at)
	r.errs = append(r.errs, &FileError{Name: r.name, Line: p.line, Column: p.column, Reason: err.Error()})
}

// find returns where a value stands, or what is around it.
func (r *fileReader) find(at string) position {
	for at != "" {
		if p, ok := r.at[at]; ok {
			return p
		}
		at = at[:max(strings.LastIndexAny(at, ".["), 0)]
	}
	return position{1, 1}
}

// sets reads the names of sets.
func (r *fileReader) sets(at string, names []string) (list []string) {
	for i, set := range names {
		at := fmt.Sprintf("%ssets[%d]", at, i)
		switch err := checkSet(set); {
		case err != nil:
			r.fail(at, err)
		case slices.Contains(list, set):
			r.fail(at, fmt.Errorf("the set %s is there twice; remove one", set))
		default:
			list = append(list, set)
		}
	}
	return list
}

func (r *fileReader) folder(at string, t *folderText) {
	if t.Path == nil {
		r.fail(at, errors.New(`the folder has no path; write path = "~/src/project"`))
		return
	}
	name := *t.Path
	if rest, ok := strings.CutPrefix(name, "~/"); ok && r.home != "" {
		name = r.home + "/" + rest
	}
	switch {
	case !strings.HasPrefix(name, "/"):
		r.fail(at+".path", fmt.Errorf("%q is not absolute; write the whole path, or ~/ in front", *t.Path))
		return
	case strings.ContainsAny(name, "*?"):
		r.fail(at+".path", fmt.Errorf("%q has a wildcard in it; name one folder, what is below it is meant too", *t.Path))
		return
	case strings.ContainsFunc(name, unfit):
		r.fail(at+".path", errors.New("the path has a character in it that cannot be seen; remove it"))
		return
	}
	r.rules(at+".", Rule{Scope: ScopeFolder, Folder: path.Clean(name)}, &t.ruleTexts)
}

// rules reads the rules of the file or of a folder. like has what they share.
func (r *fileReader) rules(at string, like Rule, t *ruleTexts) {
	for _, list := range []struct {
		member   string
		decision Decision
		texts    []string
	}{{"allow", Allow, t.Allow}, {"ask", Ask, t.Ask}, {"deny", Deny, t.Deny}} {
		for i, text := range list.texts {
			rule := like
			rule.Text, rule.Decision = text, list.decision
			r.rule(fmt.Sprintf("%s%s[%d]", at, list.member, i), rule)
		}
	}
	for i := range t.Rule {
		text, rule := &t.Rule[i], like
		rule.Text, rule.Decision, rule.Message = text.Rule, Decision(text.Decision), text.Message
		where := fmt.Sprintf("%srule[%d]", at, i)
		switch {
		case text.Rule == "":
			r.fail(where, errors.New(`there is no rule; write rule = "Bash(git status:*)"`))
			continue
		case text.Decision == "":
			r.fail(where, errors.New(`the rule has no decision; write decision = "allow", "ask" or "deny"`))
			continue
		case text.Message != "" && rule.Decision != Deny:
			r.fail(where+".message", errors.New("only a rule that denies has a message: it is what the model is told"))
			continue
		}
		if text.Expires != nil {
			rule.Expires = *text.Expires
		}
		r.rule(where+".rule", rule)
	}
}

// rule checks a rule and takes it.
func (r *fileReader) rule(at string, rule Rule) {
	c, err := compileText(rule.Text)
	if err == nil {
		err = c.checkDecision(rule.Decision)
	}
	if err != nil {
		r.fail(at, fmt.Errorf("the rule %s: %w", short(rule.Text), err))
		return
	}
	rule.Source = fmt.Sprintf("%s:%d", filepath.Base(r.name), r.find(at).line)
	r.file.Rules = append(r.file.Rules, rule)
}

// explainTOML says what the decoder found, in our words where the user needs
// them.
func explainTOML(name string, err error) error {
	if unknown, ok := errors.AsType[*toml.StrictMissingError](err); ok {
		var list []error
		for i := range unknown.Errors {
			each := &unknown.Errors[i]
			line, column := each.Position()
			reason := fmt.Sprintf("%s is not known here; there are enforce, sets, allow, ask, deny, [[rule]] (rule, decision, message, expires), [[folder]] (path, allow, ask, deny, [[folder.rule]]) "+
				"and [unauthenticated] (sets, allow, ask, deny, [[unauthenticated.rule]])", strings.Join(each.Key(), "."))
			list = append(list, &FileError{Name: name, Line: max(line, 1), Column: max(column, 1), Reason: reason})
		}
		return errors.Join(list...)
	}
	at := position{1, 1}
	reason := strings.TrimPrefix(err.Error(), "toml: ")
	if wrong, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, column := wrong.Position()
		at = position{max(line, 1), max(column, 1)}
		reason = strings.TrimPrefix(wrong.Error(), "toml: ")
		key := strings.Join(wrong.Key(), ".")
		if kind, ok := strings.CutPrefix(reason, "cannot decode TOML "); ok {
			kind, _, _ = strings.Cut(kind, " into ")
			reason = fmt.Sprintf("%s cannot be a TOML %s", key, kind)
		}
		if strings.HasPrefix(reason, "parsing time") {
			reason = "expires has to be a time, such as 2026-12-01T00:00:00Z"
		}
	}
	return &FileError{Name: name, Line: at.line, Column: at.column, Reason: reason}
}
