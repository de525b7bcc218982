package claude

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzConversationEnds: whatever stands at the ends of a transcript, and
// wherever they are cut, what is told of it is text; and what is read of an
// object that is cut off is what is read of the whole.
func FuzzConversationEnds(f *testing.F) {
	f.Add(prompt("/x", "a <b> & \u00fc \"q\" 😀", "")+`{"type":"custom-title","customTitle":"t"}`, 120, 10)
	f.Add(`{"type":"user","message":{"role":"user","content":[{"type":"image","d":"x"},{"type":"text","text":"a\ud83d\ude00b"}]}}`, 105, 3)
	f.Add(`{"isSidechain":true}`+"\n\n\r\n{", 3, 0)
	f.Add(short(f, "1 < - says a", "2 < 1 calls t1 m", "3 < 2 result t1"), 1000, 200)
	f.Fuzz(func(t *testing.T, text string, head, tail int) {
		head, tail = max(0, min(head, len(text))), max(0, min(tail, len(text)))
		var scan endScan
		scan.tail([]byte(text[len(text)-tail:]))
		scan.head([]byte(text[:head]), head == len(text))
		whole := endScan{forward: true}
		for line := range strings.Lines(text) {
			whole.entry([]byte(strings.TrimSuffix(line, "\n")))
		}
		for _, info := range []*ConversationInfo{scan.done(), whole.done()} {
			for _, got := range []string{info.FirstPrompt, info.LastPrompt, info.Title, info.Dir, info.Summary()} {
				if !utf8.ValidString(got) && utf8.ValidString(text) {
					t.Errorf("%q", got)
				}
			}
			if len(info.FirstPrompt) > maxPrompt || len([]rune(info.Summary())) > 200 {
				t.Errorf("too long: %q", info.FirstPrompt)
			}
		}
		line, _, _ := bytes.Cut([]byte(text), []byte("\n"))
		all, ok := objectOf(line)
		if !json.Valid(line) || !ok || head > len(line) {
			return
		}
		begun, name, value := objectBegun(line[:head])
		for member := range begun {
			if _, ok := all[member]; !ok {
				t.Errorf("%q has no member %q", line, member)
			}
		}
		if _, ok := all[name]; name != "" && !ok || !bytes.Contains(line, value) {
			t.Errorf("%q has no member %q that begins with %q", line, name, value)
		}
		fresh := forker{chain: new(transcriptChain), to: "fork", fresh: map[string]string{}}
		if out := fresh.line(line); !json.Valid(out) || bytes.IndexByte(out, '\n') >= 0 {
			t.Errorf("a fork of %q has %q", line, out)
		}
	})
}
