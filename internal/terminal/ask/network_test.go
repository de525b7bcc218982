package ask

import (
	"encoding/json"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
)

// TestConnection holds how a question of the sandbox is answered: once, for the session, or by a rule, which the hub keeps. The CLI knows nothing of
// it, so that nothing can be edited, kept in the CLI's settings or stopped.
func TestConnection(t *testing.T) {
	connection := with(asking(api.QuestionPermission, "SandboxNetworkAccess", `{"host":"example.com","port":443,"command":"curl https://example.com"}`), func(q *api.Question) {
		q.Suggestions = []api.Suggestion{{Text: "allow Network(host:example.com)", Destination: "session", Update: json.RawMessage(`{"type":"addRules"}`)}}
	})
	odd := asking(api.QuestionPermission, "SandboxNetworkAccess", `{"host":"*","port":443}`)
	always := func(rule string) *api.Answer {
		return &api.Answer{Decision: "allow", Always: &api.Always{Rule: rule, Destination: "switchboard"}}
	}
	run(t, []row{
		{name: "what is asked", q: connection, words: "? Connect to example.com:443?"},
		{name: "the program is shown", q: connection, words: "$ curl https://example.com"},
		{name: "the host is shown whole", q: connection, words: "host: example.com"},
		{name: "allow", q: connection, keys: "y", want: &api.Answer{Decision: "allow"}},
		{name: "deny", q: connection, keys: "nNo.<enter>", want: &api.Answer{Decision: "deny", Message: "No."}},
		{name: "always", q: connection, keys: "a1", want: &api.Answer{Decision: "allow", Always: &api.Always{Suggestion: new(0), Destination: "session"}}},
		{name: "always, and back", q: connection, keys: "a<esc>y", want: &api.Answer{Decision: "allow"}},
		{name: "a rule", q: connection, keys: "a2<ctrl+u>Network(host:*.example.com)<enter>", want: always("Network(host:*.example.com)")},
		{name: "a rule as it is offered", q: connection, keys: "a2<enter>", want: always("Network(host:example.com)")},
		{name: "no edit", q: connection, keys: "e", words: "allow the connection or deny it"},
		{name: "no stop", q: connection, keys: "s", words: "allow the connection or deny it"},
		{name: "a host that no rule can name", q: odd, keys: "a", words: "Always allow in this session, by a rule"},
	})
}
