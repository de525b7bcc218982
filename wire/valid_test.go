package wire

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// validSeeds are texts at the edges of what is valid.
func validSeeds() []string {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	return []string{
		"", " ", "null", " true ", "false", "nul", "nulls", "truefalse", "tru", "0", "-0", "00", "01", "-", "+1", "1.", "1.5", ".5", "1e5", "1E+05", "1e", "1e+", "-1.25e-3",
		"1 2", "NaN", `""`, `"a"`, `"`, `"a`, `"\`, `"\"`, `"\""`, `"\\"`, `"\x"`, `"\u12"`, `"\u12G4"`, `"\u1234"`, `"\ud800"`, "\"\x00\"", "\"abcdefg\x1f\"", "\"abcdefgh\x7f\x80\xff\"",
		"\"\t\"", "\"a\nb\"", `"12345678"`, `"1234567\n"`, `"12345678\n90"`, "{}", "{ }", "[]", "[ ]", "{]", "[}", "{", "}", "[", "]", "[1]", "[1,]", "[,1]", "[1 2]", "[1,2]", `{"a":1}`, `{"a" : 1 , "b" : [ ] }`,
		`{"a"}`, `{"a":}`, `{"a":1,}`, `{,}`, `{1:2}`, `{"a":1 "b":2}`, `{"a":1}}`, `{"a":{"b":[{"c":[]}]}}`, `{"a":[1,{"b":2]}`, "\ufeff{}", "{}\n", "\v{}", `{"a":1}x`, `{"a\u0062":"\/"}`,
		deep(64), deep(65), deep(maxNested), deep(maxNested + 1), strings.Repeat(`{"a":[`, 40) + "1" + strings.Repeat("]}", 40), strings.Repeat(`{"a":[`, 40) + "1" + strings.Repeat("}]", 40),
	}
}

func TestValid(t *testing.T) {
	for _, text := range validSeeds() {
		if got, want := Valid([]byte(text)), json.Valid([]byte(text)); got != want {
			t.Errorf("Valid(%.60q) = %t, want %t", text, got, want)
		}
	}
}

// TestValidLines looks at every recorded line, as it is and with each of its
// first bytes changed.
func TestValidLines(t *testing.T) {
	files, err := filepath.Glob("testdata/*")
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			continue // a folder
		}
		for line := range strings.Lines(string(content)) {
			lines++
			b := []byte(line)
			if got, want := Valid(b), json.Valid(b); got != want {
				t.Errorf("Valid(%.100q) = %t, want %t", b, got, want)
			}
			for i := range min(len(b), 100) {
				for _, c := range []byte("\"\\{}[],:0 \x01n") {
					old := b[i]
					b[i] = c
					if got, want := Valid(b), json.Valid(b); got != want {
						t.Errorf("Valid(%.100q) = %t, want %t", b, got, want)
					}
					b[i] = old
				}
			}
		}
	}
	if lines == 0 {
		t.Error("no lines were found")
	}
}

func FuzzValid(f *testing.F) {
	for _, text := range validSeeds() {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if got, want := Valid(b), json.Valid(b); got != want {
			t.Errorf("Valid(%q) = %t, want %t", b, got, want)
		}
	})
}

func BenchmarkValid(b *testing.B) {
	line := []byte(`{"type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"text","text":"` + strings.Repeat("What an agent writes is mostly words. ", 22) + `"}]},"session_id":"c1","uuid":"u1"}`)
	for name, valid := range map[string]func([]byte) bool{"wire": Valid, "json": json.Valid} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(line)))
			for b.Loop() {
				if !valid(line) {
					b.Fatal("the line is not valid")
				}
			}
		})
	}
}
