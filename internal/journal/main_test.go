package journal_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

// childVariable makes the test binary play a part in a test: "part folder".
const childVariable = "SWITCHBOARD_JOURNAL_CHILD"

func TestMain(m *testing.M) {
	if part, dir, ok := strings.Cut(os.Getenv(childVariable), " "); ok {
		var err error
		switch part {
		case "writer":
			err = writer(dir)
		case "limited":
			err = limited(dir)
		case "creator":
			err = creator(dir)
		case "descriptors":
			err = descriptors(dir)
		default:
			err = fmt.Errorf("part %q is not known", part)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// child returns a process that plays a part.
func child(t *testing.T, part, dir string) *exec.Cmd {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(program)
	c.Env = []string{childVariable + "=" + part + " " + dir, "GORACE=atexit_sleep_ms=0", "HOME=" + dir, "PATH=" + os.Getenv("PATH")}
	return c
}
