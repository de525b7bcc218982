package paint_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
)

const (
	before = "package main\n\nfunc main() {\n\tprintln(1)\n}\n\n// a\n// b\n// c\n// d\n// e\n// f\n// g\nvar x = 1\n"
	after  = "package main\n\nfunc main() {\n\tprintln(1, 2)\n\tprintln(\"a rather long line that does not fit into forty columns\")\n}\n\n// a\n// b\n// c\n// d\n// e\n// f\n// g\nvar x = \"日本語\"\n"
)

func TestDiff(t *testing.T) {
	for _, width := range []int{40, 80, 120} {
		for _, color := range []bool{false, true} {
			name := fmt.Sprintf("diff/%d.txt", width)
			if color {
				name = fmt.Sprintf("diff/%d-color.txt", width)
			}
			t.Run(name, func(t *testing.T) {
				s, o := styles(color), paint.DiffOptions{Width: width}
				lines := s.Diff("main.go", before, after, o)
				lines = append(lines, s.Diff("new.go", "", "package x\n", o)...)
				lines = append(lines, s.Diff("gone.go", "package x\nvar y int", "", o)...)
				lines = append(lines, s.Diff("same.go", before, before, o)...)
				lines = append(lines, s.Diff("bad.go", "a\x1b[2J\n", "a\x1b]0;x\a\r\n\u202eb", o)...)
				lines = append(lines, s.Diff("", "a\nb\nc\n", "a\nB\nc\n", paint.DiffOptions{Width: width, Context: 1})...)
				hunks, ok := s.Hunks(json.RawMessage(`[{"oldStart":9,"oldLines":2,"newStart":9,"newLines":2,"lines":[" same","-old","+new \u001b[2J","\\ No newline at end of file"]},{"oldStart":120,"newStart":120,"lines":["+x\ny"]}]`), o)
				if !ok {
					t.Error("no hunks")
				}
				lines = append(lines, hunks...)
				checkLines(t, lines, width, color)
				golden(t, name, visible(lines))
			})
		}
	}
}

func TestNoHunks(t *testing.T) {
	for _, patch := range []string{"", "null", "[]", "{}", `"x"`, "[1]", "{"} {
		if lines, ok := styles(false).Hunks(json.RawMessage(patch), paint.DiffOptions{}); ok {
			t.Errorf("%s: %v", patch, lines)
		}
	}
}

// TestLargeDiff holds that large files are not compared, and that many changes are not all shown.
func TestLargeDiff(t *testing.T) {
	s := styles(false)
	large := strings.Repeat("0123456789\n", 1<<20)
	lines := s.Diff("x", large, large+"y\n", paint.DiffOptions{Width: 120})
	if len(lines) != 1 || !strings.Contains(lines[0], "11 MiB in 1048576 lines") {
		t.Errorf("%d lines, the first %q", len(lines), lines[0])
	}
	var a, b strings.Builder
	for i := range 40000 {
		fmt.Fprintf(&a, "a%d\n", i)
		fmt.Fprintf(&b, "b%d\n", i)
	}
	if lines := s.Diff("x", a.String(), b.String(), paint.DiffOptions{}); len(lines) != 402 || lines[0] != "x +40000 -40000" {
		t.Errorf("%d lines, the first %q, the last %q", len(lines), lines[0], lines[len(lines)-1])
	}
	if lines := s.Diff("x", a.String(), b.String(), paint.DiffOptions{Lines: 7}); len(lines) != 9 || !strings.Contains(lines[8], "80000 changed lines in all") {
		t.Errorf("%d lines: %q", len(lines), lines)
	}
	long := s.Diff("x", "", strings.Repeat("x", 1<<20), paint.DiffOptions{Width: 80})
	checkLines(t, long, 80, false)
}

func FuzzDiff(f *testing.F) {
	f.Add(before, after, `[{"oldStart":1,"newStart":1,"lines":["-a"]}]`, 40)
	f.Add(before, after, `[{"oldStart":100,"lines":["-a"]},{"oldStart":200,"lines":["\\a"]}]`, 1)
	for _, text := range nasty {
		f.Add(text, "x\n"+text, `[{"lines":["`+strings.ToValidUTF8(text, "")+`"]}]`, 20)
	}
	f.Fuzz(func(t *testing.T, before, after, patch string, width int) {
		width %= 150
		for _, color := range []bool{false, true} {
			o := paint.DiffOptions{Width: width}
			checkLines(t, styles(color).Diff(before, before, after, o), max(width, 0), color)
			hunks, _ := styles(color).Hunks(json.RawMessage(patch), o)
			checkLines(t, hunks, max(width, 0), color)
		}
	})
}
