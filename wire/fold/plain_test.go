package fold_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/wire"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// spoken is a line of the model's with some blocks and more members.
func spoken(blocks, more string) string {
	return `{"type":"assistant","message":{"id":"m1","type":"message","role":"assistant","model":"claude-x","content":[` + blocks +
		`],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":3,"cache_creation_input_tokens":5,"cache_read_input_tokens":7,"output_tokens":11,` +
		`"cache_creation":{"ephemeral_5m_input_tokens":0},"service_tier":"standard"},"context_management":null},"parent_tool_use_id":null,"session_id":"c1","uuid":"u1"` + more + `}`
}

func textBlock(inside string) string { return `{"type":"text","text":"` + inside + `"}` }

// plainLines are lines that are read without being decoded, or that are not.
func plainLines() map[string]bool {
	long := strings.Repeat("What an agent writes. ", 50)
	lines := map[string]bool{
		spoken(textBlock("hello"), ""):                       true,
		spoken(textBlock(long), ""):                          true,
		spoken(textBlock(`a \"b\" \\ \/ \n\t\r\b\f é`), ""):  true,
		spoken(textBlock(`\u00e9\u20AC\u0000`+long), ""):     true,
		spoken(textBlock(strings.Repeat(`\u00e9`, 300)), ""): true,
		spoken(textBlock(long+`\n\ud83d\ude00`), ""):         true, // far behind what is kept
		spoken(textBlock(""), ""):                            true,
		spoken(`{"type":"text","text":null}`, ""):            true,
		spoken(`{"type":"text"}`, ""):                        true,
		spoken("", ""):                                       true,
		spoken(textBlock("first")+","+textBlock("last"), ""): true,
		spoken(textBlock("first")+","+textBlock(""), ""):     true,
		spoken(`{"type":"thinking","thinking":"hm","signature":"s"},{"type":"tool_use","id":"t","name":"Bash","input":{"a":[{"b":"}]\""}]}}`, ""): true,
		spoken(`{"citations":[1],"cache_control":{},"text":"a","type":"text"}`, ""):                                                               true,
		spoken(textBlock("a"), `,"request_id":"r","timestamp":"t","error":"rate_limit","aborted":true,"user_message_uuid":"m"`):                   true,
		strings.ReplaceAll(spoken(textBlock("spaced"), ""), ":", " : "):                                                                           true,
		strings.ReplaceAll(spoken(textBlock("spaced"), ""), ",", " , "):                                                                           true,
		`{"type":"assistant","message":{"id":"m","type":"message","role":"assistant","model":"x","content":[` +
			`{"type":"text","text":"a","citations":null,"cache_control":null},{"type":"thinking","thinking":"a","signature":"b"},` +
			`{"type":"tool_use","id":"a","name":"b","input":{},"cache_control":null}],"usage":{"new":1},"stop_reason":"end_turn","stop_sequence":"x",` +
			`"stop_details":1,"container":{},"context_management":[],"diagnostics":true},"parent_tool_use_id":"","uuid":"u","session_id":"c",` +
			`"request_id":"r","user_message_uuid":"m","timestamp":"t","error":"unknown","resume_reason":"x","aborted":false,"resumed_from_incomplete_thinking":null}`: true,
		`{"type":"assistant"}`: true,
		`{"type":"assistant","message":{"content":[{"type":"text","text":"a"}]}}`:                        true,
		`{"type":"assistant","message":{},"uuid":null}`:                                                  true,
		`{"type":"assistant","message":{"content":[{}]}}`:                                                false,
		`{"type":"assistant","message":{"model":"<synthetic>","content":[],"usage":{"input_tokens":9}}}`: true,

		`{"type":"assistant","message":{"content":[]},"parent_tool_use_id":"t1"}`:                                  false,
		spoken(textBlock("a"), `,"parent_tool_use_id":"t1"`):                                                       false,
		spoken(textBlock("a"), `,"uuid":"u2"`):                                                                     false,
		spoken(textBlock("a"), `,"new":1`):                                                                         false,
		spoken(textBlock("a"), `,"error":1`):                                                                       false,
		spoken(textBlock("a"), `,"aborted":"yes"`):                                                                 false,
		spoken(textBlock("a"), `,"supersedes":["u0"]`):                                                             false,
		spoken(textBlock("a"), `,"\u0065rror":"x"`):                                                                false,
		spoken(textBlock("a"), `,"context_usage":{"totalTokens":1}`):                                               false,
		spoken(textBlock(`\ud83d\ude00`), ""):                                                                      false,
		spoken(textBlock(`\ud800`), ""):                                                                            false,
		spoken(textBlock("\xff"), ""):                                                                              false,
		spoken(`{"type":"text","text":5}`, ""):                                                                     false,
		spoken(`{"type":"text","text":"a","text":"b"}`, ""):                                                        false,
		spoken(`{"type":"text","text":"a","new":"b"}`, ""):                                                         false,
		spoken(`{"type":"text","text":"a","name":"b"}`, ""):                                                        false,
		spoken(`{"type":"thinking","text":"a"}`, ""):                                                               false,
		spoken(`{"type":"redacted_thinking","data":"x"}`, ""):                                                      false,
		spoken(`{"type":"new"}`, ""):                                                                               false,
		spoken(`{"type":5,"text":"a"}`, ""):                                                                        false,
		spoken(`null`, ""):                                                                                         false,
		spoken(`"a"`, ""):                                                                                          false,
		`{"type":"assistant","message":{"model":"a\u0062","content":[]}}`:                                          false,
		`{"type":"assistant","message":{"model":5,"content":[]}}`:                                                  false,
		`{"type":"assistant","message":{"content":{}}}`:                                                            false,
		`{"type":"assistant","message":{"content":null}}`:                                                          false,
		`{"type":"assistant","message":{"usage":null}}`:                                                            false,
		`{"type":"assistant","message":{"usage":{"input_tokens":1.5}}}`:                                            false,
		`{"type":"assistant","message":{"usage":{"input_tokens":-1}}}`:                                             false,
		`{"type":"assistant","message":{"usage":{"input_tokens":1,"input_tokens":2}}}`:                             false,
		`{"type":"assistant","message":{"usage":{"input_tokens":9223372036854775807}}}`:                            false,
		`{"type":"assistant","message":{"usage":{"input_tokens":"1"}}}`:                                            false,
		`{"type":"assistant","message":[]}`:                                                                        false,
		`{"type":"assistant","message":null}`:                                                                      false,
		`{"type":"assistant","subtype":"x"}`:                                                                       false,
		`{"type":"assistant","message":{"container":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}}`: false,
		`{"type":"assistant","message":{"container":` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + `}}`: false,
		`{"type":"assistant","message":{"container":{bad}}}`:                                                       false,
		`{"type":"user","message":{"content":"a"}}`:                                                                false,
	}
	// Around where a text is cut, in characters of each length.
	for _, character := range []string{"a", "é", "€", "😀", `\n`, `\u20ac`} {
		for n := 270; n < 290; n++ {
			lines[spoken(textBlock(strings.Repeat("a", n)+character+character), "")] = true
			lines[spoken(textBlock(strings.Repeat("a", n)+character+strings.Repeat("b", 2000)), "")] = true
			lines[spoken(textBlock(strings.Repeat("é", n/2)+`\t`+character+strings.Repeat("€", 5)), "")] = true
		}
	}
	return lines
}

// checkPlain folds a line as it is and decoded, after others, and holds that both
// come to the same.
func checkPlain(t *testing.T, raw string, before ...string) (isPlain bool) {
	t.Helper()
	plain, decoded := play(t, before...), play(t, before...)
	l := fold.NewLine([]byte(raw), false)
	l.Seq = 9
	plain.apply(step{line: l})
	again := fold.NewLine([]byte(raw), false)
	again.Seq = 9
	_, _ = again.Message() // once it is decoded, that is what counts
	if again.Plain() {
		t.Fatalf("%q is read though it is decoded", raw)
	}
	decoded.apply(step{line: again})
	if diff := cmp.Diff(encode(t, decoded), encode(t, plain)); diff != "" {
		t.Errorf("%.300q is folded to something else than when it is decoded (-decoded +read):\n%s", raw, diff)
	}
	return l.Plain()
}

func TestPlain(t *testing.T) {
	limited := `< {"type":"system","subtype":"api_retry","attempt":1,"max_retries":3,"retry_delay_ms":1}`
	for raw, want := range plainLines() {
		if got := checkPlain(t, raw, started, begin, limited); got != want {
			t.Errorf("%.300q: is read without being decoded: %v, want %v", raw, got, want)
		}
		checkPlain(t, raw) // the very first one
		checkPlain(t, raw, started, begin, "< "+spoken(textBlock("before"), ""), `< {"type":"result","modelUsage":{"claude-x":{"contextWindow":200}}}`)
		checkPlain(t, raw, started, begin, messageStart("m1"), textStart(0), textDelta(0, "some"))
	}
}

// TestPlainMembers holds that the protocol table has every member that is taken
// for an ordinary one: an unknown one must be counted.
func TestPlainMembers(t *testing.T) {
	for raw, isPlain := range plainLines() {
		if !isPlain {
			continue
		}
		m, err := wire.Decode([]byte(raw))
		if err != nil {
			t.Fatal(err)
		}
		var d fold.Drift
		l, err := fold.Decoded(m, false)
		if err != nil {
			t.Fatal(err)
		}
		if d.Count(l); !d.IsZero() {
			t.Errorf("%.300q: is counted: %+v", raw, d)
		}
	}
}

// TestPlainRecorded holds the same of all that real CLIs wrote, most of which is to
// be read without being decoded.
func TestPlainRecorded(t *testing.T) {
	count, isPlain := 0, 0
	for _, path := range recordings(t) {
		for _, s := range recording(t, path) {
			if s.line == nil || s.line.Sent || !s.line.Header.Is("assistant", "") || len(s.line.Header.ParentToolUseID) > 0 {
				continue
			}
			count++
			if checkPlain(t, string(s.line.Raw), started, begin) {
				isPlain++
			}
		}
	}
	if t.Logf("%d of %d lines are plain", isPlain, count); isPlain*2 < count || count == 0 {
		t.Errorf("%d of %d lines of the main conversations are read without being decoded, want most", isPlain, count)
	}
}

func FuzzPlain(f *testing.F) {
	for raw := range plainLines() {
		if len(raw) < 1000 {
			f.Add(raw)
		}
	}
	f.Fuzz(func(t *testing.T, raw string) { checkPlain(t, raw) })
}

func BenchmarkApply(b *testing.B) {
	raw := []byte(spoken(textBlock(strings.Repeat("What an agent writes is mostly words. ", 17)), ""))
	for _, isPlain := range []bool{true, false} {
		b.Run(fmt.Sprintf("plain=%v", isPlain), func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			var s fold.State
			for b.Loop() {
				l := fold.NewLine(raw, false)
				if !isPlain {
					_, _ = l.Message()
				}
				s.Apply(l)
			}
		})
	}
}
