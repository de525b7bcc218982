package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"

	"github.com/landlock-lsm/go-landlock/landlock"
	"golang.org/x/sys/unix"
)

// The versions of Landlock's interface that bring what is needed.
const (
	abiFiles   = 3 // also truncating a file is writing it
	abiNetwork = 4 // connections over TCP
	abiScopes  = 6 // signals and abstract Unix sockets
)

// maxGrants bounds the rules of Landlock: in folders above a denied path there is
// one for each file.
const maxGrants = 100_000

// Rights on paths. A file can have some of them only.
const (
	rightList      = unix.LANDLOCK_ACCESS_FS_READ_DIR
	rightReadFile  = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX
	rightWriteFile = rightReadFile | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	rightRead      = rightReadFile | rightList
	rightWrite     = 1<<17 - 1
)

// landlockABI returns the version of the kernel's Landlock, zero if it has none.
func landlockABI() int {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(version)
}

// A landlocked is the enforcer that has the process restrict itself.
type landlocked struct{ self string }

func newLandlock(self string) (*landlocked, error) {
	switch abi := landlockABI(); {
	case abi == 0:
		return nil, errors.New("the kernel has no Landlock, or it is not turned on")
	case abi < abiFiles:
		return nil, fmt.Errorf("the kernel's Landlock is too old: it has ABI %d, and %d is needed (Linux 6.2)", abi, abiFiles)
	}
	self, err := selfPath(self)
	if err != nil {
		return nil, err
	}
	return &landlocked{self}, nil
}

// Name implements [Enforcer].
func (e *landlocked) Name() string { return Landlock }

// Limits implements [Enforcer].
func (e *landlocked) Limits(p *Profile) []string {
	limits := []string{
		"Landlock allows, it does not hide: names and sizes of denied files can be seen.",
		"Other processes can be seen in the list of processes; what they have in memory or open cannot.",
		"Another name of a denied file, such as a hard link, is not known.",
		"There are no pseudo-terminals, and programs inside can neither mount nor become another user.",
	}
	if len(p.Hide)+len(p.ReadOnly) > 0 {
		limits = append(limits, "In the folders above a denied path nothing new can be made or read; what is there, and folders beside the path, can be used.")
	}
	abi := landlockABI()
	if abi < 9 {
		limits = append(limits, "Unix sockets can be connected to by their path, denied or not.")
	}
	if abi < abiScopes {
		limits = append(limits, "Abstract Unix sockets can be reached, and processes of this user can be sent signals.")
	}
	if p.Network != NetworkAll {
		limits = append(limits, "Connections are restricted by port and not by host: the proxy's port is open on every host, and so are those of the model. The agent cannot reach servers that it starts itself.")
		if abi < 10 {
			limits = append(limits, "UDP is not restricted, nor is Multipath TCP.")
		} else {
			limits = append(limits, "Multipath TCP is not restricted.")
		}
	}
	return limits
}

// Wrap implements [Enforcer].
func (e *landlocked) Wrap(p *Profile, c Command) (Command, error) {
	l, err := newLayout(p, e.self)
	if err != nil {
		return Command{}, err
	}
	r, err := newRules(l)
	if err != nil {
		return Command{}, err
	}
	o := &orders{Rules: r}
	if p.Network != NetworkAll {
		if abi := landlockABI(); abi < abiNetwork {
			return Command{}, fmt.Errorf("the kernel's Landlock cannot restrict the network: it has ABI %d, and %d is needed (Linux 6.7)", abi, abiNetwork)
		}
		// The port is one of the machine, where other users could find it.
		o.Proxy, o.Secret, r.Net = true, true, true
		for _, address := range p.Forward {
			at, err := netip.ParseAddrPort(address)
			if err != nil {
				return Command{}, fmt.Errorf("%.100q is no address", address)
			}
			r.Ports = append(r.Ports, at.Port())
		}
	}
	return o.wrap(p, c, e.self)
}

// Check implements [Enforcer].
func (e *landlocked) Check(ctx context.Context) error {
	network := NetworkNone
	if landlockABI() < abiNetwork {
		network = NetworkAll
	}
	if err := try(ctx, e, &Profile{Mode: Strict, Dir: "/", Network: network}); err != nil {
		return fmt.Errorf("Landlock cannot make a sandbox: %w", err) //nolint:staticcheck // a name
	}
	return nil
}

// rules are what Landlock is told: what is in no list is denied.
type rules struct {
	// Write and Read are folders, WriteFiles and ReadFiles are not.
	Write      []string `json:",omitempty"`
	Read       []string `json:",omitempty"`
	WriteFiles []string `json:",omitempty"`
	ReadFiles  []string `json:",omitempty"`
	// Net restricts TCP connections to Ports.
	Net   bool     `json:",omitempty"`
	Ports []uint16 `json:",omitempty"`
}

// newRules makes rules of a layout. A rule of Landlock allows for a folder and all
// below it, and none takes back what another allows. So a folder that something
// denied is in gets no rule, and each of its entries gets one.
func newRules(l *layout) (*rules, error) {
	places := slices.DeleteFunc(slices.Clone(l.places), func(pl place) bool { return pl.pin })
	places = append(places, place{path: "/dev", access: accessNone, folder: true}, place{path: "/sys", access: accessRead, folder: true})
	if os.Geteuid() == 0 {
		places = append(places, place{path: "/proc", access: accessRead, folder: true}) // root owns what is in it
	}
	if !slices.ContainsFunc(places, func(pl place) bool { return pl.path == sharedMemory }) {
		// Programs share memory there. Where a folder in it is that of the agent,
		// the others are not.
		a := accessWrite
		if slices.ContainsFunc(places, func(pl place) bool { return below(pl.path, sharedMemory) }) {
			a = l.root
		}
		places = append(places, place{path: sharedMemory, access: a, folder: true})
	}
	for _, name := range []string{"null", "zero", "full", "random", "urandom", "tty"} {
		if _, exists, err := look("/dev/" + name); err == nil && exists {
			places = append(places, place{path: "/dev/" + name, access: accessWrite})
		}
	}
	r := &rules{}
	if err := r.walk("/", l.root, accessNone, true, places); err != nil {
		return nil, err
	}
	return r, nil
}

// walk allows access to a path, of which granted is already allowed by a rule for a
// folder above it. inside are the places in it.
func (r *rules) walk(path string, a, granted access, folder bool, inside []place) error {
	whole := a
	for i := range inside {
		whole = max(whole, inside[i].access)
	}
	if whole < granted {
		r.grant(path, whole, folder)
		granted = whole
	}
	if len(inside) == 0 {
		return nil
	}
	type child struct {
		access access
		folder bool
		inside []place
	}
	children := make(map[string]*child)
	if a < whole {
		entries, err := os.ReadDir(path)
		if err != nil {
			return fmt.Errorf("listing a folder above a denied path: %w", err)
		}
		for _, entry := range entries {
			// A link is as good as where it leads to.
			if entry.Type()&os.ModeSymlink == 0 {
				children[filepath.Join(path, entry.Name())] = &child{access: a, folder: entry.IsDir()}
			}
		}
	}
	for _, pl := range inside {
		next := step(path, pl.path)
		c := children[next]
		if c == nil {
			c = &child{access: a, folder: true}
			children[next] = c
		}
		if pl.path == next {
			c.access, c.folder = pl.access, pl.folder
		} else {
			c.inside = append(c.inside, pl)
		}
	}
	if r.count()+len(children) > maxGrants {
		return fmt.Errorf("there are more than %d files in the folders above denied paths; Landlock would need a rule for each", maxGrants)
	}
	for next, c := range children {
		if err := r.walk(next, c.access, granted, c.folder, c.inside); err != nil {
			return err
		}
	}
	return nil
}

// step returns the path one name longer than dir on the way to path.
func step(dir, path string) string {
	for filepath.Dir(path) != dir {
		path = filepath.Dir(path)
	}
	return path
}

func (r *rules) count() int { return len(r.Write) + len(r.Read) + len(r.WriteFiles) + len(r.ReadFiles) }

func (r *rules) grant(path string, a access, folder bool) {
	switch {
	case a == accessWrite && folder:
		r.Write = append(r.Write, path)
	case a == accessWrite:
		r.WriteFiles = append(r.WriteFiles, path)
	case folder:
		r.Read = append(r.Read, path)
	default:
		r.ReadFiles = append(r.ReadFiles, path)
	}
}

// apply restricts this process by the rules, and by all that the kernel's Landlock
// can do besides.
func (r *rules) apply() error {
	abi := landlockABI()
	if abi < abiFiles || r.Net && abi < abiNetwork {
		return errors.New("the kernel's Landlock is too old")
	}
	parts := []any{
		landlock.AccessFSSet(rightWrite),
		landlock.ScopedSet(unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL),
	}
	if r.Net {
		parts = append(parts, landlock.AccessNetSet(unix.LANDLOCK_ACCESS_NET_CONNECT_TCP|unix.LANDLOCK_ACCESS_NET_CONNECT_SEND_UDP))
	}
	config, err := landlock.NewConfig(parts...)
	if err != nil {
		return fmt.Errorf("asking Landlock: %w", err)
	}
	// What is gone meanwhile cannot be used, and need not be allowed.
	allow := []landlock.Rule{
		landlock.PathAccess(rightList, "/"),
		landlock.PathAccess(rightWrite, r.Write...).IgnoreIfMissing(),
		landlock.PathAccess(rightRead, r.Read...).IgnoreIfMissing(),
		landlock.PathAccess(rightWriteFile, r.WriteFiles...).IgnoreIfMissing(),
		landlock.PathAccess(rightReadFile, r.ReadFiles...).IgnoreIfMissing(),
	}
	for _, port := range r.Ports {
		allow = append(allow, landlock.ConnectTCP(port))
	}
	// The checks above have seen to it that the effort is good enough.
	if err := config.BestEffort().Restrict(allow...); err != nil {
		return fmt.Errorf("restricting by Landlock: %w", err)
	}
	return nil
}

// restrictScopes keeps signals and connections to abstract Unix sockets inside,
// where the kernel can do that.
func restrictScopes() error {
	if err := landlock.V6.BestEffort().RestrictScoped(); err != nil {
		return fmt.Errorf("restricting by Landlock: %w", err)
	}
	return nil
}
