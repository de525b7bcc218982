package permit

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/switchboard-dev/switchboard/wire"
)

// The words of questions and refusals about files.
const (
	outside    = "Path is outside allowed working directories"
	deniedPath = "<tool_use_error>File is in a directory that is denied by your permission settings.</tool_use_error>"
	deniedRead = "<tool_use_error>File is covered by a Read deny rule in your permission settings and cannot be written.</tool_use_error>"
)

// readable says whether a path may be read unasked.
func (g *Gate) readable(path string) bool {
	return g.inside(path) || g.pathRule(Allow, path, "Read", "Edit") != nil
}

// checkRead judges a file tool that reads. An empty path is the working folder.
// folder returns the folder that a rule would be suggested for.
func (g *Gate) checkRead(path string, folder func(string) string, plan string) finding {
	path = g.resolve(path)
	if r := g.pathRule(Deny, path, "Read"); r != nil {
		return finding{Verdict: Verdict{Behavior: Deny, Invalid: true, Message: deniedPath, ReasonType: string(wire.DecisionReasonTypeRule), Rule: r}}
	}
	if r := g.pathRule(Ask, path, "Read"); r != nil {
		return g.askedByRule(r)
	}
	if g.readable(path) || plan != "" && path == filepath.Clean(plan) {
		return finding{Verdict: Verdict{Behavior: Allow}}
	}
	return finding{kind: readCall, Verdict: Verdict{
		Behavior: Ask, Reason: outside, ReasonType: string(wire.DecisionReasonTypeWorkingDir),
		Suggestions: []wire.PermissionUpdate{readRule(folder(path))}, More: g.fileMembers(),
	}}
}

// checkEdit judges a file tool that changes a file.
func (g *Gate) checkEdit(path, plan string) finding {
	path = g.resolve(path)
	denied := func(r *Rule, message string) finding {
		return finding{Verdict: Verdict{Behavior: Deny, Invalid: true, Message: message, ReasonType: string(wire.DecisionReasonTypeRule), Rule: r}}
	}
	if r := g.pathRule(Deny, path, "Edit"); r != nil {
		return denied(r, deniedPath)
	}
	if r := g.pathRule(Deny, path, "Read"); r != nil && g.is325() {
		return denied(r, deniedRead)
	}
	if plan != "" && path == filepath.Clean(plan) {
		return finding{Verdict: Verdict{Behavior: Allow}}
	}
	if r := g.pathRule(Ask, path, "Edit"); r != nil {
		return g.askedByRule(r)
	}
	if reason := g.sensitive(path); reason != "" {
		return g.safety(path, reason)
	}
	if g.edits() && g.inside(path) {
		return finding{Verdict: Verdict{Behavior: Allow, ReasonType: string(wire.DecisionReasonTypeMode)}}
	}
	if r := g.pathRule(Allow, path, "Edit"); r != nil {
		return finding{Verdict: Verdict{Behavior: Allow, ReasonType: string(wire.DecisionReasonTypeRule), Rule: r}}
	}
	f := finding{kind: editCall, Verdict: Verdict{Behavior: Ask, Suggestions: g.editSuggestions(), More: g.fileMembers()}}
	if !g.inside(path) {
		f.Reason, f.ReasonType = outside, string(wire.DecisionReasonTypeWorkingDir)
		f.Suggestions = append(f.Suggestions, addDirectory(filepath.Dir(path)))
	}
	return f
}

// safety is the question about a file that can make programs run.
func (g *Gate) safety(path, reason string) finding {
	f := finding{kind: editCall, firm: g.safetyFirm(), Verdict: Verdict{
		Behavior: Ask, Reason: reason, ReasonType: string(wire.DecisionReasonTypeSafetyCheck),
		More: g.more(Member{"classifier_approvable", true}),
	}}
	if g.is120() {
		f.Suggestions = g.editSuggestions()
		if rest, ok := strings.CutPrefix(path, g.dir+"/.claude/skills/"); ok {
			name, _, _ := strings.Cut(rest, "/")
			f.Suggestions = []wire.PermissionUpdate{&wire.AddRules{
				Rules:    []wire.PermissionRule{{ToolName: "Edit", RuleContent: "/.claude/skills/" + name + "/**"}},
				Behavior: wire.RuleBehaviorAllow, Destination: wire.UpdateDestinationSession,
			}}
		}
	}
	return f
}

// safetyFirm says what safety checks outlive: nothing on 2.1.37, and even mode
// bypassPermissions on 2.1.120.
func (g *Gate) safetyFirm() firmness {
	switch {
	case g.is325():
		return beatsRules
	case g.is120():
		return beatsBypass
	}
	return yields
}

// fileTools are the tools that rules about files are for.
var fileTools = []string{"Read", "Edit", "MultiEdit", "Write"}

// fileMembers are the further members of questions about files.
func (g *Gate) fileMembers() []Member {
	asked := slices.ContainsFunc(g.rules, func(r Rule) bool {
		return r.Behavior == Ask && slices.Contains(fileTools, r.Tool)
	})
	return g.more(Member{askOnly, !asked})
}

// The files and folders that a change to is always asked about.
var (
	sensitiveFiles   = []string{".gitconfig", ".gitmodules", ".bashrc", ".bash_profile", ".zshrc", ".zprofile", ".profile", ".ripgreprc", ".mcp.json", ".claude.json"}
	sensitiveFolders = []string{".git", ".vscode", ".idea", ".claude"}
)

// sensitive returns the reason to ask about a file whatever the mode, empty if
// there is none.
func (g *Gate) sensitive(path string) string {
	elements := strings.Split(path, "/")
	for i, element := range elements[:len(elements)-1] {
		if element != ".claude" {
			continue
		}
		switch elements[i+1] {
		case "settings.json", "settings.local.json", "commands", "agents", "skills":
			return "Claude requested permissions to write to " + path + ", but you haven't granted it yet."
		}
	}
	name, folders := elements[len(elements)-1], elements[:len(elements)-1]
	if slices.Contains(sensitiveFiles, name) || g.is120() && slices.Contains(folders, ".husky") ||
		slices.ContainsFunc(sensitiveFolders, func(folder string) bool { return slices.Contains(folders, folder) }) {
		return "Claude requested permissions to edit " + path + " which is a sensitive file."
	}
	return ""
}

// editSuggestions is what a question about a change of a file offers first.
func (g *Gate) editSuggestions() []wire.PermissionUpdate {
	if g.offersEdits() {
		return []wire.PermissionUpdate{acceptEdits()}
	}
	return []wire.PermissionUpdate{}
}

func acceptEdits() wire.PermissionUpdate {
	return &wire.SetMode{Mode: wire.PermissionModeAcceptEdits, Destination: wire.UpdateDestinationSession}
}

func addDirectory(dir string) wire.PermissionUpdate {
	return &wire.AddDirectories{Directories: []string{dir}, Destination: wire.UpdateDestinationSession}
}

// readRule suggests to let everything below a folder be read.
func readRule(dir string) wire.PermissionUpdate {
	return &wire.AddRules{
		Rules:    []wire.PermissionRule{{ToolName: "Read", RuleContent: "/" + strings.TrimSuffix(dir, "/") + "/**"}},
		Behavior: wire.RuleBehaviorAllow, Destination: wire.UpdateDestinationSession,
	}
}

// describe says what a call does, as questions do from 2.1.120 on.
func (g *Gate) describe(tool string, in input) string {
	shorten := func(path string) string {
		if path == "" {
			return ""
		}
		if relative, err := filepath.Rel(g.dir, g.resolve(path)); err == nil && !strings.HasPrefix(relative, "..") {
			return relative
		}
		return path
	}
	switch tool {
	case "Bash":
		if in.Description != "" {
			return in.Description
		}
		return in.Command
	case "Read", "Write", "Edit", "MultiEdit":
		return shorten(in.FilePath)
	case "NotebookEdit":
		return shorten(in.NotebookPath)
	case "Glob", "Grep":
		return in.Pattern
	case "WebFetch":
		return in.URL
	case "WebSearch":
		return in.Query
	}
	return ""
}
