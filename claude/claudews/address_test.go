package claudews

import (
	"fmt"
	"strings"
	"testing"
)

func TestParseAddress(t *testing.T) {
	for _, tt := range []struct {
		address       string
		server, token string
		err           string
	}{
		{"cc://host:1234/TOKEN", "http://host:1234", "TOKEN", ""},
		{"cc://127.0.0.1:1234/sb_1_x%2Fy", "", "", "more than a token"},
		{"cc://host/TOKEN/", "http://host", "TOKEN", ""},
		{"cc://[::1]:80/T%20K", "http://[::1]:80", "T K", ""},
		{"cc://host:1234", "http://host:1234", "", ""},
		{"http://host:1234/", "http://host:1234", "", ""},
		{"https://host/base/", "https://host/base", "", ""},
		{"CC://host/TOKEN", "http://host", "TOKEN", ""},
		{"cc+unix:///run/TOKEN.sock", "", "", "cc+unix:// (a Unix socket) is not supported"},
		{"ftp://host/TOKEN", "", "", `the scheme "ftp" is not supported`},
		{"cc:///TOKEN", "", "", "names no host"},
		{"cc://TOKEN@host/x", "", "", "user name"},
		{"cc://host/a/TOKEN", "", "", "more than a token"},
		{"cc://host/x?TOKEN", "", "", "query"},
		{"https://host/#TOKEN", "", "", "fragment"},
		{"cc://ho st/TOKEN", "", "", "not a URL"},
		{"host:1234/TOKEN", "", "", "expected cc://host:port/TOKEN"},
		{"", "", "", "expected cc://host:port/TOKEN"},
	} {
		a, err := ParseAddress(tt.address)
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%q: %v, want %q", tt.address, err, tt.err)
				continue
			}
			if said := strings.ReplaceAll(err.Error(), "cc://host:port/TOKEN", ""); strings.Contains(said, "TOKEN") {
				t.Errorf("%q: the error tells the token: %v", tt.address, err)
			}
			continue
		}
		if err != nil || a.Server.String() != tt.server || a.Token != tt.token {
			t.Errorf("%q: %v %q, %v; want %v %q", tt.address, a.Server, a.Token, err, tt.server, tt.token)
		}
		for _, said := range []string{fmt.Sprint(a), fmt.Sprintf("%+v", a), fmt.Sprintf("%#v", a)} {
			if tt.token != "" && strings.Contains(said, tt.token) {
				t.Errorf("%q is printed as %s", tt.address, said)
			}
		}
	}
}
