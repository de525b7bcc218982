package main

import (
	"bytes"
	"encoding/json"
	"testing"
)

func TestCanonical(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		tool, one, other string
		alike            bool
	}{
		{"Bash", `{"command":"make","description":"Build"}`, `{"description":"Build it","command":"make"}`, true},
		{"Bash", `{"command":"make"}`, `{"command":"make clean"}`, false},
		{"mcp__tracker__create", `{"title":"a","description":"one"}`, `{"title":"a","description":"two"}`, false},
		{"mcp__shop__order", `{"id":9007199254740993}`, `{"id":9007199254740992}`, false},
		{"mcp__shop__order", `{"a":{"x":1,"y":2}}`, `{"a":{"y":2,"x":1}}`, true},
	} {
		one, other := canonical(test.tool, json.RawMessage(test.one)), canonical(test.tool, json.RawMessage(test.other))
		if one == nil || other == nil || bytes.Equal(one, other) != test.alike {
			t.Errorf("%s: %s and %s: alike is not %t", test.tool, test.one, test.other, test.alike)
		}
	}
	if got := canonical("Bash", json.RawMessage(`[1]`)); got != nil {
		t.Errorf("a list is %s", got)
	}
}
