package wire

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestScanBlock(t *testing.T) {
	t.Parallel()
	const letters = "\"\\[]{}\x22\x5c\x5b\x5d\x7b\x7d\xa2\xdc\xdb\xdd\xfb\xfd\x02\x3c\x3b\x00\xff_y"
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var block [blockSize]byte
		var want [4]uint64
		for i := range block {
			block[i] = byte(r.Uint32())
			if r.IntN(2) == 0 {
				block[i] = letters[r.IntN(len(letters))]
			}
			switch block[i] {
			case '"':
				want[0] |= 1 << i
			case '\\':
				want[1] |= 1 << i
			case '{', '[':
				want[2] |= 1 << i
			case '}', ']':
				want[3] |= 1 << i
			}
		}
		var got [4]uint64
		if got[0], got[1], got[2], got[3] = scanBlock(&block); got != want {
			t.Fatalf("%q: %x, want %x", block[:], got, want)
		}
	}
}

// composites returns values with much in strings that is not structure, at every
// distance from where a block ends.
func composites() (list []string) {
	for _, value := range []string{
		`{}`,
		`[]`,
		`{"a":"}"}`,
		`["\""]`,
		`["\\"]`,
		`["\\\""]`,
		`{"text":"]"}`,
		`[{"type":"tool_use","text":"{"},[[["]"]]],{"a":{"b":{"c":[{}]}}}]`,
		`["` + strings.Repeat(`\\`, 40) + `"]`,
		`["` + strings.Repeat(`\"`, 40) + `"]`,
		`["` + strings.Repeat(`\\\"`, 40) + `{",{}]`,
		`["` + strings.Repeat(`x`, 200) + `\\","` + strings.Repeat(`y`, 63) + `"]`,
		`[` + strings.Repeat(`[`, 200) + strings.Repeat(`]`, 200) + `]`,
		`{"k":"` + strings.Repeat(`{`, 70) + `","text":["\u0074ext"]}`,
	} {
		for pad := range blockSize + 1 {
			list = append(list, value[:1]+strings.Repeat(" ", pad)+value[1:])
			if len(value) > 2 {
				list = append(list, `["`+strings.Repeat("p", pad)+`",`+value+`]`)
			}
		}
	}
	return list
}

// refComposite is skipComposite, byte by byte. A backslash that is not in a string is
// as good as one that is: there is none.
func refComposite(b []byte) int {
	depth, inString := 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case c == '\\' && i+1 < len(b) && (b[i+1] == '"' || b[i+1] == '\\'):
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{', c == '[':
			depth++
		case c == '}', c == ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return truncated
}

func checkComposite(t testing.TB, text string) {
	t.Helper()
	want := refComposite([]byte(text))
	end, noText := skipComposite([]byte(text), 0)
	if end != want {
		t.Fatalf("%.300q ends at %d, want %d", text, end, want)
	}
	if end < 0 || !json.Valid([]byte(text[:end])) {
		return
	}
	v, err := refDecode([]byte(text[:end]))
	if err != nil {
		t.Fatal(err)
	}
	if noText && refSays(v, "text") {
		t.Fatalf("%.300q is said to have no text", text)
	}
	if !noText && !strings.Contains(text, `"text"`) && !strings.Contains(text, `\u`) {
		t.Fatalf("%.300q is said to have text", text)
	}
}

func TestSkipComposite(t *testing.T) {
	t.Parallel()
	for _, text := range composites() {
		checkComposite(t, text)
		checkComposite(t, text+`,"text":["]}}"]}`)
		for _, cut := range []int{1, 2, len(text) / 2} {
			checkComposite(t, text[:len(text)-cut])
		}
	}
}
