package wire

import (
	"strings"
	"testing"
)

func TestParseVersion(t *testing.T) {
	tests := []struct {
		in   string
		want Version
	}{
		{"2.1.37", Version{2, 1, 37}},
		{"v2.1.37", Version{2, 1, 37}},
		{"2.1.37 (Claude Code)", Version{2, 1, 37}},
		{"2.1.325 (Claude Code)\n", Version{2, 1, 325}},
		{"2.1.37 (Claude Code)\r\n", Version{2, 1, 37}},
		{"  2.1.37\t", Version{2, 1, 37}},
		{"2.1.37-beta.1", Version{2, 1, 37}},
		{"2.1.37+build5", Version{2, 1, 37}},
		{"2.1.37(x)", Version{2, 1, 37}},
		{"0.0.1", Version{0, 0, 1}},
		{"02.001.0", Version{2, 1, 0}},
		{"999999.999999.999999", Version{999999, 999999, 999999}},
	}
	for _, tt := range tests {
		got, err := ParseVersion(tt.in)
		if err != nil || got != tt.want {
			t.Errorf("ParseVersion(%q) = %v, %v; want %v", tt.in, got, err, tt.want)
		}
	}
}

func TestParseVersionRefuses(t *testing.T) {
	for _, in := range []string{
		"", " ", "2", "2.1", "2.1.", "2.1.x", "2.1.37.4", "2.1.37beta", "a2.1.37", "V2.1.37", "vv2.1.37", "-2.1.37",
		"2.1.-37", "2 .1.37", "Claude Code 2.1.37", "1234567.0.0", "2.1.٣", strings.Repeat("9", 1000),
	} {
		got, err := ParseVersion(in)
		if err == nil {
			t.Errorf("%q was read as %v", in, got)
			continue
		}
		if got != (Version{}) || !strings.Contains(err.Error(), "expected three numbers") || len(err.Error()) > 200 {
			t.Errorf("%q: %v, error %q", in, got, err)
		}
	}
}

func TestVersionOrder(t *testing.T) {
	ordered := []Version{{}, {0, 0, 1}, {1, 9, 9}, {2, 0, 500}, {2, 1, 37}, {2, 1, 120}, {2, 1, 325}, {2, 10, 0}, {10, 0, 0}}
	for i, v := range ordered {
		for j, w := range ordered {
			want := 0
			switch {
			case i < j:
				want = -1
			case i > j:
				want = 1
			}
			if got := v.Compare(w); got != want {
				t.Errorf("%v.Compare(%v) = %d, want %d", v, w, got, want)
			}
			if got := v.AtLeast(w.Major, w.Minor, w.Patch); got != (want >= 0) {
				t.Errorf("%v.AtLeast(%v) = %v", v, w, got)
			}
		}
	}
}

func TestVersionString(t *testing.T) {
	for in, want := range map[Version]string{{}: "unknown", {2, 1, 37}: "2.1.37", {0, 0, 1}: "0.0.1"} {
		if got := in.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if in.IsZero() != (want == "unknown") {
			t.Errorf("%s: IsZero is %v", want, in.IsZero())
		}
	}
	// An unknown version is treated as the oldest one.
	if (Version{}).AtLeast(2, 1, 37) {
		t.Error("an unknown version is at least something")
	}
	v := Version{2, 1, 120}
	if back, err := ParseVersion(v.String()); err != nil || back != v {
		t.Errorf("%v is read as %v, %v", v, back, err)
	}
}
