package journal

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestSpeaker(t *testing.T) {
	result := func(detail string) string {
		return `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"done"}]},"tool_use_result":` + detail + `}`
	}
	for _, test := range []struct{ line, want string }{
		{`{"type":"user","message":{"role":"user","content":"hello"}}`, SpeakerUser},
		{`{"type":"user","message":{"role":"user","content":[{"type":"text","text":"hello"}]},"isReplay":true}`, SpeakerUser},
		{`{"type":"user","message":{"role":"user","content":"a summary"},"isSynthetic":true}`, SpeakerSystem},
		{`{"type":"user","message":{"role":"user","content":"do it"},"parent_tool_use_id":"t"}`, SpeakerSubagent},
		{result(`{"stdout":"done"}`), SpeakerTool},
		{result(`"done"`), SpeakerTool},
		{result(`{"plan":"# Plan","isAgent":false}`), SpeakerPlan},
		{result(`{"status":"completed","agentId":"a1","content":[]}`), SpeakerSubagent},
		{`{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"hello"}]}}`, SpeakerAssistant},
		{`{"type":"assistant","message":{"role":"assistant","content":[]},"parent_tool_use_id":"t"}`, SpeakerSubagent},
		{`{"type":"result","subtype":"success","result":"done"}`, SpeakerResult},
	} {
		if got := speaker([]byte(test.line)); got != test.want {
			t.Errorf("%s was said by %q, expected %q", test.line, got, test.want)
		}
	}
}

func TestParseSearch(t *testing.T) {
	tests := []struct{ text, want string }{
		{"one", `text : ("one")`},
		{"One TWO", `text : ("one" AND "two")`},
		{`"one two" three`, `text : ("one two" AND "three")`},
		{`"one two`, `text : ("one two")`},
		{"foo-bar.go", `text : ("foo bar go")`},
		{"pre*", `text : ("pre" *)`},
		{`"pre*"`, `text : ("pre")`},
		{"a OR b NEAR(c)", `text : ("a" AND "or" AND "b" AND "near c")`},
		{"Größe 東京", `text : ("größe" AND "東京")`},
	}
	for _, test := range tests {
		if got := match(parseSearch(test.text)); got != test.want {
			t.Errorf("%q becomes %s, expected %s", test.text, got, test.want)
		}
	}
	for _, text := range []string{"", " ", `"`, `""`, "*", "-", "()", "\x00"} {
		if terms := parseSearch(text); len(terms) > 0 {
			t.Errorf("%q has the terms %v", text, terms)
		}
	}
}

func TestSnippet(t *testing.T) {
	filler := strings.Repeat("lorem ipsum ", 40)
	tests := []struct{ name, text, search, want string }{
		{"whole", "a Word here", "word", "a \x02Word\x03 here"},
		{"several", "one two one", "one", "\x02one\x03 two \x02one\x03"},
		{"prefix", "wording words sword", "wor*", "\x02wording\x03 \x02words\x03 sword"},
		{"not within words", "swords word", "word", "swords \x02word\x03"},
		{"one line", "a\nword\tand\x02\x03 more", "word", "a \x02word\x03 and   more"},
		{"not there", "something else", "word", "something else"},
		{"empty", "", "word", ""},
		{"begin", "word " + filler, "word", "\x02word\x03 " + filler[:235] + "…"},
		{"end", filler + "word", "word", "…" + filler[len(filler)-60:] + "\x02word\x03"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := snippet(test.text, parseSearch(test.search)); got != test.want {
				t.Errorf("got %q, expected %q", got, test.want)
			}
		})
	}
}

func FuzzSnippet(f *testing.F) {
	f.Add("a word", "word")
	f.Add("äöü "+strings.Repeat("東京", 200)+" e\u0301", `"東京" e*`)
	f.Add("\xff\xfe", "\xff")
	f.Add(strings.Repeat("\x80", 5000)+" word "+strings.Repeat("\x80", 5000), "word")
	f.Fuzz(func(t *testing.T, text, search string) {
		terms := parseSearch(search)
		got := snippet(text, terms)
		if len(got) > 6*snippetLength+20 {
			t.Errorf("a snippet of %d bytes", len(got))
		}
		if strings.Count(got, "\x02") != strings.Count(got, "\x03") {
			t.Errorf("marks do not match in %q", got)
		}
		if utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Errorf("%q is not UTF-8", got)
		}
	})
}

func TestMessageTextIsBounded(t *testing.T) {
	long := strings.Repeat("ä", 400<<10)
	for line, limit := range map[string]int{
		`{"type":"assistant","message":{"content":[{"type":"text","text":"` + long + `"},{"type":"text","text":"more"}]}}`:        maxText,
		`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"` + long + `"}]}}`: maxToolText,
	} {
		_, text, _ := messageText([]byte(line))
		if len(text) > limit || len(text) < limit-1 || !utf8.ValidString(text) {
			t.Errorf("%d bytes of text, limit %d", len(text), limit)
		}
	}
	for _, line := range []string{"", "{", `{"type":"user"}`, `{"type":"user","message":3}`, `{"type":"result","result":{}}`, `{"type":"assistant","message":{"content":"x"}}`, `[]`} {
		if _, text, _ := messageText([]byte(line)); strings.Contains(text, "{") {
			t.Errorf("the text of %s is %q", line, text)
		}
	}
}
