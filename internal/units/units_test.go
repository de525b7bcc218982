package units_test

import (
	"math"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/internal/units"
)

func TestUnits(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct{ name, got, want string }{
		{"no time", units.Duration(0), "0s"},
		{"negative", units.Duration(-5), "0s"},
		{"tenths", units.Duration(1290 * time.Millisecond), "1.2s"},
		{"whole", units.Duration(3 * time.Second), "3s"},
		{"seconds", units.Duration(59999 * time.Millisecond), "59s"},
		{"minutes", units.Duration(185 * time.Second), "3m 05s"},
		{"hours", units.Duration(130 * time.Minute), "2h 10m"},
		{"days", units.Duration(99 * time.Hour), "4d 3h"},
		{"nothing", units.Money(0), "$0.00"},
		{"tiny", units.Money(0.00001), "<$0.0001"},
		{"cents", units.Money(0.0423), "$0.0423"},
		{"dollars", units.Money(12.345), "$12.35"},
		{"back", units.Money(-2), "-$2.00"},
		{"no number", units.Money(math.NaN()), "$?"},
		{"tokens", units.Tokens(950), "950"},
		{"thousands", units.Tokens(12345), "12.3k"},
		{"many", units.Tokens(123456), "123k"},
		{"millions", units.Tokens(2000000), "2M"},
		{"beyond", units.Tokens(math.MaxInt64), "9223372037G"},
		{"bytes", units.Size(512), "512 B"},
		{"kibibytes", units.Size(1536), "1.5 KiB"},
		{"mebibytes", units.Size(10 << 20), "10 MiB"},
		{"negative bytes", units.Size(math.MinInt64), "-8388608 TiB"},
		{"one", units.Plural(1, "line"), "1 line"},
		{"several", units.Plural(2, "line"), "2 lines"},
		{"clock", units.Clock(now.In(time.FixedZone("", 3600))), "2026-05-01 12:00 UTC"},
		{"never", units.Ago(time.Time{}, now), "never"},
		{"now", units.Ago(now.Add(time.Hour), now), "now"},
		{"seconds ago", units.Ago(now.Add(-5*time.Second), now), "5s ago"},
		{"minutes ago", units.Ago(now.Add(-5*time.Minute), now), "5m ago"},
		{"hours ago", units.Ago(now.Add(-5*time.Hour), now), "5h ago"},
		{"days ago", units.Ago(now.Add(-50*time.Hour), now), "2d ago"},
		{"long ago", units.Ago(now.AddDate(0, -3, 0), now), "2026-02-01"},
	} {
		if test.got != test.want {
			t.Errorf("%s: %q, want %q", test.name, test.got, test.want)
		}
	}
}
