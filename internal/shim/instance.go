package shim

import "crypto/rand"

// newInstance returns a name that no other shim has.
func newInstance() string { return "i" + rand.Text() }
