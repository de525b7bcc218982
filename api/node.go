package api

import "time"

// A NodeState says whether sessions can be started on a node.
type NodeState string

// The states of a node.
const (
	// NodeOnline means that the node is connected and takes new sessions.
	NodeOnline NodeState = "online"
	// NodeOffline means that the node is not connected. Its agents may be at work.
	NodeOffline NodeState = "offline"
	// NodeDraining means that the node is connected and takes no new sessions.
	NodeDraining NodeState = "draining"
	// NodeRevoked means that the node may not connect any more.
	NodeRevoked NodeState = "revoked"
)

// AnyNode is the name that asks for the least loaded node.
const AnyNode = "any"

// A Node is another machine on which the hub's agents run.
type Node struct {
	ID     string            `json:"id" example:"n5k2m7q3zr4t6w8xabcdy"`
	Name   string            `json:"name" doc:"Unique; never changes" example:"gpu-1"`
	Labels map[string]string `json:"labels,omitempty" doc:"What it was labeled with at its invitation"`
	State  NodeState         `json:"state" enum:"online,offline,draining,revoked"`
	// Draining is also said of a node that is not connected.
	Draining bool      `json:"draining,omitempty" doc:"It takes no new sessions"`
	Created  time.Time `json:"created"`
	LastSeen time.Time `json:"last_seen,omitzero" doc:"When it was last connected; absent if it never was"`
	// Version, OS, Arch and Hostname are what the node says about itself.
	Version  string `json:"version,omitempty" doc:"Of its switchboard"`
	OS       string `json:"os,omitempty" example:"linux"`
	Arch     string `json:"arch,omitempty" example:"amd64"`
	Hostname string `json:"hostname,omitempty"`
	Address  string `json:"address,omitempty" doc:"The address that it is connected from, while it is" example:"192.0.2.7"`
	// CLIs are those that it has found; its sessions run the first.
	CLIs    []NodeCLI `json:"clis" doc:"The CLIs that it has found; sessions run the first"`
	Sandbox string    `json:"sandbox,omitempty" doc:"What enforces sandboxes there; absent if nothing does" example:"bubblewrap"`
	CPUs    int       `json:"cpus,omitempty"`
	Load    float64   `json:"load,omitempty" doc:"Load of the last minute, divided by the number of CPUs"`
	// MemoryBytes is how much the machine has, MemoryFree how much is available.
	MemoryBytes int64 `json:"memory_bytes,omitempty"`
	MemoryFree  int64 `json:"memory_free,omitempty"`
	Sessions    int   `json:"sessions" doc:"Number of its sessions with a process"`
	MaxSessions int   `json:"max_sessions,omitempty" doc:"Number of sessions with a process it may have; absent for no limit"`
	SkewMillis  int64 `json:"skew_millis,omitempty" doc:"Its clock minus the hub's, in milliseconds"`
	// Fingerprint is that of its public key, for people to compare.
	Fingerprint string `json:"fingerprint" doc:"SHA-256 fingerprint of its public key" example:"sha256:Qm9v4x2eZ1u0…"`
}

// A NodeCLI is a CLI on a node.
type NodeCLI struct {
	Path      string `json:"path"`
	Version   string `json:"version,omitempty"`
	Simulated bool   `json:"simulated,omitempty"`
}

// NodeList is all nodes.
type NodeList struct {
	Nodes []Node `json:"nodes"`
}

// InviteNode asks for an invitation, with which a machine becomes a node.
type InviteNode struct {
	// Name may be empty: then the machine chooses it when it joins.
	Name        string            `json:"name,omitempty" maxLength:"63" pattern:"^([a-z0-9][a-z0-9.-]{0,61}[a-z0-9])?$" doc:"The node's name: 2 to 63 of a-z, 0-9, dots and dashes; the machine's choice if absent" example:"gpu-1"`
	Labels      map[string]string `json:"labels,omitempty" maxProperties:"16" doc:"By which sessions choose a node"`
	MaxSessions int               `json:"max_sessions,omitempty" minimum:"0" maximum:"10000" doc:"Number of sessions with a process it may have; no limit if absent"`
	// TTL is for how many seconds the invitation is good.
	TTL int `json:"ttl,omitempty" minimum:"0" maximum:"86400" doc:"For how many seconds the invitation is valid; default: 900"`
}

// A NodeInvitation is what a machine needs to become a node.
type NodeInvitation struct {
	Code    string    `json:"code" doc:"Works once; shown once"`
	URL     string    `json:"url" doc:"The hub's address"`
	Pin     string    `json:"pin,omitempty" doc:"Fingerprint of the hub's certificate; absent if the hub has none of its own"`
	Command string    `json:"command" doc:"What to run on the machine; holds the code"`
	Expires time.Time `json:"expires"`
}

// JoinNode exchanges an invitation for the identity of a node.
type JoinNode struct {
	Code string `json:"code" maxLength:"128"`
	// Name counts only where the invitation has none.
	Name     string `json:"name,omitempty" maxLength:"63" pattern:"^([a-z0-9][a-z0-9.-]{0,61}[a-z0-9])?$" doc:"The node's name; ignored if the invitation has one"`
	Key      string `json:"key" maxLength:"64" doc:"The node's Ed25519 public key, in base64"`
	Version  string `json:"version,omitempty" maxLength:"128"`
	OS       string `json:"os,omitempty" maxLength:"64"`
	Arch     string `json:"arch,omitempty" maxLength:"64"`
	Hostname string `json:"hostname,omitempty" maxLength:"255"`
}

// JoinedNode is what a machine has to remember to be a node.
type JoinedNode struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Hub is the hub's id, which the node checks whenever it connects.
	Hub    string            `json:"hub" doc:"The hub's id, to be checked at each connection"`
	Labels map[string]string `json:"labels,omitempty"`
}

// DrainNode says whether a node takes new sessions.
type DrainNode struct {
	Draining bool `json:"draining" doc:"false: it takes new sessions again"`
}
