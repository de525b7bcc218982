//go:build !unix

package shim

// closeInherited does nothing: children inherit only what they are given here.
func closeInherited() {}
