package termtest

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"
)

// hostileScreens are screens that are hard to draw.
func hostileScreens() []*Screen {
	return []*Screen{
		Render(20, 4, "plain"),
		Render(20, 4, "\x1b[1;31mred\x1b[m and \x1b[48;5;22mgreen \x1b[7;38;2;1;2;3mrgb\x1b[m\n\x1b]8;;https://a.b\x07link\x1b]8;;\x07"),
		Render(20, 4, "日本語 <&>\"' e\u0301\n\x1b[44m\x1b[K\x1b[m\n\x1b[3;4;9mall\x1b[?25l"),
		Render(20, 4, strings.Repeat("x", 79)+"\x1b[4m  \x1b[m"),
		Render(20, 4, "\x1b[4;20Hz"),
	}
}

// TestFilmShowsWhatWasThere plays a film of screens: each has to come back as it was.
func TestFilmShowsWhatWasThere(t *testing.T) {
	var film Film
	want := hostileScreens()
	for i, s := range want {
		film.Mark(strings.Repeat("m", i))
		film.Show(s, time.Second)
	}
	var file bytes.Buffer
	if err := film.Cast("test").Write(&file); err != nil {
		t.Fatal(err)
	}
	cast, err := ReadCast(&file)
	if err != nil {
		t.Fatal(err)
	}
	frames := cast.Frames(FrameOptions{})
	if len(frames) != len(want) {
		t.Fatalf("%d frames, want %d", len(frames), len(want))
	}
	for i, f := range frames {
		if !f.Screen.same(want[i]) {
			t.Errorf("frame %d is\n%s\nwant\n%s", i, f.Screen, want[i])
		}
		if f.Mark != strings.Repeat("m", i) {
			t.Errorf("frame %d has the mark %q", i, f.Mark)
		}
		if i < len(frames)-1 && f.For != time.Second {
			t.Errorf("frame %d is shown for %v", i, f.For)
		}
	}
}

func TestReplace(t *testing.T) {
	for _, c := range []struct{ in, expression, with, want string }{
		{"took 1.5s now", `[0-9.]+s`, "2s", "took 2s now"},
		{"a a a", `a`, "bcd", "bcd bcd bcd"},
		{"日本 12 語", `[0-9]+`, "3", "日本 3 語"},
		{"x" + strings.Repeat("y", 25) + "17 end", `[0-9]+`, "123", "x" + strings.Repeat("y", 19) + "\n" + strings.Repeat("y", 6) + "123 end"},
		{"pid 12345 " + strings.Repeat("z", 15), `pid [0-9]+`, "pid 1", "pid 1 " + strings.Repeat("z", 14) + "\nz"},
		{"by root", `by (r)oot`, "by $1", "by r"},
		{"nothing", `x`, "y", "nothing"},
	} {
		if got := Render(20, 3, c.in).Replace(regexp.MustCompile(c.expression), c.with).Text(); got != c.want {
			t.Errorf("%q: %q, want %q", c.in, got, c.want)
		}
	}
	s := Render(20, 1, "a \x1b[1m12s\x1b[m b").Replace(regexp.MustCompile(`\d+s`), "7s")
	if !s.Cell(2, 0).Style.Has(Bold) || !s.Cell(3, 0).Style.Has(Bold) || s.Cell(5, 0).Style.Has(Bold) || s.Row(0) != "a 7s b" {
		t.Errorf("styles are lost: %s", s)
	}
}

// TestSVG looks whether the picture is XML, says what is shown, is the same each time, and has nothing in it that runs or is loaded.
func TestSVG(t *testing.T) {
	var film Film
	for _, s := range hostileScreens() {
		film.Show(s, time.Second)
	}
	draw := func(o SVGOptions) string {
		var file, out bytes.Buffer
		if err := film.Cast("test").Write(&file); err != nil {
			t.Fatal(err)
		}
		if err := SVG(&file, &out, o); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	o := SVGOptions{Title: "a <title> & more", Description: "what it is"}
	picture := draw(o)
	if picture != draw(o) {
		t.Error("the same recording gives two pictures")
	}
	var text strings.Builder
	decoder := xml.NewDecoder(strings.NewReader(picture))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.CharData:
			text.Write(token)
		case xml.StartElement:
			if token.Name.Local == "script" || token.Name.Local == "image" || token.Name.Local == "foreignObject" {
				t.Errorf("there is a <%s>", token.Name.Local)
			}
			for _, a := range token.Attr {
				if strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "href" && !strings.HasPrefix(a.Value, "#") {
					t.Errorf("<%s %s=%q>", token.Name.Local, a.Name.Local, a.Value)
				}
			}
		}
	}
	for _, want := range []string{"a <title> & more", "what it is", "plain", "red", "link", "<&>\"'"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is not in the picture", want)
		}
	}
	for _, want := range []string{themeColor(1), "#010203", "prefers-reduced-motion", "@keyframes"} {
		if !strings.Contains(picture, want) {
			t.Errorf("%q is not in the picture", want)
		}
	}
	if still := draw(SVGOptions{Still: true}); strings.Contains(still, "animation:play") || strings.Contains(still, "plain") || !strings.Contains(still, ">z<") {
		t.Errorf("the still picture is %s", still)
	}
}

func TestReadCastRefuses(t *testing.T) {
	for _, in := range []string{
		"", "not JSON", `{"version":1,"width":80,"height":24}`, `{"version":2,"width":80,"height":24}` + "\n[1]",
		`{"version":2,"width":80,"height":24}` + "\n" + `[-1,"o","x"]`, `{"version":2,"width":80,"height":24}` + "\n" + `{"a":1}`,
	} {
		if _, err := ReadCast(strings.NewReader(in)); err == nil {
			t.Errorf("%q is taken for a recording", in)
		}
	}
}

// FuzzReadCast reads anything, and draws what it takes.
func FuzzReadCast(f *testing.F) {
	f.Add([]byte(`{"version":2,"width":8,"height":2}` + "\n" + `[0.1,"o","hello \u001b[31mworld"]` + "\n" + `[0.5,"r","9x9"]` + "\n" + `[1,"m","mark"]`))
	f.Fuzz(func(t *testing.T, in []byte) {
		c, err := ReadCast(bytes.NewReader(in))
		if err != nil || c.Width > 100 || c.Height > 100 || len(c.Events) > 20 || bytes.Contains(in, []byte(`"r"`)) && len(in) > 200 {
			return
		}
		var out bytes.Buffer
		if err := c.SVG(&out, SVGOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := xml.Unmarshal(out.Bytes(), new(struct{})); err != nil {
			t.Fatalf("the picture is no XML: %v", err)
		}
	})
}
