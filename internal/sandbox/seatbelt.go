package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os/exec"
	"path"
	"runtime"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	// seatbeltProgram is a part of macOS. No other program is looked for.
	seatbeltProgram = "/usr/bin/sandbox-exec"
	// maxSeatbeltText bounds a profile, which is an argument of that program.
	maxSeatbeltText = 512 << 10
	seatbeltTime    = 10 * time.Second
)

// A seatbelt is the enforcer of macOS: a profile in its own language, given to
// sandbox-exec.
type seatbelt struct{}

// newSeatbelt returns the enforcer of macOS. It needs no stage inside of the
// sandbox, so self is not used: the network is that of the machine, and the proxy
// listens outside.
func newSeatbelt(_ string) Enforcer { return seatbelt{} }

// Name implements [Enforcer].
func (seatbelt) Name() string { return "seatbelt" }

// Check implements [Enforcer]. It tries a profile that has every operation in it
// which this package uses, since a version of macOS that does not know one of them
// refuses the whole.
func (seatbelt) Check(ctx context.Context) error {
	if runtime.GOOS != "darwin" {
		return errors.New("Seatbelt is a part of macOS") //nolint:staticcheck // a name
	}
	text, err := seatbeltText(&Profile{
		Mode: Strict, Network: NetworkNone, Hide: []string{"/none"}, ReadOnly: []string{"/none/a/b"}, Writable: []string{"/none/a"},
		Show: []Visible{{Path: "/none/c"}, {Path: "/none/d", Write: true}}, Forward: []string{"127.0.0.1:9"},
	}, "9")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, seatbeltTime)
	defer cancel()
	out, err := exec.CommandContext(ctx, seatbeltProgram, "-p", text, "/usr/bin/true").CombinedOutput()
	if err != nil {
		said := bytes.TrimSpace(out)
		return fmt.Errorf("Seatbelt does not work: %w: %s", err, said[:min(len(said), 400)]) //nolint:staticcheck // a name
	}
	return nil
}

// Limits implements [Enforcer].
func (seatbelt) Limits(p *Profile) []string {
	limits := []string{
		"Seatbelt allows what its profile does not name: services of macOS other than opening documents, starting jobs and sending Apple events can be reached.",
		"Files that appear after the start and match a pattern with * are not hidden before the next run.",
	}
	if p.Network != NetworkAll {
		limits = append(limits, "Any program of this user can use the port of the proxy, if it knows its credential.")
	}
	return limits
}

// Wrap implements [Enforcer]. With a network other than [NetworkAll] the
// environment of c has to name the proxy, which listens on this machine and wants a
// credential, as [Outside] gives it: that tells it from a proxy of the user's. There
// is no stage inside that could send anything, so there is nothing to [Receive].
func (seatbelt) Wrap(p *Profile, c Command) (Command, error) {
	if len(c.Args) == 0 {
		return Command{}, errors.New("there is no program to be started in the sandbox")
	}
	port := ""
	if p.Network != NetworkAll {
		proxy, err := url.Parse(envValue(c.Env, "HTTPS_PROXY"))
		if err != nil || proxy.User.Username() != proxyUser || loopbackAddress(proxy.Hostname()) == "" || proxy.Port() == "" {
			return Command{}, errors.New("a sandbox with a network of its own needs a proxy on this machine")
		}
		port = proxy.Port()
	}
	text, err := seatbeltText(p, port)
	if err != nil {
		return Command{}, err
	}
	return Command{Args: append([]string{seatbeltProgram, "-p", text}, c.Args...), Env: environ(c.Env, p.UnsetEnv), Dir: c.Dir, Files: c.Files}, nil
}

// seatbeltText returns a profile in the language of Seatbelt, in which the last
// rule that matches decides. proxy is the port of the proxy on this machine.
func seatbeltText(p *Profile, proxy string) (string, error) {
	b := &seatbeltBuilder{}
	b.line("(version 1)")
	b.line("(allow default)")
	b.line(";; Programs that are started by other processes are not in the sandbox.")
	b.line("(deny appleevent-send)")
	b.line("(deny job-creation)")
	b.line("(deny lsopen)")
	b.line(";; What reads the memory of other processes reads their secrets.")
	b.line("(deny process-info* (target others))")
	b.line("(allow process-info* (target same-sandbox))")
	b.line("(deny mach-priv-task-port)")
	b.network(p, proxy)
	if p.RootReadOnly() {
		b.line(`(deny file-write* (subpath "/"))`)
		b.line(`(allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (literal "/dev/dtracehelper") (subpath "/dev/fd") (regex #"^/dev/ttys[0-9]+$"))`)
	}
	b.paths(p)
	text := b.text.String()
	switch {
	case len(b.unfit) > 0:
		return "", fmt.Errorf("Seatbelt cannot hold %.200q: there is a character in the path that its profiles cannot have", b.unfit[0]) //nolint:staticcheck // a name
	case len(text) > maxSeatbeltText:
		return "", fmt.Errorf("the profile has %d bytes, and Seatbelt takes %d: rules match too many files", len(text), maxSeatbeltText)
	}
	return text, nil
}

// A seatbeltBuilder writes a profile.
type seatbeltBuilder struct {
	text strings.Builder
	// unfit are the paths that cannot be written.
	unfit []string
}

func (b *seatbeltBuilder) line(text string) {
	b.text.WriteString(text)
	b.text.WriteByte('\n')
}

// quote returns a path as a string of the language. Characters that have a meaning
// in it are escaped; those that cannot be seen have no escape that every version
// reads alike, and are refused.
func (b *seatbeltBuilder) quote(name string) string {
	if !path.IsAbs(name) || path.Clean(name) != name || !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		b.unfit = append(b.unfit, name)
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(name) + `"`
}

// network writes what can be reached. Unix sockets stay, but for those that are
// hidden: they are paths.
func (b *seatbeltBuilder) network(p *Profile, proxy string) {
	if p.Network == NetworkAll {
		return
	}
	b.line("(deny network*)")
	b.line(`(allow network* (subpath "/"))`)
	b.line(`(deny network-outbound (literal "/private/var/run/mDNSResponder"))`)
	b.line(`(deny mach-lookup (global-name "com.apple.dnssd.service"))`)
	b.line(`(allow network-bind network-inbound (local ip "localhost:*"))`)
	ports := []string{proxy}
	for _, address := range p.Forward {
		if _, port, err := net.SplitHostPort(address); err == nil {
			ports = append(ports, port)
		}
	}
	for _, port := range ports {
		// A port that is a number in its usual form; anything else is no port.
		if at, err := netip.ParseAddrPort("127.0.0.1:" + port); err == nil && at.Port() != 0 {
			b.line(fmt.Sprintf(`(allow network-outbound (remote ip "localhost:%d"))`, at.Port()))
		}
	}
}

// paths writes what is hidden, read-only, writable and shown: parents first, since
// the longest path decides.
func (b *seatbeltBuilder) paths(p *Profile) {
	rules := map[string]effect{}
	for _, name := range p.Writable {
		rules[name] = effectWrite
	}
	for _, name := range p.ReadOnly {
		rules[name] = effectRead
	}
	for _, name := range p.Hide {
		rules[name] = effectNone
	}
	for _, v := range p.Show {
		rules[v.Path] = effectShowRead
		if v.Write {
			rules[v.Path] = effectShowWrite
		}
	}
	// Renamed, a folder above would take the path out of reach of its rule.
	pinned := map[string]bool{}
	names := sortedKeys(rules)
	for _, name := range names {
		quoted := b.quote(name)
		if len(b.unfit) > 0 {
			return // there will be no profile
		}
		switch rules[name] {
		case effectWrite:
			b.line("(allow file-write* (subpath " + quoted + "))")
		case effectRead:
			if name != "/" { // which comes first
				b.line("(deny file-write* (subpath " + quoted + "))")
			}
		case effectNone:
			b.line("(deny file-read* file-write* (subpath " + quoted + "))")
			b.line("(deny process-exec* (subpath " + quoted + "))")
			b.line("(deny network-outbound (subpath " + quoted + "))")
		case effectShowRead, effectShowWrite:
			b.line("(allow file-read* (subpath " + quoted + "))")
			b.line("(allow process-exec* (subpath " + quoted + "))")
			if rules[name] == effectShowWrite {
				b.line("(allow file-write* (subpath " + quoted + "))")
				b.line("(allow network-outbound (subpath " + quoted + "))")
			}
			for above := path.Dir(name); above != "/"; above = path.Dir(above) {
				b.line("(allow file-read-metadata (literal " + b.quote(above) + "))")
			}
		}
		if rules[name] == effectRead || rules[name] == effectNone {
			for at := name; at != "/"; at = path.Dir(at) {
				pinned[at] = true
			}
		}
	}
	for _, name := range sortedKeys(pinned) {
		b.line("(deny file-write-unlink (literal " + b.quote(name) + "))")
	}
}
