package fold_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/switchboard-dev/switchboard/wire"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// saidBlocks is a line of the model's with some blocks and more members.
func saidBlocks(blocks, more string) string {
	return `{"type":"assistant","message":{"id":"m1","type":"message","role":"assistant","model":"claude-x","content":[` + blocks +
		`],"usage":{"input_tokens":3,"cache_creation_input_tokens":5,"cache_read_input_tokens":7,"output_tokens":11}},"parent_tool_use_id":null,"session_id":"c1","uuid":"u1"` + more + `}`
}

// The text that is kept is that of the last block with text, cut between characters,
// however it is written in the line.
func TestAssistantText(t *testing.T) {
	const limit = 280
	for _, character := range []string{"a", "é", "€", "😀", `\n`, `\u20ac`, `\ud83d\ude00`, `\\`, `\"`} {
		for n := limit - 10; n < limit+10; n++ {
			for _, inside := range []string{
				strings.Repeat("a", n) + character + character,
				strings.Repeat("a", n) + character + strings.Repeat("b", 2000),
				strings.Repeat("é", n/2) + `\t` + character + strings.Repeat("€", 5),
			} {
				raw := []byte(saidBlocks(`{"type":"text","text":"before"},{"type":"text","text":"`+inside+`"},{"type":"text","text":""}`, ""))
				m, err := wire.Decode(raw)
				if err != nil {
					t.Fatal(err)
				}
				whole := m.(*wire.Assistant).Message.Content[1].(*wire.TextBlock).Text
				var s fold.State
				s.Apply(fold.NewLine(raw, false))
				kept, cut := strings.CutSuffix(s.Text, "…")
				switch {
				case s.TextUUID != "u1":
					t.Fatalf("the text is of %q, want u1", s.TextUUID)
				case len(whole) <= limit:
					if s.Text != whole {
						t.Fatalf("%q is kept as %q", whole, s.Text)
					}
				case !cut, len(s.Text) > limit, len(s.Text) < limit-utf8.UTFMax, !utf8.ValidString(s.Text), !strings.HasPrefix(whole, kept):
					t.Fatalf("%q is cut to %q", whole, s.Text)
				}
			}
		}
	}
}

// What is rare in an assistant line is decoded.
func TestAssistantMore(t *testing.T) {
	a := play(t, started, begin, "< "+saidBlocks(`{"type":"text","text":"one"}`, ""),
		"< "+strings.Replace(saidBlocks(``, `,"supersedes":["u1"],"context_usage":{"model":"m2","total_tokens":7,"raw_max_tokens":70,"percentage":10}`), `"uuid":"u1"`, `"uuid":"u2"`, 1))
	if s := &a.State; s.Text != "" || len(s.Retracted) != 1 || s.Context == nil || s.Context.Model != "m2" || s.Context.Most != 70 {
		t.Errorf("text %q, retracted %q, context %+v", s.Text, s.Retracted, s.Context)
	}
	if w := a.State.Window; w == nil || w.Model != "claude-x" || w.Tokens != 26 {
		t.Errorf("the window is %+v, want 26 tokens of claude-x", w)
	}
}

func BenchmarkApply(b *testing.B) {
	raw := []byte(saidBlocks(`{"type":"text","text":"`+strings.Repeat("What an agent writes is mostly words. ", 17)+`"}`, ""))
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	var s fold.State
	for b.Loop() {
		s.Apply(fold.NewLine(raw, false))
	}
}
