package conformance

import "strings"

// An effect is what a line does to a CLI that has been initialized and is idle.
type effect string

const (
	dies     effect = "dies"                // exit code 1, no result
	diesLate effect = "dies after a result" // a result that reports an error, then exit code 1
	ignored  effect = "is ignored"          // nothing comes
	turn     effect = "runs a turn"         // a result comes that reports success
	answered effect = "is answered"         // a control_response of success comes
	failed   effect = "is answered: error"  // a control_response of error comes
	coded    effect = "is answered: an error with the code unsupported_request"
	silent   effect = "is never answered" // a control request without any answer
)

// harmful reports whether a line with this effect must never reach the CLI.
func (e effect) harmful() bool { return e == dies || e == diesLate || e == silent }

// A badRow is one row of the table of bad input: a line and what it does to each pinned version.
type badRow struct {
	name string
	line string

	// on is the effect on the oldest, the last dialling and the newest version.
	on [3]effect

	// since is the first version that wire.Fit lets the line pass for: "" is every version, never is none. For never wire.Validate refuses
	// the line too, whatever the version.
	since string

	// answer is how the answer names the request, as JSON, where the effect is an answer; "" if it does not.
	answer string

	facts  string   // further facts that the row proves
	quirks []string // what the row guards, see Scenario
}

// never is the since of a line that no version may get.
const never = "never"

// all is the same effect on every version.
func all(e effect) [3]effect { return [3]effect{e, e, e} }

// prompt is a user line with this content.
func prompt(content string) string {
	return `{"type":"user","message":{"role":"user","content":` + content + `},"parent_tool_use_id":null,"session_id":""}`
}

// badRows returns the table. It holds every row of the measured facts about bad input, and the variants that were found while confirming them.
func badRows() []badRow {
	deep := strings.Repeat("[", 2000) + strings.Repeat("]", 2000)
	return []badRow{
		// What is no JSON object.
		{name: "not JSON", line: `hello`, on: all(dies), since: never},
		{name: "half JSON", line: `{"type":"keep_alive"`, on: all(dies), since: never},
		{name: "two objects on a line", line: `{"type":"keep_alive"}{"type":"keep_alive"}`, on: all(dies), since: never},
		{name: "raw NUL byte in JSON", line: "{\"type\":\"keep_alive\",\"x\":\"a\x00b\"}", on: all(dies), since: never},
		{name: "null", line: `null`, on: all(dies), since: never},
		{name: "empty line", line: ``, on: [3]effect{dies, ignored, ignored}, since: never},
		{name: "spaces only", line: `   `, on: [3]effect{dies, dies, ignored}, since: never, quirks: []string{"StrictBlank"}},
		{name: "array", line: `[1]`, on: [3]effect{dies, ignored, ignored}, since: never},
		{name: "number", line: `5`, on: [3]effect{dies, ignored, ignored}, since: never},
		{name: "string", line: `"abc"`, on: [3]effect{dies, ignored, ignored}, since: never},
		{name: "true", line: `true`, on: [3]effect{dies, ignored, ignored}, since: never},
		{name: "BOM at line start", line: "\ufeff" + `{"type":"keep_alive"}`, on: [3]effect{dies, dies, ignored}, since: never},

		// Types that a CLI does not read.
		{name: "empty object", line: `{}`, on: [3]effect{dies, ignored, ignored}, since: never, quirks: []string{"StrictLines"}},
		{name: "unknown type", line: `{"type":"invented"}`, on: [3]effect{dies, ignored, ignored}, since: never},
		{name: "type is a number", line: `{"type":5}`, on: [3]effect{dies, ignored, ignored}, since: never},
		{name: "assistant", line: `{"type":"assistant","message":{"role":"assistant","content":[]}}`, on: [3]effect{dies, ignored, ignored}, since: never},
		{name: "system", line: `{"type":"system","subtype":"status"}`, on: [3]effect{dies, ignored, ignored}, since: never},
		{name: "result", line: `{"type":"result","subtype":"success"}`, on: [3]effect{dies, ignored, ignored}, since: never},

		// User messages.
		{name: "user without message", line: `{"type":"user"}`, on: all(dies), since: never},
		{name: "user with message null", line: `{"type":"user","message":null}`, on: all(dies), since: never},
		{name: "user without role", line: `{"type":"user","message":{"content":"hi"}}`, on: all(dies), since: never},
		{name: "role not user", line: `{"type":"user","message":{"role":"assistant","content":"hi"}}`, on: all(dies), since: never},
		{name: "content number", line: prompt(`5`), on: [3]effect{diesLate, diesLate, ignored}, since: never, quirks: []string{"StrictContent"}},
		{name: "content object", line: prompt(`{}`), on: [3]effect{diesLate, diesLate, ignored}, since: never},
		{name: "content null", line: prompt(`null`), on: [3]effect{diesLate, diesLate, turn}, since: never},
		{name: "content with a null in it", line: prompt(`[null]`), on: [3]effect{diesLate, diesLate, ignored}, since: never},
		{name: "user without content", line: `{"type":"user","message":{"role":"user"}}`, on: [3]effect{diesLate, diesLate, turn}, since: never},
		{name: "text block without text", line: prompt(`[{"type":"text"}]`), on: [3]effect{diesLate, diesLate, ignored}, since: never},
		{name: "image block without source", line: prompt(`[{"type":"image"}]`), on: [3]effect{diesLate, diesLate, turn}, since: never},
		{name: "content empty string", line: prompt(`""`), on: all(turn)},
		{name: "content empty list", line: prompt(`[]`), on: all(turn)},
		{name: "unknown block", line: prompt(`[{"type":"invented","x":1}]`), on: all(turn)},
		{name: "bad uuid", line: `{"type":"user","message":{"role":"user","content":"hi"},"uuid":"nope"}`, on: all(turn)},
		{name: "wrong session_id", line: `{"type":"user","message":{"role":"user","content":"hi"},"session_id":"11111111-1111-4111-8111-111111111111"}`, on: all(turn)},
		// 2.1.120 swallows it: no turn, no line, and the model never sees the text.
		{name: "unknown priority", line: `{"type":"user","message":{"role":"user","content":"hi"},"priority":"whenever"}`, on: [3]effect{turn, ignored, turn}, since: never, quirks: []string{"PrioritySwallows"}},
		{name: "extra fields", line: `{"type":"user","message":{"role":"user","content":"hi","x":1},"extra":{"a":1}}`, on: all(turn)},

		// Control messages.
		{name: "control_response without response", line: `{"type":"control_response"}`, on: [3]effect{dies, dies, ignored}, since: never, quirks: []string{"StrictAnswers"}},
		{name: "control_response with response null", line: `{"type":"control_response","response":null}`, on: [3]effect{dies, dies, ignored}, since: never},
		{name: "control_response {request_id, approved}", line: `{"type":"control_response","request_id":"x","approved":true}`, on: [3]effect{dies, dies, ignored}, since: never, facts: "seed 003: PermissionPromptTool", quirks: []string{"StrictAnswers"}},
		{name: "control_response with an unknown id", line: `{"type":"control_response","response":{"subtype":"success","request_id":"nobody","response":{}}}`, on: all(ignored)},
		{name: "control_request without request", line: `{"type":"control_request","request_id":"no-request"}`, on: all(dies), since: never},
		{name: "control_request with request null", line: `{"type":"control_request","request_id":"null-request","request":null}`, on: all(dies), since: never},
		{name: "control_request without id", line: `{"type":"control_request","request":{"subtype":"mcp_status"}}`, on: all(answered), since: never},
		{name: "control_request with a number for an id", line: `{"type":"control_request","request_id":77,"request":{"subtype":"mcp_status"}}`, on: all(answered), since: never, answer: `77`},
		{name: "control_request without subtype", line: `{"type":"control_request","request_id":"no-subtype","request":{}}`, on: [3]effect{silent, failed, coded}, since: never, answer: `"no-subtype"`},
		{name: "control_request with an unknown subtype", line: `{"type":"control_request","request_id":"invented","request":{"subtype":"invented"}}`, on: [3]effect{silent, failed, coded}, since: "2.1.62", answer: `"invented"`},
		{name: "control_cancel_request", line: `{"type":"control_cancel_request","request_id":"nobody"}`, on: [3]effect{dies, ignored, ignored}, since: "2.1.62", facts: "seed 000: control_cancel_request to the CLI", quirks: []string{"StrictLines"}},
		{name: "update_environment_variables without variables", line: `{"type":"update_environment_variables"}`, on: [3]effect{dies, dies, ignored}, since: never},

		// What looks bad and is not.
		{name: "CRLF", line: "{\"type\":\"keep_alive\"}\r", on: all(ignored)},
		{name: "leading spaces", line: `   {"type":"keep_alive"}`, on: all(ignored)},
		{name: "deep nesting", line: `{"type":"keep_alive","x":` + deep + `}`, on: all(ignored)},
		{name: "lone surrogate", line: prompt(`"a\ud800b"`), on: all(turn)},
		{name: "escaped NUL", line: prompt(`"a\u0000b"`), on: all(turn)},
		// The CLI reads each bad byte as U+FFFD, so it would see another text than everyone else who reads the line.
		{name: "invalid UTF-8", line: prompt("\"a\xff\xfeb\""), on: all(turn), since: never},
	}
}
