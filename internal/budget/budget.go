package budget

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/record"
)

// A Budget limits what sessions may use. What is zero is not limited.
type Budget struct {
	// Name is how people are told of it. It is required, and no two have the same.
	Name string
	// Per is "session" (each by itself, over all of its runs), "folder" (all
	// sessions of the same folder together, for good) or "day" (all sessions
	// together on a day of the clock's zone).
	Per string
	// Folder has the budget count only for sessions in this folder or below. If
	// empty, for all.
	Folder string
	// USD is money, as far as the CLI has told it: it does so when a turn ends.
	// Turns counts turns that have ended. Wall is time at work, and Idle time
	// without work, which is each session's own whatever Per says.
	USD   float64
	Turns int64
	Wall  time.Duration
	Idle  time.Duration
	// Action is "warn" (a notification), "ask" (no further prompt is sent until
	// a person releases the session, and rules allow nothing by themselves; an
	// idle process is ended) or "interrupt" (the same, and the running turn is
	// interrupted at once).
	Action string
	// WarnAt is the share at which people are warned, of 1. If zero, 0.8.
	WarnAt float64
}

// defaultWarnAt is the share of a budget at which people are warned.
const defaultWarnAt = 0.8

// check says what is wrong with a budget.
func (b *Budget) check() error {
	switch {
	case b.Name == "":
		return errors.New("it has no name")
	case b.Per != PerSession && b.Per != PerFolder && b.Per != PerDay:
		return fmt.Errorf("per: expected session, folder or day, got %q", b.Per)
	case b.Action != Warn && b.Action != Ask && b.Action != Interrupt:
		return fmt.Errorf("action: expected warn, ask or interrupt, got %q", b.Action)
	case b.Folder != "" && !filepath.IsAbs(b.Folder):
		return fmt.Errorf("folder: expected an absolute path, got %q", b.Folder)
	case b.USD < 0 || math.IsNaN(b.USD) || math.IsInf(b.USD, 0) || b.Turns < 0 || b.Wall < 0 || b.Idle < 0:
		return errors.New("its limits must not be negative")
	case b.USD == 0 && b.Turns == 0 && b.Wall == 0 && b.Idle == 0:
		return errors.New("it limits nothing: give it usd, turns, wall or idle")
	case b.WarnAt < 0 || b.WarnAt > 1 || math.IsNaN(b.WarnAt):
		return fmt.Errorf("warn_at: expected a share from 0 to 1, got %v", b.WarnAt)
	}
	return nil
}

// concerns reports whether a budget counts for sessions of a place. A budget's folder is
// meant on every machine.
func (b *Budget) concerns(at Place) bool {
	dir := at.folder()
	if b.Folder == "" || dir == b.Folder {
		return true
	}
	rest, below := strings.CutPrefix(dir, b.Folder)
	return below && (rest[0] == filepath.Separator || b.Folder[len(b.Folder)-1] == filepath.Separator)
}

// shared reports whether a budget is counted over several sessions.
func (b *Budget) shared() bool { return b.Per != PerSession }

// limit returns how much of a unit a budget allows, 0 if it does not limit it.
// Times are in seconds.
func (b *Budget) limit(unit string) float64 {
	switch unit {
	case USD:
		return b.USD
	case Turns:
		return float64(b.Turns)
	case Wall:
		return b.Wall.Seconds()
	case Idle:
		return b.Idle.Seconds()
	}
	return 0
}

// units are all that budgets limit, in the order in which people are told of
// them.
var units = []string{USD, Turns, Wall, Idle}

// An Amount is what turns have used.
type Amount struct {
	USD    float64
	Turns  int64
	Millis int64
}

// Plus adds two amounts.
func (a Amount) Plus(o Amount) Amount {
	return Amount{USD: Cents(a.USD + o.USD), Turns: a.Turns + o.Turns, Millis: a.Millis + o.Millis}
}

// of returns the part that a unit counts.
func (a Amount) of(unit string) float64 {
	switch unit {
	case USD:
		return a.USD
	case Turns:
		return float64(a.Turns)
	case Wall:
		return float64(a.Millis) / 1000
	}
	return 0
}

// A Meter is one limit of a budget as it concerns a session now.
type Meter struct {
	budget *Budget
	unit   string
	day    string // of a budget per day
	// used and limit are dollars, turns or seconds. From is where counting began:
	// a warning is due at a share of what is between it and the limit.
	used, limit, from float64
}

// over reports whether it is used up.
func (m *Meter) over() bool { return m.used >= m.limit }

// near reports whether it is used up so far that people are warned.
func (m *Meter) near() bool { return m.used >= m.from+m.budget.WarnAt*(m.limit-m.from) }

// causes reports whether a hold of a budget is, or would be, due to the meter.
func (m *Meter) causes(h *record.Hold) bool {
	return m.budget.Name == h.Budget && m.unit == h.Unit && m.day == h.Day
}

// Use returns what people are shown of it.
func (m *Meter) Use() api.BudgetUse {
	return api.BudgetUse{
		Name: m.budget.Name, Per: m.budget.Per, Unit: m.unit, Limit: m.limit, Used: m.used, Action: m.budget.Action, Over: m.over(),
	}
}
