package claudetest

import (
	"context"
	"encoding/json"
	"strings"
)

// fillForm lets the controller fill in the form that a tool asks for, an elicitation of its MCP server. It returns what becomes of the tool.
func (e *engine) fillForm(ctx context.Context, call ToolCall, outcome ToolOutcome, background bool) (ToolOutcome, error) {
	if !e.quirks.Elicits {
		return ToolOutcome{Text: "MCP error -32601: Method not found", Failed: true}, nil
	}
	if !e.quirks.StateLateQuestion {
		e.tellState("requires_action")
	}
	request := e.formRequest(call, outcome.Form)
	e.hookForm(ctx, request)
	var answer answerBody
	question, err := e.open(&ask{agent: background, quiet: !e.quirks.FormsWithdrawn}, request)
	if err == nil {
		answer, err = e.await(ctx, question, 0)
	}
	if err != nil && ctx.Err() != nil {
		return outcome, err
	}
	if !e.quirks.StateLateQuestion {
		e.tellState("running")
	}
	var body struct {
		Action  string          `json:"action"`
		Content json.RawMessage `json:"content"`
	}
	if err != nil || answer.subtype != "success" || json.Unmarshal(answer.body, &body) != nil || body.Action == "" {
		body.Action = "cancel"
	}
	e.hookFormDone(ctx, request, body.Action, body.Content)
	switch {
	case body.Action != "accept":
		return ToolOutcome{Text: "The form was not filled in: " + body.Action, Failed: true}, nil
	case outcome.Text == "":
		outcome.Text = "answer " + string(answer.body)
	}
	return outcome, nil
}

// formRequest is the question for a form.
func (e *engine) formRequest(call ToolCall, form json.RawMessage) members {
	var given struct {
		Server string          `json:"mcp_server_name"`
		Text   string          `json:"message"`
		Mode   string          `json:"mode"`
		URL    string          `json:"url"`
		ID     string          `json:"elicitation_id"`
		Schema json.RawMessage `json:"requested_schema"`
	}
	_ = json.Unmarshal(form, &given) // what does not fit is left out
	if given.Server == "" {
		parts := strings.SplitN(call.Name, "__", 3)
		given.Server = parts[len(parts)/2]
	}
	if given.Mode == "" {
		given.Mode = "form"
	}
	request := members{"subtype", "elicitation", "mcp_server_name", given.Server, "message", given.Text, "mode", given.Mode}.
		when(given.URL != "", "url", given.URL).when(given.ID != "", "elicitation_id", given.ID).
		when(has(given.Schema), "requested_schema", given.Schema)
	var schema struct {
		Properties json.RawMessage `json:"properties"`
	}
	if e.quirks.MCPDetails && json.Unmarshal(given.Schema, &schema) == nil && has(schema.Properties) {
		request = request.with("property_order", orEmpty(memberNames(schema.Properties)))
	}
	return request
}
