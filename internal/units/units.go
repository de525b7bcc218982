package units

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Duration returns how long something took in at most two units: "0.4s", "12s", "3m 05s", "2h 10m", "4d 3h".
func Duration(d time.Duration) string {
	if d < 0 {
		d = 0
	}
	switch {
	case d < 10*time.Second:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", math.Floor(d.Seconds()*10)/10), ".0") + "s"
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm %02ds", int(d.Minutes()), int(d.Seconds())%60)
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh %02dm", int(d.Hours()), int(d.Minutes())%60)
	default:
		return fmt.Sprintf("%dd %dh", int(d.Hours())/24, int(d.Hours())%24)
	}
}

// Money returns an amount in US dollars: two digits after the point, four for less than ten cents.
func Money(usd float64) string {
	switch {
	case math.IsNaN(usd) || math.IsInf(usd, 0):
		return "$?"
	case usd < 0:
		return "-" + Money(-usd)
	case usd == 0:
		return "$0.00"
	case usd < 0.0001:
		return "<$0.0001"
	case usd < 0.1:
		return "$" + strconv.FormatFloat(usd, 'f', 4, 64)
	default:
		return "$" + strconv.FormatFloat(usd, 'f', 2, 64)
	}
}

// Tokens returns a number of tokens in short: "950", "12.3k", "1.2M".
func Tokens(n int64) string { return scaled(n, 1000, []string{"", "k", "M", "G"}) }

// Size returns a number of bytes in short: "512 B", "1.5 KiB", "10 MiB".
func Size(n int64) string { return scaled(n, 1024, []string{" B", " KiB", " MiB", " GiB", " TiB"}) }

func scaled(n, step int64, units []string) string {
	if n < 0 {
		return "-" + scaled(-max(n, -math.MaxInt64), step, units)
	}
	if n < step {
		return strconv.FormatInt(n, 10) + units[0]
	}
	value, unit := float64(n), 0
	for value >= float64(step) && unit < len(units)-1 {
		value /= float64(step)
		unit++
	}
	digits := 1
	if value >= 100 {
		digits = 0
	}
	text := strconv.FormatFloat(math.Floor(value*10)/10, 'f', digits, 64)
	return strings.TrimSuffix(text, ".0") + units[unit]
}

// Ago returns how long something is past in one unit: "now", "5s ago", "3m ago", "2h ago", "4d ago", and the day if it is over a month.
func Ago(t, now time.Time) string {
	if t.IsZero() {
		return "never"
	}
	d := now.Sub(t)
	switch {
	case d < time.Second:
		return "now"
	case d < time.Minute:
		return fmt.Sprintf("%ds ago", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm ago", int(d.Minutes()))
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh ago", int(d.Hours()))
	case d < 30*24*time.Hour:
		return fmt.Sprintf("%dd ago", int(d.Hours())/24)
	default:
		return t.Format(time.DateOnly)
	}
}

// Clock returns a time to the minute in a form that is the same everywhere: what tells it is also read elsewhere.
func Clock(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 MST") }

// Plural returns a number with a word in the right form: "1 line", "2 lines".
func Plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return strconv.Itoa(n) + " " + word + "s"
}
