//go:build !linux

package claude

// systemFakes are fakes for tests of this system alone.
func systemFakes() map[string]func(string) int { return nil }
