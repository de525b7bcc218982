package wire

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLookup(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ object, name, raw string }{
		{`{"command":"ls"}`, "command", `"ls"`},
		{`{"Command":"ls"}`, "command", ""},                         // case counts
		{`{"command":"ls","command":"rm"}`, "command", `"rm"`},      // the last one counts
		{`{"command":"ls","comm\u0061nd":"rm"}`, "command", `"rm"`}, // escapes in names count as what they stand for
		{`{"a":{"command":"ls"}}`, "command", ""},                   // not those of other objects
		{` { "a" : [1, 2] , "b":null } `, "a", "[1, 2]"},            //
		{` { "a" : [1, 2] , "b":null } `, "b", "null"},              // null is a value
		{`[{"command":"ls"}]`, "command", ""},                       // no object
		{`{}`, "", ""},                                              //
		{``, "command", ""},                                         //
		{`{"command":`, "command", ""},                              // ends in the middle
		{`{"x":"\"command\":\"no\"","command":1}`, "command", "1"},  // quotes inside of text
		{`{"\u0063ommand":"x","COMMAND":"y"}`, "command", `"x"`},    //
		{`{"command":{"a":1},"command":null}`, "command", "null"},   //
		{`{"command\u0000":"x"}`, "command", ""},                    //
		{`{"__proto__":{"command":"x"},"y":1}`, "command", ""},      //
		{`{"` + "command" + `":"` + "caf\u00e9" + `"}`, "command", `"` + "caf\u00e9" + `"`},
	} {
		raw, ok := Lookup([]byte(test.object), test.name)
		if string(raw) != test.raw || ok != (test.raw != "") {
			t.Errorf("Lookup(%s, %q) = %q, %t; want %q", test.object, test.name, raw, ok, test.raw)
		}
	}
}

func TestLookupString(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		object, value string
		ok            bool
	}{
		{`{"path":"a\/b\u002ec"}`, "a/b.c", true},
		{`{"path":""}`, "", true},
		{`{"path":1}`, "", false},
		{`{"path":null}`, "", false},
		{`{"path":["a"]}`, "", false},
		{`{"Path":"a"}`, "", false},
		{`{"path":"a","path":2}`, "", false},
		{`{"path":"\ud800"}`, "\ufffd", true},
	} {
		value, ok := LookupString([]byte(test.object), "path")
		if value != test.value || ok != test.ok {
			t.Errorf("LookupString(%s) = %q, %t; want %q, %t", test.object, value, ok, test.value, test.ok)
		}
	}
}

func TestStrings(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		value string
		limit int
		want  []NamedString
		all   bool
	}{
		{`{"a":"1","b":["2",{"c" : "3\n"}],"d":4}`, 9, []NamedString{{"a", "1"}, {"b", "2"}, {"c", "3\n"}}, true},
		{`"x"`, 9, []NamedString{{"", "x"}}, true},
		{`{"a":"1","b":"2"}`, 1, []NamedString{{"a", "1"}}, false},
		{`{"a":"1","b":"2"}`, 2, []NamedString{{"a", "1"}, {"b", "2"}}, true},
		{`{"\u0061":"\"b\":"}`, 9, []NamedString{{"a", `"b":`}}, true},
		{`17`, 9, nil, true},
		{`["a`, 9, nil, false},
	} {
		got, all := Strings([]byte(test.value), test.limit)
		if diff := cmp.Diff(test.want, got); diff != "" || all != test.all {
			t.Errorf("Strings(%s, %d): all %t, want %t\n%s", test.value, test.limit, all, test.all, diff)
		}
	}
}

func TestMembersAndElements(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		``:                                   nil,
		`"a"`:                                nil,
		` {} `:                               nil,
		` [ ] `:                              nil,
		` { "a" : [1, 2] , "\u0062":null } `: {"a=[1, 2]", "b=null"},
		`{"a":1,"A":2,"a":3}`:                {"a=1", "A=2", "a=3"}, // as they stand
		`{"a":1,"b":"cut`:                    {"a=1", `b="cut`},
		`{"a":1,"b":`:                        {"a=1", "b="},
		`{"a":1,"b`:                          {"a=1"},
		`{"a":1 2,"b":3}`:                    {"a=1"},
		` [ 1 , {"a":[2]} , "x" ] `:          {"1", `{"a":[2]}`, `"x"`},
		`[{"a":1},{"b":"cut`:                 {`{"a":1}`, `{"b":"cut`},
		`[1}`:                                {"1"},
	} {
		var got []string
		for name, value := range Members([]byte(text)) {
			got = append(got, name+"="+string(value))
		}
		for value := range Elements([]byte(text)) {
			got = append(got, string(value))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
	for range Members([]byte(`{"a":1,"b":2}`)) {
		break
	}
	for range Elements([]byte(`[1,2]`)) {
		break
	}
}

func TestStringOf(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{`"a\u0062\n"`: "ab\n", `""`: "", `"\ud800"`: "\ufffd", "\"\xff\"": "\ufffd"} {
		if got, ok := StringOf([]byte(value)); got != want || !ok {
			t.Errorf("StringOf(%s) = %q, %t", value, got, ok)
		}
	}
	for _, value := range []string{"", "1", "null", `["a"]`} {
		if got, ok := StringOf([]byte(value)); ok {
			t.Errorf("StringOf(%s) = %q", value, got)
		}
	}
}
