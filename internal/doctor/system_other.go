//go:build !linux && !darwin

package doctor

import (
	"errors"
	"io/fs"
)

// volume is not known on this system.
func volume(string) (Volume, error) {
	return Volume{}, errors.New("file systems are not looked at on this system")
}

// owner is not known on this system.
func owner(fs.FileInfo) int { return -1 }

// locked reports that no process has a lock: no hub runs on this system.
func locked(string) bool { return false }
