//go:build !unix

package shim

import "os"

func shutdown(*os.File) {}
