package wire

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestContent(t *testing.T) {
	image := &ImageBlock{Media: MediaSource{Type: "url", URL: "https://example.com/a.png"}}
	tests := []struct {
		name   string
		c      Content
		zero   bool
		text   string
		blocks []Block
		wire   string
	}{
		{"zero", Content{}, true, "", nil, `""`},
		{"no text", TextContent(""), true, "", nil, `""`},
		{"text", TextContent("a\"b"), false, "a\"b", []Block{&TextBlock{Text: "a\"b"}}, `"a\"b"`},
		{"no blocks", BlockContent(), false, "", []Block{}, `[]`},
		{"blocks", BlockContent(&TextBlock{Text: "a"}, image, &TextBlock{Text: "b"}), false, "ab", []Block{&TextBlock{Text: "a"}, image, &TextBlock{Text: "b"}}, `[{"type":"text","text":"a"},{"type":"image","source":{"type":"url","url":"https://example.com/a.png"}},{"type":"text","text":"b"}]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.c.IsZero(); got != tt.zero {
				t.Errorf("IsZero is %v", got)
			}
			if got := tt.c.String(); got != tt.text {
				t.Errorf("String is %q, want %q", got, tt.text)
			}
			if got := tt.c.All(); !reflect.DeepEqual(got, tt.blocks) {
				t.Errorf("All is %v, want %v", got, tt.blocks)
			}
			e := &encoder{decoded: map[*byte]object{}}
			if got := string(encContent(e, tt.c)); got != tt.wire || e.err != nil {
				t.Errorf("written as %s, %v; want %s", got, e.err, tt.wire)
			}
			var back Content
			if !setFrom(&back, []byte(tt.wire), setContent) {
				t.Fatalf("%s was refused", tt.wire)
			}
			text, err := json.Marshal(tt.c)
			if err != nil || string(text) != tt.wire {
				t.Errorf("json.Marshal gives %s, %v", text, err)
			}
			var again Content
			if err := json.Unmarshal(text, &again); err != nil || again.String() != tt.text {
				t.Errorf("json.Unmarshal gives %+v, %v", again, err)
			}
			if back.String() != tt.text || back.IsZero() != tt.zero || (back.Blocks == nil) != (tt.c.Blocks == nil) {
				t.Errorf("read as %+v", back)
			}
		})
	}
}

func TestContentRefuses(t *testing.T) {
	var c Content
	for _, bad := range []string{`5`, `{}`, `true`} {
		if err := json.Unmarshal([]byte(bad), &c); err == nil {
			t.Errorf("%s was taken for content: %+v", bad, c)
		}
	}
}

func TestContentOfMessages(t *testing.T) {
	tests := []struct {
		content string
		want    string
		kinds   []string
		extra   string
	}{
		{`"plain"`, "plain", nil, ""},
		{`""`, "", nil, ""},
		{`null`, "", nil, ""},
		{`[]`, "", []string{}, ""},
		{`[{"type":"text","text":"a"},{"type":"image"},{"type":"of_tomorrow"},{"text":"b"},7,"c",null]`, "a", []string{"text", "image", "of_tomorrow", "", "", "", "nil"}, ""},
		{`5`, "", nil, `5`},
		{`{"type":"text","text":"a"}`, "", nil, `{"type":"text","text":"a"}`},
	}
	for _, tt := range tests {
		line := `{"type":"user","message":{"role":"user","content":` + tt.content + `}}`
		u := mustDecode(t, line).(*User)
		c := u.Message.Content
		if got := c.String(); got != tt.want {
			t.Errorf("%s: text %q, want %q", tt.content, got, tt.want)
		}
		var kinds []string
		if c.Blocks != nil {
			kinds = []string{}
		}
		for _, b := range c.Blocks {
			if b == nil {
				kinds = append(kinds, "nil")
				continue
			}
			kinds = append(kinds, b.BlockType())
		}
		if diff := cmp.Diff(tt.kinds, kinds); diff != "" {
			t.Errorf("%s: blocks (-want +got):\n%s", tt.content, diff)
		}
		if got := string(u.Message.Extra("content")); got != tt.extra {
			t.Errorf("%s: extra %s, want %s", tt.content, got, tt.extra)
		}
		if got := mustEncode(t, u); got != line {
			t.Errorf("%s: written as %s", tt.content, got)
		}
		// The content stays when something beside it changes.
		u.Message.Role = "changed"
		want := `{"type":"user","message":{"role":"changed","content":` + tt.content + `}}`
		if got := mustEncode(t, u); got != want {
			t.Errorf("%s: changed, written as %s", tt.content, got)
		}
	}
}
