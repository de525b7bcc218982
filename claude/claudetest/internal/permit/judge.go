package permit

import (
	"encoding/json"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/switchboard-dev/switchboard/wire"
)

// A Verdict is what the CLI does with a tool call.
type Verdict struct {
	// Behavior is Allow, Deny or Ask.
	Behavior string
	// Reason is the text of decision_reason, empty where the CLI gives none.
	Reason string
	// ReasonType is decision_reason_type, empty where the CLI gives none.
	// Versions before 2.1.120 have it too, but do not send it.
	ReasonType string
	// Message is what the model is told about a call that is denied.
	Message string
	// Invalid says that a denied call already failed the tool's own check of its
	// input. The CLI then writes no permission_denied line.
	Invalid bool
	// Rule is the rule that decided, nil if none did.
	Rule *Rule
	// BlockedPath is the path that a command may not touch unasked.
	BlockedPath string
	// Suggestions are the updates that the question offers. An empty list that
	// is not nil is sent as such; nil is left out.
	Suggestions []wire.PermissionUpdate
	// Description is what the call does, for people. Empty before 2.1.120 and
	// where the CLI gives none.
	Description string
	// More are the members that the version sends with the question besides.
	More []Member
}

// A Member is a member of a question.
type Member struct {
	Name  string
	Value any
}

// firmness says what a question outlives.
type firmness int

const (
	yields      firmness = iota // rules that allow the tool, and mode bypassPermissions
	beatsRules                  // only the mode
	beatsBypass                 // nothing
)

// finding is what a tool itself says about a call.
type finding struct {
	Verdict
	firm firmness
	kind kind
}

// kind tells the calls apart that some modes treat differently.
type kind int

const (
	otherCall kind = iota
	readCall       // a file tool that reads
	editCall       // a file tool that changes
	userCall       // a question to the user
	ruleCall       // asked because of a rule
)

// neverAsked are tools that change nothing but the session.
var neverAsked = []string{
	"Agent", "BashOutput", "CronCreate", "CronDelete", "CronList", "EnterPlanMode", "EnterWorktree", "ExitWorktree", "KillShell", "ListMcpResourcesTool",
	"ReadMcpResourceTool", "SendMessage", "Skill", "StructuredOutput", "Task", "TaskCreate", "TaskGet", "TaskList", "TaskOutput", "TaskStop", "TaskUpdate",
	"TodoWrite", "ToolSearch",
}

// input are the members of tool inputs that matter here.
type input struct {
	Command      string `json:"command"`
	Description  string `json:"description"`
	FilePath     string `json:"file_path"`
	NotebookPath string `json:"notebook_path"`
	Path         string `json:"path"`
	Pattern      string `json:"pattern"`
	URL          string `json:"url"`
	Query        string `json:"query"`
}

// readInput reads an input as far as it goes: a member of a wrong type is left
// out, as the check of the input is not made here.
func readInput(raw json.RawMessage) input {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return input{}
	}
	text := func(name string) string {
		var s string
		if json.Unmarshal(members[name], &s) != nil {
			return ""
		}
		return s
	}
	return input{
		text("command"), text("description"), text("file_path"), text("notebook_path"),
		text("path"), text("pattern"), text("url"), text("query"),
	}
}

// Judge says what the CLI does with a tool call that no hook decided.
func (g *Gate) Judge(tool string, raw json.RawMessage) Verdict {
	plan := g.planFile() // before the lock: it is not ours
	g.mu.Lock()
	defer g.mu.Unlock()
	in := readInput(raw)
	v := g.judge(tool, in, plan)
	if v.Behavior == Ask && g.is120() {
		v.Description = g.describe(tool, in)
	}
	return v
}

func (g *Gate) judge(tool string, in input, plan string) Verdict {
	if r := g.whole(Deny, tool); r != nil {
		return Verdict{Behavior: Deny, Message: "Permission to use " + tool + " has been denied.", ReasonType: string(wire.DecisionReasonTypeRule), Rule: r}
	}
	f := g.check(tool, in, plan)
	if r := g.whole(Ask, tool); r != nil && f.Behavior != Deny {
		return g.settle(tool, g.askedWhole(tool, r, f.Behavior == Ask))
	}
	switch {
	case f.Behavior == Deny:
		return f.Verdict
	case f.Behavior == Ask && f.firm == beatsBypass:
	case g.bypasses():
		return Verdict{Behavior: Allow, ReasonType: string(wire.DecisionReasonTypeMode)}
	case f.Behavior == Ask && f.firm == beatsRules:
	case f.Behavior == Ask:
		if r := g.whole(Allow, tool); r != nil {
			return Verdict{Behavior: Allow, ReasonType: string(wire.DecisionReasonTypeRule), Rule: r}
		}
	}
	return g.settle(tool, f)
}

// bypasses says whether nothing is asked that can be left unasked. Up to
// 2.1.120 plan mode does not change that if the launch made it available.
func (g *Gate) bypasses() bool {
	return g.mode == modeBypass || g.mode == modePlan && g.launched && !g.is325()
}

// edits says whether files in the working folders may be changed unasked.
func (g *Gate) edits() bool { return g.mode == modeEdits || g.automatic() }

// automatic says whether the classifier decides instead of the user.
func (g *Gate) automatic() bool { return g.mode == modeAuto && g.is120() }

// offersEdits says whether questions offer the mode acceptEdits.
func (g *Gate) offersEdits() bool {
	switch g.mode {
	case modePlan:
		return !g.is120() || !g.launched
	case modeEdits, modeBypass, modeDontAsk, modeAuto:
		return !g.is120()
	}
	return true
}

// settle applies the modes that decide in the place of the user.
func (g *Gate) settle(tool string, f finding) Verdict {
	if f.Behavior != Ask {
		return f.Verdict
	}
	planned := g.mode == modePlan && g.is325()
	switch {
	case g.mode == modeDontAsk:
		message := "Permission to use " + tool + " has been denied"
		if g.is120() {
			message += " because Claude Code is running in don't ask mode"
		}
		return Verdict{Behavior: Deny, Message: message + ".", ReasonType: string(wire.DecisionReasonTypeMode)}
	case f.kind == userCall || f.kind == ruleCall || !planned && !g.automatic():
		return f.Verdict
	case f.kind == readCall && !(planned && g.launched):
		return Verdict{Behavior: Allow, ReasonType: string(wire.DecisionReasonTypeMode)}
	case planned && f.kind == editCall && f.ReasonType != string(wire.DecisionReasonTypeSafetyCheck):
		return Verdict{Behavior: Ask, ReasonType: string(wire.DecisionReasonTypeMode)}
	case planned && g.launched:
		return f.Verdict
	}
	v := Verdict{Behavior: Deny, Reason: "Classifier unavailable", ReasonType: string(wire.DecisionReasonTypeClassifier)}
	v.Message = "Auto mode is unavailable: its safety check does not run for this session, so " + tool + " was not run."
	if !g.is325() {
		v.Message = "Permission for this action has been denied. Reason: Auto mode could not evaluate this action and is blocking it for safety."
	}
	return v
}

// check asks the tool itself.
func (g *Gate) check(tool string, in input, plan string) finding {
	switch tool {
	case "Bash", "Monitor":
		return g.checkBash(in.Command)
	case "Read":
		return g.checkRead(in.FilePath, filepath.Dir, plan)
	case "Glob", "Grep", "LS":
		return g.checkRead(in.Path, func(path string) string { return path }, plan)
	case "Write", "Edit", "MultiEdit":
		return g.checkEdit(in.FilePath, plan)
	case "NotebookEdit":
		f := g.checkEdit(in.NotebookPath, plan)
		f.More = slices.DeleteFunc(f.More, func(m Member) bool { return m.Name == askOnly })
		return f
	case "WebFetch":
		return g.checkFetch(in.URL)
	case "WebSearch":
		f := finding{Verdict: Verdict{Behavior: Ask}}
		if g.is120() {
			f.Suggestions = []wire.PermissionUpdate{wholeRule(tool)}
		}
		return f
	case "AskUserQuestion":
		return finding{Verdict: Verdict{Behavior: Ask}, firm: beatsBypass, kind: userCall}
	case "ExitPlanMode":
		if g.is120() && g.mode != modePlan {
			return finding{Verdict: Verdict{Behavior: Deny, Invalid: true, Message: "<tool_use_error>You are not in plan mode.</tool_use_error>"}}
		}
		return finding{Verdict: Verdict{Behavior: Ask}, firm: beatsBypass, kind: userCall}
	}
	if slices.Contains(neverAsked, tool) {
		return finding{Verdict: Verdict{Behavior: Allow}}
	}
	f := finding{Verdict: Verdict{Behavior: Ask, Suggestions: []wire.PermissionUpdate{wholeRule(tool)}}}
	if strings.HasPrefix(tool, "mcp__") {
		f.More = g.more(Member{askOnly, true})
	}
	return f
}

// checkFetch judges a fetch by its host.
func (g *Gate) checkFetch(address string) finding {
	host := ""
	if u, err := url.Parse(address); err == nil {
		host = u.Hostname()
	}
	domain := "domain:" + host
	match := func(r Rule) bool { return r.Tool == "WebFetch" && r.Content == domain }
	if r := g.first(Deny, match); r != nil {
		return finding{Verdict: Verdict{Behavior: Deny, Message: "WebFetch denied access to " + domain + ".", ReasonType: string(wire.DecisionReasonTypeRule), Rule: r}}
	}
	if r := g.first(Ask, match); r != nil {
		return g.askedByRule(r)
	}
	if r := g.first(Allow, match); r != nil {
		return finding{Verdict: Verdict{Behavior: Allow, ReasonType: string(wire.DecisionReasonTypeRule), Rule: r}}
	}
	return finding{Verdict: Verdict{Behavior: Ask, Suggestions: []wire.PermissionUpdate{&wire.AddRules{
		Destination: wire.UpdateDestinationLocalSettings, Behavior: wire.RuleBehaviorAllow,
		Rules: []wire.PermissionRule{{ToolName: "WebFetch", RuleContent: domain}},
	}}}}
}

// askOnly is a member that 2.1.325 sends with questions about files and MCP
// tools as long as no rule asks about such calls.
const askOnly = "server_policy_ask_only"

// more returns the members of a question that a version sends: none before
// 2.1.120, which knows only what a classifier may do.
func (g *Gate) more(members ...Member) []Member {
	return slices.DeleteFunc(members, func(m Member) bool {
		return !g.is120() || !g.is325() && m.Name != "classifier_approvable"
	})
}

// askedByRule is the question because of a rule with a pattern.
func (g *Gate) askedByRule(r *Rule) finding {
	f := finding{Verdict: Verdict{Behavior: Ask, ReasonType: string(wire.DecisionReasonTypeRule), Rule: r}, firm: beatsRules, kind: ruleCall}
	f.More = g.more(Member{"decision_reason_rule_source", r.Source}, Member{askOnly, false})
	if g.is120() {
		f.firm = beatsBypass
	}
	return f
}

// askedWhole is the question because of a rule for every call of a tool. Where
// 2.1.325 would have asked anyway, it names the rule in another way.
func (g *Gate) askedWhole(tool string, r *Rule, anyway bool) finding {
	f := g.askedByRule(r)
	if g.is325() && anyway && tool != "Bash" && g.mode != modeBypass {
		f.ReasonType = ""
		f.More = []Member{{"matched_ask_rule", map[string]string{"source": r.Source, "tool_name": r.Tool}}}
		if slices.Contains(fileTools, tool) {
			f.More = append(f.More, Member{askOnly, false})
		}
	}
	return f
}

// wholeRule suggests a rule that allows every call of a tool.
func wholeRule(tool string) wire.PermissionUpdate {
	return &wire.AddRules{
		Rules: []wire.PermissionRule{{ToolName: tool}}, Behavior: wire.RuleBehaviorAllow, Destination: wire.UpdateDestinationLocalSettings,
	}
}
