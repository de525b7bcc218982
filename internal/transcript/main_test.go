package transcript_test

import (
	"flag"
	"testing"

	"go.uber.org/goleak"
)

var update = flag.Bool("update", false, "write the golden file that the console's test reads")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
