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
	// Warnings are what an operator should know: doors that stand open.
	Warnings []string `json:"warnings,omitempty"`
	// Storage is empty, or says why nothing can be written at present.
	Storage string `json:"storage,omitempty"`
}
