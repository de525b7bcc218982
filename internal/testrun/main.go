// Command testrun runs tests for the Makefile and reads what they report.
//
//	testrun test [go test arguments]      like go test, with results in order
//	testrun slowest DIRECTORY             the slowest tests of a whole run
//	testrun flaky [flags] PACKAGE...      each package again and again
//
// The test command runs go test -json and prints what go test would print: a
// line per package, and the output of the tests that failed. The output of one
// test stays together even when tests run in parallel. With -v every test is
// printed when it ends. If SWITCHBOARD_TEST_TIMES names a directory, the
// duration of every test is recorded there, for the slowest command.
//
// The flaky command builds each test binary once and runs it in random order
// with different values of GOMAXPROCS while other goroutines keep the machine
// busy. It counts runs and failures per test and keeps the output of the first
// failure of each.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// TimesVariable names the directory in which durations are recorded.
const TimesVariable = "SWITCHBOARD_TEST_TIMES"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run executes one command and returns the exit status of the process.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		fmt.Fprintln(stderr, "usage: testrun test|slowest|flaky [arguments]")
		return 2
	}
	var passed bool
	var err error
	switch args[0] {
	case "test":
		passed, err = goTest(ctx, args[1:], os.Getenv(TimesVariable), stdout, stderr)
	case "slowest":
		passed, err = true, slowest(args[1:], stdout)
	case "flaky":
		passed, err = flaky(ctx, args[1:], stdout, stderr)
	default:
		err = fmt.Errorf("unknown command %q: use test, slowest or flaky", args[0])
	}
	switch {
	case err != nil:
		fmt.Fprintf(stderr, "testrun: %v\n", err)
		return 2
	case !passed:
		return 1
	}
	return 0
}
