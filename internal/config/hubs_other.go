//go:build !unix

package config

// lockFile locks nothing on this system.
func lockFile(string) (unlock func() error, err error) { return func() error { return nil }, nil }
