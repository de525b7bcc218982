//go:build killpoints

package killpoint

import (
	"os"
	"strconv"
	"strings"
	"sync/atomic"
)

// reached counts how often the place was reached that the environment names.
var reached atomic.Int64

// Reach stops the goroutine for ever if the environment variable
// SWITCHBOARD_KILLPOINT names this place, as "place" or "place:n" for the n-th
// time that it is reached. Before that it creates the file named by
// SWITCHBOARD_KILLPOINT_FILE, upon which the test kills the process.
func Reach(place string) {
	name, count, _ := strings.Cut(os.Getenv("SWITCHBOARD_KILLPOINT"), ":")
	if name != place {
		return
	}
	wanted, err := strconv.ParseInt(count, 10, 64)
	if err != nil {
		wanted = 1
	}
	if reached.Add(1) != wanted {
		return
	}
	if err := os.WriteFile(os.Getenv("SWITCHBOARD_KILLPOINT_FILE"), []byte(place), 0o600); err != nil {
		panic("the kill test's file could not be written: " + err.Error())
	}
	select {}
}
