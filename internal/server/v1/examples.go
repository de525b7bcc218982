package v1

import (
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"
)

// exampleOf returns a body that an operation takes, for the document. It is nil
// where the description says all there is to say.
func exampleOf(operation string) *huma.RequestBody {
	text := ""
	switch operation {
	case "create-session":
		text = `{"client_id":"job-17","dir":"/home/ann/blog","prompt":"What is in this folder?","options":{"model":"opus","permission_mode":"plan"}}`
	case "update-session":
		text = `{"title":"Blog","model":"sonnet"}`
	case "resume-session":
		text = `{"client_id":"r-1","prompt":"Continue."}`
	case "fork-session":
		text = `{"client_id":"f-1","title":"Another way"}`
	case "send-message":
		text = `{"client_id":"m-1","text":"Now fix the typos.","mode":"queue"}`
	case "edit-message":
		text = `{"text":"Now fix all typos."}`
	case "answer-question":
		text = `{"client_id":"a-1","decision":"deny","message":"Use the staging database."}`
	case "add-rule":
		text = `{"client_id":"u-1","rule":"Bash(rm:*)","decision":"deny","message":"Move files to the bin instead."}`
	case "control-session":
		text = `{"request":{"subtype":"list_models"}}`
	case "rewind-session":
		text = `{"user_message_id":"0b1c2d3e-4f50-4617-8293-a4b5c6d7e8f9","dry_run":true}`
	case "set-environment":
		text = `{"variables":{"LANG":"C"}}`
	case "set-mcp":
		text = `{"servers":{"notes":{"command":"notes-mcp"}}}`
	case "toggle-mcp-server":
		text = `{"enabled":false}`
	case "message-mcp-server":
		text = `{"message":{"jsonrpc":"2.0","id":1,"method":"ping"}}`
	case "explain-call":
		text = `{"tool":"Bash","input":{"command":"git push"},"dir":"/home/ann/blog"}`
	case "adopt-transcript":
		text = `{"client_id":"t-1","prompt":"Where were we?"}`
	case "save-preferences":
		text = `{"dir":"/home/ann/blog","permission_mode":"acceptEdits","model":"opus","allow":["Bash(go test:*)"]}`
	case "create-token":
		text = `{"name":"phone","scopes":["observe","approve"],"ttl":2592000}`
	case "attach-relay":
		text = `{"url":"ws://127.0.0.1:8766/ws"}`
	case "invite-node":
		text = `{"name":"gpu-1","labels":{"gpu":"h100"}}`
	case "create-code":
		text = `{"name":"laptop","scopes":["observe","prompt"]}`
	default:
		return nil
	}
	return &huma.RequestBody{Content: map[string]*huma.MediaType{"application/json": {Example: json.RawMessage(text)}}}
}
