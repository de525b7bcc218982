package node

import (
	"crypto/ed25519"
	"errors"
	"math"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The bounds of what a node says about itself.
const (
	maxWord   = 128
	maxPath   = 4096
	maxReason = 1024
	maxOwn    = 64
	maxCLIs   = 16
	// MaxSpools is how many names of files that shims have left are told at once.
	MaxSpools = 256
)

// Facts are what a node says of itself. They are bounded by Decode: what is too long is
// cut, what makes no sense is left out.
type Facts struct {
	Version  string `json:"version,omitempty"`
	OS       string `json:"os,omitempty"`
	Arch     string `json:"arch,omitempty"`
	Hostname string `json:"hostname,omitempty"`
	// CLIs are those that it has found, the one that sessions run first.
	CLIs []CLI `json:"clis,omitempty"`
	// Sandbox is the name of what enforces sandboxes there.
	Sandbox string  `json:"sandbox,omitempty"`
	CPUs    int     `json:"cpus,omitempty"`
	Load    float64 `json:"load,omitempty"`
	// MemoryBytes is how much there is, MemoryFree how much is available.
	MemoryBytes int64 `json:"memory_bytes,omitempty"`
	MemoryFree  int64 `json:"memory_free,omitempty"`
	// Runs is how many runs live there.
	Runs int `json:"runs,omitempty"`
	// Home is the home folder of its user, Own are folders of the node that no agent may
	// touch, FoldCase says that its file system does not tell cases apart.
	Home     string   `json:"home,omitempty"`
	Own      []string `json:"own,omitempty"`
	FoldCase bool     `json:"fold_case,omitempty"`
	// Spools are the names of files that shims have left for the hub.
	Spools []string `json:"spools,omitempty"`
}

// A CLI is one that a node has found.
type CLI struct {
	Path      string `json:"path"`
	Version   string `json:"version,omitempty"`
	Simulated bool   `json:"simulated,omitempty"`
}

// clip returns a text without what cannot be shown, and no longer than n bytes.
func clip(text string, n int) string {
	text = strings.ToValidUTF8(text, "")
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		text = strings.Map(func(r rune) rune {
			if unicode.IsPrint(r) {
				return r
			}
			return -1
		}, text)
	}
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// absolute reports whether a text is a path that rules can be about.
func absolute(text string) bool {
	return strings.HasPrefix(text, "/") && len(text) <= maxPath && !strings.ContainsRune(text, 0) && utf8.ValidString(text)
}

// errTooMany says that facts cannot be cut: what was left out would matter.
var errTooMany = errors.New("the machine names too many folders of its own, or one that is not an absolute path")

// bound brings facts within their bounds. Folders of the node's own are never left out:
// rules would not deny them.
func (f *Facts) bound() error {
	for _, word := range []*string{&f.Version, &f.OS, &f.Arch, &f.Hostname, &f.Sandbox} {
		*word = clip(*word, maxWord)
	}
	f.CLIs = f.CLIs[:min(len(f.CLIs), maxCLIs)]
	for i := range f.CLIs {
		f.CLIs[i].Path, f.CLIs[i].Version = clip(f.CLIs[i].Path, maxPath), clip(f.CLIs[i].Version, maxWord)
	}
	if math.IsNaN(f.Load) || f.Load < 0 {
		f.Load = 0
	}
	f.CPUs, f.Load, f.Runs = min(max(f.CPUs, 0), 1<<16), min(f.Load, 1<<20), min(max(f.Runs, 0), 1<<20)
	f.MemoryBytes, f.MemoryFree = max(f.MemoryBytes, 0), max(f.MemoryFree, 0)
	if f.Home != "" && !absolute(f.Home) || len(f.Own) > maxOwn {
		return errTooMany
	}
	for _, own := range f.Own {
		if !absolute(own) || path.Clean(own) == "/" {
			return errTooMany
		}
	}
	f.Spools = f.Spools[:min(len(f.Spools), MaxSpools)]
	kept := f.Spools[:0]
	for _, name := range f.Spools {
		if IsSpool(name) {
			kept = append(kept, name)
		}
	}
	f.Spools = kept
	return nil
}

// IsSpool reports whether a text can be the name of a file that a shim has left.
func IsSpool(name string) bool {
	if len(name) > maxWord || name == "" || strings.HasPrefix(name, ".") && !strings.HasPrefix(name, spoolBegun) {
		return false
	}
	for _, r := range name {
		if !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-_.", r)) {
			return false
		}
	}
	return true
}

// spoolBegun begins the name of such a file that was never finished.
const spoolBegun = ".spool-"

// errBounds says that a part of a message is out of bounds.
var errBounds = errors.New("a part of the message is missing or too long")

func (c *Challenge) bound() error {
	if len(c.Nonce) != NonceSize || c.Hub == "" || len(c.Hub) > maxWord {
		return errBounds
	}
	return nil
}

func (h *Hello) bound() error {
	// Of another version not even the form of an id is known.
	if len(h.Node) > maxWord || len(h.Signature) > 4*ed25519.SignatureSize {
		return errBounds
	}
	return h.Facts.bound()
}

func (w *Welcome) bound() error {
	if w.Ticket == "" || len(w.Ticket) > maxWord {
		return errBounds
	}
	return nil
}

func (r *Refused) bound() error {
	r.Code, r.Reason = clip(r.Code, maxWord), clip(r.Reason, maxReason)
	return nil
}

func (c *Call) bound() error {
	if len(c.Method) > maxWord {
		return errBounds
	}
	return nil
}

func (a *Answer) bound() error {
	if a.Failure != nil {
		a.Failure.Code, a.Failure.Reason, a.Failure.Hint = clip(a.Failure.Code, maxWord), clip(a.Failure.Reason, 4*maxReason), clip(a.Failure.Hint, maxReason)
	}
	return nil
}

func (e *Exited) bound() error {
	if e.Session == "" || len(e.Session) > maxWord || e.Run < 1 {
		return errBounds
	}
	return nil
}
