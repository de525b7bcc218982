package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"
)

// The ports that servers are looked for on. A server takes the first free one of
// the first ten.
const (
	firstPort    = 8765
	lastPort     = 8774
	lastWidePort = 8864
)

// signHeader is the header that a server's answer to GET /healthz is known by. Its
// value is the version of its interface.
const signHeader = "Switchboard"

// DiscoverOptions say where to look. nil means the usual places.
type DiscoverOptions struct {
	// Wide looks on the ports up to 8864 instead of 8774.
	Wide bool
	// Ports are the ports to look on instead.
	Ports []int
	// Sockets are the paths of Unix sockets to look for. If nil, those that a
	// server of this user has unless it was told otherwise.
	Sockets []string
	// Timeout is how long each place has to answer. If zero, 500ms.
	Timeout time.Duration
}

// Found is a server that was found.
type Found struct {
	// Socket or BaseURL is its address, for [Options].
	Socket, BaseURL string
	// API is the version of its interface, such as "v1".
	API string
}

// Discover looks for servers on this machine: at Unix sockets first, then on the
// ports 8765 to 8774 of 127.0.0.1, all at the same time. It returns those that
// answer as a server does, in that order; a server may be there twice, once with
// each address. That no server is there, or another one, is no error: the only ones
// are those of ctx and of options that make no sense.
//
// No token is sent, and nothing but a GET of /healthz. A socket that was found
// belongs to the user, as does the process behind it. Of a port that cannot be
// told: any program on the machine can answer like a server there. So prefer the
// socket, and give a token only to a port that you know.
func Discover(ctx context.Context, options *DiscoverOptions) ([]Found, error) {
	o := DiscoverOptions{}
	if options != nil {
		o = *options
	}
	if o.Timeout <= 0 {
		o.Timeout = 500 * time.Millisecond
	}
	if o.Sockets == nil {
		o.Sockets = usualSockets(os.Getenv)
	}
	if o.Ports == nil {
		last := lastPort
		if o.Wide {
			last = lastWidePort
		}
		for port := firstPort; port <= last; port++ {
			o.Ports = append(o.Ports, port)
		}
	}
	var places []Found
	for _, path := range o.Sockets {
		places = append(places, Found{Socket: path})
	}
	for _, port := range o.Ports {
		if port < 1 || port > 65535 {
			return nil, fmt.Errorf("looking for servers: there is no port %d", port)
		}
		places = append(places, Found{BaseURL: "http://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(port))})
	}
	// A hundred connections at once are nothing to this machine: most ports refuse
	// at once.
	var probes sync.WaitGroup
	for i := range places {
		probes.Go(func() { places[i].API = probe(ctx, places[i], o.Timeout) })
	}
	probes.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(places, func(f Found) bool { return f.API == "" }), nil
}

// usualSockets returns where a server's socket is unless it was told otherwise.
func usualSockets(getenv func(string) string) []string {
	var paths []string
	if folder := getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(folder) {
		paths = append(paths, filepath.Join(folder, "switchboard", "hub.sock"))
	}
	data := getenv("XDG_DATA_HOME")
	if home := getenv("HOME"); !filepath.IsAbs(data) && filepath.IsAbs(home) {
		data = filepath.Join(home, ".local", "share")
	}
	if filepath.IsAbs(data) {
		paths = append(paths, filepath.Join(data, "switchboard", "run", "hub.sock"))
	}
	return paths
}

// probe asks one place whether a server is there, and returns the version of its
// interface; empty if none is.
func probe(ctx context.Context, place Found, timeout time.Duration) string {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	c, err := New(&Options{Socket: place.Socket, BaseURL: place.BaseURL})
	if err != nil {
		return ""
	}
	defer c.Close()
	c.transport.DisableKeepAlives = true
	c.transport.MaxResponseHeaderBytes = 16 << 10 // of whatever program answers there
	req, err := c.request(ctx, http.MethodGet, "/healthz", nil, nil)
	if err != nil {
		return ""
	}
	res, err := c.http.Do(req)
	if err != nil {
		return ""
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return ""
	}
	if _, err := io.CopyN(io.Discard, res.Body, 1<<10); err != nil && !errors.Is(err, io.EOF) {
		return ""
	}
	return version(res.Header.Get(signHeader))
}

// version returns the sign of a server if it is one: v and a number.
func version(sign string) string {
	if len(sign) < 2 || len(sign) > 8 || sign[0] != 'v' {
		return ""
	}
	if n, err := strconv.Atoi(sign[1:]); err != nil || n < 1 {
		return ""
	}
	return sign
}
