package screen

import (
	"flag"
	"testing"

	"go.uber.org/goleak"
)

// update writes the golden screens anew.
var update = flag.Bool("update", false, "write the golden files")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
