package wire

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"sync"
)

// A Version is the version of a Claude Code CLI. The zero value means that the
// version is not known; it is treated as the oldest one.
type Version struct {
	Major, Minor, Patch int
}

// oldest is the version that an unknown one is fitted as.
func oldest() Version { return Version{2, 1, 37} }

var versionPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*v?(\d{1,6})\.(\d{1,6})\.(\d{1,6})(?:[-+ \r\n\t(].*)?\s*$`)
})

// ParseVersion reads a version as the CLI prints it ("2.1.37 (Claude Code)") or
// as people write it ("v2.1.37"). A pre-release or build suffix is accepted and
// not kept.
func ParseVersion(s string) (Version, error) {
	m := versionPattern().FindStringSubmatch(s)
	if m == nil {
		return Version{}, fmt.Errorf("parsing version %.40q: expected three numbers such as 2.1.37", s)
	}
	var n [3]int
	for i := range n {
		n[i], _ = strconv.Atoi(m[i+1]) // at most six digits, by the pattern
	}
	return Version{n[0], n[1], n[2]}, nil
}

// IsZero reports whether the version is unknown.
func (v Version) IsZero() bool { return v == Version{} }

// Compare returns -1, 0 or +1 as v is older than, equal to or newer than w.
func (v Version) Compare(w Version) int {
	return cmp.Or(cmp.Compare(v.Major, w.Major), cmp.Compare(v.Minor, w.Minor), cmp.Compare(v.Patch, w.Patch))
}

// AtLeast reports whether v is known and not older than the version given.
func (v Version) AtLeast(major, minor, patch int) bool {
	return v.Compare(Version{major, minor, patch}) >= 0
}

// String returns the three numbers, or "unknown" for the zero value.
func (v Version) String() string {
	if v.IsZero() {
		return "unknown"
	}
	return fmt.Sprintf("%d.%d.%d", v.Major, v.Minor, v.Patch)
}
