package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// samples are lines of every kind, see testdata/samples.ndjson.
func samples(t testing.TB) [][]byte {
	t.Helper()
	text, err := os.ReadFile("testdata/samples.ndjson")
	if err != nil {
		t.Fatalf("reading the samples: %v", err)
	}
	return bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
}

func mustDecode(t testing.TB, line string) Message {
	t.Helper()
	m, err := Decode([]byte(line))
	if err != nil {
		t.Fatalf("decoding %s: %v", line, err)
	}
	return m
}

func mustEncode(t testing.TB, m Message) string {
	t.Helper()
	line, err := Encode(m)
	if err != nil {
		t.Fatalf("encoding: %v", err)
	}
	if bytes.IndexByte(line, '\n') >= 0 {
		t.Errorf("a line break in %q", line)
	}
	return string(line)
}

// TestSamples decodes every sample to the type that the table gives it, and
// encodes it again unharmed.
func TestSamples(t *testing.T) {
	types := map[string]string{}
	requests := map[string]string{}
	for _, e := range table(t) {
		switch e.kind {
		case "message":
			types[e.tag+"/"+strings.TrimSuffix(e.subtype, "*")] = e.name
		case "request":
			requests[e.tag] = e.name
		}
	}
	seen := map[string]int{}
	for i, line := range samples(t) {
		t.Run(fmt.Sprint(i+1), func(t *testing.T) {
			original := bytes.Clone(line)
			m, err := Decode(line)
			if err != nil {
				t.Fatalf("decoding: %v\n%s", err, line)
			}
			h, err := Peek(line)
			if err != nil {
				t.Fatalf("peeking: %v", err)
			}
			want, known := types[string(h.Type)+"/"+string(h.Subtype)]
			if !known {
				want, known = types[string(h.Type)+"/"]
			}
			if !known {
				want = "Unknown"
			}
			if got := reflect.TypeOf(m).Elem().Name(); got != want {
				t.Errorf("decoded as %s, want %s", got, want)
			}
			if c, ok := m.(*ControlRequest); ok && c.Request != nil {
				want, known := requests[string(h.RequestSubtype)]
				if !known {
					want = "UnknownRequest"
				}
				if got := reflect.TypeOf(c.Request).Elem().Name(); got != want {
					t.Errorf("request decoded as %s, want %s", got, want)
				}
			}
			walk(reflect.ValueOf(m), func(o object) { seen[reflect.TypeOf(o).Elem().Name()]++ })
			if !bytes.Equal(m.Raw(), original) {
				t.Errorf("Raw is %s", m.Raw())
			}
			clear(line) // it must have been copied
			again := mustEncode(t, m)
			refEqual(t, "encoded", original, []byte(again))

			// The same from JSON that nothing has a fixed place in.
			second := mustDecode(t, again)
			if diff := cmp.Diff(m, second, cmpopts.IgnoreTypes(Source{})); diff != "" {
				t.Errorf("decoded again (-first +second):\n%s", diff)
			}
			plain, err := json.Marshal(m)
			if err != nil {
				t.Fatalf("json.Marshal: %v", err)
			}
			refEqual(t, "json.Marshal", original, plain)
		})
	}
	for _, e := range table(t) {
		switch e.kind {
		case "result", "hookout", "answer": // they stand in raw members
		default:
			if seen[e.name] == 0 {
				t.Errorf("no sample has a %s (%s %s %s)", e.name, e.kind, e.tag, e.subtype)
			}
		}
	}
	for _, name := range []string{"Unknown", "UnknownBlock", "UnknownEvent", "UnknownDelta", "UnknownUpdate", "UnknownRequest", "UnknownHookInput"} {
		if seen[name] == 0 {
			t.Errorf("no sample has an %s", name)
		}
	}
}

// TestSamplesFieldByField changes each text field of each sample and expects
// that member, and no other, to be another one in the line.
func TestSamplesFieldByField(t *testing.T) {
	changes := 0
	for i, line := range samples(t) {
		m := mustDecode(t, string(line))
		for _, f := range jsonFields(reflect.TypeOf(m).Elem()) {
			if f.typ.Kind() != reflect.String {
				continue
			}
			m := mustDecode(t, string(line))
			reflect.ValueOf(m).Elem().FieldByIndex(f.index).SetString("changed <&>")
			v, err := refDecode([]byte(mustEncode(t, m)))
			if err != nil {
				t.Fatalf("line %d, %s: %v", i+1, f.name, err)
			}
			before, err := refDecode(line)
			if err != nil {
				t.Fatalf("line %d: %v", i+1, err)
			}
			want := before.(refObject)
			if at := slices.IndexFunc(want, func(m refMember) bool { return m.Name == f.name }); at >= 0 {
				want[at].Value = "changed <&>"
			} else {
				want = append(want, refMember{f.name, "changed <&>"})
			}
			if !reflect.DeepEqual(any(want), v) {
				t.Errorf("line %d, %s (-want +got):\n%s", i+1, f.name, cmp.Diff(any(want), v))
			}
			changes++
		}
	}
	if changes < 300 {
		t.Errorf("only %d fields were changed", changes)
	}
}

// TestEveryTypeZero encodes the zero value of every generated type and decodes it
// again.
func TestEveryTypeZero(t *testing.T) {
	forEachType(t, func(t *testing.T, fresh func() object) {
		text, err := encodeObject(fresh())
		if err != nil {
			t.Fatalf("encoding: %v", err)
		}
		v := fresh()
		if err := json.Unmarshal(text, v); err != nil {
			t.Fatalf("decoding %s: %v", text, err)
		}
		if names := v.source().ExtraNames(); len(names) > 0 && len(jsonFields(reflect.TypeOf(v).Elem())) > 0 {
			t.Errorf("members without a field: %v", names)
		}
		again, err := encodeObject(v)
		if err != nil || !bytes.Equal(again, text) {
			t.Errorf("again: %s, %v; want %s", again, err, text)
		}
		for _, f := range jsonFields(reflect.TypeOf(v).Elem()) {
			if f.optional == (lookup(text, f.name) != nil) {
				t.Errorf("member %s: optional %v, in %s", f.name, f.optional, text)
			}
		}
		// By way of encoding/json: as a value, a pointer, a nil pointer and null.
		rv := reflect.ValueOf(fresh())
		for _, x := range []any{rv.Interface(), rv.Elem().Interface()} {
			plain, err := json.Marshal(x)
			if err != nil {
				t.Fatalf("json.Marshal(%T): %v", x, err)
			}
			refEqual(t, fmt.Sprintf("json.Marshal(%T)", x), text, plain)
		}
		null, err := json.Marshal(reflect.Zero(rv.Type()).Interface())
		if err != nil || string(null) != "null" {
			t.Errorf("a nil pointer is written as %s, %v", null, err)
		}
		if err := json.Unmarshal([]byte(" null "), fresh()); err != nil {
			t.Errorf("null: %v", err)
		}
		for _, bad := range []string{`5`, `"x"`, `[]`, `true`} {
			if err := json.Unmarshal([]byte(bad), fresh()); err == nil {
				t.Errorf("%s was accepted", bad)
			}
		}
	})
}

// TestEveryTypeFull encodes every generated type with a value in each field, and
// expects the same value back.
func TestEveryTypeFull(t *testing.T) {
	forEachType(t, func(t *testing.T, fresh func() object) {
		v := fresh()
		var f filler
		f.fill(t, reflect.ValueOf(v).Elem(), 4)
		text, err := encodeObject(v)
		if err != nil {
			t.Fatalf("encoding: %v", err)
		}
		got := fresh()
		if err := decodeInto(got, text); err != nil {
			t.Fatalf("decoding %s: %v", text, err)
		}
		if diff := cmp.Diff(v, got, cmpopts.IgnoreTypes(Source{})); diff != "" {
			t.Errorf("decoded (-want +got):\n%s", diff)
		}
		walk(reflect.ValueOf(got), func(o object) {
			if names := o.source().ExtraNames(); len(names) > 0 && len(jsonFields(reflect.TypeOf(o).Elem())) > 0 {
				t.Errorf("members of %T without a field: %v", o, names)
			}
		})
		// What was decoded and not changed is written as it was.
		spaced := bytes.ReplaceAll(text, []byte(`":`), []byte(`" : `))
		if !json.Valid(spaced) {
			t.Fatalf("bad test: %s", spaced)
		}
		got = fresh()
		if err := decodeInto(got, spaced); err != nil {
			t.Fatalf("decoding %s: %v", spaced, err)
		}
		if again, err := encodeObject(got); err != nil || !bytes.Equal(again, spaced) {
			t.Errorf("unchanged, but written as %s, %v", again, err)
		}
		// An object that is taken to be changed all over is written anew.
		rebuilt := fresh()
		reflect.ValueOf(rebuilt).Elem().Set(reflect.ValueOf(v).Elem())
		rebuilt.source().raw = []byte(`{"left":"over"}`)
		again, err := encodeObject(rebuilt)
		if err != nil {
			t.Fatalf("encoding over another: %v", err)
		}
		if string(lookup(again, "left")) != `"over"` {
			t.Errorf("the unknown member is gone: %s", again)
		}
		for _, f := range jsonFields(reflect.TypeOf(v).Elem()) {
			if !bytes.Equal(lookup(again, f.name), lookup(text, f.name)) {
				t.Errorf("member %s is %s, want %s", f.name, lookup(again, f.name), lookup(text, f.name))
			}
		}
	})
}

// wrongValues are JSON values that do not fit a field; none if any would.
func wrongValues(typ reflect.Type) []string {
	switch {
	case typ == reflect.TypeFor[json.RawMessage](), typ.Kind() == reflect.Interface:
		return nil
	case typ == reflect.TypeFor[Content]():
		return []string{`5`, `{}`, `true`}
	}
	switch typ.Kind() {
	case reflect.Pointer:
		return wrongValues(typ.Elem())
	case reflect.String:
		return []string{`5`, `["x"]`, `{}`, `false`}
	case reflect.Int64:
		return []string{`"5"`, `[]`, `true`, `1e400`, `9e99`, `{}`}
	case reflect.Float64:
		return []string{`"5"`, `[]`, `true`, `1e400`, `{}`}
	case reflect.Bool:
		return []string{`"true"`, `1`, `[]`, `{}`}
	case reflect.Slice:
		wrong := []string{`"x"`, `5`, `{}`}
		for _, w := range wrongValues(typ.Elem()) {
			wrong = append(wrong, "[null,"+w+"]")
		}
		return wrong
	case reflect.Map:
		wrong := []string{`"x"`, `5`, `[]`}
		for _, w := range wrongValues(typ.Elem()) {
			wrong = append(wrong, `{"ok":null,"no":`+w+"}")
		}
		return wrong
	case reflect.Struct:
		return []string{`"x"`, `5`, `[]`, `true`}
	default:
		return nil
	}
}

// TestEveryFieldMismatch gives every field of every type values that do not fit
// it. They must be kept, and be written back.
func TestEveryFieldMismatch(t *testing.T) {
	tried := 0
	forEachType(t, func(t *testing.T, fresh func() object) {
		for _, f := range jsonFields(reflect.TypeOf(fresh()).Elem()) {
			for _, wrong := range wrongValues(f.typ) {
				tried++
				text := fmt.Sprintf(`{"new":1,%q:%s}`, f.name, wrong)
				v := fresh()
				if err := decodeInto(v, []byte(text)); err != nil {
					t.Fatalf("%s: %v", text, err)
				}
				if got := string(v.source().Extra(f.name)); got != wrong {
					t.Errorf("%s: Extra(%q) is %s, want %s", text, f.name, got, wrong)
				}
				if !reflect.ValueOf(v).Elem().FieldByIndex(f.index).IsZero() {
					t.Errorf("%s: the field has a value", text)
				}
				if names := v.source().ExtraNames(); !slices.Equal(names, []string{"new", f.name}) {
					t.Errorf("%s: extra members %v", text, names)
				}
				if got, err := encodeObject(v); err != nil || string(got) != text {
					t.Errorf("%s: written as %s, %v", text, got, err)
				}
				// A value that fits takes the place of the one that did not.
				var fill filler
				fill.fill(t, reflect.ValueOf(v).Elem().FieldByIndex(f.index), 2)
				got, err := encodeObject(v)
				if err != nil || string(lookup(got, f.name)) == wrong || string(lookup(got, "new")) != "1" {
					t.Errorf("%s: changed to %s, %v", text, got, err)
				}
			}
		}
	})
	if tried < 3000 {
		t.Errorf("only %d values were tried", tried)
	}
}

// TestEveryFieldNull gives every field null, which empties it and is kept.
func TestEveryFieldNull(t *testing.T) {
	forEachType(t, func(t *testing.T, fresh func() object) {
		for _, f := range jsonFields(reflect.TypeOf(fresh()).Elem()) {
			v := fresh()
			field := reflect.ValueOf(v).Elem().FieldByIndex(f.index)
			var fill filler
			fill.fill(t, field, 2)
			text := fmt.Sprintf(`{%q:null}`, f.name)
			if err := json.Unmarshal([]byte(text), v); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			if f.typ != reflect.TypeFor[json.RawMessage]() && !field.IsZero() {
				t.Errorf("%s: the field is %v", text, field)
			}
			if got, err := encodeObject(v); err != nil || string(got) != text {
				t.Errorf("%s: written as %s, %v", text, got, err)
			}
		}
	})
}

func TestAppendString(t *testing.T) {
	tests := []struct{ in, want string }{
		{"", `""`},
		{"plain <b>&amp;</b> é日😀", `"plain <b>&amp;</b> é日😀"`},
		{"\"\\/", `"\"\\/"`},
		{"\n\r\t\b\f\x00\x1f\x7f", "\"\\n\\r\\t\\u0008\\u000c\\u0000\\u001f\x7f\""},
		{"a\u2028b\u2029", `"a\u2028b\u2029"`},
		{"\xff\xc3x\xed\xa0\x80", `"\ufffd\ufffdx\ufffd\ufffd\ufffd"`},
		{"\ufffd", "\"\ufffd\""},
	}
	for _, tt := range tests {
		got := string(appendString(nil, tt.in))
		if got != tt.want {
			t.Errorf("appendString(%q) = %s, want %s", tt.in, got, tt.want)
		}
		var back string
		if err := json.Unmarshal([]byte(got), &back); err != nil || back != string([]rune(tt.in)) {
			t.Errorf("%s is read as %q, %v", got, back, err)
		}
		if own := text([]byte(got)); own != back {
			t.Errorf("%s: text gives %q, encoding/json %q", got, own, back)
		}
	}
}

func TestNumbers(t *testing.T) {
	tests := []struct {
		text string
		want int64
		fits bool
	}{
		{"0", 0, true},
		{"-0", 0, true},
		{"12", 12, true},
		{"9223372036854775807", math.MaxInt64, true},
		{"-9223372036854775808", math.MinInt64, true},
		{"9223372036854775808", 0, false},
		{"1e3", 1000, true},
		{"2.9", 2, true},
		{"-2.9", -2, true},
		{"1e18", 1e18, true},
		{"1e19", 0, false},
		{"1e999", 0, false},
		{"null", 0, true},
		{`"1"`, 0, false},
		{"true", 0, false},
		{"[1]", 0, false},
	}
	for _, tt := range tests {
		n := int64(0)
		if fits := setFrom(&n, []byte(tt.text), setInt); fits != tt.fits || n != tt.want {
			t.Errorf("setInt(%s) = %v, %d; want %v, %d", tt.text, fits, n, tt.fits, tt.want)
		}
	}
}

func TestMembersManyDuplicates(t *testing.T) {
	// Enough of them that names are looked up in a map.
	var b strings.Builder
	b.WriteString("{")
	for i := range 200 {
		fmt.Fprintf(&b, `"n%d":%d,`, i%50, i)
	}
	b.WriteString(`"\u006e0":"last"}`)
	list, err := members([]byte(b.String()))
	if err != nil || len(list) != 50 {
		t.Fatalf("%d members, %v", len(list), err)
	}
	if list[0].name != "n0" || string(list[0].raw) != `"last"` || list[49].name != "n49" || string(list[49].raw) != "199" {
		t.Errorf("first %s: %s, last %s: %s", list[0].name, list[0].raw, list[49].name, list[49].raw)
	}
	if got := lookup([]byte(b.String()), "n0"); string(got) != `"last"` {
		t.Errorf("lookup gives %s", got)
	}
}
