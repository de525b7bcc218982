package api

// Info says what a server is and can do.
type Info struct {
	Version string `json:"version"`
	// API is the version of the interface.
	API string `json:"api" example:"v1"`
	// Capabilities name what this server can do.
	Capabilities []string `json:"capabilities"`
	// Agent is what new sessions run: the path of a CLI, or "sim".
	Agent        string `json:"agent,omitempty"`
	AgentVersion string `json:"agent_version,omitempty"`
	Simulated    bool   `json:"simulated,omitempty" doc:"New sessions run a simulated agent"`
	// Pin is the fingerprint of the hub's own certificate.
	Pin string `json:"pin,omitempty" doc:"Fingerprint of the hub's own certificate, to be given to switchboard login and node join; absent if it has none" example:"sha256:Qm9v4x2eZ1u0…"`
	// Nodes is how many other machines are enrolled.
	Nodes int `json:"nodes,omitempty" doc:"Number of other machines that agents can run on"`
	// Warnings are what an operator should know: doors that stand open.
	Warnings []string `json:"warnings,omitempty"`
	// Storage is empty, or says why nothing can be written at present.
	Storage string `json:"storage,omitempty"`
}
