package claude

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/switchboard-dev/switchboard/wire"
)

// wireConstants returns the values of a string type's constants in package wire.
func wireConstants(t *testing.T, typ string) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../wire/zz_enums.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, d := range file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		for _, spec := range g.Specs {
			v := spec.(*ast.ValueSpec)
			if id, ok := v.Type.(*ast.Ident); ok && id.Name == typ {
				s, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, s)
			}
		}
	}
	return all
}

// There is a typed field for every event that wire knows, in its order, with its
// own input and output, and it is registered under its name.
func TestHooksAreComplete(t *testing.T) {
	events := wireConstants(t, "HookEvent")
	if len(events) != 33 {
		t.Errorf("wire knows %d events", len(events))
	}
	all := reflect.New(reflect.TypeFor[Hooks]())
	fields := reflect.VisibleFields(all.Elem().Type())
	var names []string
	for _, f := range fields {
		if f.Name == "Any" {
			continue
		}
		names = append(names, f.Name)
		run, _ := f.Type.Elem().FieldByName("Run")
		in := reflect.New(run.Type.In(1).Elem()).Interface().(wire.HookInput)
		if in.HookEventName() != f.Name {
			t.Errorf("%s is told the input of %s", f.Name, in.HookEventName())
		}
		out, _ := run.Type.Out(0).Elem().FieldByName("Output")
		specific, ok := reflect.TypeAssert[wire.HookSpecific](reflect.New(out.Type.Elem()))
		switch {
		case ok && specific.HookEventName() != f.Name:
			t.Errorf("%s has the output of %s", f.Name, specific.HookEventName())
		case !ok && out.Type != reflect.TypeFor[*NoOutput]():
			t.Errorf("%s has the output %s", f.Name, out.Type)
		}
		// One hook each, which does nothing.
		hook := reflect.New(f.Type.Elem()).Elem()
		hook.FieldByName("Run").Set(reflect.MakeFunc(run.Type, func([]reflect.Value) []reflect.Value {
			return []reflect.Value{reflect.Zero(run.Type.Out(0)), reflect.Zero(run.Type.Out(1))}
		}))
		all.Elem().FieldByIndex(f.Index).Set(reflect.Append(reflect.Zero(f.Type), hook))
	}
	if !slices.Equal(names, events) {
		t.Errorf("fields: %v\nevents: %v", names, events)
	}
	table, err := newHookTable(all.Interface().(*Hooks), newest)
	if err != nil {
		t.Fatal(err)
	}
	for _, event := range events {
		if m := table.matchers[event]; len(m) != 1 || !slices.Equal(m[0].HookCallbackIDs, []string{event + "-0"}) {
			t.Errorf("%s is registered as %v", event, m)
		}
	}
	if len(table.matchers) != len(events) {
		t.Errorf("%d events are registered", len(table.matchers))
	}
	// The first version had fifteen of them, the last one that dials in 29.
	for v, want := range map[wire.Version]int{{Major: 2, Minor: 1, Patch: 37}: 15, {Major: 2, Minor: 1, Patch: 120}: 29, newest: 33} {
		n := 0
		for _, event := range events {
			if requireHook(wire.HookEvent(event), v) == nil {
				n++
			}
		}
		if n != want {
			t.Errorf("%s has %d events, want %d", v, n, want)
		}
	}
}

func stopHook(answer *HookAnswer[wire.StopOutput], err error) []Hook[wire.StopInput, wire.StopOutput] {
	return On("", func(context.Context, *wire.StopInput) (*HookAnswer[wire.StopOutput], error) { return answer, err })
}

// What a version would not call, or would not obey, is refused before it starts.
func TestHooksRefused(t *testing.T) {
	old := wire.Version{Major: 2, Minor: 1, Patch: 120}
	nothing := func(context.Context, wire.HookInput) (*wire.HookCallbackAnswer, error) { return nil, nil }
	run := stopHook(nil, nil)[0].Run
	for name, c := range map[string]struct {
		hooks Hooks
		v     wire.Version
		want  string
	}{
		"too new": {Hooks{MessageDisplay: On("", func(context.Context, *wire.MessageDisplayInput) (*HookAnswer[wire.MessageDisplayOutput], error) {
			return nil, nil
		})}, old, "hook MessageDisplay is not supported by CLI 2.1.120, only since " + wire.FeatureOf(wire.FeatureHook, "MessageDisplay").Since.String()},
		"unknown":      {Hooks{Any: map[wire.HookEvent][]AnyHook{"Moonrise": {{Run: nothing}}}}, old, "hook Moonrise is not supported by CLI 2.1.120"},
		"no version":   {Hooks{PostCompact: On("", func(context.Context, *wire.PostCompactInput) (*HookAnswer[NoOutput], error) { return nil, nil })}, wire.Version{}, "hook PostCompact is not supported by a CLI of unknown version"},
		"blocks":       {Hooks{Stop: []Hook[wire.StopInput, wire.StopOutput]{{OnFailure: wire.HookFailureBlock, Run: run}}}, old, `OnFailure "block" is not supported`},
		"no function":  {Hooks{Stop: []Hook[wire.StopInput, wire.StopOutput]{{}}}, newest, "option Hooks.Stop: a hook has no function"},
		"no name":      {Hooks{Any: map[wire.HookEvent][]AnyHook{"": {{Run: nothing}}}}, newest, "no name"},
		"negative":     {Hooks{Stop: []Hook[wire.StopInput, wire.StopOutput]{{Timeout: -1, Run: run}}}, newest, "negative"},
		"async blocks": {Hooks{Stop: []Hook[wire.StopInput, wire.StopOutput]{{Async: true, OnFailure: wire.HookFailureBlock, Run: run}}}, newest, "not waited for"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := newHookTable(&c.hooks, c.v)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
	if _, err := newHookTable(&Hooks{Stop: stopHook(nil, nil)}, wire.Version{}); err != nil {
		t.Errorf("a hook of the first version: %v", err)
	}
}

// Hooks are told to the CLI once, with stable names.
func TestHookRegistration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, _, first := askingSession(t, "2.1.325", &Options{Hooks: Hooks{
			Stop: stopHook(nil, nil),
			PreToolUse: []Hook[wire.PreToolUseInput, wire.PreToolUseOutput]{
				{Matcher: "Bash|Edit", Timeout: 1500 * time.Millisecond, OnFailure: wire.HookFailureBlock, Run: preToolUse(nil)}, {Run: preToolUse(nil)},
			},
			Any: map[wire.HookEvent][]AnyHook{"Stop": {{Run: func(context.Context, wire.HookInput) (*wire.HookCallbackAnswer, error) { return nil, nil }}}},
		}})
		wantPart(t, first, `"hooks":{"PreToolUse":[{"matcher":"Bash|Edit","hookCallbackIds":["PreToolUse-0"],"timeout":1.5,"onFailure":"block"},{"hookCallbackIds":["PreToolUse-1"]}],`+
			`"Stop":[{"hookCallbackIds":["Stop-0"]},{"hookCallbackIds":["Stop-1"]}]}`)
	})
	synctest.Test(t, func(t *testing.T) {
		_, _, first := askingSession(t, "2.1.325", nil)
		if strings.Contains(first, "hooks") {
			t.Errorf("an empty object would remove the hooks of others: %s", first)
		}
	})
}

func preToolUse(answer *HookAnswer[wire.PreToolUseOutput]) func(context.Context, *wire.PreToolUseInput) (*HookAnswer[wire.PreToolUseOutput], error) {
	return func(context.Context, *wire.PreToolUseInput) (*HookAnswer[wire.PreToolUseOutput], error) {
		return answer, nil
	}
}

// callsHook makes the CLI call a hook.
func (f *fakeTransport) callsHook(request, hook, event string) {
	f.asks(request, fmt.Sprintf(`{"subtype":"hook_callback","callback_id":%q,"input":{"session_id":"s","transcript_path":"t","cwd":"/","hook_event_name":%q,"stop_hook_active":false,"tool_name":"Bash","tool_input":{},"tool_use_id":"toolu_1"}}`, hook, event))
}

func TestHookAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		hooks Hooks
		event string
		want  string
	}{
		"nothing": {Hooks{Stop: stopHook(nil, nil)}, "Stop", `{}`},
		"zero":    {Hooks{Stop: stopHook(&HookAnswer[wire.StopOutput]{}, nil)}, "Stop", `{}`},
		"block":   {Hooks{Stop: stopHook(Block[wire.StopOutput]("Go on."), nil)}, "Stop", `{"decision":"block","reason":"Go on."}`},
		"stop":    {Hooks{Stop: stopHook(&HookAnswer[wire.StopOutput]{Stop: true, StopReason: "Enough.", SystemMessage: "It ends.", SuppressOutput: true}, nil)}, "Stop", `{"continue":false,"suppressOutput":true,"stopReason":"Enough.","systemMessage":"It ends."}`},
		"error":   {Hooks{Stop: stopHook(nil, errors.New("no disk"))}, "Stop", "error: hook Stop-0: no disk"},
		"panic": {
			Hooks{Stop: On("", func(context.Context, *wire.StopInput) (*HookAnswer[wire.StopOutput], error) { panic("oh no") })},
			"Stop",
			"error: hook Stop-0: the hook panicked: oh no",
		},
		"output": {
			Hooks{PreToolUse: On("", preToolUse(Output(&wire.PreToolUseOutput{PermissionDecision: wire.HookPermissionDecisionDeny, PermissionDecisionReason: "Not here."})))},
			"PreToolUse",
			`{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"Not here."}}`,
		},
		"no output": {Hooks{SessionEnd: On("", func(context.Context, *wire.SessionEndInput) (*HookAnswer[NoOutput], error) {
			return Output(&NoOutput{}), nil
		})}, "SessionEnd", `{}`},
		"any": {Hooks{Any: map[wire.HookEvent][]AnyHook{"Stop": {{Run: func(_ context.Context, in wire.HookInput) (*wire.HookCallbackAnswer, error) {
			return &wire.HookCallbackAnswer{SystemMessage: in.HookEventName() + " in " + in.Common().Cwd}, nil
		}}}}}, "Stop", `{"systemMessage":"Stop in /"}`},
		"any without": {Hooks{Any: map[wire.HookEvent][]AnyHook{"Moonrise": {{Run: func(context.Context, wire.HookInput) (*wire.HookCallbackAnswer, error) { return nil, nil }}}}}, "Moonrise", `{}`},
		"another":     {Hooks{Stop: stopHook(nil, nil)}, "Setup", `error: there is no hook "Setup-0"`},
	} {
		bubble(t, name, func(t *testing.T) {
			f, _, _ := askingSession(t, "2.1.325", &Options{Hooks: c.hooks})
			f.callsHook("h", c.event+"-0", c.event)
			f.expectAnswer(t, "h", c.want)
		})
	}
	bubble(t, "wrong input", func(t *testing.T) {
		f, _, _ := askingSession(t, "2.1.325", &Options{Hooks: Hooks{Stop: stopHook(nil, nil)}})
		f.callsHook("h", "Stop-0", "PreToolUse")
		f.expectAnswer(t, "h", "error: hook Stop-0: the hook is for Stop, and was called for PreToolUse")
	})
}

// The context of a hook ends after its time, and when the CLI does not wait any
// more. Nobody waits for a hook that goes on all the same.
func TestHookContext(t *testing.T) {
	waits := func(ended chan<- error) func(context.Context, *wire.StopInput) (*HookAnswer[wire.StopOutput], error) {
		return func(ctx context.Context, _ *wire.StopInput) (*HookAnswer[wire.StopOutput], error) {
			<-ctx.Done()
			ended <- context.Cause(ctx)
			return nil, ctx.Err()
		}
	}
	bubble(t, "timeout", func(t *testing.T) {
		ended := make(chan error, 1)
		f, _, _ := askingSession(t, "2.1.325", &Options{Hooks: Hooks{Stop: []Hook[wire.StopInput, wire.StopOutput]{{Timeout: 3 * time.Second, Run: waits(ended)}}}})
		begin := time.Now()
		f.callsHook("h", "Stop-0", "Stop")
		if got := answerBody(t, f.next(t), "h"); !strings.HasPrefix(got, "error: hook Stop-0: ") {
			t.Errorf("got %s", got)
		}
		if took := time.Since(begin); took != 3*time.Second {
			t.Errorf("it took %s", took)
		}
		wantPart(t, (<-ended).Error(), "longer than 3s")
	})
	bubble(t, "patience", func(t *testing.T) {
		ended := make(chan error, 1)
		f, _, _ := askingSession(t, "2.1.325", &Options{Hooks: Hooks{Stop: On("", waits(ended))}})
		begin := time.Now()
		f.callsHook("h", "Stop-0", "Stop")
		<-ended
		if took := time.Since(begin); took != 10*time.Minute {
			t.Errorf("it took %s", took)
		}
		f.next(t)
	})
	bubble(t, "withdrawn", func(t *testing.T) {
		ended := make(chan error, 1)
		f, _, _ := askingSession(t, "2.1.325", &Options{Hooks: Hooks{Stop: On("", waits(ended))}})
		f.callsHook("h", "Stop-0", "Stop")
		f.withdraws("h")
		if err := <-ended; !errors.Is(err, ErrWithdrawn) {
			t.Errorf("it ended with %v", err)
		}
		f.quiet(t)
	})
	bubble(t, "deaf", func(t *testing.T) {
		deaf := make(chan struct{})
		f, s, _ := askingSession(t, "2.1.325", &Options{Hooks: Hooks{Stop: []Hook[wire.StopInput, wire.StopOutput]{{
			Timeout: time.Second, Run: func(context.Context, *wire.StopInput) (*HookAnswer[wire.StopOutput], error) {
				<-deaf
				return nil, nil
			},
		}}}})
		f.callsHook("h", "Stop-0", "Stop")
		f.expectAnswer(t, "h", "error: hook Stop-0: the hook Stop-0 took longer than 1s")
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		close(deaf)
	})
}

// Hooks run side by side, and one that is not waited for goes on.
func TestHooksAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running atomic.Int32
		all := make(chan struct{})
		meet := func(context.Context, *wire.StopInput) (*HookAnswer[wire.StopOutput], error) {
			if running.Add(1) == 3 {
				close(all)
			}
			<-all
			return nil, nil
		}
		released := make(chan struct{})
		late := make(chan struct{})
		f, _, _ := askingSession(t, "2.1.325", &Options{Hooks: Hooks{
			Stop: slices.Concat(On("", meet), On("", meet), On("", meet)),
			PreToolUse: []Hook[wire.PreToolUseInput, wire.PreToolUseOutput]{{
				Async: true, Timeout: 20 * time.Second, Run: func(ctx context.Context, _ *wire.PreToolUseInput) (*HookAnswer[wire.PreToolUseOutput], error) {
					select {
					case <-released:
					case <-ctx.Done():
						t.Error("it was ended")
					}
					close(late)
					return nil, errors.New("nobody hears it")
				},
			}},
		}})
		f.callsHook("a", "PreToolUse-0", "PreToolUse")
		f.expectAnswer(t, "a", `{"async":true,"asyncTimeout":20000}`)
		for i := range 3 {
			f.callsHook("h"+strconv.Itoa(i), "Stop-"+strconv.Itoa(i), "Stop")
		}
		for range 3 {
			wantPart(t, f.next(t), `"subtype":"success"`)
		}
		close(released)
		<-late
		f.quiet(t)
	})
}

// A hook that is to block must not be believed to where the CLI has not said so.
func TestHookBlockUnconfirmed(t *testing.T) {
	table, err := newHookTable(&Hooks{Stop: []Hook[wire.StopInput, wire.StopOutput]{{OnFailure: wire.HookFailureBlock, Run: stopHook(nil, nil)[0].Run}}}, newest)
	if err != nil {
		t.Fatal(err)
	}
	if err := table.accepted(&wire.InitializeAnswer{HookOnFailureSupported: true}, newest); err != nil {
		t.Error(err)
	}
	if _, ok := errors.AsType[*UnsupportedError](table.accepted(&wire.InitializeAnswer{}, newest)); !ok {
		t.Error("it was accepted")
	}
}
