package api

// Closing is what a frame of the type closing says.
type Closing struct {
	Reason string `json:"reason,omitempty" doc:"Why the stream ends, in one sentence"`
}
