package doctor

import (
	"fmt"
	"slices"

	"golang.org/x/sys/unix"
)

// volume describes the file system of a path.
func volume(path string) (Volume, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(path, &s); err != nil {
		return Volume{}, fmt.Errorf("looking at the file system of %s: %w", path, err)
	}
	name := unix.ByteSliceToString(s.Fstypename[:])
	return Volume{
		Type: name, Network: slices.Contains([]string{"nfs", "smbfs", "afpfs", "webdav"}, name), Free: s.Bavail * uint64(s.Bsize),
	}, nil
}
