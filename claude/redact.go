package claude

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"sync"
)

const (
	// tailShown is how much of a CLI's standard error goes into errors.
	tailShown = 8 << 10
	// tailKept is how much is kept for that: more, because a secret whose
	// beginning has been cut off is not recognised as one. What is cut off
	// then lies far before what is shown.
	tailKept = 4 * tailShown
)

// A tail keeps the end of what is written to it. The zero value is ready to
// use, and it is safe for concurrent use.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

// Write never fails.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(p)
	if n > tailKept {
		p = p[n-tailKept:]
	}
	// Half of the buffer is slack, so that each byte is moved at most once.
	if len(t.buf)+len(p) > 2*tailKept {
		t.buf = append(t.buf[:0], t.buf[len(t.buf)-tailKept:]...)
	}
	t.buf = append(t.buf, p...)
	return n, nil
}

// bytes returns a copy of what is kept.
func (t *tail) bytes() []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return bytes.Clone(t.buf[max(0, len(t.buf)-tailKept):])
}

const redacted = "[redacted]"

var (
	secretPattern = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`sk-ant-[A-Za-z0-9_-]{4,}` +
			`|\bsb_[A-Za-z0-9]+_[A-Za-z0-9_-]{4,}` +
			`|\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?`)
	})
	urlPattern    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(://)[^/\s:@]+:[^/\s@]+@`) })
	bearerPattern = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(bearer\s+|x-api-key["']?\s*[:=]\s*["']?|authorization["']?\s*[:=]\s*["']?(?:(?:basic|bearer)\s+)?)[A-Za-z0-9._~+/=-]{4,}`)
	})
	secretNamePattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH|COOKIE`) })
)

// A redactor takes secrets out of texts that go into errors.
type redactor struct {
	values []string // longest first, so that no part of one remains
}

// newRedactor returns a redactor that also knows the values of the variables
// in env whose names sound like a secret, and the values of secrets.
func newRedactor(env []string, secrets ...string) *redactor {
	r := &redactor{}
	for _, kv := range env {
		if k, v, ok := strings.Cut(kv, "="); ok && secretNamePattern().MatchString(k) {
			secrets = append(secrets, v)
		}
	}
	for _, v := range secrets {
		// Shorter values are words and numbers that turn up anywhere.
		if len(v) >= 8 {
			r.values = append(r.values, v)
		}
	}
	slices.SortFunc(r.values, func(a, b string) int { return len(b) - len(a) })
	return r
}

// redact joins texts, takes the secrets out and returns the end of what
// remains, at most 8 KiB.
func (r *redactor) redact(texts ...[]byte) string {
	s := strings.TrimSpace(r.clean(bytes.Join(texts, []byte("\n"))))
	if len(s) > tailShown {
		s = strings.ToValidUTF8(s[len(s)-tailShown:], "")
	}
	return s
}

// clean takes the secrets out of a text and makes it valid.
func (r *redactor) clean(text []byte) string {
	s := strings.ToValidUTF8(string(text), "\uFFFD")
	for _, v := range r.values {
		s = strings.ReplaceAll(s, v, redacted)
	}
	s = bearerPattern().ReplaceAllString(s, "${1}"+redacted)
	s = urlPattern().ReplaceAllString(s, "${1}"+redacted+"@")
	return secretPattern().ReplaceAllString(s, redacted)
}
