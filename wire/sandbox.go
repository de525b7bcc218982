package wire

import (
	"encoding/json"
	"strconv"
	"strings"
)

// ToolSandboxNetwork is the name of the tool under which a connection out of a
// sandbox is asked about. Its input has the members host and port, and where it is
// known command, the program that wants to connect.
const ToolSandboxNetwork = "SandboxNetworkAccess"

// SandboxRequestPrefix begins the id of a control request that is not the CLI's
// but comes from the sandbox around it: whether a program may reach a host. Such
// a request does not end with a turn, and its answer is not for the CLI.
const SandboxRequestPrefix = "sandbox-"

// IsSandboxRequest reports whether a request id is one of those. A CLI can choose
// its ids as it likes, so this says nothing about where a line comes from.
func IsSandboxRequest(id string) bool { return strings.HasPrefix(id, SandboxRequestPrefix) }

// connectTitle says which host a process wants to connect to.
func connectTitle(host string, input json.RawMessage) string {
	if host == "" {
		return ""
	}
	if port, err := strconv.ParseUint(string(lookup(input, "port")), 10, 16); err == nil {
		if strings.Contains(host, ":") && !strings.HasPrefix(host, "[") {
			host = "[" + host + "]"
		}
		host += ":" + strconv.FormatUint(port, 10)
	}
	return "Connect to " + host
}
