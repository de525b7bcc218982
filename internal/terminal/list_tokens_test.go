package terminal

import (
	"strings"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
)

// TestTokens: a list of tokens fits a terminal of 80 columns, one row each, with what matters in it.
func TestTokens(t *testing.T) {
	now := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	all := []string{"observe", "prompt", "approve", "admin"}
	list := []api.Token{
		{ID: "k3v7q2xa", Name: "admin", Scopes: all, Kind: "admin", Created: now.Add(-time.Hour)},
		{ID: "w5x2m7q3", Name: "Samsung Internet on Android", Scopes: all[:3], Kind: "device", Created: now.Add(-400 * 24 * time.Hour), Expires: now.Add(29 * 24 * time.Hour), Used: now.Add(-59 * time.Minute)},
		{ID: "w5x2m7q4", Name: "ci", Scopes: all, Created: now, Expires: now.Add(-time.Hour)},
	}
	v := &View{Styles: paint.Profile{Width: 80}.Styles(), Terminal: true, Headings: true, Now: now}
	lines := v.Tokens(list)
	if len(lines) != 4 {
		t.Fatalf("%d lines:\n%s", len(lines), strings.Join(lines, "\n"))
	}
	for _, line := range lines {
		if paint.Width(line) > 80 {
			t.Errorf("wider than the terminal: %q", line)
		}
	}
	for i, wants := range [][]string{{"LAST USED"}, {"k3v7q2xa", " all ", "never"}, {"w5x2m7q3", "Samsung", "device", "in 29d", "59m ago"}, {"ci", "expired", "never"}} {
		for _, want := range wants {
			if !strings.Contains(lines[i], want) {
				t.Errorf("line %d lacks %q: %s", i, want, lines[i])
			}
		}
	}
	if strings.HasSuffix(lines[1], "never") {
		t.Errorf("the last use of the admin token is not kept, but the list says: %s", lines[1])
	}
	v.Styles, v.Terminal = paint.Profile{}.Styles(), false
	if got := strings.Join(v.Tokens(list), "\n"); !strings.Contains(got, "observe,prompt,approve,admin") || !strings.Contains(got, "2026-06-30T12:00:00Z") {
		t.Errorf("in a pipe:\n%s", got)
	}
}

// TestQR reads the lines back: light where the code is light, with a margin of four.
func TestQR(t *testing.T) {
	modules := []string{"101", "010", "111"}
	v := &View{Styles: paint.Profile{}.Styles()}
	var rows []string
	for _, line := range v.QR(modules) {
		upper := strings.NewReplacer("█", "0", "▀", "0", "▄", "1", " ", "1").Replace(line)
		lower := strings.NewReplacer("█", "0", "▀", "1", "▄", "0", " ", "1").Replace(line)
		rows = append(rows, upper, lower)
	}
	if len(rows) != 12 {
		t.Fatalf("%d rows", len(rows))
	}
	for y, row := range rows[:11] {
		want := strings.Repeat("0", 11)
		if y >= 4 && y < 7 {
			want = "0000" + modules[y-4] + "0000"
		}
		if row != want {
			t.Errorf("row %d is %s, want %s", y, row, want)
		}
	}
	v.Styles = paint.Profile{Color: true}.Styles()
	if line := v.QR(modules)[0]; !strings.HasPrefix(line, "\x1b[") || !strings.HasSuffix(line, "\x1b[0m") {
		t.Errorf("in colour: %q", line)
	}
}
