package claude

import (
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"
)

// checkObject compares how an object is taken apart with what the standard
// library says.
func checkObject(t testing.TB, text string) {
	t.Helper()
	var want map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &want) != nil || want == nil {
		return
	}
	got, ok := objectOf([]byte(text))
	if !ok || len(got) != len(want) {
		t.Fatalf("%q is %q, expected %q", text, got, want)
	}
	for name, value := range want {
		if string(got[name]) != string(value) {
			t.Errorf("%q has %q as %q, expected %q", text, name, got[name], value)
		}
		checkObject(t, string(value))
		var list []json.RawMessage
		if json.Unmarshal(value, &list) != nil {
			continue
		}
		objects := slices.DeleteFunc(list, func(each json.RawMessage) bool { return each[0] != '{' })
		if got := objectsOf(value); len(got) != len(objects) {
			t.Errorf("%q has the objects %q", value, got)
		}
		for _, each := range objects {
			checkObject(t, string(each))
		}
	}
}

func FuzzTranscript(f *testing.F) {
	f.Add(short(f, "1 < - says a", "2 < 1 calls t1 m", "3 < 2 calls t2 m", "4 < 2 result t1", "5 < 3 result t2", "6 < 5 compacted", "7 < 6 summary s"))
	f.Add(short(f, "1 < - says a", "2 < 1 progress", "3 < 2 meta x", "4 < 3 queued b", "5 < 4 attachment", "6 < 1 answers c", "7 < 6 side d"))
	f.Add("{\"type\":\"user\",\"uuid\":\"a\",\"parentUuid\":\"b\",\"message\":{\"content\":\"x\"}}\r\n\n{\"type\":")
	f.Add(" {\"a\\u0062\" : [ 1 , {\"x\":\"\\\\\\\"}\"} ] , \"\":-1.5e3, \"a\" :true\t, \"a\":{} } ")
	f.Fuzz(func(t *testing.T, text string) {
		checkObject(t, text)
		tr := &Transcript{conversation: conversation, maxLine: 1 << 10, source: func() (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader(text)), nil
		}}
		if err := tr.load(t.Context()); err != nil {
			t.Fatal(err)
		}
		n := 0
		for line, err := range tr.Lines(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			n++
			if line.TooLong != nil {
				continue
			}
			if !json.Valid(line.Bytes) || strings.ContainsRune(string(line.Bytes), '\n') {
				t.Errorf("not a line: %q", line.Bytes)
			}
			checkSent(t, line)
		}
		if most := strings.Count(text, "\n") + 1; n > most {
			t.Errorf("%d lines out of %d", n, most)
		}
	})
}
