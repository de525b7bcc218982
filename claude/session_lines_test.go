package claude

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/wire"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// quietSession is a session that reads nothing by itself.
func quietSession(t *testing.T) *Session {
	t.Helper()
	s := newSession(&Options{})
	if err := s.prepareDesk(t.Context(), wire.Version{}); err != nil {
		t.Fatal(err)
	}
	s.conn = newConn(newFakeTransport(), nil)
	return s
}

// fed is what received does, at a time of the caller's and with or without putting
// lines off.
func (s *Session) fed(putsOff bool, number int64, line string, now time.Time) {
	l := Line{Number: number, Bytes: []byte(line)}
	if h, err := wire.Peek(l.Bytes); err == nil {
		l.Header = h
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch wire.ClassOf(l.Header) {
	case wire.Live:
		s.partials.live(&l)
	case wire.Consumed:
	case wire.Durable:
		if !putsOff || !s.putOff(&l, now) {
			s.line(&l, now)
			s.tell()
		}
	}
}

// choices makes lines out of bytes.
type choices struct {
	data []byte
	line int
}

func (c *choices) n(most int) int {
	if len(c.data) == 0 {
		return 0
	}
	b := int(c.data[0])
	c.data = c.data[1:]
	return b % most
}

// of returns one of the texts; the first, which is the usual one, most often.
func (c *choices) of(usual string, others ...string) string {
	if i := c.n(4 * (len(others) + 1)); i < len(others) {
		return others[i]
	}
	return usual
}

// message is a line of the model's.
func (c *choices) message() string {
	usual := fmt.Sprintf(`{"type":"text","text":"said %d"}`, c.line)
	if c.n(2) > 0 { // most are that
		usual = c.of(`{"type":"tool_use","id":"t","name":"Bash","input":{"command":"ls"}}`, `{"type":"tool_use","id":"t","name":"Bash","input":{"text":"\u0074"}}`,
			`{"type":"\u0074ext","text":"hidden"}`, `{"type":"te\u0078t","\u0074\u0065\u0078\u0074":"hidden"}`)
	}
	content := c.of(usual, `{"type":"tool_use","id":"t","name":"Bash","input":{"model":"m2"}}`,
		`{"type":"text","text":""}`, `{"type":"thinking","thinking":"so"}`, `{"type":"text","text":"a \ud83d\ude00"}`, `{"type":"strange"}`, ``,
		`{"type":"text","text":"x"},{"type":"tool_use","id":"t","name":"Bash","input":{}}`, `{"type":"text","text":"\xff"}`, `{"type":"text","text":nonsense}`)
	model := c.of(`"model":"m1",`, `"model":"m2",`, `"model":"<synthetic>",`, ``, `"model":"m3",`, `"model":"m1","model":"m2",`)
	usage := c.of(fmt.Sprintf(`{"input_tokens":%d,"output_tokens":2}`, c.line), `{}`, `{"input_tokens":-3}`, `{"input_tokens":0}`, `null`)
	more := c.of(``, `,"context_usage":{"model":"m2","totalTokens":7,"rawMaxTokens":70,"percentage":10}`, `,"supersedes":["u1","u2"]`, `,"new":1`,
		`,"error":"rate_limit"`, `,"context_\u0075sage":{"model":"m1","totalTokens":8,"rawMaxTokens":80,"percentage":10}`)
	parent := c.of(`null`, `"agent"`)
	session := c.of(`,"session_id":"c1"`, `,"session_id":"c2"`, ``)
	id := c.of(fmt.Sprintf(`,"uuid":"u%d"`, c.line), `,"uuid":"u1"`, ``, `,"uuid":"`+strings.Repeat("long", 100)+`"`, `,"uuid":"\ud800"`, `,"uuid":"\xff"`)
	return `{"type":"assistant","message":{"id":"m","type":"message","role":"assistant",` + model + `"content":[` + content + `],"usage":` + usage +
		`},"parent_tool_use_id":` + parent + session + id + more + `}`
}

// other is a line of another kind. One that is sent begins with ">".
func (c *choices) other() string {
	ids := fmt.Sprintf(`,"session_id":"c1","uuid":"o%d"}`, c.line)
	stream := func(event string) string {
		return `{"type":"stream_event","event":` + event + `,"parent_tool_use_id":` + c.of(`null`, `"agent"`) + ids
	}
	list := []string{
		`{"type":"system","subtype":"init","cwd":"/","tools":[],"model":"` + c.of("m1", "m2") + `","permissionMode":"default","claude_code_version":"2.1.325"` + ids,
		`{"type":"result","subtype":"` + c.of("success", "error_during_execution") + `","is_error":` + c.of("false", "true") + `,"result":"` + c.of("", "answer") +
			`","num_turns":1,"total_cost_usd":0.5,"usage":{"input_tokens":1,"output_tokens":1},"modelUsage":{"m1":{"inputTokens":1,"contextWindow":200},"m2":{"inputTokens":1,"contextWindow":` + c.of("300", "0") + `}}` + ids,
		`{"type":"system","subtype":"session_state_changed","state":"` + c.of("running", "idle") + `"` + ids,
		`{"type":"user","message":{"role":"user","content":"hello"},"isReplay":true,"parent_tool_use_id":null,"session_id":"c1","uuid":"p1"}`,
		`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"ok"}]},"parent_tool_use_id":null` + ids,
		`{"type":"system","subtype":"api_retry","attempt":1,"max_retries":3,"retry_delay_ms":5,"error":"overloaded"` + ids,
		`{"type":"system","subtype":"compact_boundary","compact_metadata":{"trigger":"auto","pre_tokens":9}` + ids,
		`{"type":"conversation_reset","new_conversation_id":"c2","trigger":"clear"` + ids,
		`{"type":"system","subtype":"task_started","task_id":"k","is_backgrounded":true` + ids,
		`{"type":"system","subtype":"task_notification","task_id":"k","status":"completed"` + ids,
		stream(`{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"m1","content":[],"usage":{}}}`),
		stream(`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`),
		stream(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"piece"}}`),
		`{"type":"control_response","response":{"subtype":"success","request_id":"r1","response":{"model":"` + c.of("m1", "m2") + `","totalTokens":5,"maxTokens":50,"percentage":10}}}`,
		`no JSON`,
		`>{"type":"user","message":{"role":"user","content":"hello"},"uuid":"p1"}`,
		`>{"type":"control_request","request_id":"r1","request":{"subtype":"get_context_usage"}}`,
		`>{"type":"control_request","request_id":"r2","request":{"subtype":"interrupt"}}`,
	}
	return list[c.n(len(list))]
}

// A shown is everything that a session shows, in a form that can be compared.
type shown struct {
	Info     Info
	Fold     string
	Partials []fold.Message
	Costs    fold.Figures
	Text     string
	Refusal  wire.AssistantError
}

func (s *Session) shows() (v shown) {
	v.Info, v.Partials, v.Costs = s.Info(), s.Partials(), s.Costs()
	s.mu.Lock()
	defer s.mu.Unlock()
	state := s.fold
	state.Drift, state.Retracted = fold.Drift{}, nil // a session shows neither
	text, err := json.Marshal(&state)
	v.Fold = fmt.Sprint(string(text), err)
	if t := s.turns.current; t != nil {
		v.Text, v.Refusal = t.text(), s.refusal(t)
	}
	return v
}

// glance is what is seen of a session without asking for more.
func (s *Session) glance() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out strings.Builder
	t := s.turns.current
	fmt.Fprint(&out, s.phase, s.phaseNow(), s.seen, s.turns.number, s.turns.completed, s.turnComes(), s.turns.orphans, t != nil && t.begun, t != nil && t.doubt != nil)
	for _, m := range s.turns.marks {
		fmt.Fprintf(&out, "\n%d %T", m.line, m.what)
		if c, ok := m.what.(*TurnCompleted); ok {
			fmt.Fprint(&out, c.Turn, c.Answer, c.Prompts, c.Interrupted, c.Costs, c.refusal, c.Err())
		}
	}
	return out.String()
}

// compareLate feeds the same lines to a session that puts lines off and to one that
// does not. It returns how many lines the first never had to fold.
func compareLate(t *testing.T, data []byte) (spared int) {
	t.Helper()
	late, prompt := quietSession(t), quietSession(t)
	c := &choices{data: data}
	var log []string
	check := func(what string, got, want any) {
		t.Helper()
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%s differs:\n%+v\nwant\n%+v\nbehind\n%s", what, got, want, strings.Join(log, "\n"))
		}
	}
	now := time.Unix(1, 0)
	for len(c.data) > 0 {
		c.line++
		now = now.Add(time.Second)
		line := c.message()
		switch i := c.n(40); {
		case c.line == 1:
			line = `{"type":"system","subtype":"init","cwd":"/","tools":[],"model":"m1","session_id":"c1","uuid":"o"}`
		case i < 3:
			line = c.other()
		case i == 3:
			kind := fold.EventKind(c.of(string(fold.EventLinkLost), string(fold.EventLinkBack)))
			late.linked(kind)
			prompt.linked(kind)
			log = append(log, string(kind))
			continue
		}
		log = append(log, line)
		if sent, ok := strings.CutPrefix(line, ">"); ok {
			late.sending([]byte(sent))
			prompt.sending([]byte(sent))
		} else {
			late.fed(true, int64(c.line), line, now)
			prompt.fed(false, int64(c.line), line, now)
		}
		check("what is seen at once", late.glance(), prompt.glance())
		if c.n(12) == 0 {
			if len(late.late.lines) > 0 {
				text, first := late.settled()
				if spared += first; text >= 0 {
					spared--
				}
			}
			check("what is shown", late.shows(), prompt.shows())
		}
	}
	for _, s := range []*Session{late, prompt} {
		s.over(io.EOF)
	}
	late.fold.Ended.Time, prompt.fold.Ended.Time = now, now
	check("the end", late.glance(), prompt.glance())
	check("what is shown in the end", late.shows(), prompt.shows())
	return spared
}

func TestLateLinesAreNotSeen(t *testing.T) {
	t.Parallel()
	spared := 0
	for seed := range uint64(25) {
		r := rand.New(rand.NewPCG(seed, 9))
		data := make([]byte, 200+r.IntN(2000))
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		spared += compareLate(t, data)
	}
	if spared < 5 {
		t.Errorf("only %d lines were never folded: this shows little", spared)
	}
}

func FuzzLateLines(f *testing.F) {
	f.Add([]byte("0123456789"))
	f.Fuzz(func(t *testing.T, data []byte) {
		compareLate(t, data[:min(len(data), 4096)]) // each byte is a line
	})
}

// Lines wait until somebody looks or there are too many, and the answer of a turn
// is found whichever of them it is in.
func TestLateLines(t *testing.T) {
	t.Parallel()
	text := func(n int, block string) string {
		return fmt.Sprintf(`{"type":"assistant","message":{"id":"m","type":"message","role":"assistant","model":"m1","content":[%s],"usage":{"input_tokens":%d}},"parent_tool_use_id":null,"session_id":"c1","uuid":"u%d"}`, block, n, n)
	}
	const call = `{"type":"tool_use","id":"t","name":"Bash","input":{}}`
	s := quietSession(t)
	now := time.Unix(1, 0)
	n := 0
	feed := func(line string) {
		n++
		s.fed(true, int64(n), line, now)
	}
	feed(`{"type":"system","subtype":"init","cwd":"/","tools":[],"model":"m1","session_id":"c1","uuid":"o"}`)
	for i := range mostLate - 1 {
		feed(text(i+1, `{"type":"text","text":"words"}`))
	}
	if got := len(s.late.lines); got != mostLate-1 {
		t.Fatalf("%d lines wait, want %d", got, mostLate-1)
	}
	if s.fold.LastSeq != 1 {
		t.Errorf("line %d was folded, want only the first", s.fold.LastSeq)
	}
	feed(text(100, `{"type":"text","text":"the last words"}`))
	if got := len(s.late.lines); got != 0 || s.fold.TextUUID != "u100" {
		t.Errorf("%d lines wait and the text is that of %s, want none and u100", got, s.fold.TextUUID)
	}
	feed(text(101, `{"type":"text","text":"words"}`))
	feed(text(102, `{"type":"text","text":"the answer"}`))
	feed(text(103, call))
	feed(text(104, call))
	if got := len(s.late.lines); got != 4 {
		t.Errorf("%d lines wait, want 4", got)
	}
	feed(`{"type":"result","subtype":"success","is_error":false,"result":"","session_id":"c1","uuid":"r","modelUsage":{"m1":{"contextWindow":1000}}}`)
	s.mu.Lock()
	done, ok := s.turns.marks[len(s.turns.marks)-1].what.(*TurnCompleted)
	s.mu.Unlock()
	if !ok || done.Answer != "the answer" {
		t.Errorf("the turn's end is %+v, want one with the answer", done)
	}
	if got := s.Info().Context; got == nil || got.Tokens != 104 || got.Most != 1000 {
		t.Errorf("the context is %+v, want 104 of 1000", got)
	}

	feed(`{"type":"system","subtype":"init","cwd":"/","tools":[],"model":"m1","session_id":"c1","uuid":"o"}`)
	feed(text(105, `{"type":"text","text":"words"}`))
	feed(text(106, `{"type":"text","text":"`+strings.Repeat("long ", mostLateBytes/5)+`"}`))
	if got := len(s.late.lines); got != 0 {
		t.Errorf("%d lines wait although they are long, want none", got)
	}
	feed(text(107, `{"type":"text","text":"words"}`))
	if got := s.Info().Context; got == nil || got.Tokens != 107 {
		t.Errorf("the context is %+v, want 107 tokens", got)
	}
	feed(text(108, `{"type":"text","text":"words"}`))
	s.over(io.ErrClosedPipe)
	s.mu.Lock()
	defer s.mu.Unlock()
	done, ok = s.turns.marks[len(s.turns.marks)-1].what.(*TurnCompleted)
	if !ok || done.Answer != "words" || !errors.Is(done.Err(), io.ErrClosedPipe) || s.fold.LastSeq != int64(n) {
		t.Errorf("the turn's end is %+v behind line %d, want the last words and why it ended, behind line %d", done, s.fold.LastSeq, n)
	}
}
