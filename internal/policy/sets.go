package policy

import (
	"fmt"
	"slices"
	"strings"
)

// The built-in sets.
const (
	// SetReadOnly allows to look around in the session's folder and those added to
	// it, by the CLI's own tools and by shell commands that only read.
	SetReadOnly = "read-only"
	// SetAutoApprove allows every call of the tools that chat bridges let pass
	// without a question. Bash is one of them: to choose the set is to allow
	// every command.
	SetAutoApprove = "auto-approve"
)

// Sets returns the names of the built-in sets.
func Sets() []string { return []string{SetReadOnly, SetAutoApprove} }

// harmless are tools that change nothing outside of the conversation.
var harmlessTools = []string{"TodoRead", "TodoWrite", "TaskList", "TaskGet", "TaskCreate", "TaskUpdate", "BashOutput", "TaskOutput", "ToolSearch"}

// autoApproved are the tools of the set auto-approve: those that the first chat
// bridge had, and what they are called today.
var autoApproved = []string{
	"Grep", "Glob", "Read", "LS", "Bash", "BashOutput", "TodoWrite", "TodoRead", "WebSearch", "WebFetch",
	"TaskOutput", "TaskList", "TaskGet", "TaskCreate", "TaskUpdate",
}

// readOnlyCommands is the text of the rule for shell commands in the set
// read-only. It cannot be written in a file: there it means a command of that
// name.
const readOnlyCommands = "Bash(read-only commands)"

// checkSet says what is wrong with the name of a set.
func checkSet(name string) error {
	if !slices.Contains(Sets(), name) {
		return fmt.Errorf("%q is no set; there are %s", name, strings.Join(Sets(), " and "))
	}
	return nil
}

// addSet adds the rules of a set. like has the scope of its rules, and where the set
// is named.
func (t *table) addSet(name string, like Rule, e *Engine) error {
	if err := checkSet(name); err != nil {
		return err
	}
	var list []*compiled
	add := func(c *compiled, text string) {
		c.rule = &Rule{Text: text, Decision: Allow, Scope: like.Scope, Source: strings.TrimPrefix(like.Source+" set "+name, " ")}
		list = append(list, c)
	}
	tools := autoApproved
	if name == SetReadOnly {
		tools = harmlessTools
		add(&compiled{spec: spec{"Read", "./**"}, kind: kindPath, path: &pattern{covers: true}, roots: true}, "Read(./**)")
		add(&compiled{spec: spec{"Bash", "read-only commands"}, kind: kindShell, shell: readOnlyShell(), roots: true}, readOnlyCommands)
	}
	for _, tool := range tools {
		add(&compiled{spec: spec{tool: tool}}, tool)
	}
	for _, c := range list {
		t.rules = append(t.rules, *c.rule)
		t.add(c, e)
	}
	return nil
}
