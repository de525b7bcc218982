//go:build killpoints && unix

package killpoint

import (
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"
)

// init lets a test measure how much memory the program needs: upon SIGUSR1 it
// gives back what it does not use and says so in the file that the environment
// variable SWITCHBOARD_MEMORY_FILE names.
func init() {
	file := os.Getenv("SWITCHBOARD_MEMORY_FILE")
	if file == "" {
		return
	}
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGUSR1)
	go func() { // ends with the program
		for range asked {
			runtime.GC() // what has a finalizer goes with the second
			debug.FreeOSMemory()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			text := fmt.Sprintf("heap %d stacks %d goroutines %d", m.HeapInuse, m.StackInuse, runtime.NumGoroutine())
			if err := os.WriteFile(file+".new", []byte(text), 0o600); err == nil {
				_ = os.Rename(file+".new", file) // the test notices that nothing comes
			}
		}
	}()
}
