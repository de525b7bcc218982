package claude

import (
	"strings"
	"testing"
)

func TestRedact(t *testing.T) {
	r := newRedactor([]string{
		"MY_API_KEY=plain-value-1", "DB_PASSWORD=hunter22", "SHORT_TOKEN=abc", "HOME=/home/somebody", "LONG_SECRET=plain-value-1-and-more", "malformed",
	}, "given-secret")
	tests := []struct{ in, want string }{
		{"nothing to hide in /home/somebody", "nothing to hide in /home/somebody"},
		{"key sk-ant-api03-AbC_d-e.", "key [redacted]."},
		{"key=sk-ant-oat01-xyz12345\nnext", "key=[redacted]\nnext"},
		{"Authorization: Bearer abc.DEF-123=", "Authorization: Bearer [redacted]"},
		{`{"authorization":"Bearer abcdef"}`, `{"authorization":"Bearer [redacted]"}`},
		{"authorization: Basic dXNlcjpwYXNz", "authorization: Basic [redacted]"},
		{"bearer abcdefgh", "bearer [redacted]"},
		{"x-api-key: abcdefgh", "x-api-key: [redacted]"},
		{"token sb_ab12_Zm9vYmFy end", "token [redacted] end"},
		{"jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc", "jwt [redacted]"},
		{"http://user:pass@host/x", "http://[redacted]@host/x"},
		{"plain-value-1 hunter22 given-secret", "[redacted] [redacted] [redacted]"},
		{"plain-value-1-and-more", "[redacted]"},
		{"abc is a word", "abc is a word"},
		{"bad \xff byte", "bad \uFFFD byte"},
	}
	for _, test := range tests {
		if got := r.redact([]byte(test.in)); got != test.want {
			t.Errorf("redact(%q) = %q, expected %q", test.in, got, test.want)
		}
	}
}

func TestTailKeepsTheEnd(t *testing.T) {
	var all strings.Builder
	var kept tail
	for i := range 5000 {
		s := strings.Repeat(string(rune('a'+i%26)), 1+i%97)
		all.WriteString(s)
		if n, err := kept.Write([]byte(s)); n != len(s) || err != nil {
			t.Fatal(n, err)
		}
	}
	want := all.String()
	if got := string(kept.bytes()); got != want[len(want)-tailKept:] {
		t.Errorf("%d bytes are kept, which are not the last ones", len(got))
	}
	huge := strings.Repeat("0123456789", tailKept)
	if _, err := kept.Write([]byte(huge)); err != nil {
		t.Fatal(err)
	}
	if got := string(kept.bytes()); got != huge[len(huge)-tailKept:] {
		t.Error("the end of one long write is not kept")
	}
	// A secret whose beginning has been cut off must not be shown.
	var cut tail
	_, _ = cut.Write([]byte("sk-ant-" + strings.Repeat("s", 2*tailShown) + "\n" + strings.Repeat("x", tailKept-tailShown-2) + "\n"))
	if got := newRedactor(nil).redact(cut.bytes()); strings.Contains(got, "s") || len(got) > tailShown {
		t.Errorf("%d bytes are shown, with a part of a secret: %v", len(got), strings.Contains(got, "s"))
	}
}
