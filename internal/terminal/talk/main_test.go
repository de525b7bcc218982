package talk_test

import (
	"flag"
	"testing"

	"go.uber.org/goleak"
)

var update = flag.Bool("update", false, "write what is drawn into the golden files")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
