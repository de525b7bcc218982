//go:build !unix

package journal_test

import "errors"

// limited is not there on this system.
func limited(string) error { return errors.ErrUnsupported }

// descriptors is not there on this system.
func descriptors(string) error { return errors.ErrUnsupported }
