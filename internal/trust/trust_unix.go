//go:build unix

package trust

import (
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// An identity is a user as the file system knows them.
type identity struct {
	uid, gid int
	// privateGroup says that gid is the user's own group, which has no other
	// members by convention.
	privateGroup func() bool
}

// self is the user of this process.
func self() identity {
	return identity{uid: os.Geteuid(), gid: os.Getegid(), privateGroup: privateGroup}
}

// privateGroup reports whether the group of this process is private to its user.
// pam_umask uses the same rule, equal names, before it makes files writable for the
// group, so the folders of such users often are. In containers neither name may be
// known; there equal numbers count.
func privateGroup() bool {
	uid, gid := strconv.Itoa(os.Geteuid()), strconv.Itoa(os.Getegid())
	if uid == gid {
		return true
	}
	group, err := user.LookupGroupId(gid)
	if err != nil {
		return false
	}
	owner, err := user.LookupId(uid)
	return err == nil && owner.Username == group.Name
}

// ownerOf says whose a file is, "" if it belongs to the user or root.
func ownerOf(info fs.FileInfo, me identity) string {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "has an owner that the system does not tell"
	}
	if stat.Uid != 0 && int(stat.Uid) != me.uid {
		return fmt.Sprintf("belongs to another user (uid %d)", stat.Uid)
	}
	return ""
}

// writersOf says which other users may write to a file, and which change of its
// mode ends that; "" if there are none. Access lists of Linux show in the bits of
// the group.
func writersOf(info fs.FileInfo, me identity) (reason, change string) {
	mode := info.Mode().Perm()
	if mode&0o002 != 0 {
		return fmt.Sprintf("every user of this machine (mode %04o)", mode), "go-w"
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if mode&0o020 == 0 || !ok || stat.Gid == 0 || int(stat.Gid) == me.gid && me.privateGroup() {
		return "", ""
	}
	return fmt.Sprintf("the users of group %d (mode %04o)", stat.Gid, mode), "g-w"
}
