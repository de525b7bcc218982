//go:build unix

package claude

import "syscall"

const wakeSignal = syscall.SIGUSR1
