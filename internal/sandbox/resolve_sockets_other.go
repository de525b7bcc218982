//go:build !linux

package sandbox

// listeningSockets returns nothing: this system does not list them.
func listeningSockets() ([]string, error) { return nil, nil }
