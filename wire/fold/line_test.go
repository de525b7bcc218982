package fold_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/wire/fold"
)

func TestLine(t *testing.T) {
	t.Run("is decoded once", func(t *testing.T) {
		l := fold.NewLine([]byte(success[2:]), false)
		first, err := l.Message()
		if err != nil {
			t.Fatal(err)
		}
		if second, _ := l.Message(); first != second {
			t.Error("asked again, it was decoded again")
		}
	})
	t.Run("has a header", func(t *testing.T) {
		if h := fold.NewLine([]byte(canUse("q1", "u1", "")[2:]), false).Header; !h.Is("control_request", "") || string(h.RequestID) != "q1" {
			t.Errorf("the header is %+v", h)
		}
	})
	for _, raw := range []string{"", "nonsense", "[1]", `{"type":"result"`, `{"type":"result"} {}`} {
		t.Run("that is no message: "+raw, func(t *testing.T) {
			l := fold.NewLine([]byte(raw), false)
			if m, err := l.Message(); err == nil {
				t.Errorf("it became %#v", m)
			}
			if l.Header.Type != nil {
				t.Errorf("its header is %+v", l.Header)
			}
			var a all
			a.apply(step{line: l})
			if a.State.Drift.Malformed != 1 || a.State.Alive {
				t.Errorf("it was not counted: %+v", a.State.Drift)
			}
		})
	}
	t.Run("that is broken inside", func(t *testing.T) {
		l := fold.NewLine([]byte(`{"type":"result","usage":{bad}}`), false)
		a := play(t, started, begin, canUse("q1", "u1", ""), messageStart("a"))
		a.apply(step{line: l})
		if a.State.Drift.Malformed != 1 || a.State.Phase() != fold.PhaseRequiresAction || a.Costs.Turns != 0 || len(a.Partial.Messages()) != 1 {
			t.Errorf("it was folded: %+v", a.State)
		}
	})
}

func TestWhatIsTooLongIsNotKept(t *testing.T) {
	filler := strings.Repeat("x", 5<<20)
	a := play(t, started, `< {"type":"system","subtype":"init","model":"m","x":"`+filler+`"}`,
		`< {"type":"rate_limit_event","rate_limit_info":{"status":"rejected","x":"`+filler+`"}}`)
	if a.State.Init != nil || a.State.Model != "m" || a.State.RateLimits != nil {
		t.Errorf("%d bytes of init line and %d limits are kept", len(a.State.Init), len(a.State.RateLimits))
	}
}

func TestDriftIsBounded(t *testing.T) {
	lines := []string{started}
	const n = 300
	for i := range n {
		lines = append(lines, fmt.Sprintf(`< {"type":"made_up_%d"}`, i))
	}
	lines = append(lines, `< {"type":"made_up_0"}`)
	d := play(t, lines...).State.Drift
	if int64(len(d.Types))+d.More != n || d.More == 0 || d.Types["made_up_0"] != 2 {
		t.Errorf("%d types and %d more, want %d in all", len(d.Types), d.More, n)
	}
}
