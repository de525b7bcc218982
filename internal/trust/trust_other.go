//go:build !unix

package trust

import "io/fs"

// Modes and owners say nothing on this system: every file is trusted.

type identity struct{}

func self() identity { return identity{} }

func ownerOf(fs.FileInfo, identity) string { return "" }

func writersOf(fs.FileInfo, identity) (reason, change string) { return "", "" }
