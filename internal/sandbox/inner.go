package sandbox

import (
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Verb is the argument that makes the switchboard program call [Inner] with what
// follows it.
const Verb = "sandbox-exec"

// Listeners are the sockets that [Inner] has opened in the network of the
// sandbox. The shim accepts on them.
type Listeners struct {
	// Proxy takes HTTP CONNECT, plain HTTP proxying and SOCKS5 on one port. It is
	// nil with [NetworkAll].
	Proxy net.Listener
	// Forward has one for each of [Profile].Forward. It is empty where those
	// addresses can be reached anyway.
	Forward map[string]net.Listener
	// Credential is what clients of Proxy must show as user switchboard, if it
	// is not empty: the port can be reached from outside of the sandbox.
	Credential string
	// Process is the CLI itself, which may not be the process that was started:
	// that one may end at a signal without passing it on.
	Process *os.Process
}

// Close closes the listeners.
func (l *Listeners) Close() {
	if l.Proxy != nil {
		_ = l.Proxy.Close() // nothing was written
	}
	for _, f := range l.Forward {
		_ = f.Close() // likewise
	}
}

// proxyUser is the name that belongs to [Listeners].Credential.
const proxyUser = "switchboard"

// Outside prepares the network of a sandbox that is the machine's own, as it is
// with Seatbelt: it opens the listener of the proxy, and returns the command with
// the variables that lead to it. There is nothing to [Receive] then.
func Outside(p *Profile, c Command) (Command, *Listeners, error) {
	if p.Network == NetworkAll {
		return c, &Listeners{}, nil
	}
	proxy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return Command{}, nil, fmt.Errorf("opening the sandbox's proxy: %w", err)
	}
	l := &Listeners{Proxy: proxy, Credential: rand.Text()}
	c.Env = proxyEnv(slices.Clone(c.Env), uint16(proxy.Addr().(*net.TCPAddr).Port), l.Credential)
	return c, l, nil
}

// proxyEnv returns an environment whose programs use a proxy on this machine, but
// not for this machine. Programs differ in which name they read, and in case.
func proxyEnv(env []string, port uint16, credential string) []string {
	user := ""
	if credential != "" {
		user = proxyUser + ":" + credential + "@"
	}
	// As HTTP for all: programs that know of SOCKS and lack the library for it
	// end with an error.
	proxy := "http://" + user + net.JoinHostPort("127.0.0.1", strconv.Itoa(int(port)))
	set := []string{"NODE_USE_ENV_PROXY=1"}
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "FTP_PROXY"} {
		set = append(set, name+"="+proxy, strings.ToLower(name)+"="+proxy)
	}
	for _, name := range []string{"NO_PROXY", "no_proxy"} {
		set = append(set, name+"=localhost,127.0.0.1,127.0.0.0/8,::1")
	}
	var names []string
	for _, v := range set {
		name, _, _ := strings.Cut(v, "=")
		names = append(names, name)
	}
	return append(environ(env, names), set...)
}

// environ returns an environment without some variables.
func environ(env, unset []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(unset, name)
	})
}
