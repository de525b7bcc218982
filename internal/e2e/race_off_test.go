//go:build !race

package e2e

// raceEnabled says that this test binary was built with the race detector, as
// the program under test is then too.
const raceEnabled = false
