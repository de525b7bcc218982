//go:build linux || darwin

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/wire"
)

// A controlRow is a control request that somebody sends.
type controlRow struct {
	subtype string
	body    string // the request's inside
	// scope is the right that it needs. Where the table below names it, that is
	// what somebody has written down by hand.
	scope wire.Scope
	// own says that the hub answers it itself: the agent never reads it.
	own bool
}

// sensitive are the rights that the dangerous ones need, written down by hand: a
// slip in the protocol table is not to be believed here.
func sensitive() []controlRow {
	return []controlRow{
		{subtype: "set_permission_mode", body: `{"subtype":"set_permission_mode","mode":"bypassPermissions"}`, scope: wire.ScopeAdmin},
		{subtype: "set_permission_mode", body: `{"subtype":"set_permission_mode","mode":"dontAsk"}`, scope: wire.ScopeAdmin},
		{subtype: "set_permission_mode", body: `{"subtype":"set_permission_mode","mode":"auto"}`, scope: wire.ScopeAdmin},
		{subtype: "set_permission_mode", body: `{"subtype":"set_permission_mode","mode":"plan"}`, scope: wire.ScopeApprove},
		{subtype: "set_permission_mode", body: `{"subtype":"set_permission_mode","mode":"plan","mode":"bypassPermissions"}`, scope: wire.ScopeAdmin},
		{subtype: "set_permission_mode", body: `{"subtype":"set_permission_mode","Mode":"bypassPermissions","mode":"default"}`, scope: wire.ScopeAdmin},
		{subtype: "set_permission_mode", body: `{"subtype":"set_permission_mode","mode":"default"}`, scope: wire.ScopeApprove},
		{subtype: "apply_flag_settings", body: `{"subtype":"apply_flag_settings","settings":{"permissions":{"allow":["Bash"]}}}`, scope: wire.ScopeAdmin},
		{subtype: "update_settings", body: `{"subtype":"update_settings","source":"userSettings","settings":{"permissions":{"allow":["Bash"]}}}`, scope: wire.ScopeAdmin},
		{subtype: "get_settings", body: `{"subtype":"get_settings"}`, scope: wire.ScopeAdmin},
		{subtype: "read_file", body: `{"subtype":"read_file","path":"/etc/passwd"}`, scope: wire.ScopeAdmin},
		{subtype: "mcp_set_servers", body: `{"subtype":"mcp_set_servers","servers":{"evil":{"command":"sh","args":["-c","touch evil"]}}}`, scope: wire.ScopeAdmin},
		{subtype: "mcp_toggle", body: `{"subtype":"mcp_toggle","serverName":"x","enabled":false}`, scope: wire.ScopeAdmin},
		{subtype: "mcp_reconnect", body: `{"subtype":"mcp_reconnect","serverName":"x"}`, scope: wire.ScopeAdmin},
		{subtype: "register_repo_root", body: `{"subtype":"register_repo_root","directory":"/"}`, scope: wire.ScopeAdmin},
		{subtype: "set_cwd", body: `{"subtype":"set_cwd","cwd":"/"}`, scope: wire.ScopeAdmin},
		{subtype: "launch_missiles", body: `{"subtype":"launch_missiles"}`, scope: wire.ScopeAdmin},
		{subtype: "interrupt", body: `{"subtype":"interrupt"}`, scope: wire.ScopePrompt},
		{subtype: "interrupt", body: `{"subtype":"interrupt","and":"more"}`, scope: wire.ScopeAdmin},
		{subtype: "set_model", body: `{"subtype":"set_model","model":"sonnet"}`, scope: wire.ScopePrompt},
		{subtype: "mcp_status", body: `{"subtype":"mcp_status"}`, scope: wire.ScopeObserve},
		{subtype: "get_context_usage", body: `{"subtype":"get_context_usage"}`, scope: wire.ScopeObserve},
	}
}

// schemaRows returns a row for each request that a client can make, from the
// protocol table, with made-up values for the members that it needs.
func schemaRows(t *testing.T) []controlRow {
	t.Helper()
	text, err := os.ReadFile("../../wire/schema/50-requests.wire")
	if err != nil {
		t.Fatal(err)
	}
	var rows []controlRow
	var members []string // of the request that is being read
	subtype := ""
	finish := func() {
		if subtype != "" {
			body := `{"subtype":"` + subtype + `"` + strings.Join(members, "") + `}`
			rows = append(rows, controlRow{subtype: subtype, body: body})
		}
		subtype, members = "", nil
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		switch {
		case len(fields) == 0 || line[0] == '#':
		case strings.HasPrefix(line, "        "): // more about the line before
		case strings.HasPrefix(line, "    "):
			if subtype != "" && !strings.HasSuffix(fields[0], "?") {
				members = append(members, `,"`+fields[0]+`":`+madeUp(subtype, fields[0], fields[1]))
			}
		default:
			finish()
			if fields[0] == "request" && !slices.Contains(fields, "dir=in") {
				subtype = fields[2]
			}
		}
	}
	finish()
	if len(rows) < 35 {
		t.Fatalf("the protocol table has %d requests; has it another form?", len(rows))
	}
	for i := range rows {
		r := &rows[i]
		r.own = r.subtype == "initialize"
		r.scope = wire.ScopeOf([]byte(`{"type":"control_request","request_id":"x","request":`+r.body+`}`), nil)
		if r.scope == wire.ScopeNone {
			t.Errorf("the row of %s is not valid: %s", r.subtype, r.body)
		}
	}
	return rows
}

// madeUp returns a value for a member.
func madeUp(subtype, name, kind string) string {
	switch {
	case name == "mode":
		return `"plan"`
	case subtype == "mcp_message" && name == "message":
		return `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	case name == "source":
		return `"userSettings"`
	}
	switch kind[0] {
	case '[':
		return `[]`
	case '{':
		return `{}`
	}
	switch kind, _, _ = strings.Cut(strings.TrimSuffix(kind, "*"), "|"); kind {
	case "int", "num":
		return "1"
	case "bool":
		return "true"
	case "raw":
		return `{}`
	}
	return `"x"`
}

// rightsTried are what tokens of the table may do.
func rightsTried() map[string][]wire.Scope {
	return map[string][]wire.Scope{
		"observe":                   {wire.ScopeObserve},
		"observe, prompt":           {wire.ScopeObserve, wire.ScopePrompt},
		"observe, approve":          {wire.ScopeObserve, wire.ScopeApprove},
		"observe, prompt, approve":  {wire.ScopeObserve, wire.ScopePrompt, wire.ScopeApprove},
		"admin and all of the rest": {wire.ScopeObserve, wire.ScopePrompt, wire.ScopeApprove, wire.ScopeAdmin},
	}
}

// TestAttackControl sends each control request with each right, over the relay and
// over /v1: it reaches the agent if, and only if, the right is there.
func TestAttackControl(t *testing.T) {
	t.Parallel()
	rows := slices.Concat(schemaRows(t), sensitive())
	for name, scopes := range rightsTried() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAssault(t, nil)
			token := a.mint(name, scopes...)
			f := a.relay(token.Text)
			for n, row := range rows {
				if row.subtype == "end_session" && slices.Contains(scopes, wire.ScopeAdmin) {
					continue // which ends the agent, as it should
				}
				a.controlByRelay(f, fmt.Sprintf("r%d", n), row, slices.Contains(scopes, row.scope))
			}
			if slices.Contains(scopes, wire.ScopeAdmin) {
				return // what it has done to the agent is its own affair
			}
			for _, row := range rows {
				// All of this needs admin here.
				status, answer := a.ask(http.MethodPost, "/v1/sessions/"+a.s.id+"/control", token.Text, api.Control{Request: json.RawMessage(row.body)})
				a.refuses(row.body, status, answer, http.StatusForbidden)
			}
			var may []string
			for _, row := range rows {
				if slices.Contains(scopes, row.scope) && !row.own {
					may = append(may, `"`+row.subtype+`"`)
				}
			}
			a.survived(may...)
		})
	}
}

// controlByRelay sends a control request over the relay and holds that it has
// reached the agent, or not, and that its sender is told so.
func (a *assault) controlByRelay(f *front, id string, row controlRow, allowed bool) {
	a.t.Helper()
	before := len(a.readLines())
	f.say(`{"type":"control_request","request_id":"` + id + `","request":` + row.body + "}\n")
	line, err := f.hear(func(line []byte) bool { return isAnswer(line, id) })
	if err != nil {
		a.t.Fatalf("%s: no answer: %v", row.body, err)
	}
	failed := strings.Contains(string(line), `"subtype":"error"`)
	reached := false
	for _, read := range a.readLines()[before:] {
		h, err := wire.Peek(read)
		reached = reached || err == nil && string(h.Type) == "control_request" && string(h.RequestSubtype) == row.subtype
		if strings.Contains(string(read), `"`+id+`"`) {
			a.t.Errorf("%s: the agent has read the sender's own id: %s", row.body, brief(read))
		}
	}
	switch {
	case row.own && reached:
		a.t.Errorf("%s: the agent has read what the hub was to answer", row.body)
	case row.own:
	case !allowed && (!failed || reached):
		a.t.Errorf("%s: answered with %s, and the agent has read it: %t; want it refused", row.body, brief(line), reached)
	case allowed && !reached && !failed:
		a.t.Errorf("%s: answered with %s, and the agent has not read it", row.body, brief(line))
	case !allowed && !strings.Contains(string(line), "right") && !strings.Contains(string(line), "admin") && !strings.Contains(string(line), row.scope.String()):
		a.t.Errorf("%s: the refusal does not say what is missing: %s", row.body, brief(line))
	}
}

// TestAttackRights tries what is not a control request with rights that do not
// suffice, at each door.
func TestAttackRights(t *testing.T) {
	t.Parallel()
	a := newAssault(t, nil)
	of := "/v1/sessions/" + a.s.id
	mode := func(m wire.PermissionMode) api.UpdateSession { return api.UpdateSession{PermissionMode: &m} }
	rows := []struct {
		door
		needs wire.Scope
	}{
		{door{name: "create", method: "POST", path: "/v1/sessions", body: api.CreateSession{Dir: a.s.dir}}, wire.ScopeAdmin},
		{door{name: "prompt", method: "POST", path: of + "/messages", body: api.SendMessage{Text: "@say Evil."}}, wire.ScopePrompt},
		{door{name: "interrupt", method: "POST", path: of + "/interrupt", body: api.Interrupt{}}, wire.ScopePrompt},
		{door{name: "title", method: "PATCH", path: of, body: map[string]string{"title": "Evil"}}, wire.ScopePrompt},
		{door{name: "plan mode", method: "PATCH", path: of, body: mode(wire.PermissionModePlan)}, wire.ScopeApprove},
		{door{name: "bypass", method: "PATCH", path: of, body: mode(wire.PermissionModeBypassPermissions)}, wire.ScopeAdmin},
		{door{name: "stop", method: "POST", path: of + "/stop", body: api.Stop{Force: true}}, wire.ScopeAdmin},
		{door{name: "fork", method: "POST", path: of + "/fork", body: map[string]string{}}, wire.ScopeAdmin},
		{door{name: "environment", method: "POST", path: of + "/environment", body: api.Environment{Variables: map[string]string{"PATH": "/evil"}}}, wire.ScopeAdmin},
		{door{name: "MCP servers", method: "PUT", path: of + "/mcp", body: api.SetMCPServers{Servers: []byte(`{"evil":{"command":"sh"}}`)}}, wire.ScopeAdmin},
		{door{name: "rewind", method: "POST", path: of + "/rewind", body: api.Rewind{UserMessageID: "00000000-0000-4000-8000-000000000000"}}, wire.ScopeAdmin},
		{door{name: "rules file", method: "GET", path: "/v1/policy/file"}, wire.ScopeAdmin},
		{door{name: "write the rules", method: "PUT", path: "/v1/policy/file", body: map[string]string{"text": "allow = [\"*\"]", "sum": "x"}}, wire.ScopeAdmin},
		{door{name: "confirm the rules", method: "POST", path: "/v1/policy/confirm", body: api.ConfirmPolicy{Sum: "x"}}, wire.ScopeAdmin},
		{door{name: "trust", method: "POST", path: of + "/rules", body: api.AddRule{Rule: "*", Decision: api.RuleAllow}}, wire.ScopeApprove},
		{door{name: "preferences", method: "PUT", path: "/v1/preferences", body: api.SavePreferences{Preferences: api.Preferences{Allow: []string{"Bash"}}}}, wire.ScopeAdmin},
		{door{name: "forget preferences", method: "DELETE", path: "/v1/preferences"}, wire.ScopeAdmin},
		{door{name: "folders", method: "GET", path: "/v1/folders?prefix=/"}, wire.ScopeAdmin},
		{door{name: "Direct Connect", method: "POST", path: "/sessions", body: map[string]string{"cwd": a.s.dir}}, wire.ScopeAdmin},
		{door{name: "end a Direct Connect", method: "DELETE", path: "/sessions/" + a.s.id}, wire.ScopeAdmin},
		{door{name: "tokens", method: "GET", path: "/v1/tokens"}, wire.ScopeAdmin},
	}
	for name, scopes := range rightsTried() {
		token := a.mint(name, scopes...)
		for _, row := range rows {
			if slices.Contains(scopes, row.needs) || slices.Contains(scopes, wire.ScopeAdmin) {
				continue
			}
			a.tryDoor(row.door, name, header(token.Text), http.StatusForbidden)
		}
	}
	// Who may do everything but look is shown nothing.
	blind := a.mint("blind", wire.ScopePrompt, wire.ScopeApprove)
	for _, d := range a.doors() {
		if d.method == "GET" && d.path != "/v1/tokens" || d.upgrades && !d.late {
			a.tryDoor(d, "blind", header(blind.Text), http.StatusForbidden)
		}
	}
	a.survived()
}
