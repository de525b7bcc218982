package ingress

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/switchboard-dev/switchboard/claude/claudetest"
)

func TestMain(m *testing.M) {
	if code, ok := claudetest.RunInstalled(os.Args); ok {
		os.Exit(code)
	}
	goleak.VerifyTestMain(m)
}
