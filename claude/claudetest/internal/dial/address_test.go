package dial

import "testing"

func TestEventsURL(t *testing.T) {
	for address, want := range map[string]string{
		"ws://h:1":                          "http://h:1/events",
		"ws://h:1/":                         "http://h:1/events",
		"ws://h:1/x":                        "http://h:1/x/events",
		"ws://h:1/ws":                       "http://h:1/ws/events",
		"ws://h:1/ws/":                      "http://h:1/session/events",
		"ws://h:1/ws/x":                     "http://h:1/session/x/events",
		"ws://h:1/ws/x/":                    "http://h:1/session/x/events",
		"ws://h:1/ws/cli/ID":                "http://h:1/session/cli/ID/events",
		"ws://h:1/a/ws/b":                   "http://h:1/a/session/b/events",
		"ws://h:1/ws/a/ws/b":                "http://h:1/session/a/ws/b/events",
		"ws://h:1/v2/session_ingress/ws/ID": "http://h:1/v2/session_ingress/session/ID/events",
		"wss://h/ws/x?a=1&b=%20":            "https://h/session/x/events?a=1&b=%20",
		"ws://h/ws/a%2Fb":                   "http://h/session/a%2Fb/events",
	} {
		u, err := parse(address)
		if err != nil {
			t.Errorf("%s: %v", address, err)
			continue
		}
		if got := eventsURL(u).String(); got != want {
			t.Errorf("%s: lines are posted to %s, want %s", address, got, want)
		}
		if got := u.String(); got != address {
			t.Errorf("%s became %s", address, got)
		}
	}
}
