package budget

import (
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"time"

	"github.com/switchboard-dev/switchboard/api"
)

// What a budget is counted per.
const (
	PerSession = "session"
	PerFolder  = "folder"
	PerDay     = "day"
)

// What happens when a budget is used up.
const (
	Warn      = "warn"
	Ask       = "ask"
	Interrupt = "interrupt"
)

// What a budget limits.
const (
	USD   = "usd"
	Turns = "turns"
	Wall  = "wall"
	Idle  = "idle"
)

// where says in words what it is counted over.
func where(per string) string {
	switch per {
	case PerFolder:
		return "in this folder"
	case PerDay:
		return "today"
	}
	return "in this session"
}

// Sentence says how much of a budget is used, in one sentence.
func Sentence(u api.BudgetUse) string {
	state := "is used up"
	if !u.Over {
		state = "is nearly used up"
	}
	if u.Unit == Idle {
		return fmt.Sprintf("the budget %q %s: the session has been idle for %v", u.Name, state, seconds(u.Used))
	}
	return fmt.Sprintf("the budget %q %s: %s of %s %s", u.Name, state, Quantity(u.Unit, u.Used, false), Quantity(u.Unit, u.Limit, true), where(u.Per))
}

// Quantity writes how much of a unit.
func Quantity(unit string, n float64, named bool) string {
	switch unit {
	case USD:
		if n > 0 && n < 0.01 {
			return fmt.Sprintf("$%.4f", n)
		}
		return fmt.Sprintf("$%.2f", n)
	case Turns:
		text := strconv.FormatFloat(n, 'f', 0, 64)
		switch {
		case !named:
			return text
		case n == 1:
			return text + " turn"
		}
		return text + " turns"
	}
	if named {
		return seconds(n).String() + " at work"
	}
	return seconds(n).String()
}

// seconds returns a duration that people can read.
func seconds(n float64) time.Duration {
	return time.Duration(math.Min(n, math.MaxInt32) * float64(time.Second)).Round(time.Second)
}

// Cents rounds away what binary fractions get wrong, so that ten times a tenth
// is one.
func Cents(usd float64) float64 { return math.Round(usd*1e9) / 1e9 }

// Folder returns a path in the form in which paths are compared; "" stays.
func Folder(dir string) string {
	if dir == "" {
		return ""
	}
	return filepath.Clean(dir)
}
