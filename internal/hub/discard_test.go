package hub_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/journal"
)

// A vanishing journal has a session removed right after its row was read.
type vanishing struct {
	journal.Journal
	look func(id string) error // what is done before a session is removed

	mu       sync.Mutex
	deleting bool
	err      error // of look
}

func (j *vanishing) Delete(ctx context.Context, id string) error {
	j.mu.Lock()
	j.deleting = true
	j.mu.Unlock()
	err := j.look(id)
	j.mu.Lock()
	j.err, j.deleting = err, false
	j.mu.Unlock()
	if err := j.Journal.Delete(ctx, id); err != nil && !errors.Is(err, journal.ErrNotFound) {
		return err
	}
	return nil
}

func (j *vanishing) Session(ctx context.Context, id string) (*journal.Session, error) {
	row, err := j.Journal.Session(context.WithoutCancel(ctx), id)
	j.mu.Lock()
	deleting := j.deleting
	j.mu.Unlock()
	if err == nil && deleting {
		err = j.Journal.Delete(context.WithoutCancel(ctx), id)
	}
	return row, err
}

func (j *vanishing) Fold(ctx context.Context, id string) ([]byte, int64, error) {
	return j.Journal.Fold(context.WithoutCancel(ctx), id)
}

func (j *vanishing) Entries(ctx context.Context, id string, after int64, limit int, maxBytes int64) ([]journal.Entry, error) {
	return j.Journal.Entries(context.WithoutCancel(ctx), id, after, limit, maxBytes)
}

// TestDiscard asks for a session while it is removed, because its process could not
// be started. It is there or it is not; it is never taken for damaged.
func TestDiscard(t *testing.T) {
	l := newLab(t)
	if err := l.hub.Close(); err != nil {
		t.Fatal(err)
	}
	j := &vanishing{Journal: l.journal}
	j.look = func(id string) error {
		// Waiting for the session to be gone would be waiting for this function, so
		// the caller gives up at once.
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_, err := l.hub.Snapshot(ctx, id)
		return err
	}
	l.options.Journal = j
	var err error
	if l.hub, err = hub.New(context.Background(), l.options); err != nil {
		t.Fatal(err)
	}
	l.launcher.mu.Lock()
	l.launcher.fail = errors.New("too many open files")
	l.launcher.mu.Unlock()
	_, err = l.hub.Create(l.ctx(), person, api.CreateSession{Dir: t.TempDir(), Prompt: "@say hello"})
	if err == nil || !strings.Contains(err.Error(), "too many open files") {
		t.Fatalf("Create: %v", err)
	}
	j.mu.Lock()
	err = j.err
	j.mu.Unlock()
	if !errors.Is(err, context.Canceled) {
		t.Errorf("while it is removed: %v", err)
	}
	_, err = l.hub.Snapshot(l.ctx(), l.launcher.specs[0].Session)
	if problem, ok := errors.AsType[*api.Error](err); !ok || problem.Status != http.StatusNotFound {
		t.Errorf("afterwards: %v", err)
	}
}
