package console

import (
	"compress/gzip"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// built is a console as it might have been built.
func built() fstest.MapFS {
	return fstest.MapFS{
		"index.html":           {Data: []byte(`<meta property="csp-nonce" nonce="__NONCE__"><script type="module" src="./assets/main-1a2b.js"></script>`)},
		"assets/main-1a2b.js":  {Data: []byte(strings.Repeat("console.log(1);\n", 100))},
		"assets/main-1a2b.css": {Data: []byte("a{}")},
		"icon.svg":             {Data: []byte("<svg/>")},
		"manifest.webmanifest": {Data: []byte("{}")},
		".secret":              {Data: []byte("no")},
		".hidden/config":       {Data: []byte("no")},
	}
}

func get(t *testing.T, h http.Handler, method, path string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, "http://127.0.0.1:8765"+path, http.NoBody)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestFiles(t *testing.T) {
	h, err := New(built(), false)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		method, path string
		status       int
		kind, cache  string
	}{
		{"GET", "/", 200, "text/html; charset=utf-8", "no-store"},
		{"GET", "/index.html", 200, "text/html; charset=utf-8", "no-store"},
		{"HEAD", "/", 200, "text/html; charset=utf-8", "no-store"},
		{"GET", "/assets/main-1a2b.js", 200, "text/javascript; charset=utf-8", "public, max-age=31536000, immutable"},
		{"GET", "/assets/main-1a2b.css", 200, "text/css; charset=utf-8", "public, max-age=31536000, immutable"},
		{"GET", "/icon.svg", 200, "image/svg+xml", "no-cache"},
		{"GET", "/manifest.webmanifest", 200, "application/manifest+json", "no-cache"},
		{"GET", "/assets", 404, "", ""},
		{"GET", "/assets/", 404, "", ""},
		{"GET", "/other.js", 404, "", ""},
		{"GET", "/.secret", 404, "", ""},
		{"GET", "/assets/../.secret", 404, "", ""},
		{"GET", "/.hidden/config", 404, "", ""},
		{"GET", "/../../etc/passwd", 404, "", ""},
		{"POST", "/", 405, "", ""},
		{"DELETE", "/icon.svg", 405, "", ""},
	}
	for _, test := range tests {
		t.Run(test.method+test.path, func(t *testing.T) {
			got := get(t, h, test.method, test.path)
			if got.Code != test.status {
				t.Fatalf("the status is %d, want %d", got.Code, test.status)
			}
			if h.Has(test.path) != (test.status != 404) {
				t.Errorf("Has says %v", h.Has(test.path))
			}
			if test.status == 200 && (got.Header().Get("Content-Type") != test.kind || got.Header().Get("Cache-Control") != test.cache) {
				t.Errorf("it is %q, to be kept %q", got.Header().Get("Content-Type"), got.Header().Get("Cache-Control"))
			}
			if got.Header().Get("X-Content-Type-Options") != "nosniff" {
				t.Error("a browser may guess what it is")
			}
		})
	}
}

// TestPolicy: what the page may do is spelt out, and the number that marks its styles is never the same.
func TestPolicy(t *testing.T) {
	h, err := New(built(), false)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for range 3 {
		got := get(t, h, "GET", "/")
		page := got.Body.String()
		policy := got.Header().Get("Content-Security-Policy")
		found := regexp.MustCompile(`style-src 'self' 'nonce-([A-Za-z0-9+/]{24})'`).FindStringSubmatch(policy)
		if found == nil || !strings.Contains(page, `nonce="`+found[1]+`"`) || strings.Contains(page, placeholder) {
			t.Fatalf("the page is %s, with the policy %q", page, policy)
		}
		seen[found[1]] = true
		for _, want := range []string{
			"default-src 'none'", "script-src 'self';", "connect-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'",
			"require-trusted-types-for 'script'",
		} {
			if !strings.Contains(policy, want) {
				t.Errorf("the policy lacks %s: %s", want, policy)
			}
		}
		if strings.Contains(policy, "unsafe") {
			t.Errorf("the policy is %s", policy)
		}
	}
	if len(seen) != 3 {
		t.Errorf("a number came twice: %v", seen)
	}
	if icon := get(t, h, "GET", "/icon.svg").Header().Get("Content-Security-Policy"); !strings.Contains(icon, "sandbox") {
		t.Errorf("a picture that is opened by itself may run scripts: %q", icon)
	}
}

func TestCompressed(t *testing.T) {
	h, err := New(built(), false)
	if err != nil {
		t.Fatal(err)
	}
	want := string(built()["assets/main-1a2b.js"].Data)
	got := get(t, h, "GET", "/assets/main-1a2b.js", "Accept-Encoding", "gzip, br")
	if got.Header().Get("Content-Encoding") != "gzip" || got.Body.Len() >= len(want) {
		t.Fatalf("%d bytes, encoded %q", got.Body.Len(), got.Header().Get("Content-Encoding"))
	}
	unpacked, err := gzip.NewReader(got.Body)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(unpacked)
	if err != nil || string(text) != want {
		t.Errorf("it is %q, %v", text, err)
	}
	plain := get(t, h, "GET", "/assets/main-1a2b.js")
	if plain.Body.String() != want || plain.Header().Get("Content-Encoding") != "" {
		t.Errorf("without being asked for: %q", plain.Header().Get("Content-Encoding"))
	}
	// What would not get shorter is sent as it is.
	if got := get(t, h, "GET", "/icon.svg", "Accept-Encoding", "gzip"); got.Header().Get("Content-Encoding") != "" {
		t.Error("six bytes were compressed")
	}
	if again := get(t, h, "GET", "/icon.svg", "If-None-Match", get(t, h, "GET", "/icon.svg").Header().Get("ETag")); again.Code != http.StatusNotModified {
		t.Errorf("what the browser has is sent again: %d", again.Code)
	}
}

func TestNotBuilt(t *testing.T) {
	other := built()
	other["index.html"] = &fstest.MapFile{Data: []byte("<h1>Hello</h1>")}
	for name, files := range map[string]fs.FS{"nothing": fstest.MapFS{}, "another page": other} {
		if _, err := New(files, false); err == nil || !strings.Contains(err.Error(), "reading the console") {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
}

// TestFresh: whoever works on the console sees what they have just built.
func TestFresh(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("index.html", placeholder)
	write("a.txt", "one")
	for fresh, want := range map[bool]string{true: "two", false: "one"} {
		write("a.txt", "one")
		h, err := New(os.DirFS(folder), fresh)
		if err != nil {
			t.Fatal(err)
		}
		get(t, h, "GET", "/a.txt")
		write("a.txt", "two")
		if text := get(t, h, "GET", "/a.txt").Body.String(); text != want {
			t.Errorf("fresh %v: it is %q", fresh, text)
		}
	}
}
