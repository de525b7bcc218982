package config

import (
	"errors"
	"fmt"
	"math"
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/switchboard-dev/switchboard/wire"
)

// An Address is a TCP address of this machine, as host:port. Port 0 takes any that is free.
type Address string

// UnmarshalText accepts numbers and localhost: what another name means may change.
func (a *Address) UnmarshalText(text []byte) error {
	value := string(text)
	host, port, err := net.SplitHostPort(value)
	if err != nil {
		return fmt.Errorf("%q is no address; write it as 127.0.0.1:8765", value)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return fmt.Errorf("%q has no port between 0 and 65535", value)
	}
	if _, err := netip.ParseAddr(host); host != "localhost" && err != nil {
		return fmt.Errorf("%q names no address of this machine alone; write it as 127.0.0.1:8765 or [::1]:8765, "+
			"or, with TLS, as 0.0.0.0:8765 to be reached from everywhere", value)
	}
	*a = Address(value)
	return nil
}

// loopback reports whether only this machine can reach the address. Without an address we choose one of which that is true.
func (a Address) loopback() bool {
	host, _, _ := net.SplitHostPort(string(a))
	ip, err := netip.ParseAddr(host)
	return a == "" || host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

// A Site is the address of a server on the web, without a path.
type Site string

// UnmarshalText accepts "https://host[:port]", and http too.
func (s *Site) UnmarshalText(text []byte) error {
	value := string(text)
	u, err := url.Parse(value)
	switch {
	case err != nil, u.Scheme != "https" && u.Scheme != "http", u.Hostname() == "":
		return fmt.Errorf("%q is no address on the web; write it as https://hub.example.com", value)
	case value != u.Scheme+"://"+u.Host:
		return fmt.Errorf("%q is more than an address; write it as %s://%s", value, u.Scheme, u.Host)
	}
	*s = Site(strings.ToLower(value))
	return nil
}

// A Folder is the absolute path of a folder or a file. A leading "~/" stands for the home folder.
type Folder string

// UnmarshalText accepts a path that does not depend on where the program is started.
func (f *Folder) UnmarshalText(text []byte) error {
	value := string(text)
	if strings.ContainsRune(value, 0) {
		return fmt.Errorf("%q has a zero byte in it", value)
	}
	if value != "" && !filepath.IsAbs(value) && !strings.HasPrefix(value, "~/") {
		return fmt.Errorf("%q is not an absolute path; begin it with / or ~/", value)
	}
	*f = Folder(value)
	return nil
}

// expand resolves a leading "~/".
func (f *Folder) expand(home string) error {
	rest, found := strings.CutPrefix(string(*f), "~/")
	if !found {
		return nil
	}
	if !filepath.IsAbs(home) {
		return fmt.Errorf("%q begins with ~/, but HOME is not set", string(*f))
	}
	*f = Folder(filepath.Join(home, rest))
	return nil
}

// expandAll accepts a list of folders, and resolves what begins with "~/".
func expandAll(names []string, home string) ([]string, error) {
	list := make([]string, len(names))
	for i, name := range names {
		var folder Folder
		if err := folder.UnmarshalText([]byte(name)); err != nil {
			return nil, err
		}
		if err := folder.expand(home); err != nil {
			return nil, err
		}
		if folder == "" {
			return nil, errors.New("one of the folders has no name")
		}
		list[i] = filepath.Clean(string(folder))
	}
	return list, nil
}

// A Durability says what a committed entry survives.
type Durability string

// The durabilities.
const (
	DurabilityNormal Durability = "normal" // the death of any process
	DurabilityFull   Durability = "full"   // a power cut too, at the cost of a flush per commit
)

// UnmarshalText accepts normal and full.
func (d *Durability) UnmarshalText(text []byte) error {
	switch value := Durability(text); value {
	case DurabilityNormal, DurabilityFull:
		*d = value
		return nil
	default:
		return fmt.Errorf("%q is no durability; it is normal (survives any kill) or full (survives a power cut)", string(text))
	}
}

// A Mode is a permission mode of the CLI.
type Mode string

// modes are the permission modes that every agent may be started with.
var modes = [...]wire.PermissionMode{
	wire.PermissionModeDefault, wire.PermissionModePlan, wire.PermissionModeAcceptEdits, wire.PermissionModeDontAsk, wire.PermissionModeAuto,
}

// UnmarshalText accepts the modes that every agent may be started with.
func (m *Mode) UnmarshalText(text []byte) error {
	if wire.PermissionMode(text) == wire.PermissionModeBypassPermissions {
		return fmt.Errorf("%s lets an agent run everything without asking, and cannot be the default; "+
			"set claude.dangerously_skip_permissions = true and ask for it session by session", text)
	}
	if !slices.Contains(modes[:], wire.PermissionMode(text)) {
		names := make([]string, len(modes))
		for i, mode := range modes {
			names[i] = string(mode)
		}
		return fmt.Errorf("%q is no permission mode; there are %s", string(text), strings.Join(names, ", "))
	}
	*m = Mode(text)
	return nil
}

// A Duration is a length of time, such as "90m", "24h" or "30d".
type Duration time.Duration

// String returns it as it would be written in a file.
func (d Duration) String() string { return time.Duration(d).String() }

// UnmarshalText accepts Go's durations, and days.
func (d *Duration) UnmarshalText(text []byte) error {
	value := string(text)
	if number, found := strings.CutSuffix(value, "d"); found {
		days, err := strconv.ParseUint(number, 10, 16) // some 180 years
		if err == nil {
			*d = Duration(time.Duration(days) * 24 * time.Hour)
			return nil
		}
	}
	parsed, err := time.ParseDuration(value)
	if err != nil {
		return fmt.Errorf("%q is no length of time; write it as 90m, 24h or 30d", value)
	}
	if parsed < 0 {
		return fmt.Errorf("%q is less than nothing", value)
	}
	*d = Duration(parsed)
	return nil
}

// A Size is a number of bytes, such as 1048576, "500MB" or "20GiB".
type Size int64

// units are the suffixes of sizes.
var units = [...]struct {
	suffix string
	bytes  int64
}{
	// The longer ones first, since B ends them all.
	{"KiB", 1 << 10},
	{"MiB", 1 << 20},
	{"GiB", 1 << 30},
	{"TiB", 1 << 40},
	{"KB", 1e3},
	{"MB", 1e6},
	{"GB", 1e9},
	{"TB", 1e12},
	{"B", 1},
	{"", 1},
}

// UnmarshalText accepts whole numbers with or without a unit.
func (s *Size) UnmarshalText(text []byte) error {
	value := string(text)
	for _, unit := range units {
		number, found := strings.CutSuffix(value, unit.suffix)
		if !found {
			continue
		}
		count, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
		if err != nil || count < 0 || count > math.MaxInt64/unit.bytes {
			break
		}
		*s = Size(count * unit.bytes)
		return nil
	}
	return fmt.Errorf("%q is no number of bytes; write it as 1048576, 500MB or 20GiB", value)
}
