//go:build !unix

package access

import (
	"errors"
	"fmt"
)

// LoadOrCreateToken is not supported on this system: who else can read a file
// cannot be told in the way that is needed.
func LoadOrCreateToken(string) (Token, error) {
	return Token{}, fmt.Errorf("keeping the admin token: %w", errors.ErrUnsupported)
}
