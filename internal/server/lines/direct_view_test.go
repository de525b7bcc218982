package lines

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/server/servertest"
	"github.com/switchboard-dev/switchboard/wire"
)

// The client of the table, and somebody else.
const me, them = "me (Direct Connect 1)", "them"

func liveFrame(line string) api.Frame {
	return api.Frame{Type: api.FrameLive, Event: &api.Event{Kind: api.KindLive, Line: json.RawMessage(line)}}
}

func sent(by, line string) api.Frame {
	return api.Frame{Type: api.FrameEvent, Event: &api.Event{Kind: api.KindSent, By: by, Line: json.RawMessage(line)}}
}

func settledFrame(by, request string) api.Frame {
	return event(api.KindQuestionSettled, fmt.Sprintf(`{"request_id":%q,"by":%q,"state":"answered"}`, request, by))
}

func partial(parents ...string) api.Frame {
	f := api.Frame{Type: api.FramePartial, Partial: &api.Partials{}}
	for _, parent := range parents {
		f.Partial.Messages = append(f.Partial.Messages, api.Partial{ParentToolUseID: parent})
	}
	return f
}

const (
	asks     = `{"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{}}}`
	cancels  = `{"type":"control_cancel_request","request_id":"r1"}`
	hook     = `{"type":"control_request","request_id":"r2","request":{"subtype":"hook_callback","callback_id":"hook_0","input":{}}}`
	ourHook  = `{"type":"control_request","request_id":"r3","request":{"callback_id":"switchboard-call","subtype":"hook_callback","input":{}}}`
	mcp      = `{"type":"control_request","request_id":"r4","request":{"subtype":"mcp_message","server_name":"desk","message":{}}}`
	unknown  = `{"type":"control_request","request_id":"r5","request":{"subtype":"read_minds"}}`
	form     = `{"type":"control_request","request_id":"r1","request":{"subtype":"elicitation","message":"?"}}`
	dialog   = `{"type":"control_request","request_id":"r1","request":{"subtype":"request_user_dialog"}}`
	answers  = `{"type":"control_response","response":{"subtype":"success","request_id":"x","response":{}}}`
	says     = ` {"session_id":"c1", "type":"assistant","message":{"content":[]} } `
	prompt   = `{"type":"user","uuid":"u1","message":{"role":"user","content":"hello"}}`
	echo     = `{"type":"user","uuid":"u1","isReplay":true,"message":{"role":"user","content":"hello"}}`
	output   = `{"type":"user","uuid":"u2","isReplay":true,"message":{"role":"user","content":"<local-command-stdout>"}}`
	begins   = `{"type":"stream_event","event":{"type":"message_start"},"parent_tool_use_id":null}`
	delta    = `{"type":"stream_event","event":{"type":"content_block_delta"},"parent_tool_use_id":null}`
	subDelta = `{"type":"stream_event","event":{"type":"content_block_delta"},"parent_tool_use_id":"t1"}`
)

// A collector is a client that remembers what it was shown.
type collector struct{ lines []string }

func (c *collector) Line(line []byte) { c.lines = append(c.lines, string(line)) }

// newDirectView returns the dialect as it shows something to a client of a session, which
// is the registrant of what the CLI asks its program, or not.
func newDirectView(t *testing.T, lab *servertest.Lab, registered bool) *direct {
	t.Helper()
	created, err := lab.Hub.CreateDirect(t.Context(), servertest.Admin, api.CreateSession{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	driver, err := lab.Hub.Join(t.Context(), created.ID)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(driver.Leave)
	if registered {
		if _, err := driver.Submit(t.Context(), servertest.Admin, []byte(initialize), func(wire.Scope) bool { return true }); err != nil {
			t.Fatal(err)
		}
	}
	s := New(lab.Hub, nil, nil)
	c := &conn{server: s}
	d := &direct{conn: c, options: &s.options, driver: driver}
	c.view.init(d, me, true, s.sight)
	return d
}

func (d *direct) shown(frames ...api.Frame) []string {
	var to collector
	d.view.show(frames, &to)
	return to.lines
}

func TestDirectView(t *testing.T) {
	tests := map[string]struct {
		batches    [][]api.Frame
		registered bool
		want       []string
	}{
		"lines as they are":                 {[][]api.Frame{{wrote(says), liveFrame(delta)}}, false, []string{says, delta}},
		"an unknown type":                   {[][]api.Frame{{wrote(`{"type":"news","x":1}`)}}, false, []string{`{"type":"news","x":1}`}},
		"no JSON":                           {[][]api.Frame{{{Type: api.FrameEvent, Event: &api.Event{Kind: api.KindLine, Text: "oh"}}}}, true, nil},
		"answers of the CLI":                {[][]api.Frame{{wrote(answers)}}, true, nil},
		"events of the hub":                 {[][]api.Frame{{event(api.KindNotice, `{}`), event(api.KindQuestionOpened, `{}`)}}, true, nil},
		"history":                           {[][]api.Frame{{{Type: api.FrameEvent, Event: &api.Event{Kind: api.KindHistory, Line: json.RawMessage(says)}}}}, true, nil},
		"a question":                        {[][]api.Frame{{wrote(asks)}}, false, []string{asks}},
		"a form":                            {[][]api.Frame{{wrote(form)}}, false, []string{form}},
		"a dialog":                          {[][]api.Frame{{wrote(dialog)}}, false, []string{dialog}},
		"answered by somebody else":         {[][]api.Frame{{wrote(asks)}, {settledFrame(them, "r1")}}, false, []string{asks, cancels}},
		"answered by the client":            {[][]api.Frame{{wrote(asks)}, {settledFrame(me, "r1")}}, false, []string{asks}},
		"answered by the client at once":    {[][]api.Frame{{wrote(asks), settledFrame(me, "r1")}}, false, []string{asks}},
		"answered by a rule at once":        {[][]api.Frame{{wrote(asks), settledFrame("rule", "r1"), wrote(says)}}, false, []string{says}},
		"answered twice over":               {[][]api.Frame{{wrote(asks)}, {settledFrame(them, "r1")}, {settledFrame(them, "r1")}}, false, []string{asks, cancels}},
		"another's question":                {[][]api.Frame{{settledFrame(them, "r9")}}, false, nil},
		"withdrawn by the CLI":              {[][]api.Frame{{wrote(asks)}, {wrote(cancels)}, {settledFrame("", "r1")}}, false, []string{asks, cancels}},
		"a hook, for the registrant":        {[][]api.Frame{{wrote(hook), wrote(mcp), wrote(unknown)}}, true, []string{hook, mcp, unknown}},
		"a hook, for another":               {[][]api.Frame{{wrote(hook), wrote(mcp), wrote(unknown)}}, false, nil},
		"a hook of the hub's":               {[][]api.Frame{{wrote(ourHook)}}, true, nil},
		"the client's prompt":               {[][]api.Frame{{sent(me, prompt)}, {wrote(echo)}}, false, nil},
		"another's prompt":                  {[][]api.Frame{{sent(them, prompt)}, {wrote(echo), wrote(says)}}, false, []string{prompt, says}},
		"another's request":                 {[][]api.Frame{{sent(them, unknown), sent(them, answers)}}, true, nil},
		"the output of a command":           {[][]api.Frame{{sent(me, prompt), wrote(output)}}, false, []string{output}},
		"an echo comes once":                {[][]api.Frame{{sent(me, prompt), wrote(echo), wrote(echo)}}, false, []string{echo}},
		"at the edge":                       {[][]api.Frame{{partial(), liveFrame(begins), liveFrame(delta)}}, false, []string{begins, delta}},
		"in the middle of a message":        {[][]api.Frame{{partial(""), liveFrame(delta), liveFrame(subDelta)}, {wrote(says), liveFrame(begins), liveFrame(delta)}}, false, []string{subDelta, says, begins, delta}},
		"in the middle of a sub-agent's":    {[][]api.Frame{{partial("t1"), liveFrame(delta), liveFrame(subDelta)}}, false, []string{delta}},
		"in the middle, and then no more":   {[][]api.Frame{{partial("")}, {partial(), liveFrame(delta)}}, false, []string{delta}},
		"what the stream says of itself":    {[][]api.Frame{{{Type: api.FrameResume, Resume: &api.Verdict{}}, {Type: api.FrameClosing}}}, false, nil},
		"a settled question without a name": {[][]api.Frame{{event(api.KindQuestionSettled, `nonsense`)}}, false, nil},
	}
	lab := servertest.New(t, nil)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			d := newDirectView(t, lab, test.registered)
			var got []string
			for _, frames := range test.batches {
				got = append(got, d.shown(frames...)...)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestDirectViewOver ends processes.
func TestDirectViewOver(t *testing.T) {
	ended, state := event(api.KindRunEnded, `{"reason":"it ended","code":3}`), func(s api.State) api.Frame {
		return event(api.KindState, `{"state":"`+string(s)+`"}`)
	}
	tests := map[string]struct {
		frames []api.Frame
		over   bool
	}{
		"the end":                   {[]api.Frame{ended, state(api.StateEnded)}, true},
		"another takes its place":   {[]api.Frame{ended, event(api.KindRunStarted, `{}`), state(api.StateStarting)}, false},
		"not begun":                 {[]api.Frame{state(api.StateEnded)}, false},
		"of the one after":          {[]api.Frame{ended, event(api.KindRunStarted, `{}`), ended, state(api.StateEnded)}, true},
		"only the connection":       {[]api.Frame{state(api.StateOffline)}, false},
		"another is started for it": {[]api.Frame{ended, state(api.StateStarting)}, false},
	}
	lab := servertest.New(t, nil)
	for name, test := range tests {
		d := newDirectView(t, lab, true)
		d.shown(test.frames...)
		if d.over() != test.over {
			t.Errorf("%s: it is over: %t", name, d.over())
		}
		if d.over() && (d.last.Code == nil || *d.last.Code != 3) {
			t.Errorf("%s: it ended with %+v", name, d.last)
		}
	}
}

func TestDirectGreeting(t *testing.T) {
	d := newDirectView(t, servertest.New(t, nil), true)
	for _, test := range []struct {
		question api.Question
		want     []string
	}{
		{api.Question{RequestID: "r1", Request: json.RawMessage(asks)}, []string{asks}},
		{api.Question{RequestID: "r1", Request: json.RawMessage(asks), Stale: true}, nil},
		{api.Question{RequestID: "r3", Request: json.RawMessage(ourHook)}, nil},
		{api.Question{RequestID: "r3", Request: json.RawMessage(`{`)}, nil},
	} {
		var to collector
		d.first = []api.Question{test.question}
		if err := d.greet(t.Context(), &to, nil); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, to.lines); diff != "" {
			t.Errorf("%+v: -want +got:\n%s", test.question, diff)
		}
	}
	if got := d.shown(settledFrame(them, "r1"), settledFrame(them, "r3")); len(got) != 1 || got[0] != cancels {
		t.Errorf("what is settled is withdrawn by %q", got)
	}
}

// TestDirectEchoes waits for echoes that never come.
func TestDirectEchoes(t *testing.T) {
	d := newDirectView(t, servertest.New(t, nil), true)
	for i := range 3 * maxEchoes {
		d.shown(sent(me, fmt.Sprintf(`{"type":"user","uuid":"n%d"}`, i)))
	}
	if len(d.echoes) != maxEchoes {
		t.Errorf("%d prompts wait for their echo; want %d", len(d.echoes), maxEchoes)
	}
	if !d.echoes.is(fmt.Sprintf("n%d", 3*maxEchoes-1)) || d.echoes.is("n0") {
		t.Error("the newest count")
	}
}
