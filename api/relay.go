package api

import "time"

// A RelayState is what the hub does with a relay of another program.
type RelayState string

// The states of a relay.
const (
	// RelayConnecting means that the hub is connecting.
	RelayConnecting RelayState = "connecting"
	// RelayConnected means that the hub receives what the relay shows.
	RelayConnected RelayState = "connected"
	// RelayWaiting means that the relay could not be reached, and that the hub tries
	// again after a pause.
	RelayWaiting RelayState = "waiting"
	// RelayLooking is the state of the entry that looks for relays.
	RelayLooking RelayState = "looking"
)

// A Relay is a relay of another program, whose agents the hub shows as sessions.
type Relay struct {
	ID  string `json:"id" example:"r4k9x2"`
	URL string `json:"url,omitempty" doc:"Its address; absent for the entry that looks for relays" example:"ws://127.0.0.1:8766/ws"`
	// Discover says that this entry looks for relays, Discovered that one was found so.
	Discover   bool       `json:"discover,omitempty" doc:"This entry looks for relays on the ports 8765 to 8774 of the hub's machine"`
	Discovered bool       `json:"discovered,omitempty" doc:"It was found by looking, and is listed while it is there"`
	Rules      bool       `json:"rules,omitempty" doc:"Whether rules answer what its agents ask; otherwise people do"`
	Insecure   bool       `json:"insecure,omitempty" doc:"Whether it may be another machine's without TLS"`
	State      RelayState `json:"state" enum:"connecting,connected,waiting,looking"`
	Since      time.Time  `json:"since,omitzero" doc:"When the state began"`
	Error      string     `json:"error,omitempty" doc:"Why it could not be reached, or why something of it is not shown"`
	// Sessions are the hub's sessions whose agents it shows at present.
	Sessions []string  `json:"sessions" doc:"The sessions that it shows now"`
	Dropped  int64     `json:"dropped,omitempty" doc:"Number of lines that were not taken in: of conversations that this hub runs itself, beyond the limits, or of no session"`
	Created  time.Time `json:"created"`
}

// RelayList is all relays.
type RelayList struct {
	Relays []Relay `json:"relays"`
}

// AttachRelay asks the hub to show the agents of a relay.
type AttachRelay struct {
	// URL is where the relay's front ends connect. It is absent with Discover.
	URL      string `json:"url,omitempty" maxLength:"2048" doc:"The address for front ends: ws:// on the hub's machine, or wss://" example:"ws://127.0.0.1:8766/ws"`
	Discover bool   `json:"discover,omitempty" doc:"Look for relays on the ports 8765 to 8774 of the hub's machine instead, from time to time"`
	Rules    bool   `json:"rules,omitempty" doc:"Let rules answer what its agents ask"`
	Insecure bool   `json:"insecure,omitempty" doc:"Allow ws:// to another machine: everyone between can read and change everything"`
}
