package shim

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"syscall"
)

// ballastBytes is memory that is never used, and so never resident. It counts as live: the
// garbage collector runs when what is live has doubled, or 4 MB are in use, which a shim
// has reached after some thousand lines.
const ballastBytes = 8 << 20

// Main is the whole life of a shim process: it reads its orders, closes them,
// and obeys. It returns the exit code.
//
// It is for a process that does nothing else: it handles signals (SIGTERM and
// SIGINT end the CLI in good order, SIGHUP means nothing to it), and on Linux it
// becomes the parent of what its CLI leaves behind, so that nothing of that
// stays a zombie. What goes wrong before there is a log goes to standard error.
func Main(ctx context.Context, orders io.ReadCloser) int {
	// Caught and not ignored: what is ignored here the CLI and all its tools
	// would be born ignoring.
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, os.Interrupt)
	defer signal.Stop(signals)

	// A line passes three goroutines here, one after the other. On several processors
	// each would wake a thread for the next one, which costs more than their work.
	runtime.GOMAXPROCS(1)
	ballast := make([]byte, ballastBytes)
	defer runtime.KeepAlive(ballast)
	spec, err := ReadSpec(orders)
	_ = orders.Close() // it has been read, or cannot be
	closeInherited()
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		return exitLost
	}
	handler := slog.DiscardHandler
	if spec.Log != "" {
		file, err := openLog(spec.Log, logLimit)
		if err != nil {
			_, _ = fmt.Fprintln(os.Stderr, err) // the agent matters more
		} else {
			defer func() { _ = file.Close() }() // it is written line by line
			handler = slog.NewTextHandler(file, nil)
		}
	}
	logger := slog.New(handler)
	orphans := adopt(logger)
	defer orphans.stop()
	done := make(chan struct{})
	defer close(done)
	go func() { // ends with Main
		select {
		case s := <-signals:
			cancel(fmt.Errorf("the shim got the signal %q", s))
		case <-done:
		}
	}()
	idle := newIdleMemory()
	defer idle.stop()
	return Run(ctx, spec, &Env{Logger: logger, started: orphans.started, busy: idle.busy})
}
