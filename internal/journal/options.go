package journal

import (
	"fmt"
	"log/slog"
	"time"
)

// Durability says what a batch survives once Commit has returned.
type Durability int

// The durabilities.
const (
	// DurabilityNormal survives the death of the process. A power cut may take
	// the last moments, but never damages the file.
	DurabilityNormal Durability = iota
	// DurabilityFull survives a power cut too: every transaction waits for the
	// disk.
	DurabilityFull
)

// String returns "normal" or "full".
func (d Durability) String() string {
	if d == DurabilityFull {
		return "full"
	}
	return "normal"
}

// ParseDurability reads "normal" or "full".
func ParseDurability(name string) (Durability, error) {
	switch name {
	case "normal":
		return DurabilityNormal, nil
	case "full":
		return DurabilityFull, nil
	}
	return 0, fmt.Errorf("durability %q is not known; it is normal or full", name)
}

// Options are the options of [Open]. The zero value is usable.
type Options struct {
	// Durability is what a batch survives. The default is DurabilityNormal.
	Durability Durability
	// New sets the journal that is there aside, whatever its state, and begins a
	// new one.
	New bool
	// Logger is told what happens in the background. If nil, nothing is logged.
	Logger *slog.Logger
	// Now is the clock; it names files that are set aside, and ages are counted
	// from it if Retention.Now is zero. If nil, time.Now.
	Now func() time.Time
	// MaxPageCount limits the size of the database in pages of 4 KiB. If zero,
	// there is no limit.
	MaxPageCount int64

	// Replaced in tests.
	migrations      []migration
	vfs             string // the file layer
	checkBelow      int64  // size up to which Open reads every page
	checkpointPages int64  // of the write-ahead log, when it is merged
}

// withDefaults fills in what is not set.
func (o *Options) withDefaults() Options {
	var full Options
	if o != nil {
		full = *o
	}
	if full.Logger == nil {
		full.Logger = slog.New(slog.DiscardHandler)
	}
	if full.Now == nil {
		full.Now = time.Now
	}
	if full.migrations == nil {
		full.migrations = migrations()
	}
	if full.checkBelow == 0 {
		full.checkBelow = 256 << 20
	}
	if full.checkpointPages == 0 {
		full.checkpointPages = 8000
	}
	return full
}
