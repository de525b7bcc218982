package audit

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/policy"
	"github.com/switchboard-dev/switchboard/wire"
)

// What happened to a call. Those without a word on whether a person was asked are from a transcript, which does not tell.
const (
	HappenedUnknown        = ""                // the log ends before, or it is known elsewhere
	HappenedAsked          = "asked"           // and no person answered
	HappenedAllowed        = "allowed"         // a person was asked
	HappenedDenied         = "denied"          // a person was asked
	HappenedCancelled      = "cancelled"       // the question was
	HappenedRanUnasked     = "ran_unasked"     // the CLI did not ask
	HappenedFailedUnasked  = "failed_unasked"  // the CLI did not ask, and the result is an error
	HappenedRefusedUnasked = "refused_unasked" // the CLI, or a rule that it was given
	HappenedRan            = "ran"
	HappenedFailed         = "failed"
	HappenedRefused        = "refused"
)

// A Finding is a call, what rules would decide about it, and what happened.
type Finding struct {
	// Line is the line of the file, or the number of the log's entry.
	Line      int64  `json:"line"`
	Tool      string `json:"tool"`
	ToolUseID string `json:"tool_use_id,omitempty"`
	// Title is the input in one line.
	Title string `json:"title"`
	// Dir is the session's folder.
	Dir string `json:"dir,omitempty"`
	Verdict
	// Happened is what really happened, see the constants. By names the person,
	// token or rule that decided it.
	Happened string `json:"happened,omitempty"`
	By       string `json:"by,omitempty"`

	byRule    bool // it was a rule that answered
	bySandbox bool // it was allowed because a sandbox holds it back; byRule is set
}

// ByRule reports whether it was a rule that decided, not a person.
func (f *Finding) ByRule() bool { return f.byRule }

// BySandbox reports whether a call was allowed because a strict sandbox holds it back:
// no rule said so, and none has to.
func (f *Finding) BySandbox() bool { return f.bySandbox }

// A Summary counts findings.
type Summary struct {
	Calls   int `json:"calls"`
	Allowed int `json:"allowed"`
	Denied  int `json:"denied"`
	// Asked are those that a rule has asked about, NoRule those about which no rule says anything.
	Asked  int `json:"asked"`
	NoRule int `json:"no_rule"`
	// Of those that people, or their programs, had allowed: how many there are, and how many a rule would have allowed or denied.
	PeopleAllowed        int `json:"people_allowed"`
	PeopleAllowedAllowed int `json:"people_allowed_allowed"`
	PeopleAllowedDenied  int `json:"people_allowed_denied"`
	// Of those that people had denied: how many there are, and how many a rule would have allowed.
	PeopleDenied        int `json:"people_denied"`
	PeopleDeniedAllowed int `json:"people_denied_allowed"`
	// Of those that ran unasked: how many there are, and how many a rule would have denied, or asked about.
	Unasked       int `json:"unasked"`
	UnaskedDenied int `json:"unasked_denied"`
	UnaskedAsked  int `json:"unasked_asked"`
	// Skipped are lines that say nothing that is known here.
	Skipped int `json:"skipped"`
}

// Options say how to judge.
type Options struct {
	// Engine are the rules.
	Engine *policy.Engine
	// Dir is the session's folder where the log does not tell; AddDirs are others in which it may work.
	Dir     string
	AddDirs []string
	// Now is the time for which to decide.
	Now time.Time
	// More is asked before each judgement of a call; when it returns false, neither that
	// call nor any later line is taken in. If nil, there is no limit.
	More func() bool
}

// An Audit finds the calls in a log, and judges them. It is not safe for concurrent use.
type Audit struct {
	options  Options
	dir      string        // as the log tells it
	origin   policy.Origin // of the run
	findings []*Finding
	calls    map[string]*Finding  // by the call's id
	asked    map[request]*Finding // by the question's id
	denials  map[string]bool      // calls that the CLI says were denied
	silent   bool                 // the log does not tell what was asked
	over     bool                 // Options.More has said that it is enough
	skipped  int
}

// A request names a question of the CLI. Its own ids are unique within a run.
type request struct {
	run int
	id  string
}

// New returns an audit without a line.
func New(o Options) *Audit {
	return &Audit{options: o, calls: map[string]*Finding{}, asked: map[request]*Finding{}, denials: map[string]bool{}}
}

// Line takes in a line of a file: of a recording, a transcript, or a log.
func (a *Audit) Line(number int64, line []byte) {
	if !json.Valid(line) {
		a.skipped++
		return
	}
	if events, ok := wire.Lookup(line, "events"); ok { // a page of a session's log
		var page []api.Event
		if json.Unmarshal(events, &page) != nil {
			a.skipped++
			return
		}
		for i := range page {
			a.Event(&page[i])
		}
		return
	}
	if kind, _ := wire.LookupString(line, "type"); kind == string(api.FrameEvent) { // a frame of a stream of events
		if event, ok := wire.Lookup(line, "event"); ok {
			line = event
		}
	}
	if _, ok := wire.LookupString(line, "kind"); ok {
		if _, ok := wire.LookupString(line, "session"); ok {
			event := &api.Event{}
			if json.Unmarshal(line, event) != nil {
				a.skipped++
				return
			}
			a.Event(event)
			return
		}
	}
	if inner, ok := wire.LookupString(line, "line"); ok { // what the simulated CLI has written and read
		line = []byte(inner)
	}
	a.addLine(number, 0, line)
}

// Event takes in an event of a session's log.
func (a *Audit) Event(e *api.Event) {
	if a.over {
		return
	}
	switch e.Kind {
	case api.KindRunStarted:
		a.origin = originOf(e.Data)
	case api.KindLine, api.KindSent, api.KindHistory:
		if e.Line != nil {
			a.addLine(e.Seq, e.Run, e.Line)
		}
	case api.KindQuestionSettled:
		q := &api.Question{}
		if json.Unmarshal(e.Data, q) == nil {
			a.addSettlement(request{e.Run, q.RequestID}, q)
		}
	case api.KindDecision:
		d := &api.Decision{}
		if json.Unmarshal(e.Data, d) == nil {
			a.addDecision(e.Seq, d)
		}
	}
}

// originOf returns how the CLI of a run came to the hub. started is the data of its
// first entry.
func originOf(started json.RawMessage) policy.Origin {
	var d struct {
		Transport       string `json:"transport"`
		Unauthenticated bool   `json:"unauthenticated"`
	}
	if json.Unmarshal(started, &d) != nil {
		return policy.OriginHub
	}
	switch {
	case d.Unauthenticated:
		return policy.OriginUnauthenticated
	case d.Transport == "websocket" || d.Transport == "hybrid":
		return policy.OriginDialed
	default:
		return policy.OriginHub
	}
}

// addLine reads a line of the CLI, or one that it was sent.
func (a *Audit) addLine(number int64, run int, line []byte) {
	if a.over {
		return
	}
	message, err := wire.Decode(line)
	if err != nil {
		a.skipped++
		return
	}
	if _, ok := wire.LookupString(line, "sessionId"); ok { // a transcript
		a.silent = true
		if dir, ok := wire.LookupString(line, "cwd"); ok && a.dir == "" {
			a.dir = dir
		}
	}
	switch m := message.(type) {
	case *wire.Init:
		if a.dir == "" {
			a.dir = m.Cwd
		}
	case *wire.Assistant:
		for _, block := range m.Message.Content {
			if use, ok := block.(*wire.ToolUseBlock); ok {
				a.addCall(number, use.ID, use.Name, use.Input)
			}
		}
	case *wire.User:
		for _, block := range m.Message.Content.All() {
			if result, ok := block.(*wire.ToolResultBlock); ok {
				a.addResult(result)
			}
		}
	case *wire.ControlRequest:
		if ask, ok := m.Request.(*wire.CanUseToolRequest); ok {
			a.addQuestion(number, request{run, m.RequestID}, ask)
		}
	case *wire.ControlResponse:
		a.addAnswer(request{run, m.Response.RequestID}, m.Response.Response)
	case *wire.ControlCancel:
		if f := a.asked[request{run, m.RequestID}]; f != nil && f.Happened == HappenedAsked {
			f.Happened = HappenedCancelled
		}
	case *wire.Result:
		for i := range m.PermissionDenials {
			a.denials[m.PermissionDenials[i].ToolUseID] = true
		}
	case *wire.PermissionDenied:
		a.denials[m.ToolUseID] = true
	case *wire.Unknown:
		a.skipped++
	default:
		// The others have nothing to do with calls.
	}
}

// Over reports whether a limit was reached, so that there is more than was judged.
func (a *Audit) Over() bool { return a.over }

// more reports whether another call may be judged.
func (a *Audit) more() bool {
	a.over = a.over || a.options.More != nil && !a.options.More()
	return !a.over
}

// addCall adds a call. One that is there already is not counted twice.
func (a *Audit) addCall(number int64, id, tool string, input json.RawMessage) *Finding {
	if f := a.calls[id]; f != nil && id != "" {
		return f
	}
	f := &Finding{Line: number, Tool: tool, ToolUseID: id, Dir: a.folder()}
	if !a.more() {
		return f // which does not count
	}
	a.findings = append(a.findings, f)
	if id != "" {
		a.calls[id] = f
	}
	a.judge(f, input)
	return f
}

// folder returns the session's folder.
func (a *Audit) folder() string {
	if a.dir != "" {
		return a.dir
	}
	return a.options.Dir
}

// judge decides about a call. The input is not kept: a log may be large.
func (a *Audit) judge(f *Finding, input json.RawMessage) {
	f.Verdict = Judge(a.options.Engine.For(a.origin), policy.Call{Tool: f.Tool, Input: input, Dir: f.Dir, AddDirs: a.options.AddDirs, Now: a.options.Now})
	f.Title = strings.TrimPrefix(wire.ActionTitle(f.Tool, input), f.Tool+" ")
}

// addQuestion reads a question.
func (a *Audit) addQuestion(number int64, r request, ask *wire.CanUseToolRequest) {
	if a.asked[r] != nil {
		return // it was repeated
	}
	f := a.addCall(number, ask.ToolUseID, ask.ToolName, ask.Input)
	// What is asked is what would run: a hook may have changed it.
	if !a.more() {
		return
	}
	a.judge(f, ask.Input)
	f.Happened = HappenedAsked
	a.asked[r] = f
}

// addAnswer reads an answer to a question.
func (a *Audit) addAnswer(r request, body json.RawMessage) {
	f := a.asked[r]
	if f == nil || !json.Valid(body) {
		return
	}
	switch behavior, _ := wire.LookupString(body, "behavior"); behavior {
	case "allow":
		f.Happened = HappenedAllowed
	case "deny":
		f.Happened = HappenedDenied
	}
}

// addSettlement reads what the hub knows about the end of a question.
func (a *Audit) addSettlement(r request, q *api.Question) {
	f := a.asked[r]
	if f == nil {
		return
	}
	f.By = q.By
	if q.Rule != nil && q.From == "hub" {
		f.By, f.byRule = "rule "+q.Rule.Rule, true
		if q.Rule.Scope == api.ScopeSandbox {
			f.By, f.bySandbox = "sandbox", true
		}
	}
	switch {
	case q.State == api.QuestionCancelled:
		f.Happened = HappenedCancelled
	case q.Answer == nil:
	case q.Answer.Decision == "allow" || slices.Contains([]api.PlanOutcome{api.PlanAcceptEdits, api.PlanAsk, api.PlanFresh}, q.Answer.Outcome):
		f.Happened = HappenedAllowed
	case q.Answer.Decision == "deny" || q.Answer.Outcome != "":
		f.Happened = HappenedDenied
	}
}

// addDecision reads a decision of a rule about a call that no person was asked about.
func (a *Audit) addDecision(number int64, d *api.Decision) {
	f := a.addCall(number, d.ToolUseID, d.Tool, d.Input)
	f.By, f.byRule = "rule "+d.Rule.Rule, true
	switch d.Rule.Decision {
	case api.RuleAllow:
		f.Happened = HappenedAllowed
	case api.RuleDeny:
		f.Happened = HappenedDenied
	case api.RuleAsk:
	}
}

// refusals are how results begin of calls that were not run, because a person or some rule did not want it.
var refusals = [...]string{
	"Permission to use ", "Permission for this ", "Claude requested permissions to ", "The user doesn't want to ",
}

// addResult reads the result of a call. Whether a person was asked is known before.
func (a *Audit) addResult(r *wire.ToolResultBlock) {
	f := a.calls[r.ToolUseID]
	if f == nil || f.Happened != HappenedUnknown {
		return
	}
	text := r.Content.String()
	refused := r.IsError && slices.ContainsFunc(refusals[:], func(s string) bool { return strings.HasPrefix(text, s) })
	switch {
	case refused:
		f.Happened = HappenedRefusedUnasked
	case r.IsError:
		f.Happened = HappenedFailedUnasked
	default:
		f.Happened = HappenedRanUnasked
	}
}

// Findings returns all calls, in the order of the log.
func (a *Audit) Findings() []Finding {
	out := make([]Finding, 0, len(a.findings))
	for _, f := range a.findings {
		f := *f
		if f.Happened == HappenedFailedUnasked && a.denials[f.ToolUseID] {
			f.Happened = HappenedRefusedUnasked
		}
		if a.silent {
			f.Happened = strings.TrimSuffix(f.Happened, "_unasked")
		}
		out = append(out, f)
	}
	return out
}

// Summary counts the findings.
func (a *Audit) Summary() Summary {
	s := Summary{Skipped: a.skipped}
	for _, f := range a.Findings() {
		s.Calls++
		allows, denies := f.Decision == api.RuleAllow, f.Decision == api.RuleDeny
		switch {
		case allows:
			s.Allowed++
		case denies:
			s.Denied++
		case f.Rule != nil:
			s.Asked++
		default:
			s.NoRule++
		}
		switch {
		case f.byRule:
		case f.Happened == HappenedAllowed:
			s.PeopleAllowed++
			s.PeopleAllowedAllowed += one(allows)
			s.PeopleAllowedDenied += one(denies)
		case f.Happened == HappenedDenied:
			s.PeopleDenied++
			s.PeopleDeniedAllowed += one(allows)
		case f.Happened == HappenedRanUnasked, f.Happened == HappenedFailedUnasked:
			s.Unasked++
			s.UnaskedDenied += one(denies)
			s.UnaskedAsked += one(!allows && !denies && f.Rule != nil)
		}
	}
	return s
}

// one is 1 for true.
func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// WriteJSON writes findings for programs: an object each in a line of its own, and in the last one, as member summary, what they add up to.
func (a *Audit) WriteJSON(w io.Writer) error {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	for _, f := range a.Findings() {
		if err := out.Encode(f); err != nil {
			return err
		}
	}
	return out.Encode(map[string]Summary{"summary": a.Summary()})
}

// String returns the sums in sentences.
func (s Summary) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: the rules allow %d, deny %d, ask about %d, and say nothing about %d.\n", number(s.Calls, "call"), s.Allowed, s.Denied, s.Asked, s.NoRule)
	if s.PeopleAllowed > 0 {
		fmt.Fprintf(&b, "Of %d that people had allowed, rules allow %d and deny %d.\n", s.PeopleAllowed, s.PeopleAllowedAllowed, s.PeopleAllowedDenied)
	}
	if s.PeopleDenied > 0 {
		fmt.Fprintf(&b, "Of %d that people had denied, rules allow %d.\n", s.PeopleDenied, s.PeopleDeniedAllowed)
	}
	if s.Unasked > 0 {
		fmt.Fprintf(&b, "Of %d that ran unasked, rules deny %d and ask about %d.\n", s.Unasked, s.UnaskedDenied, s.UnaskedAsked)
	}
	if s.Skipped > 0 {
		fmt.Fprintf(&b, "%s skipped that say nothing known.\n", number(s.Skipped, "line"))
	}
	return b.String()
}

// number returns a number of things in words.
func number(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// A Verdict is a decision in the form in which programs are told.
type Verdict struct {
	// Decision is allow, ask or deny. Where no rule says anything it is ask: the CLI decides whether it asks, and then a person answers.
	Decision api.RuleDecision `json:"decision"`
	// Rule is the one that decided; nil if none did.
	Rule *api.RuleRef `json:"rule"`
	// Reason says why, in one sentence.
	Reason string `json:"reason"`
	// Message is what the model is told, with deny.
	Message string `json:"message,omitempty"`
	// Enforced says what enforces it: cli, hub, both, or nothing (empty). The hub decides about what the CLI asks and, with Hook, about every call.
	Enforced string `json:"enforced,omitempty"`
	Hook     bool   `json:"hook,omitempty"`
}

// Judge has an engine decide about a call.
func Judge(engine *policy.Engine, call policy.Call) Verdict {
	v := engine.Decide(call)
	out := Verdict{Decision: api.RuleDecision(v.Decision), Reason: v.Reason, Message: v.Message, Enforced: v.Enforced, Hook: engine.Enforce() == policy.EnforceHook}
	if v.Decision == "" {
		out.Decision = api.RuleAsk
	}
	if v.Rule != nil {
		out.Rule = &api.RuleRef{Rule: v.Rule.Text, Decision: api.RuleDecision(v.Rule.Decision), Scope: string(v.Rule.Scope), Source: v.Rule.Source, ID: v.Rule.ID}
	}
	return out
}
