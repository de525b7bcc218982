package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
)

func TestCleanJSON(t *testing.T) {
	for _, text := range []string{"", "hello", evil, "\x00\x7f\u0085\u009b\u200b\u202e\u2066\ufeff\U000e0041 <&> \u2028", strings.Repeat("ü", 100)} {
		encoded, err := json.Marshal(map[string]string{"a": text})
		if err != nil {
			t.Fatal(err)
		}
		got := paint.CleanJSON(encoded)
		var back map[string]string
		if err := json.Unmarshal(got, &back); err != nil || back["a"] != text {
			t.Errorf("%q became %q: %v", text, back["a"], err)
		}
		for _, r := range string(got) {
			if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
				t.Errorf("%U is still there: %q", r, got)
			}
		}
	}
}

func TestSinceTime(t *testing.T) {
	now := time.Date(2026, 11, 15, 12, 0, 0, 0, time.Local)
	for text, want := range map[string]time.Time{
		"":                     {},
		"90m":                  now.Add(-90 * time.Minute),
		"7d":                   now.Add(-7 * 24 * time.Hour),
		"1.5d":                 now.Add(-36 * time.Hour),
		"2026-11-01":           time.Date(2026, 11, 1, 0, 0, 0, 0, time.Local),
		"2026-11-01 08:30":     time.Date(2026, 11, 1, 8, 30, 0, 0, time.Local),
		"2026-11-01T08:30:00Z": time.Date(2026, 11, 1, 8, 30, 0, 0, time.UTC),
		"08:30":                time.Date(2026, 11, 15, 8, 30, 0, 0, time.Local),
	} {
		if got, err := sinceTime("--since", text, now); err != nil || !got.Equal(want) {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"soon", "-5m", "-1d", "99999999d", "d", "2026-13-01", "25:00"} {
		if got, err := sinceTime("--since", text, now); err == nil || !strings.Contains(err.Error(), "--since") {
			t.Errorf("%q is taken for %v", text, got)
		}
	}
}

// TestCleanWriter writes in pieces of every size: what comes out is the same, and harmless.
func TestCleanWriter(t *testing.T) {
	text := strings.Repeat("漢字 "+evil+" line\n", 3) + "the end " + strings.Repeat("é", 100)
	var want string
	for size := 1; size <= len(text); size = size*2 + 1 {
		var b strings.Builder
		w := &cleanWriter{w: &b}
		for rest := text; rest != ""; {
			n := min(size, len(rest))
			if _, err := w.Write([]byte(rest[:n])); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsAny(b.String(), "\x1b\a\u202e\u009b") {
			t.Fatalf("pieces of %d: %q", size, b.String())
		}
		if want == "" {
			want = b.String()
		}
		if b.String() != want {
			t.Errorf("pieces of %d: %q, want %q", size, b.String(), want)
		}
	}
	var b strings.Builder
	w := &cleanWriter{w: &b}
	long := strings.Repeat("é", cleanMost)
	for range 4 {
		if _, err := w.Write([]byte("x" + long)); err != nil {
			t.Fatal(err)
		}
	}
	if len(w.rest) > 8 {
		t.Errorf("%d bytes of a line without an end are kept", len(w.rest))
	}
	if err := w.Close(); err != nil || b.String() != strings.Repeat("x"+long, 4) {
		t.Errorf("a long line: %v, %d bytes", err, b.Len())
	}
}
