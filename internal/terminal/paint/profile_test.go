package paint_test

import (
	"os"
	"testing"

	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
)

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
