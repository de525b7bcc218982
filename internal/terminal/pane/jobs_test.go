package pane

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestClose holds that what was sent arrives though a person leaves at once, or that they are told.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := NewJobs(t.Context())
		send := func(name string, takes time.Duration) {
			cmd := j.Act(name, func(ctx context.Context) (tea.Msg, error) {
				select {
				case <-time.After(takes):
					return nil, nil
				case <-ctx.Done():
					return nil, errors.New("away")
				}
			})
			go cmd()
		}
		send("soon", time.Second)
		send("late", time.Hour)
		ended := false
		go j.Do(func(ctx context.Context) tea.Msg {
			<-ctx.Done()
			ended = true
			return nil
		})()
		synctest.Wait()
		undone := j.Close()
		if len(undone) != 1 || undone[0].String() != "late: away" {
			t.Errorf("undone is %q", undone)
		}
		if !ended {
			t.Error("a command goes on")
		}
		j.Act("after it", nil)()
		if undone = j.Close(); len(undone) != 1 || undone[0].What != "after it" {
			t.Errorf("after it was closed, undone is %q", undone)
		}
	})
}
