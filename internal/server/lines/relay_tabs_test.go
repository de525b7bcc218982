package lines

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
)

// echoOf is what a CLI repeats when it takes up the prompt hi.
const echoOf = `{"type":"user","isReplay":true,"session_id":"c-s1","message":{"role":"user","content":"hi"},"uuid":"11111111-2222-4333-8444-555555555555"}`

// TestRelayPromptOnce has the CLI repeat a prompt: the front end that sent it is shown the
// CLI's line, the others have seen the prompt.
func TestRelayPromptOnce(t *testing.T) {
	h := newStage(t, idle("s1"))
	r := newRig(t, h, nil)
	c := r.dial(t, "")
	c.expect(connected("s1")...)
	mark, text := marker("s1")
	h.publish(prompted("s1", hi), line("s1", echoOf), mark)
	c.expect(labeled("s1", hi), text)
	// What else the CLI says as the user is shown.
	h.publish(line("s1", echoOf))
	c.expect(echoOf)
	c.say(hi)
	mine := prompted("s1", hi)
	mine.By = h.took(t, 1).by.Name
	h.publish(mine, line("s1", echoOf), mark)
	c.expect(echoOf, text)
}

// TestRelayPromptOfANewRun holds prompts until their run says which conversation it is
// in.
func TestRelayPromptOfANewRun(t *testing.T) {
	inNew := func(line string) string { return strings.TrimSuffix(line, "}") + `,"session_id":"c-new"}` }
	const (
		assistant = `{"type":"assistant","session_id":"c-new"}`
		failed    = `{"type":"result","session_id":"never"}`
		hookLine  = `{"type":"system","subtype":"hook_started","session_id":"c-new"}`
	)
	opening := strings.Replace(initOf("s1"), "c-s1", "c-new", 1)
	echo := strings.Replace(echoOf, "c-s1", "c-new", 1)
	tests := []struct {
		name   string
		start  string
		events []*api.Event
		want   []string
	}{
		{
			"after the opening", `{}`,
			[]*api.Event{ranAgain(prompted("s1", hi)), ranAgain(line("s1", opening)), ranAgain(line("s1", echo)), ranAgain(line("s1", assistant))},
			[]string{opening, inNew(hi), assistant},
		},
		{"before all else", `{}`, []*api.Event{ranAgain(prompted("s1", hi)), ranAgain(line("s1", assistant)), ranAgain(line("s1", echo))}, []string{inNew(hi), assistant}},
		{"in place of its echo", `{}`, []*api.Event{ranAgain(prompted("s1", hi)), ranAgain(line("s1", echo)), ranAgain(line("s1", opening))}, []string{inNew(hi), opening}},
		{"at once if it is known", `{}`, []*api.Event{ranAgain(line("s1", hookLine)), ranAgain(prompted("s1", hi))}, []string{hookLine, inNew(hi)}},
		{"at once in a resumed one", `{"resume":"c-new"}`, []*api.Event{ranAgain(prompted("s1", hi))}, []string{inNew(hi)}},
		{"not in one that is forked", `{"resume":"c-s1","fork":true}`, []*api.Event{ranAgain(prompted("s1", hi)), ranAgain(line("s1", opening))}, []string{opening, inNew(hi)}},
		{"a result does not tell", `{}`, []*api.Event{ranAgain(prompted("s1", hi)), ranAgain(line("s1", failed)), ranAgain(line("s1", assistant))}, []string{failed, inNew(hi), assistant}},
		{"the process dies", `{}`, []*api.Event{ranAgain(prompted("s1", hi)), ranAgain(happened("s1", api.KindRunEnded, `{}`))}, []string{hi}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := newStage(t, idle("s1"))
			c := newRig(t, h, nil).dial(t, "?session=s1")
			c.expect(connected("s1")...)
			mark, text := marker("s1")
			h.publish(slices.Concat([]*api.Event{happened("s1", api.KindRunEnded, `{}`), restarted("s1", tt.start)}, tt.events, []*api.Event{mark})...)
			c.expect(slices.Concat([]string{labeled("s1", saysDisconnected)}, tt.want, []string{text})...)
		})
	}
}

// TestRelayHeldPrompts sends many prompts to an agent that does not say which conversation
// it is in.
func TestRelayHeldPrompts(t *testing.T) {
	h := newStage(t, idle("s1"))
	c := newRig(t, h, nil).dial(t, "?session=s1")
	c.expect(connected("s1")...)
	h.publish(restarted("s1", `{}`))
	prompt := func(i int) string { return fmt.Sprintf(`{"type":"user","uuid":"u%d"}`, i) }
	for i := range maxHeld + 1 {
		h.publish(ranAgain(prompted("s1", prompt(i))))
	}
	for i := range maxHeld + 1 {
		c.expect(prompt(i))
	}
}

// TestRelayLongConversation has an agent claim to be in a conversation with a name that
// would fill memory.
func TestRelayLongConversation(t *testing.T) {
	h := newStage(t, idle("s1"))
	c := newRig(t, h, nil).dial(t, "")
	c.expect(connected("s1")...)
	long := `{"type":"assistant","session_id":"` + strings.Repeat("x", maxConversation+1) + `"}`
	h.publish(line("s1", long), prompted("s1", hi))
	c.expect(long, labeled("s1", hi))
}
