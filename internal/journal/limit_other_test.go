//go:build !unix

package journal_test

import "errors"

// limited is not there on this system.
func limited(string) error { return errors.ErrUnsupported }
