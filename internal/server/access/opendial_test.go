package access

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

// dialLab serves what [Guard.OpenDial] says of each request.
func dialLab(t *testing.T, o Options) *httptest.Server {
	t.Helper()
	g := newGuard(t, o)
	server := httptest.NewUnstartedServer(g.Checked(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, g.OpenDial(r)) })))
	server.Config.ConnContext = g.ConnContext
	server.Start()
	t.Cleanup(server.Close)
	return server
}

func TestOpenDial(t *testing.T) {
	server, shut := dialLab(t, Options{OpenDial: true}), dialLab(t, Options{})
	for _, test := range []struct {
		name   string
		server *httptest.Server
		header http.Header
		host   string
		want   string
	}{
		{"a CLI", server, nil, "", "200 true"},
		{"by the name of the machine", server, nil, "localhost", "200 true"},
		{"with a runner", server, http.Header{"X-Environment-Runner-Version": {"1"}, "X-Last-Request-Id": {"u"}}, "", "200 true"},
		{"not told to", shut, nil, "", "200 false"},
		{"another site's page", server, http.Header{"Origin": {"https://evil.example"}}, "", "403"},
		{"a page of ours", server, http.Header{"Origin": {server.URL}}, "", "200 false"},
		{"a page without an origin", server, http.Header{"Origin": {"null"}}, "", "403"},
		{"an empty origin", server, http.Header{"Origin": {""}}, "", "403"},
		{"a browser", server, http.Header{"Sec-Fetch-Mode": {"websocket"}}, "", "200 false"},
		{"a browser that hides its mode", server, http.Header{"Sec-Fetch-Site": {"cross-site"}}, "", "200 false"},
		{"a cookie", server, http.Header{"Cookie": {"a=b"}}, "", "200 false"},
		{"a name that leads here", server, nil, "evil.example", "403"},
		{"a proxy", server, http.Header{"X-Forwarded-For": {"192.0.2.1"}}, "", "200 false"},
		{"another proxy", server, http.Header{"Forwarded": {"for=192.0.2.1"}}, "", "200 false"},
		{"a wrong token", server, http.Header{"Authorization": {"Bearer sb_x_y"}}, "", "200 false"},
		{"an empty token", server, http.Header{"Authorization": {""}}, "", "200 false"},
	} {
		t.Run(test.name, func(t *testing.T) {
			status, body := get(t, test.server.Client(), http.MethodGet, test.server.URL+"/", func(r *http.Request) {
				maps.Copy(r.Header, test.header)
				if test.host != "" {
					_, port, _ := strings.Cut(strings.TrimPrefix(test.server.URL, "http://"), ":")
					r.Host = test.host + ":" + port
				}
			})
			if got := fmt.Sprint(status, " ", body); !strings.HasPrefix(got, test.want) {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
	g := newGuard(t, Options{OpenDial: true, Beyond: true})
	loopback, far := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8765}, &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 9}
	for name, p := range map[string]*peer{
		"from elsewhere": {local: &net.TCPAddr{IP: net.IPv4(192, 0, 2, 2), Port: 8765}, remote: far},
		"to loopback":    {local: loopback, remote: far},
		"from loopback":  {local: far, remote: loopback},
		"no connection":  nil,
		"the socket":     {socket: true, cred: credentials{uid: os.Geteuid()}},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		if g.OpenDial(r.WithContext(context.WithValue(r.Context(), peerKey{}, p))) {
			t.Errorf("open %s", name)
		}
	}
}
