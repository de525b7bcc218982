package console

import (
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"sync"
)

const (
	index = "index.html"
	// placeholder is where the page has the number that marks the styles of this answer as ours.
	placeholder = "__NONCE__"
	// hashed is the folder of the files whose names change with what is in them.
	hashed = "assets/"
	svg    = "image/svg+xml"
	// maxFile bounds what is read of a folder that another user may have put together.
	maxFile = 32 << 20
)

// A Handler serves the console. It reads each file once and keeps it, also compressed.
type Handler struct {
	// Static after construction.
	files fs.FS
	fresh bool

	// Guarded by mu.
	mu   sync.Mutex
	read map[string]*file
}

// A file is what is served under a name.
type file struct {
	plain  []byte
	packed []byte // with gzip; nil if that is no shorter
	kind   string
	tag    string
}

// New returns a handler for the files of a console: index.html and what it names. With fresh they are read again for each request, which is
// for developers who work on them.
func New(files fs.FS, fresh bool) (*Handler, error) {
	h := &Handler{files: files, fresh: fresh, read: make(map[string]*file)}
	page, err := h.file(index)
	if err != nil {
		return nil, fmt.Errorf("reading the console: %w", err)
	}
	if !bytes.Contains(page.plain, []byte(placeholder)) {
		return nil, fmt.Errorf("reading the console: %s has no %s: it is not one that was built", index, placeholder)
	}
	return h, nil
}

// Has reports whether there is a file for this path of a request.
func (h *Handler) Has(urlPath string) bool {
	name, ok := fileName(urlPath)
	if !ok {
		return false
	}
	_, err := h.file(name)
	return err == nil
}

// ServeHTTP serves a file. A missing file is reported in plain words.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Referrer-Policy", "no-referrer")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		header.Set("Allow", "GET, HEAD")
		http.Error(w, "The console's files can only be read.", http.StatusMethodNotAllowed)
		return
	}
	name, ok := fileName(r.URL.Path)
	if !ok {
		http.NotFound(w, r)
		return
	}
	f, err := h.file(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		http.NotFound(w, r)
	case err != nil:
		http.Error(w, "The console cannot be read.", http.StatusInternalServerError)
	case name == index:
		h.page(w, r, f)
	default:
		serve(w, r, name, f)
	}
}

// fileName returns the name of the file that a path means.
func fileName(urlPath string) (string, bool) {
	name := strings.TrimPrefix(path.Clean(urlPath), "/")
	if name == "" {
		name = index
	}
	return name, fs.ValidPath(name) && !strings.Contains("/"+name, "/.") // nothing hidden, nor in a hidden folder
}

// page serves the page itself. It is never kept by a browser: another one goes with each answer, and the next version's has other files.
func (h *Handler) page(w http.ResponseWriter, r *http.Request, f *file) {
	var random [18]byte
	_, _ = rand.Read(random[:]) // never fails
	nonce := base64.StdEncoding.EncodeToString(random[:])
	header := w.Header()
	header.Set("Content-Security-Policy", policy(nonce))
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()")
	header.Set("X-Frame-Options", "DENY")
	header.Set("Cache-Control", "no-store")
	header.Set("Content-Type", f.kind)
	if r.Method == http.MethodHead {
		return
	}
	_, _ = w.Write(bytes.ReplaceAll(f.plain, []byte(placeholder), []byte(nonce))) // the client may be gone
}

// policy is what the page may do. Styles with the nonce are those that the library of controls makes while it runs; images of the agents
// come as data.
func policy(nonce string) string {
	return strings.Join([]string{
		"default-src 'none'", "script-src 'self'", "style-src 'self' 'nonce-" + nonce + "'", "img-src 'self' data: blob:", "font-src 'self'",
		"connect-src 'self'", "manifest-src 'self'", "worker-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
		"require-trusted-types-for 'script'", "trusted-types switchboard",
	}, "; ")
}

// serve serves a file other than the page.
func serve(w http.ResponseWriter, r *http.Request, name string, f *file) {
	header := w.Header()
	header.Set("Content-Type", f.kind)
	header.Set("Vary", "Accept-Encoding")
	header.Set("ETag", f.tag)
	if f.kind == svg {
		// Opened by itself it is a document that could run scripts.
		header.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox")
	}
	if strings.HasPrefix(name, hashed) {
		header.Set("Cache-Control", "public, max-age=31536000, immutable")
	} else {
		header.Set("Cache-Control", "no-cache")
	}
	if r.Header.Get("If-None-Match") == f.tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	body := f.plain
	if f.packed != nil && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		header.Set("Content-Encoding", "gzip")
		body = f.packed
	}
	header.Set("Content-Length", fmt.Sprint(len(body)))
	if r.Method == http.MethodHead {
		return
	}
	_, _ = w.Write(body) // the client may be gone
}

// file reads a file, or returns what was read of it.
func (h *Handler) file(name string) (*file, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if f := h.read[name]; f != nil && !h.fresh {
		return f, nil
	}
	info, err := fs.Stat(h.files, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return nil, fs.ErrNotExist
	}
	plain, err := fs.ReadFile(h.files, name)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(plain)
	f := &file{plain: plain, packed: pack(plain), kind: contentType(name), tag: `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`}
	h.read[name] = f
	return f, nil
}

// pack compresses what is worth it.
func pack(plain []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(plain); err != nil {
		return nil // cannot happen: it is memory
	}
	if err := z.Close(); err != nil || b.Len() >= len(plain) {
		return nil
	}
	return b.Bytes()
}

// contentType returns the type by the name alone: what the machine's own table says of .js differs from machine to machine.
func contentType(name string) string {
	switch ext := path.Ext(name); ext {
	case ".html":
		return "text/html; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".svg":
		return svg
	case ".png":
		return "image/png"
	case ".webmanifest":
		return "application/manifest+json"
	case ".json":
		return "application/json"
	case ".txt":
		return "text/plain; charset=utf-8"
	default:
		if kind := mime.TypeByExtension(ext); kind != "" {
			return kind
		}
		return "application/octet-stream"
	}
}
