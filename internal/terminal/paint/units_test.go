package paint_test

import (
	"math"
	"os"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
)

func TestUnits(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct{ name, got, want string }{
		{"no time", paint.Duration(0), "0s"},
		{"negative", paint.Duration(-5), "0s"},
		{"tenths", paint.Duration(1290 * time.Millisecond), "1.2s"},
		{"whole", paint.Duration(3 * time.Second), "3s"},
		{"seconds", paint.Duration(59999 * time.Millisecond), "59s"},
		{"minutes", paint.Duration(185 * time.Second), "3m 05s"},
		{"hours", paint.Duration(130 * time.Minute), "2h 10m"},
		{"days", paint.Duration(99 * time.Hour), "4d 3h"},
		{"nothing", paint.Money(0), "$0.00"},
		{"tiny", paint.Money(0.00001), "<$0.0001"},
		{"cents", paint.Money(0.0423), "$0.0423"},
		{"dollars", paint.Money(12.345), "$12.35"},
		{"back", paint.Money(-2), "-$2.00"},
		{"no number", paint.Money(math.NaN()), "$?"},
		{"tokens", paint.Tokens(950), "950"},
		{"thousands", paint.Tokens(12345), "12.3k"},
		{"many", paint.Tokens(123456), "123k"},
		{"millions", paint.Tokens(2000000), "2M"},
		{"beyond", paint.Tokens(math.MaxInt64), "9223372037G"},
		{"bytes", paint.Size(512), "512 B"},
		{"kibibytes", paint.Size(1536), "1.5 KiB"},
		{"mebibytes", paint.Size(10 << 20), "10 MiB"},
		{"negative bytes", paint.Size(math.MinInt64), "-8388608 TiB"},
		{"never", paint.Ago(time.Time{}, now), "never"},
		{"now", paint.Ago(now.Add(time.Hour), now), "now"},
		{"seconds ago", paint.Ago(now.Add(-5*time.Second), now), "5s ago"},
		{"minutes ago", paint.Ago(now.Add(-5*time.Minute), now), "5m ago"},
		{"hours ago", paint.Ago(now.Add(-5*time.Hour), now), "5h ago"},
		{"days ago", paint.Ago(now.Add(-50*time.Hour), now), "2d ago"},
		{"long ago", paint.Ago(now.AddDate(0, -3, 0), now), "2026-02-01"},
	} {
		if test.got != test.want {
			t.Errorf("%s: %q, want %q", test.name, test.got, test.want)
		}
	}
}

func TestDetect(t *testing.T) {
	pipe, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	defer write.Close()
	tests := []struct {
		name   string
		out    any
		env    map[string]string
		choice string
		want   paint.Profile
	}{
		{"a pipe", write, nil, "auto", paint.Profile{Dark: true}},
		{"no file", nil, nil, "", paint.Profile{Dark: true}},
		{"asked for", write, map[string]string{"NO_COLOR": "1", "TERM": "dumb"}, "always", paint.Profile{Color: true, Dark: true}},
		{"forced", write, map[string]string{"CLICOLOR_FORCE": "1"}, "auto", paint.Profile{Color: true, Dark: true}},
		{"not forced", write, map[string]string{"CLICOLOR_FORCE": "0"}, "auto", paint.Profile{Dark: true}},
		{"forced and forbidden", write, map[string]string{"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}, "auto", paint.Profile{Dark: true}},
		{"never", write, map[string]string{"CLICOLOR_FORCE": "1"}, "never", paint.Profile{Dark: true}},
		{"light", write, map[string]string{"COLORFGBG": "0;15"}, "auto", paint.Profile{}},
		{"dark", write, map[string]string{"COLORFGBG": "15;default;0"}, "auto", paint.Profile{Dark: true}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := paint.Detect(test.out, func(name string) string { return test.env[name] }, test.choice); got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

// TestNoColor holds that nothing is put around a text where there are no colours.
func TestNoColor(t *testing.T) {
	s := paint.Profile{}.Styles()
	for _, text := range []string{s.Bad.Render("x"), s.Key.Render("x"), s.User.Render("x"), s.Selected.Render("x"), paint.Stroke(s.Dim)("x")} {
		if text != "x" {
			t.Errorf("%q", text)
		}
	}
	if got := paint.Stroke(paint.Profile{Color: true}.Styles().Bad)("x"); got != "\x1b[31mx\x1b[m" {
		t.Errorf("%q", got)
	}
}
