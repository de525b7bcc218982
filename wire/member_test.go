package wire

import "testing"

func TestAppendMember(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{}`:                         `{"session_id":"c"}`,
		`{ }`:                        `{ "session_id":"c"}`,
		`{"a":"}"}`:                  `{"a":"}","session_id":"c"}`,
		`{"a":"{"}`:                  `{"a":"{","session_id":"c"}`,
		`{"a":{}}`:                   `{"a":{},"session_id":"c"}`,
		`{"session_id":"","a":[{}]}`: `{"session_id":"","a":[{}],"session_id":"c"}`,
		"{\"a\":1} \t":               "{\"a\":1,\"session_id\":\"c\"} \t",
		`x`:                          `x`,
	} {
		got := AppendMember([]byte(in), "session_id", "c")
		if string(got) != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
		if in == "x" {
			continue
		}
		if id, ok := LookupString(got, "session_id"); !ok || id != "c" {
			t.Errorf("%s: the member is read as %q", got, id)
		}
		if h, err := Peek(got); err != nil || string(h.SessionID) != "c" {
			t.Errorf("%s: the header has %q, %v", got, h.SessionID, err)
		}
	}
}

// TestAppendMemberEscapes gives a member a value that ends its string, and more.
func TestAppendMemberEscapes(t *testing.T) {
	t.Parallel()
	const value = "a\"},\n\\\u2028\xff"
	got := AppendMember([]byte(`{"type":"x"}`), "session_id", value)
	if !Valid(got) {
		t.Fatalf("%q is not valid", got)
	}
	if id, _ := LookupString(got, "session_id"); id != "a\"},\n\\\u2028\ufffd" {
		t.Errorf("the member is read as %q", id)
	}
}
