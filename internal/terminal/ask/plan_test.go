package ask

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/api"
)

var review = with(asking(api.QuestionPlan, "ExitPlanMode", `{"plan":"1. Write the tests.\n2. Fix the parser."}`), func(q *api.Question) {
	q.Plan = &api.Plan{
		Text: "# The plan\n\n1. Write the tests.\n2. Fix the parser.", Source: "request", Percent: new(62.4),
		Prompts:  []api.PlanPrompt{{Tool: "Bash", Prompt: "run the tests"}},
		Outcomes: []api.PlanOutcome{api.PlanFresh, api.PlanAcceptEdits, api.PlanAsk, api.PlanRevise, api.PlanReject, api.PlanOutline}, Bypass: true,
	}
})

// reviewed returns the review with another plan.
func reviewed(change func(p *api.Plan)) *api.Question {
	return with(review, func(q *api.Question) {
		p := *q.Plan
		change(&p)
		q.Plan = &p
	})
}

var staleReview = with(reviewed(func(p *api.Plan) { p.Outcomes = []api.PlanOutcome{api.PlanFresh, api.PlanRevise, api.PlanReject} }), func(q *api.Question) { q.Stale = true })

func TestPlan(t *testing.T) {
	noBypass := reviewed(func(p *api.Plan) { p.Bypass, p.Prompts, p.Percent = false, nil, nil })
	noFresh := reviewed(func(p *api.Plan) { p.Outcomes = p.Outcomes[1:] })
	none := reviewed(func(p *api.Plan) {
		p.Text, p.Prompts, p.Bypass, p.Outcomes = "", nil, false, []api.PlanOutcome{api.PlanAsk, api.PlanReject}
	})
	plain := with(review, func(q *api.Question) { q.Plan = nil })
	tomorrow := reviewed(func(p *api.Plan) { p.Outcomes = []api.PlanOutcome{"of_tomorrow"} })
	run(t, []row{
		{name: "fresh", q: review, keys: "1", want: &api.Answer{Outcome: api.PlanFresh}},
		{name: "fresh with shift+tab", q: review, keys: "<shift+tab>", want: &api.Answer{Outcome: api.PlanFresh}},
		{name: "fresh with enter", q: review, keys: "<enter>", want: &api.Answer{Outcome: api.PlanFresh}},
		{name: "fresh has its percentage", q: review, words: "Yes, clear context (62% used) and accept edits (shift+tab)"},
		{name: "fresh without a percentage", q: noBypass, words: "Yes, clear context and accept edits (shift+tab)"},
		{name: "fresh with bypass", q: review, keys: "b1", want: &api.Answer{Outcome: api.PlanFresh, Mode: "bypassPermissions"}},
		{name: "the label of bypass", q: review, keys: "b", words: "Yes, clear context (62% used) and bypass permissions"},
		{name: "shift+tab is only what its label says", q: review, keys: "b<shift+tab>", words: "Yes, and bypass permissions"},
		{name: "bypass taken back", q: review, keys: "bb1", want: &api.Answer{Outcome: api.PlanFresh}},
		{name: "bypass where there is none", q: noBypass, keys: "b1", want: &api.Answer{Outcome: api.PlanFresh}},
		{name: "accept edits", q: review, keys: "2", want: &api.Answer{Outcome: api.PlanAcceptEdits}},
		{name: "accept edits with arrows", q: review, keys: "<down><enter>", want: &api.Answer{Outcome: api.PlanAcceptEdits}},
		{name: "accept edits with bypass", q: review, keys: "b2", want: &api.Answer{Outcome: api.PlanAcceptEdits, Mode: "bypassPermissions"}},
		{name: "ask", q: review, keys: "3", want: &api.Answer{Outcome: api.PlanAsk}},
		{name: "ask has no bypass", q: review, keys: "b3", want: &api.Answer{Outcome: api.PlanAsk}},
		{name: "compact, without what it asks for", q: review, keys: "cx3", want: &api.Answer{Outcome: api.PlanAsk, Compact: true, NoPrompts: true}},
		{name: "a fresh start has nothing to compact", q: review, keys: "c1", want: &api.Answer{Outcome: api.PlanFresh}},
		{name: "nothing is asked for", q: noBypass, keys: "x3", want: &api.Answer{Outcome: api.PlanAsk}},
		{name: "an edited plan", q: review, keys: "<ctrl+g>2", editor: "1. Only the tests.\n", want: &api.Answer{Outcome: api.PlanAcceptEdits, Plan: new("1. Only the tests.")}},
		{name: "an edited plan, fresh", q: review, keys: "<ctrl+g><shift+tab>", editor: "Less.", want: &api.Answer{Outcome: api.PlanFresh, Plan: new("Less.")}},
		{name: "an edited plan is shown", q: review, keys: "<ctrl+g>", editor: "Much less.", words: "as you edited it:\n│ Much less."},
		{name: "an edited plan goes with no refusal", q: review, keys: "<ctrl+g>4More.<enter>", editor: "Less.", want: &api.Answer{Outcome: api.PlanRevise, Message: "More."}},
		{name: "an edited plan that is the same", q: review, keys: "<ctrl+g>3", editor: review.Plan.Text + "\n", want: &api.Answer{Outcome: api.PlanAsk}},
		{name: "an edited plan that is empty", q: review, keys: "<ctrl+g>", editor: "\n \n", words: "a plan can't be empty"},
		{name: "edited in place", q: reviewed(func(p *api.Plan) { p.Text = "Do it" }), keys: "<ctrl+g> now<enter>3", editor: "-", want: &api.Answer{Outcome: api.PlanAsk, Plan: new("Do it now")}},
		{name: "feedback", q: review, keys: "4The parser is not ours.<enter>", want: &api.Answer{Outcome: api.PlanRevise, Message: "The parser is not ours."}},
		{name: "feedback of two lines", q: review, keys: "4a<alt+enter>b<enter>", want: &api.Answer{Outcome: api.PlanRevise, Message: "a\nb"}},
		{name: "feedback that is empty", q: review, keys: "4<enter>", words: "write something first"},
		{name: "the words of Claude Code", q: review, keys: "4", words: "Type here to tell Claude what to change"},
		{name: "reject", q: review, keys: "r<enter>", want: &api.Answer{Outcome: api.PlanReject}},
		{name: "reject, and why", q: review, keys: "rNot needed.<enter>", want: &api.Answer{Outcome: api.PlanReject, Message: "Not needed."}},
		{name: "reject and stop", q: review, keys: "s<enter>", want: &api.Answer{Outcome: api.PlanReject, Interrupt: true}},
		{name: "outline", q: review, keys: "p", want: &api.Answer{Outcome: api.PlanOutline}},
		{name: "no fresh: shift+tab does nothing", q: noFresh, keys: "<shift+tab>", words: "Yes, and accept edits"},
		{name: "no fresh: the keys stay the same", q: noFresh, keys: "2", want: &api.Answer{Outcome: api.PlanAcceptEdits}},
		{name: "no fresh: not 1", q: noFresh, keys: "1", words: "not possible now"},
		{name: "stale: says so", q: staleReview, words: "The agent that asked has stopped"},
		{name: "stale: fresh", q: staleReview, keys: "1", want: &api.Answer{Outcome: api.PlanFresh}},
		{name: "stale: fresh with an edited plan", q: staleReview, keys: "<ctrl+g>1", editor: "Less.", want: &api.Answer{Outcome: api.PlanFresh, Plan: new("Less.")}},
		{name: "stale: feedback", q: staleReview, keys: "4Go on.<enter>", want: &api.Answer{Outcome: api.PlanRevise, Message: "Go on."}},
		{name: "stale: reject", q: staleReview, keys: "r<enter>", want: &api.Answer{Outcome: api.PlanReject}},
		{name: "stale: not accept edits", q: staleReview, keys: "2", words: "the agent that asked has stopped"},
		{name: "stale: not outline", q: staleReview, keys: "p", words: "the agent that asked has stopped"},
		{name: "stale: nothing to stop", q: staleReview, keys: "s", words: "not possible now"},
		{name: "no plan", q: none, keys: "1", want: &api.Answer{Outcome: api.PlanAsk}},
		{name: "no plan, no", q: none, keys: "2<enter>", want: &api.Answer{Outcome: api.PlanReject}},
		{name: "no plan to edit", q: none, keys: "<ctrl+g>", words: "no plan to edit"},
		{name: "no outcomes", q: plain, keys: "y", want: &api.Answer{Decision: "allow"}},
		{name: "no outcomes, enter", q: plain, keys: "<enter>", want: &api.Answer{Decision: "allow"}},
		{name: "no outcomes, no", q: plain, keys: "<down><enter>Why?<enter>", want: &api.Answer{Decision: "deny", Message: "Why?"}},
		{name: "outcomes of tomorrow", q: tomorrow, keys: "n<enter>", want: &api.Answer{Decision: "deny"}},
	})
}

func TestPlanImages(t *testing.T) {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "shot one.png"), b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	m := New(review, Options{Width: 80, Dir: dir})
	m, _ = press(t, m, "4")
	paste := func(text string) {
		t.Helper()
		var cmd tea.Cmd
		if m, cmd = m.Update(tea.PasteMsg{Content: text}); cmd != nil {
			m, _ = m.Update(cmd())
		}
	}
	paste("'shot one.png'")
	if view := m.View(); !strings.Contains(view, "+ shot one.png") {
		t.Fatalf("the image is not shown:\n%s", view)
	}
	paste("gone.png")
	if view := m.View(); !strings.Contains(view, "no such file") || !strings.Contains(view, "gone.png") {
		t.Fatalf("a path of nothing must stay a text, with a word about it:\n%s", view)
	}
	m, _ = press(t, m, "<ctrl+u>")
	_, msg := press(t, m, "<enter>")
	want := AnsweredMsg{"q1", api.Answer{Outcome: api.PlanRevise, Images: json.RawMessage(
		`[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + base64.StdEncoding.EncodeToString(b.Bytes()) + `"}}]`)}}
	if diff := cmp.Diff(want, msg); diff != "" {
		t.Errorf("the answer differs (-want +got):\n%s", diff)
	}
	m, _ = press(t, m, "<ctrl+x><enter>")
	if view := m.View(); !strings.Contains(view, "write something first") {
		t.Errorf("without the image there is nothing to say:\n%s", view)
	}
}
