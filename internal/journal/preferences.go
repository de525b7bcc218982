package journal

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrTooMany says that a person has as many preferences as one may have.
var ErrTooMany = errors.New("there are too many preferences")

// A Preference is what a person prefers in a folder. It belongs to no session.
type Preference struct {
	// Person and Dir name it; Dir is empty for what is preferred in all folders.
	Person, Dir string
	// Data is the owner's own JSON.
	Data []byte
	// Updated is when it was written.
	Updated time.Time
}

// Preferences lists a person's preferences. See [Journal].
func (s *SQLite) Preferences(ctx context.Context, person string) ([]Preference, error) {
	return all(ctx, s, "preferences", func(r row) (Preference, error) {
		return Preference{Person: r.text(0), Dir: r.text(1), Data: r.bytes(2), Updated: r.time(3)}, nil
	}, "SELECT person, dir, data, updated FROM preferences WHERE person = ? ORDER BY dir", person)
}

// SavePreference writes a preference. See [Journal].
func (s *SQLite) SavePreference(ctx context.Context, p *Preference, most int) error {
	return s.changePreferences(ctx, "saving a preference", func(w *conn) error {
		others, _, err := w.first("SELECT count(*) FROM preferences WHERE person = ? AND dir <> ?", p.Person, p.Dir)
		if err != nil {
			return err
		}
		if others >= int64(most) {
			return ErrTooMany
		}
		return w.exec("INSERT OR REPLACE INTO preferences (person, dir, data, updated) VALUES (?, ?, ?, ?)", p.Person, p.Dir, p.Data, p.Updated)
	})
}

// ForgetPreference removes a preference. See [Journal].
func (s *SQLite) ForgetPreference(ctx context.Context, person, dir string) error {
	return s.changePreferences(ctx, "removing a preference", func(w *conn) error {
		return w.exec("DELETE FROM preferences WHERE person = ? AND dir = ?", person, dir)
	})
}

// changePreferences runs a job of the queue's leader in a transaction.
func (s *SQLite) changePreferences(ctx context.Context, what string, change func(*conn) error) error {
	err := s.queue.do(ctx, &request{job: func(w *conn) error {
		return w.transaction(func() error { return change(w) })
	}})
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}
