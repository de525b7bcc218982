//go:build unix && !linux && !darwin

package journal

// bootID is not known on this system.
func bootID() string { return "" }
