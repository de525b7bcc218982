//go:build unix

package config

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// distrust says why the content of a file may be somebody else's: a configuration decides what agents may do. It returns "" if all is well.
func distrust(info fs.FileInfo) string {
	if info.Mode().Perm()&0o002 != 0 {
		return "every user of this machine may write to it; take that away with: chmod o-w"
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && stat.Uid != 0 && int(stat.Uid) != os.Getuid() {
		return fmt.Sprintf("it belongs to user %d; it must be yours or root's", stat.Uid)
	}
	return ""
}
