//go:build !unix

package hubstart

import "context"

// start refuses: the hub runs on systems that have what it needs.
func start(context.Context, *Options) (*Hub, error) {
	return nil, &NoHubError{Reason: "a hub cannot run on this system", Hint: "use one on Linux or macOS"}
}
