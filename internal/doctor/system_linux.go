package doctor

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// volume describes the file system of a path.
func volume(path string) (Volume, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(path, &s); err != nil {
		return Volume{}, fmt.Errorf("looking at the file system of %s: %w", path, err)
	}
	v := Volume{Free: s.Bavail * uint64(s.Bsize)}
	switch int64(s.Type) { //nolint:unconvert // its type differs between processors
	case unix.NFS_SUPER_MAGIC:
		v.Type, v.Network = "nfs", true
	case unix.SMB_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC:
		v.Type, v.Network = "smb", true
	case unix.V9FS_MAGIC:
		v.Type, v.Network = "9p", true
	case unix.CEPH_SUPER_MAGIC:
		v.Type, v.Network = "ceph", true
	case unix.AFS_SUPER_MAGIC, unix.AFS_FS_MAGIC:
		v.Type, v.Network = "afs", true
	case unix.EXT4_SUPER_MAGIC:
		v.Type = "ext4"
	case unix.BTRFS_SUPER_MAGIC:
		v.Type = "btrfs"
	case unix.XFS_SUPER_MAGIC:
		v.Type = "xfs"
	case unix.TMPFS_MAGIC:
		v.Type = "tmpfs"
	case unix.OVERLAYFS_SUPER_MAGIC:
		v.Type = "overlay"
	case unix.FUSE_SUPER_MAGIC:
		v.Type = "fuse" // which may be anything
	}
	return v, nil
}
