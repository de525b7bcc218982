package claude

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Close implements [Transport]: it ends the input and waits for the CLI to
// end by itself, sends SIGTERM and waits again, sends SIGKILL, and then ends
// everything that the CLI has started and left running. How long it waits is
// set by the options; with the defaults it takes at most about 25 s, and some
// milliseconds if the CLI has nothing to do.
//
// It returns an error only if something could not be ended or removed. How the
// CLI ended is told by Wait.
func (p *Process) Close() error {
	p.closeOnce.Do(func() {
		p.state.Set(StateClosing)
		close(p.closing)
		p.closeErr = p.shutDown()
		p.state.Set(StateClosed)
	})
	return p.closeErr
}

func (p *Process) shutDown() error {
	// Descent can only be seen while the parent lives, so what has been
	// started is looked up before each step that may end the CLI.
	family := &family{root: p.pid}
	alive := func() bool {
		select {
		case <-p.exited:
			return false
		default:
			family.update()
			return true
		}
	}
	wait := func(d time.Duration) bool {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-p.exited:
			return true
		case <-timer.C:
			return false
		}
	}
	var errs []error
	there := alive()
	_ = p.CloseInput() // never fails
	if there && (p.command.NoInput || !wait(p.command.InputGrace)) && alive() {
		_ = terminate(p.process) // if it cannot be told, it is killed
		if !wait(p.command.TermGrace) && alive() {
			_ = kill(p.process)
			if !wait(killGrace) {
				errs = append(errs, fmt.Errorf("process %d did not end within %s of SIGKILL", p.pid, killGrace))
			}
		}
	}
	if err := p.endFamily(family); err != nil {
		errs = append(errs, err)
	}
	p.join()
	if err := p.command.Discard(); err != nil {
		errs = append(errs, fmt.Errorf("removing settings: %w", err))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("closing claude: %w", err)
	}
	return nil
}

// endFamily ends what the CLI has left behind: what carries the marker, where
// that can be seen, and what was seen to descend from it.
func (p *Process) endFamily(f *family) error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*sweepGrace+killGrace)
	defer cancel()
	_, err := endProcesses(ctx, func(ctx context.Context) ([]procID, error) {
		marked, err := marked(ctx, p.command.Marker)
		if errors.Is(err, errors.ErrUnsupported) {
			err = nil
		}
		return append(marked, f.alive()...), err
	})
	if err != nil {
		return fmt.Errorf("ending what claude has started: %w", err)
	}
	return nil
}

// join waits for the goroutines. With the process and its family gone the
// pipes have ended, unless a process that could not be ended holds them, and what
// they still hold has been read, unless a reader is slow. Neither is waited for
// much longer.
func (p *Process) join() {
	timer := time.AfterFunc(drainGrace, func() {
		close(p.cut)
		p.closePipes()
	})
	defer timer.Stop()
	<-p.readDone
	<-p.stderrDone
	select {
	case <-p.exited:
		p.workers.Wait()
	default:
		// Nothing ends a process that the kernel holds, nor the goroutine
		// that waits for it.
	}
}
