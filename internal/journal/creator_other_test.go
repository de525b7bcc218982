//go:build !linux && !darwin

package journal_test

import "errors"

// creator is not there on this system.
func creator(string) error { return errors.ErrUnsupported }
