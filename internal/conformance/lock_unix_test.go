//go:build unix

package conformance

import (
	"context"
	"errors"
	"sync"
	"testing"
)

func TestInstallersWaitForEachOther(t *testing.T) {
	in, _, runs, _ := newInstaller(t)
	in.Progress = nil
	entered, release := make(chan struct{}), make(chan struct{})
	plain := in.npm
	in.npm = func(ctx context.Context, dir string, packages []string) error {
		close(entered) // a second run would panic
		<-release
		return plain(ctx, dir, packages)
	}
	var wg sync.WaitGroup
	install := func() {
		if _, err := in.Install(t.Context(), Newest); err != nil {
			t.Error(err)
		}
	}
	wg.Go(install)
	<-entered

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := in.Install(ctx, Newest); !errors.Is(err, context.Canceled) {
		t.Errorf("an installer that gave up waiting returned %v", err)
	}
	wg.Go(install)
	close(release)
	wg.Wait()
	if got := runs.Load(); got != 1 {
		t.Errorf("npm ran %d times, want once", got)
	}
}
