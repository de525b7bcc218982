//go:build !linux && !darwin

package doctor

import "errors"

// volume says that it cannot tell.
func volume(string) (Volume, error) {
	return Volume{}, errors.New("file systems are not looked at on this system")
}
