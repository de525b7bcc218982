package wire

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"
)

// deltaLine is a line as a CLI writes it while its agent writes.
func deltaLine(text, parent, id string) string {
	return `{"type":"stream_event","event":{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"` + text +
		`"}},"session_id":"1f0c2f3e-6f0f-4b7e-9d53-0a3f3f0f7f55","parent_tool_use_id":` + parent + `,"uuid":"` + id + `"}`
}

const (
	oneID   = "00000000-0000-4000-8000-000000000001"
	otherID = "00000000-0000-4000-8000-000000000002"
)

// likePeek checks that a Peeker says of a line what Peek says, and that the places
// of the header, if it has any, are those of the same header.
func likePeek(t *testing.T, p *Peeker, line []byte) {
	t.Helper()
	want, wantErr := Peek(line)
	got, err := p.Peek(line)
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("%q: error %v, want %v", line, err, wantErr)
	}
	sameHeader(t, line, got, want)
	var places Places
	if places.Set(line, &got) {
		sameHeader(t, line, places.Header(line), want)
		if agent := len(want.ParentToolUseID) > 0; places.Agent() != agent {
			t.Errorf("%q: agent %t, want %t", line, places.Agent(), agent)
		}
	}
}

func sameHeader(t *testing.T, line []byte, got, want Header) {
	t.Helper()
	if g, w := headerMap(got), headerMap(want); !maps.Equal(g, w) {
		t.Errorf("%q: header %v, want %v", line, g, w)
	}
	if !got.Equal(want) {
		t.Errorf("%q: got %+v, want %+v", line, got, want)
	}
	d, ok := got.Delta()
	wantDelta, wantOK := want.Delta()
	if ok != wantOK || d.Index != wantDelta.Index || !bytes.Equal(d.Text, wantDelta.Text) {
		t.Errorf("%q: delta %d %q (%t), want %d %q (%t)", line, d.Index, d.Text, ok, wantDelta.Index, wantDelta.Text, wantOK)
	}
}

// TestPeeker checks that lines behind a delta are read as Peek reads them, above all
// those that only look like it.
func TestPeeker(t *testing.T) {
	first := deltaLine("some words", "null", oneID)
	cut := strings.Index(first, "some words")
	for name, line := range map[string]string{
		"the same":                   first,
		"another text":               deltaLine("more of them than before", "null", otherID),
		"a shorter one":              deltaLine("a", "null", otherID),
		"no text":                    deltaLine("", "null", otherID),
		"escapes":                    deltaLine(`\"quoted\"\n\\`, "null", otherID),
		"half of an escape":          deltaLine(`word\`, "null", otherID),
		"half of an escape, escaped": deltaLine(`word\\`, "null", otherID),
		"half a surrogate pair":      deltaLine(`\ud83d`, "null", otherID),
		"not UTF-8":                  deltaLine("\xff", "null", otherID),
		"members in the text":        deltaLine(`a","text":"b`, "null", otherID),
		"the end in the text":        deltaLine(`a"}},"session_id":"x","uuid":"y"}`, "null", otherID),
		"a sub-agent's":              deltaLine("some words", `"toolu_1"`, otherID),
		"a short id":                 deltaLine("some words", "null", "u"),
		"an escape in the id":        deltaLine("some words", "null", strings.Repeat(`\u0030`, 6)),
		"a quote in the id":          deltaLine("some words", "null", `00000000-0000","uuid":"-000000000001`),
		"a backslash ends the id":    deltaLine("some words", "null", oneID[:35]+`\`),
		"more behind it":             first + "x",
		"space behind it":            first + "  ",
		"cut off":                    first[:len(first)-1],
		"cut off in the text":        first[:cut+3],
		"up to the text":             first[:cut],
		"nothing":                    "",
		"another index":              strings.Replace(first, `"index":1`, `"index":2`, 1),
		"another delta":              strings.Replace(first, `"type":"text_delta","text"`, `"type":"thinking_delta","thinking"`, 1),
		"another event":              `{"type":"stream_event","event":{"type":"message_stop"},"session_id":"s","parent_tool_use_id":null,"uuid":"` + oneID + `"}`,
		"another type":               `{"type":"assistant","message":{"content":[]},"uuid":"` + oneID + `","error":"rate_limit","context_usage":{}}`,
		"a control request":          `{"type":"control_request","request_id":"r","request":{"subtype":"can_use_tool"}}`,
		"very long":                  deltaLine(strings.Repeat("long ", 20_000), "null", otherID),
	} {
		t.Run(name, func(t *testing.T) {
			var p Peeker
			likePeek(t, &p, []byte(first))
			likePeek(t, &p, []byte(line))
			likePeek(t, &p, []byte(line)) // it may have been learnt
			likePeek(t, &p, []byte(first))
		})
	}
}

// TestPeekerChanges does the same with lines in which something is changed at random.
func TestPeekerChanges(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const bytes = `"\{}[],:ntu0a `
	var p Peeker
	quick := 0
	for range 20_000 {
		line := []byte(deltaLine([]string{"word ", `\"`, "", `\\`, "ü"}[random.IntN(5)], []string{"null", `"toolu_1"`}[random.IntN(8)/7], oneID))
		for range random.IntN(2) {
			at := random.IntN(len(line))
			switch c := bytes[random.IntN(len(bytes))]; random.IntN(3) {
			case 0:
				line[at] = c
			case 1:
				line = append(line[:at], line[at+1:]...)
			case 2:
				line = append(line[:at], append([]byte{c}, line[at:]...)...)
			}
		}
		if p.Delta(line, new(Places)) {
			quick++
		}
		likePeek(t, &p, line)
		if t.Failed() {
			return
		}
	}
	if quick < 1000 {
		t.Errorf("only %d lines were read the quick way", quick)
	}
}

// TestPeekerLearns checks that deltas are read the quick way as soon as there was one,
// also if another message, or another agent, comes in between.
func TestPeekerLearns(t *testing.T) {
	var p Peeker
	quick := func(line string) bool {
		ok := p.Delta([]byte(line), new(Places))
		likePeek(t, &p, []byte(line))
		return ok
	}
	mine, agents := deltaLine("a", "null", oneID), deltaLine("a", `"toolu_1"`, oneID)
	for n, step := range []struct {
		line string
		want bool
	}{{mine, false}, {mine, true}, {`{"type":"user"}`, false}, {mine, true}, {agents, false}, {agents, true}, {mine, false}, {mine, true}} {
		if got := quick(step.line); got != step.want {
			t.Errorf("step %d: the quick way: %t, want %t", n, got, step.want)
		}
	}
	// Two in turns are never alike. That must not cost more than it has to.
	for range 5 * maxMisses {
		quick(mine)
		quick(agents)
	}
	p.Delta([]byte(mine), new(Places))
	for n := range 2 * maxMisses {
		if quick(mine) {
			return
		}
		if n == 2*maxMisses-1 {
			t.Error("one that writes alone again is not read the quick way")
		}
	}
}

func BenchmarkPeeker(b *testing.B) {
	line := []byte(deltaLine("some words ", "null", oneID))
	b.Run("Peek", func(b *testing.B) {
		for b.Loop() {
			if _, err := Peek(line); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Peeker", func(b *testing.B) {
		var p Peeker
		for b.Loop() {
			if _, err := p.Peek(line); err != nil {
				b.Fatal(err)
			}
		}
	})
}
