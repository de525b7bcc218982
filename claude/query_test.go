package claude

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/switchboard-dev/switchboard/claude/claudetest"
	"github.com/switchboard-dev/switchboard/wire"
)

// queryOptions returns options for a simulated CLI that is a process of its own.
func queryOptions(t *testing.T, version string) *Options {
	t.Helper()
	return &Options{CLI: simProgram(t, version), Env: simEnviron(t), Dir: t.TempDir()}
}

// eachProcess runs a test with each version.
func eachProcess(t *testing.T, f func(t *testing.T, version string)) {
	t.Helper()
	for _, version := range claudetest.SimVersions() {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			f(t, version)
		})
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	eachProcess(t, func(t *testing.T, version string) {
		got, err := Text(soon(t), "@say Hello.", queryOptions(t, version))
		if err != nil || got != "Hello." {
			t.Errorf("got %q, %v", got, err)
		}
	})
}

// The answer is that of the turn which the background work has led to, where a
// version has such turns.
func TestTextWaitsForBackgroundWork(t *testing.T) {
	t.Parallel()
	o := queryOptions(t, "2.1.325")
	o.AllowedTools = []string{"Task"}
	// Work that is done within the turn would be told to the model there.
	over := make(chan struct{})
	var once sync.Once
	o.Hooks.Stop = On("", func(context.Context, *wire.StopInput) (*HookAnswer[wire.StopOutput], error) {
		once.Do(func() { close(over) }) // the next turn ends as well
		return nil, nil
	})
	o.Hooks.SubagentStop = On("", func(ctx context.Context, _ *wire.SubagentStopInput) (*HookAnswer[wire.SubagentStopOutput], error) {
		select {
		case <-over:
		case <-ctx.Done():
		}
		return nil, nil
	})
	got, err := Text(soon(t), `@tool Task {"description":"look","prompt":"@say Found it.","subagent_type":"general-purpose","run_in_background":true}
		@say It is being looked for.`, o)
	if err != nil || got == "" || strings.Contains(got, "being looked for") {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestTextFails(t *testing.T) {
	t.Parallel()
	eachProcess(t, func(t *testing.T, version string) {
		o := queryOptions(t, version)
		o.ExtraEnv = []string{"CLAUDE_CODE_MAX_RETRIES=0"}
		got, err := Text(soon(t), "@error 401", o)
		if _, ok := errors.AsType[*LoginError](err); !ok {
			t.Errorf("not logged in: %q, %v", got, err)
		}
		got, err = Text(soon(t), "@error 400 message=Bad.", o)
		if e, ok := errors.AsType[*ResultError](err); !ok || e.Subtype != wire.ResultSubtypeSuccess || !strings.Contains(got, "400") {
			t.Errorf("an API error: %q, %v", got, err)
		}
		o.MaxTurns = 1
		got, err = Text(soon(t), "@say One.\n@tool Read {\"file_path\":\"/x\"}\n@say Two.", o)
		if e, ok := errors.AsType[*ResultError](err); !ok || e.Subtype != wire.ResultSubtypeErrorMaxTurns || got != "One." {
			t.Errorf("a limit: %q, %v", got, err)
		}
		o = queryOptions(t, version)
		o.Resume = "6f9619ff-8b86-4d01-b42d-00cf4fc964ff"
		_, err = Text(soon(t), "@say x", o)
		exit, exited := errors.AsType[*ExitError](err)
		if _, ok := errors.AsType[*ConversationNotFoundError](err); !ok || !exited || exit.Result == nil {
			t.Errorf("an unknown conversation: %v", err)
		}
	})
}

func TestTextGivesUp(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(soon(t))
	gone := errors.New("not needed any more")
	o := queryOptions(t, "2.1.325")
	o.OnQuestion = func(ctx context.Context, _ Question) (Reply, error) {
		cancel(gone)
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	if got, err := Text(ctx, "@tool Write {\"file_path\":\"/x\",\"content\":\"\"}\n@say Done.", o); !errors.Is(err, gone) {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestQuery(t *testing.T) {
	t.Parallel()
	eachProcess(t, func(t *testing.T, version string) {
		query := Query(soon(t), "@say Hello.", queryOptions(t, version))
		for range 2 { // each a session of its own
			var seen []string
			for e, err := range query {
				if err != nil {
					t.Fatal(err)
				}
				switch m, _ := e.Message(); m := m.(type) { //nolint:gochecksumtype // the others do not matter
				case *wire.Assistant:
					seen = append(seen, "assistant")
				case *wire.Result:
					seen = append(seen, "result "+m.Result)
				}
			}
			if got := strings.Join(seen, ", "); got != "assistant, result Hello." {
				t.Errorf("got %s", got)
			}
		}
	})
}

// A failed turn is an error behind its events.
func TestQueryTellsThatTheTurnFailed(t *testing.T) {
	t.Parallel()
	o := queryOptions(t, "2.1.325")
	var results, failures int
	for e, err := range Query(soon(t), "@error 400", o) {
		switch {
		case err != nil:
			failures++
			if _, ok := errors.AsType[*ResultError](err); !ok || results == 0 {
				t.Errorf("after %d results: %v", results, err)
			}
		case e.Header.Is("result", ""):
			results++
		}
	}
	if failures != 1 {
		t.Errorf("%d errors", failures)
	}
}

func TestQueryThatCannotStart(t *testing.T) {
	for _, err := range Query(t.Context(), "x", &Options{Find: &FindOptions{Path: "/no/such/program"}}) {
		if _, ok := errors.AsType[*NotFoundError](err); !ok {
			t.Errorf("the error is %v", err)
		}
	}
}

// Who leaves the loop, or whose context ends, leaves no process behind.
func TestQueryCleansUp(t *testing.T) {
	t.Parallel()
	left := func(t *testing.T, marker string) {
		t.Helper()
		if runtime.GOOS != "linux" {
			return // processes cannot be found by their marker elsewhere
		}
		if killed, err := Sweep(soon(t), marker); err != nil || killed > 0 {
			t.Errorf("%d processes were left, %v", killed, err)
		}
	}
	o := queryOptions(t, "2.1.325")
	o.IncludePartialMessages, o.Marker = true, "query-break-"+wire.NewUUID()
	prompt := "@slow 50ms\n@huge 100000"
	for e, err := range Query(soon(t), prompt, o) {
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := e.Delta(); ok {
			break
		}
	}
	left(t, o.Marker)

	ctx, cancel := context.WithCancelCause(soon(t))
	defer cancel(nil)
	gone := errors.New("not needed any more")
	o.Marker = "query-cancel-" + wire.NewUUID()
	var last error
	for e, err := range Query(ctx, prompt, o) {
		if last != nil {
			t.Errorf("something came behind the error: %v", err)
		}
		if last = err; err != nil {
			continue
		}
		if _, ok := e.Delta(); ok {
			cancel(gone)
		}
	}
	if !errors.Is(last, gone) {
		t.Errorf("it ended with %v", last)
	}
	left(t, o.Marker)
}

type queryAnswer struct {
	City string   `json:"city"`
	N    int      `json:"n" enum:"1,2"`
	Tags []string `json:"tags,omitempty"`
}

func TestQueryAs(t *testing.T) {
	t.Parallel()
	eachProcess(t, func(t *testing.T, version string) {
		value, c, err := QueryAs[queryAnswer](soon(t), "@tool StructuredOutput {\"city\":\"Rome\"}\n@next\n@tool StructuredOutput {\"city\":\"Rome\",\"n\":2}\n@say Done.", queryOptions(t, version))
		if err != nil || !reflect.DeepEqual(value, queryAnswer{City: "Rome", N: 2}) {
			t.Errorf("got %+v, %v", value, err)
		}
		if c == nil || string(c.Structured) != `{"city":"Rome","n":2}` {
			t.Errorf("the completion is %+v", c)
		}
		list, _, err := QueryAs[[]int](soon(t), "@tool StructuredOutput {\"value\":[1,2]}\n@say Done.", queryOptions(t, version))
		if err != nil || !reflect.DeepEqual(list, []int{1, 2}) {
			t.Errorf("got %v, %v", list, err)
		}
	})
}

// A model that answers in plain text for ever is stopped on every version.
func TestQueryAsOfPlainText(t *testing.T) {
	t.Parallel()
	eachProcess(t, func(t *testing.T, version string) {
		model := claudetest.NewModel(&claudetest.ModelOptions{Script: func(claudetest.Request) claudetest.Reply { return claudetest.Say(claudetest.Text("Plain.")) }})
		defer func() { _ = model.Close() }()
		o := queryOptions(t, version)
		o.MaxTurns = 3
		o.ExtraEnv = []string{"ANTHROPIC_BASE_URL=" + model.URL(), "ANTHROPIC_API_KEY=made-up"}
		value, c, err := QueryAs[queryAnswer](soon(t), "Where?", o)
		if !reflect.ValueOf(value).IsZero() || c == nil {
			t.Errorf("got %+v, %+v", value, c)
		}
		if e, ok := errors.AsType[*MismatchError](err); !ok || e.Text != "Plain." || e.Raw != nil {
			t.Errorf("the error is %v", err)
		}
	})
}

// With a schema of the caller's the answer may be of another type.
func TestQueryAsMismatch(t *testing.T) {
	t.Parallel()
	o := queryOptions(t, "2.1.325")
	o.JSONSchema = json.RawMessage(`{"type":"object"}`)
	_, c, err := QueryAs[queryAnswer](soon(t), `@tool StructuredOutput {"city":7}`, o)
	e, ok := errors.AsType[*MismatchError](err)
	if !ok || string(e.Raw) != `{"city":7}` || c == nil || c.Err() != nil {
		t.Errorf("the error is %v", err)
	}
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); !ok {
		t.Errorf("what is wrong is lost: %v", err)
	}
}

func TestTypedQuery(t *testing.T) {
	o := &Options{Model: "m"}
	q, err := newTypedQuery(reflect.TypeFor[queryAnswer](), o)
	if err != nil || q.wrapped || q.options.MaxTurns != queryTurns || q.options.Model != "m" || o.MaxTurns != 0 || o.JSONSchema != nil {
		t.Errorf("got %+v, %v", q, err)
	}
	q, err = newTypedQuery(reflect.TypeFor[*string](), &Options{MaxTurns: 2})
	want := `{"type":"object","properties":{"value":{"anyOf":[{"type":"string"},{"type":"null"}]}},"required":["value"],"additionalProperties":false}`
	if err != nil || !q.wrapped || q.options.MaxTurns != 2 || string(q.options.JSONSchema) != want {
		t.Errorf("got %s, %v", q.options.JSONSchema, err)
	}
	if q, err := newTypedQuery(reflect.TypeFor[schemaPoint](), nil); err != nil || !q.wrapped {
		t.Errorf("a schema of its own that is no object: %+v, %v", q, err)
	}
	_, _, err = QueryAs[func()](t.Context(), "x", nil)
	if _, ok := errors.AsType[*SchemaError](err); !ok {
		t.Errorf("the error is %v", err)
	}
	for raw, text := range map[string]string{``: "plain text", `{"other":1}`: `no member "value"`, `{"value":1}`: "cannot unmarshal"} {
		var s string
		err := (&typedQuery{wrapped: true}).decode(&Completion{Structured: json.RawMessage(raw)}, &s)
		if e, ok := errors.AsType[*MismatchError](err); !ok || !strings.Contains(fmt.Sprint(e), text) {
			t.Errorf("%s: %v", raw, err)
		}
	}
}
