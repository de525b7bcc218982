package wire

import (
	"strings"
	"testing"
)

// composites returns objects and arrays with much in strings that is not structure,
// at every distance from where a word of the scanner ends.
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
		for pad := range 17 {
			list = append(list, value[:1]+strings.Repeat(" ", pad)+value[1:])
			if len(value) > 2 {
				list = append(list, `["`+strings.Repeat("p", pad)+`",`+value+`]`)
			}
		}
	}
	return list
}

func TestSkipComposite(t *testing.T) {
	t.Parallel()
	for _, text := range composites() {
		for _, behind := range []string{"", `,"text":["]}}"]}`} {
			if end := skipComposite([]byte(text+behind), 0); end != len(text) {
				t.Errorf("%.300q followed by %q ends at %d, want %d", text, behind, end, len(text))
			}
		}
		for _, cut := range []int{1, 2, len(text) / 2} {
			if end := skipComposite([]byte(text[:len(text)-cut]), 0); end != truncated {
				t.Errorf("%.300q without its last %d bytes ends at %d, want %d", text, cut, end, truncated)
			}
		}
	}
}
