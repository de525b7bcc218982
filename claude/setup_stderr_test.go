package claude

import (
	"slices"
	"strings"
	"testing"
)

func TestStderrTee(t *testing.T) {
	long := strings.Repeat("x", stderrLine+100)
	tests := []struct {
		name   string
		writes []string
		want   []string
	}{
		{"lines", []string{"a\nb\n"}, []string{"a", "b"}},
		{"a line in parts", []string{"a", "b", "\nc"}, []string{"ab", "c"}},
		{"line ends of Windows, empty lines", []string{"a\r\n\r\n\nb\r\n"}, []string{"a", "", "", "b"}},
		{"no end", []string{"a"}, []string{"a"}},
		{"not text", []string{"a\xffb\n"}, []string{"a\uFFFDb"}},
		{"a secret in two parts", []string{"the key is sk-ant-", "abcdefgh.\nvalue hidden-value\n"}, []string{"the key is [redacted].", "value [redacted]"}},
		{"a long line", []string{long, "y\nafter\n"}, []string{long[:stderrLine-stderrSlack], "after"}},
		{"a line of just the length", []string{long[:stderrLine] + "\n"}, []string{long[:stderrLine]}},
		{"nothing", nil, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			end := &tail{}
			tee := &stderrTee{tail: end, redactor: newRedactor([]string{"MY_TOKEN=hidden-value"}), tell: func(line string) { got = append(got, line) }}
			for _, s := range test.writes {
				if n, err := tee.Write([]byte(s)); n != len(s) || err != nil {
					t.Fatalf("Write returned %d, %v", n, err)
				}
			}
			tee.close()
			if !slices.Equal(got, test.want) {
				t.Errorf("got %.200q, expected %.200q", got, test.want)
			}
			if all := strings.Join(test.writes, ""); !strings.HasSuffix(all, string(end.bytes())) || len(all) > 0 && len(end.bytes()) == 0 {
				t.Errorf("the tail is %.100q", end.bytes())
			}
		})
	}
}

// The CLI's words on standard error come line by line, and in the error too.
func TestStderrOfAProcess(t *testing.T) {
	t.Parallel()
	lines := make(chan string, 10)
	p := startFake(t, "fail", "one\ntwo sk-ant-secretsecret\nthree", &Options{Stderr: func(line string) { lines <- line }})
	if err := p.Wait(soon(t)); err == nil || !strings.Contains(err.Error(), "three") {
		t.Errorf("Wait: %v", err)
	}
	for _, want := range []string{"one", "two [redacted]", "three"} {
		select {
		case got := <-lines:
			if got != want {
				t.Errorf("got %q, expected %q", got, want)
			}
		case <-soon(t).Done():
			t.Fatalf("no line, expected %q", want)
		}
	}
}
