package ask

import (
	"encoding/json"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/switchboard-dev/switchboard/api"
)

// filling returns a form.
func filling(schema string) *api.Question {
	return &api.Question{ID: "q1", Kind: api.QuestionForm, State: api.QuestionOpen, Title: "notes asks", Request: json.RawMessage(
		`{"type":"control_request","request_id":"r1","request":{"subtype":"elicitation","mcp_server_name":"notes","message":"Where shall the note go?","mode":"form","requested_schema":` + schema + `}}`)}
}

var everyField = filling(`{"type":"object","required":["folder","count"],"properties":{
	"folder":{"type":"string","title":"Folder","description":"Where it goes","minLength":2},
	"count":{"type":"integer","minimum":1,"maximum":9},
	"ratio":{"type":"number"},
	"pinned":{"type":"boolean","default":false},
	"size":{"type":"string","enum":["S","M","L"],"enumNames":["Small","Medium","Large"],"default":"M"},
	"colour":{"type":"string","oneOf":[{"const":"r","title":"Red"},{"const":"g"}]},
	"tags":{"type":"array","items":{"enum":["a","b","c"]},"default":["b"]},
	"odd":{"type":"object"}}}`)

func TestForm(t *testing.T) {
	field := func(property string) *api.Question {
		return filling(`{"type":"object","properties":{"x":` + property + `}}`)
	}
	needed := func(property string) *api.Question {
		return filling(`{"type":"object","required":["x"],"properties":{"x":` + property + `}}`)
	}
	accept := func(content string) *api.Answer {
		return &api.Answer{Decision: "accept", Content: json.RawMessage(content)}
	}
	page := func(url string) *api.Question {
		return &api.Question{ID: "q1", Kind: api.QuestionForm, State: api.QuestionOpen, Request: json.RawMessage(
			`{"subtype":"elicitation","mcp_server_name":"notes","message":"Log in","mode":"url","url":"` + url + `"}`)}
	}
	run(t, []row{
		{
			name: "every kind of field", q: everyField,
			keys: "inbox<enter>3<enter>-0.5<enter><space><enter><right><enter>1<enter>1<enter>{\"k\": 1}<enter><enter>",
			want: accept(`{"colour":"r","count":3,"folder":"inbox","odd":{"k":1},"pinned":true,"ratio":-0.5,"size":"L","tags":["a","b"]}`),
		},
		{name: "as it comes, but for what is needed", q: everyField, keys: "ab<tab>1<ctrl+s>", want: accept(`{"count":1,"folder":"ab","pinned":false,"size":"M","tags":["b"]}`)},
		{name: "something is missing", q: everyField, keys: "<tab>1<ctrl+s>", words: "Folder (folder) must be filled in"},
		{name: "too short", q: everyField, keys: "a<tab>1<ctrl+s>", words: `the field "folder" of the form has a length`},
		{name: "out of range", q: everyField, keys: "ab<tab>10<ctrl+s>", words: `the field "count" of the form is out of range`},
		{name: "no number", q: everyField, keys: "ab<tab>one<enter>", words: "count must be a number, such as 12 or -0.5"},
		{name: "no whole number", q: everyField, keys: "ab<tab>1.5<ctrl+s>", words: "must be a whole number"},
		{name: "decline", q: everyField, keys: "<ctrl+d>", want: &api.Answer{Decision: "decline"}},
		{name: "decline at the end", q: everyField, keys: "<up><enter>", want: &api.Answer{Decision: "decline"}},
		{name: "cancel", q: everyField, keys: "<ctrl+x>", want: &api.Answer{Decision: "cancel"}},
		{name: "letters are letters", q: field(`{"type":"string"}`), keys: "yansve<ctrl+s>", want: accept(`{"x":"yansve"}`)},
		{name: "an optional text is left out", q: field(`{"type":"string"}`), keys: "<ctrl+s>", want: accept(`{}`)},
		{name: "a default is changed", q: field(`{"type":"string","default":"old"}`), keys: "<ctrl+u>new<enter><enter>", want: accept(`{"x":"new"}`)},
		{name: "a default is removed", q: field(`{"type":"string","default":"old"}`), keys: "<ctrl+u><ctrl+s>", want: accept(`{}`)},
		{name: "a text without a type", q: field(`{}`), keys: "a<ctrl+s>", want: accept(`{"x":"a"}`)},
		{name: "a number is removed", q: field(`{"type":"number","default":7}`), keys: "<backspace><ctrl+s>", want: accept(`{}`)},
		{name: "a number as JSON writes it", q: field(`{"type":"number"}`), keys: "0x10<enter>", words: "must be a number"},
		{name: "no infinity", q: field(`{"type":"number"}`), keys: "Inf<enter>", words: "must be a number"},
		{name: "yes", q: needed(`{"type":"boolean"}`), keys: "y<ctrl+s>", want: accept(`{"x":true}`)},
		{name: "no", q: needed(`{"type":"boolean"}`), keys: "n<ctrl+s>", want: accept(`{"x":false}`)},
		{name: "not said", q: field(`{"type":"boolean"}`), keys: "<ctrl+s>", want: accept(`{}`)},
		{name: "not said, and needed", q: needed(`{"type":"boolean"}`), keys: "<ctrl+s>", words: "x must be filled in"},
		{name: "said and taken back", q: field(`{"type":"boolean","default":true}`), keys: "<backspace><ctrl+s>", want: accept(`{}`)},
		{name: "one of several", q: needed(`{"enum":["a",2,null]}`), keys: "2<ctrl+s>", want: accept(`{"x":2}`)},
		{name: "none of several", q: needed(`{"enum":["a","b"]}`), keys: "<ctrl+s>", words: "x must be filled in"},
		{name: "the last of several", q: needed(`{"enum":["a","b","c"]}`), keys: "<left><ctrl+s>", want: accept(`{"x":"c"}`)},
		{name: "taken back", q: field(`{"enum":["a","b"],"default":"a"}`), keys: "<backspace><ctrl+s>", want: accept(`{}`)},
		{name: "some of several", q: field(`{"type":"array","items":{"enum":["a","b","c"]}}`), keys: "<right><space>3<ctrl+s>", want: accept(`{"x":["b","c"]}`)},
		{name: "none of them", q: field(`{"type":"array","items":{"enum":["a"]},"default":["a"]}`), keys: "1<ctrl+s>", want: accept(`{"x":[]}`)},
		{name: "too few", q: needed(`{"type":"array","minItems":1,"items":{"enum":["a"]}}`), keys: "<ctrl+s>", words: "too few or too many"},
		{name: "JSON that is none", q: field(`{"type":["string","null"]}`), keys: "abc<enter>", words: "x must be written in JSON"},
		{name: "a form without fields", q: filling(`{}`), keys: "<enter>", want: accept(`{}`)},
		{name: "a form that cannot be read", q: filling(`1`), keys: "<ctrl+d>", want: &api.Answer{Decision: "decline"}},
		{name: "a page, seen", q: page("https://notes.example/login"), keys: "y", want: &api.Answer{Decision: "accept"}},
		{name: "a page is shown", q: page("https://notes.example/login?x=1"), words: "https://notes.example/login?x=1"},
		{name: "a page is not accepted by accident", q: page("https://notes.example"), keys: "<enter>", words: "press y when you are done there"},
		{name: "a page, declined", q: page("https://notes.example"), keys: "n", want: &api.Answer{Decision: "decline"}},
		{name: "a page, cancelled", q: page("https://notes.example"), keys: "c", want: &api.Answer{Decision: "cancel"}},
	})
}

func TestFormOrder(t *testing.T) {
	q := filling(`{"properties":{"z":{"type":"string"},"a":{"type":"string"},"m":{"type":"string"}}}`)
	order := func(q *api.Question) string {
		var names []string
		for _, f := range newForm(q).fields {
			names = append(names, f.name)
		}
		return strings.Join(names, " ")
	}
	if got := order(q); got != "z a m" {
		t.Errorf("the fields are in the order %q, and written in z a m", got)
	}
	ordered := with(q, func(q *api.Question) {
		q.Request = json.RawMessage(strings.Replace(string(q.Request), `"mode"`, `"property_order":["m","gone","m"],"mode"`, 1))
	})
	if got := order(ordered); got != "m z a" {
		t.Errorf("the fields are in the order %q, and m is wanted first", got)
	}
}

func TestFormPaste(t *testing.T) {
	m := New(everyField, Options{})
	m, _ = m.Update(tea.PasteMsg{Content: "in\x1b[31mbox\n"})
	m, _ = press(t, m, "<tab>")
	m, _ = m.Update(tea.PasteMsg{Content: "7"})
	_, msg := press(t, m, "<ctrl+s>")
	answer, _ := msg.(AnsweredMsg)
	if got := string(answer.Answer.Content); got != `{"count":7,"folder":"inbox ","pinned":false,"size":"M","tags":["b"]}` {
		t.Errorf("got %s", got)
	}
}

func TestDialog(t *testing.T) {
	dialog := func(request string) *api.Question {
		return &api.Question{ID: "q1", Kind: api.QuestionDialog, State: api.QuestionOpen, Request: json.RawMessage(request)}
	}
	branch := dialog(`{"type":"control_request","request":{"subtype":"request_user_dialog","dialog_kind":"pick_branch","payload":{"branches":["main","next"],"title":"Which?"}}}`)
	choose := func(result string) *api.Answer {
		return &api.Answer{Decision: "choose", Result: json.RawMessage(result)}
	}
	run(t, []row{
		{name: "write the result", q: branch, keys: `w{"branch":"main"}<enter>`, want: choose(`{"branch":"main"}`)},
		{name: "take one", q: branch, keys: "2<enter>", want: choose(`"next"`)},
		{name: "take one, and make more of it", q: branch, keys: `1<ctrl+u>{"branch":"main"}<enter>`, want: choose(`{"branch":"main"}`)},
		{name: "no JSON", q: branch, keys: "wmain<enter>", words: "this isn't valid JSON"},
		{name: "nothing", q: branch, keys: "<enter><enter>", words: "write something first"},
		{name: "cancel", q: branch, keys: "c", want: &api.Answer{Decision: "cancel"}},
		{name: "what it shows", q: branch, words: "title: Which?"},
		{name: "a dialog that cannot be read", q: dialog(`1`), keys: "c", want: &api.Answer{Decision: "cancel"}},
		{name: "a question of tomorrow", q: &api.Question{ID: "q1", Kind: "riddle", Request: json.RawMessage(`{"what":"walks?"}`)}, keys: "y<enter>1n", words: "can't be answered here"},
	})
}
