package wire

import (
	"regexp"
	"sync"
)

// Limits of [Salvage].
const (
	salvageBytes = 64 << 10 // what names a line is at its beginning
	salvageID    = 128
)

var (
	// The id is matched in ASCII: a class under (?i) would also match letters
	// that fold to ASCII ones.
	salvageSession = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i:session(?:_id|id)?)["'=\s:]+([A-Za-z0-9._-]{8,})`)
	})
	salvageInit = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\[(?:init|system/init)\]|\bsubtype["'=\s:]+init\b`)
	})
)

// Salvage reads what can still be read of a line that is not JSON: the id of the
// conversation, "" if there is none, and whether the line looks like the init
// line of a session. It looks at the first 64 KiB.
//
// Both are guesses, to be shown to people. They must not decide which session
// the line belongs to.
func Salvage(line []byte) (sessionID string, init bool) {
	line = line[:min(len(line), salvageBytes)]
	if m := salvageSession().FindSubmatch(line); m != nil && len(m[1]) <= salvageID {
		sessionID = string(m[1])
	}
	return sessionID, salvageInit().Match(line)
}
