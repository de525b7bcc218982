package claude

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"
)

// The words by which lines of a transcript are told apart that have no mark.
const (
	interruptNote = "[Request interrupted by user"
	noAnswerNote  = "No response requested."
	syntheticName = "<synthetic>"
)

// A keptLine is a line of a transcript, taken apart.
type keptLine struct {
	jsonObject
	kind    string     // its type
	message jsonObject // nil if there is none
	blocks  []jsonObject
}

// readKept takes a line apart. It returns false if the line is not JSON, or not
// an object.
func readKept(line []byte) (*keptLine, bool) {
	if !json.Valid(line) {
		return nil, false
	}
	m, ok := objectOf(line)
	if !ok {
		return nil, false
	}
	k := &keptLine{jsonObject: m, kind: textOf(m["type"])}
	k.message, _ = objectOf(m["message"])
	k.blocks = objectsOf(k.message["content"])
	return k, true
}

func (k *keptLine) text(name string) string { return textOf(k.jsonObject[name]) }
func (k *keptLine) is(name string) bool     { return isTrue(k.jsonObject[name]) }

// isShown reports whether a line of the tree is one that a controller sees.
func (k *keptLine) isShown() bool {
	says := len(k.blocks) > 0 || isText(k.message["content"])
	switch k.kind {
	case "user":
		return says && !k.is("isMeta")
	case "assistant":
		return says && !k.isNoAnswer()
	case "system":
		switch k.text("subtype") {
		case "compact_boundary":
			return true
		case "local_command":
			return isText(k.jsonObject["content"])
		}
	case "attachment":
		_, _, ok := k.queuedPrompt()
		return ok
	}
	return false
}

// isNoAnswer reports whether a line is the answer that a CLI puts behind a
// prompt which never had one, to please the API.
func (k *keptLine) isNoAnswer() bool {
	return textOf(k.message["model"]) == syntheticName && !k.is("isApiErrorMessage") && firstText(k.message["content"], k.blocks) == noAnswerNote
}

// queuedPrompt returns the prompt of a line that stands for one which came while
// a turn was going on.
func (k *keptLine) queuedPrompt() (prompt json.RawMessage, uuid string, ok bool) {
	body, ok := objectOf(k.jsonObject["attachment"])
	if !ok || textOf(body["type"]) != "queued_command" {
		return nil, "", false
	}
	if mode := textOf(body["commandMode"]); mode != "" && mode != "prompt" {
		return nil, "", false // news of a background task, and the like
	}
	if uuid = textOf(body["source_uuid"]); uuid == "" {
		uuid = k.text("uuid")
	}
	prompt = body["prompt"]
	return prompt, uuid, isText(prompt) || len(objectsOf(prompt)) > 0
}

// firstText returns the text that a message begins with.
func firstText(content json.RawMessage, blocks []jsonObject) string {
	if len(blocks) > 0 && textOf(blocks[0]["type"]) == "text" {
		return textOf(blocks[0]["text"])
	}
	return textOf(content)
}

// sentLine turns a line of a transcript into what a CLI sends. It returns false
// if that is nothing. toolUse is the call that started the sub-agent whose line
// it is, empty if it is none or that is not known.
func sentLine(line []byte, conversation, toolUse string) (TranscriptLine, bool) {
	k, ok := readKept(line)
	if !ok || !k.isShown() && k.kind != "system" {
		return TranscriptLine{}, false
	}
	out := TranscriptLine{UUID: k.text("uuid")}
	if at, err := time.Parse(time.RFC3339, k.text("timestamp")); err == nil {
		out.Time = at
	}
	w := lineWriter{toolUse: toolUse}
	w.b.Grow(len(line))
	withTime := true
	switch k.kind {
	case "user":
		w.user(k, k.jsonObject["message"], firstText(k.message["content"], k.blocks))
	case "assistant":
		w.text("type", "assistant")
		w.raw("message", k.jsonObject["message"])
		w.parent()
		w.optional("error", k.jsonObject["error"])
		w.optional("request_id", k.jsonObject["requestId"])
		if k.is("isAbortedMidStream") {
			w.word("aborted", "true")
		}
	case "attachment":
		var prompt json.RawMessage
		prompt, out.UUID, _ = k.queuedPrompt()
		w.user(k, userMessage(prompt), "")
	case "system":
		switch subtype := k.text("subtype"); {
		case subtype == "local_command" && k.isShown():
			// Newer CLIs send it in the model's name, older ones so.
			w.user(k, userMessage(k.jsonObject["content"]), "")
		case subtype == "compact_boundary":
			w.text("type", "system")
			w.text("subtype", subtype)
			w.raw("compact_metadata", snakeCase(k.jsonObject["compactMetadata"]))
			withTime = false
		default:
			w.notice(k)
		}
	}
	w.text("session_id", conversation)
	w.text("uuid", out.UUID)
	if withTime {
		w.optional("timestamp", k.jsonObject["timestamp"])
	}
	out.Bytes = w.line()
	return out, true
}

// userMessage returns a message of the user's.
func userMessage(content json.RawMessage) json.RawMessage {
	var w lineWriter
	w.text("role", "user")
	w.raw("content", content)
	return w.line()
}

// A lineWriter writes a JSON object member by member.
type lineWriter struct {
	b       bytes.Buffer
	toolUse string // see sentLine
}

// parent writes whose line it is.
func (w *lineWriter) parent() {
	if w.toolUse == "" {
		w.word("parent_tool_use_id", "null")
		return
	}
	w.text("parent_tool_use_id", w.toolUse)
}

// notice writes a notice of the CLI's: what it says, without what the transcript
// says about the line.
func (w *lineWriter) notice(k *keptLine) {
	w.text("type", "system")
	w.text("subtype", k.text("subtype"))
	for _, name := range slices.Sorted(maps.Keys(k.jsonObject)) {
		switch name {
		case "type", "subtype", "uuid", "parentUuid", "logicalParentUuid", "sessionId", "session_id", "timestamp", "isSidechain", "isMeta",
			"userType", "cwd", "version", "gitBranch", "entrypoint", "slug", "forkedFrom":
		default:
			w.member(name, k.jsonObject[name])
		}
	}
}

// member writes a member of any name.
func (w *lineWriter) member(name string, value json.RawMessage) {
	quoted, err := json.Marshal(name)
	if err != nil {
		return // a string always has a form
	}
	w.raw(string(quoted[1:len(quoted)-1]), value)
}

// word writes null, true or false.
func (w *lineWriter) word(name, word string) { w.raw(name, json.RawMessage(word)) }

func (w *lineWriter) raw(name string, value json.RawMessage) {
	if w.b.Len() == 0 {
		w.b.WriteByte('{')
	} else {
		w.b.WriteByte(',')
	}
	w.b.WriteString(`"` + name + `":`)
	w.b.Write(value)
}

func (w *lineWriter) text(name, value string) {
	quoted, err := json.Marshal(value)
	if err != nil {
		quoted = []byte(`""`) // a string always has a form
	}
	w.raw(name, quoted)
}

// optional writes a string if there is one.
func (w *lineWriter) optional(name string, value json.RawMessage) {
	if isText(value) {
		w.raw(name, value)
	}
}

// user writes what all lines in the user's name have in common. first is what
// the message begins with.
func (w *lineWriter) user(k *keptLine, message json.RawMessage, first string) {
	w.text("type", "user")
	w.raw("message", message)
	w.parent()
	switch {
	case k.is("isCompactSummary"):
		w.word("isSynthetic", "true")
	case slices.ContainsFunc(k.blocks, func(block jsonObject) bool { return textOf(block["type"]) == "tool_result" }):
		if result := k.jsonObject["toolUseResult"]; len(result) > 0 {
			w.raw("tool_use_result", result)
		}
	case strings.HasPrefix(first, interruptNote):
	default:
		w.word("isReplay", "true")
	}
}

func (w *lineWriter) line() []byte {
	w.b.WriteByte('}')
	return w.b.Bytes()
}
