package termtest

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

// envChild makes this test binary one of the programs that the tests start.
const envChild = "TERMTEST_CHILD"

func TestMain(m *testing.M) {
	if name := os.Getenv(envChild); name != "" {
		os.Exit(child(name))
	}
	goleak.VerifyTestMain(m)
}

// child is a program of a test.
func child(name string) int {
	in := bufio.NewReader(os.Stdin)
	switch name {
	case "greet":
		fmt.Print("your name? ")
		line, err := in.ReadString('\n')
		if err != nil {
			return 1
		}
		fmt.Printf("hello \x1b[1m%s\x1b[m\n", strings.TrimSpace(line))
		return 3
	case "flood": // far more than a pseudo-terminal holds, and then the end at once
		for i := range 20000 {
			fmt.Printf("line %d\n", i)
		}
		fmt.Print("the end")
		return 0
	case "never":
		fmt.Print("waiting")
		_, _ = in.ReadString('\n')
		_, _ = in.ReadString('\n')
		return 0
	case "tea":
		return runTea(false)
	case "full":
		return runTea(true)
	default:
		return 99
	}
}
