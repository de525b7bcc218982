package wire_test

import (
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/wire"
)

func TestNewUUID(t *testing.T) {
	seen := map[string]bool{}
	for range 100 {
		id := wire.NewUUID()
		if !wire.IsUUID(id) || id[14] != '4' || !strings.ContainsRune("89ab", rune(id[19])) || id != strings.ToLower(id) {
			t.Errorf("%q is not a UUID of version 4", id)
		}
		if seen[id] {
			t.Errorf("%q came twice", id)
		}
		seen[id] = true
	}
}

func TestIsUUID(t *testing.T) {
	for text, want := range map[string]bool{
		"00000000-0000-4000-8000-000000000000":  true,
		"ABCDEF01-2345-6789-abcd-ef0123456789":  true,
		"":                                      false,
		"00000000-0000-4000-8000-00000000000":   false,
		"00000000-0000-4000-8000-0000000000000": false,
		"00000000x0000-4000-8000-000000000000":  false,
		"000000000000-4000-8000-000000000000-0": false,
		"0000000g-0000-4000-8000-000000000000":  false,
		"00000000-0000-4000-8000-0000000000é":   false,
	} {
		if got := wire.IsUUID(text); got != want {
			t.Errorf("IsUUID(%q) = %v, want %v", text, got, want)
		}
	}
}
