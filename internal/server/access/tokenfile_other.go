//go:build !unix

package access

import (
	"errors"
	"fmt"
	"time"
)

// LoadToken is not supported on this system: which users can read a file cannot be
// told in the way that is needed.
func LoadToken(string) (Token, error) {
	return Token{}, fmt.Errorf("keeping the admin token: %w", errors.ErrUnsupported)
}

func loadBook(string, time.Time) ([]*entry, error) {
	return nil, fmt.Errorf("keeping tokens: %w", errors.ErrUnsupported)
}

func writeBook(string, []*entry) error {
	return fmt.Errorf("keeping tokens: %w", errors.ErrUnsupported)
}
