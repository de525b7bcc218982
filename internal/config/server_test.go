package config

import (
	"strings"
	"testing"
)

func TestCheckServer(t *testing.T) {
	tls := func(s *Server) { s.TLSCert, s.TLSKey = "/c", "/k" }
	for name, test := range map[string]struct {
		change func(*Server)
		want   string // "" if all is well
	}{
		"default":                    {func(*Server) {}, ""},
		"loopback":                   {func(s *Server) { s.Addr = "[::1]:1" }, ""},
		"mapped loopback":            {func(s *Server) { s.Addr = "[::ffff:127.0.0.1]:1" }, ""},
		"everybody":                  {func(s *Server) { s.Addr = "0.0.0.0:1" }, "--tls-cert"},
		"the network":                {func(s *Server) { s.Addr = "192.0.2.1:1" }, "not on this machine alone"},
		"everybody with TLS":         {func(s *Server) { tls(s); s.Addr = "[::]:1" }, ""},
		"everybody behind a proxy":   {func(s *Server) { s.Addr, s.BehindProxy, s.URL = "0.0.0.0:1", true, "https://h" }, ""},
		"everybody, explicitly":      {func(s *Server) { s.Addr, s.InsecureLAN = "0.0.0.0:1", true }, ""},
		"a certificate of its own":   {func(s *Server) { s.TLSSelfSigned, s.Addr, s.URL = true, "0.0.0.0:1", "https://h" }, ""},
		"a file and its own":         {func(s *Server) { tls(s); s.TLSSelfSigned = true }, "--tls-self-signed"},
		"its own behind a proxy":     {func(s *Server) { s.TLSSelfSigned, s.BehindProxy, s.URL = true, true, "https://h" }, "server.tls_self_signed"},
		"half a certificate":         {func(s *Server) { s.TLSCert = "/c" }, "--tls-key"},
		"a key alone":                {func(s *Server) { s.TLSKey = "/k" }, "--tls-cert"},
		"two certificates":           {func(s *Server) { tls(s); s.BehindProxy, s.URL = true, "https://h" }, "leave out"},
		"a proxy without an address": {func(s *Server) { s.BehindProxy = true }, "--url"},
		"a proxy without TLS":        {func(s *Server) { s.BehindProxy, s.URL = true, "http://h" }, "https://hub.example.com"},
		"an address without TLS":     {func(s *Server) { s.URL = "http://h" }, "write it with https"},
		"our own without TLS":        {func(s *Server) { s.URL = "http://localhost:9" }, ""},
		"our own by IPv6":            {func(s *Server) { s.URL = "http://[::1]:9" }, ""},
		"another by IPv6":            {func(s *Server) { s.URL = "http://[2001:db8::1]:9" }, "write it with https"},
		"the network without TLS":    {func(s *Server) { s.URL, s.InsecureLAN = "http://h", true }, ""},
		"TLS and an address without": {func(s *Server) { tls(s); s.URL = "http://localhost" }, "has a certificate"},
		"open relay":                 {func(s *Server) { s.OpenRelay, s.OpenRelayApprove = []string{"http://localhost:5173"}, true }, ""},
		"open relay for all":         {func(s *Server) { s.OpenRelay = []string{"*"} }, "* is not supported"},
		"open relay behind a proxy":  {func(s *Server) { s.OpenRelay, s.BehindProxy, s.URL = []string{"http://a"}, true, "https://h" }, "cannot be combined"},
		"open relay on the network":  {func(s *Server) { tls(s); s.OpenRelay, s.Addr = []string{"http://a"}, "0.0.0.0:1" }, "cannot be combined"},
		"open relay with an address": {func(s *Server) { s.OpenRelay, s.URL = []string{"http://a"}, "http://localhost:9" }, "cannot be combined"},
		"approval without a page":    {func(s *Server) { s.OpenRelayApprove = true }, "names no page"},
		"no connections":             {func(s *Server) { s.MaxConnections = 0 }, "server.max_connections is 0"},
		"less than none":             {func(s *Server) { s.MaxUnknown = -1 }, "server.max_unknown_connections is -1"},
	} {
		t.Run(name, func(t *testing.T) {
			c := Default()
			test.change(&c.Server)
			switch err := c.Check(); {
			case test.want == "" && err != nil, test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}

func TestCheckOpenDial(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*Config)
		want   string // "" if all is well
	}{
		"open":               {func(*Config) {}, ""},
		"on loopback":        {func(c *Config) { c.Server.Addr = "[::1]:1" }, ""},
		"with TLS":           {func(c *Config) { c.Server.TLSCert, c.Server.TLSKey = "/c", "/k" }, ""},
		"on the network":     {func(c *Config) { c.Server.Addr, c.Server.TLSCert, c.Server.TLSKey = "0.0.0.0:1", "/c", "/k" }, "Listen on 127.0.0.1, or"},
		"without TLS":        {func(c *Config) { c.Server.InsecureLAN = true }, "cannot be combined"},
		"behind a proxy":     {func(c *Config) { c.Server.BehindProxy, c.Server.URL = true, "https://h" }, "cannot be combined"},
		"with an address":    {func(c *Config) { c.Server.URL = "http://localhost:9" }, "switchboard token create --session"},
		"fewer than none":    {func(c *Config) { c.Node.MaxSessions = -1 }, "node.max_sessions is -1"},
		"for no agent":       {func(c *Config) { c.Dial.MaxOpen = 0 }, "dial.max_open is 0"},
		"shut on a network":  {func(c *Config) { c.Dial.Open, c.Server.InsecureLAN = false, true }, ""},
		"with auto-approval": {func(c *Config) { c.Dial.AutoApprove = []string{"*"} }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c := Default()
			c.Dial.Open = true
			test.change(c)
			switch err := c.Check(); {
			case test.want == "" && err != nil, test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}

func TestCheckOrigin(t *testing.T) {
	for origin, want := range map[string]string{
		"http://localhost:5173":     "",
		"https://ui.example":        "",
		"http://[::1]:3000":         "",
		"*":                         "* is not supported",
		"http://*.example":          "* is not supported",
		"":                          "isn't the origin of a page",
		"null":                      "isn't the origin of a page",
		"file://":                   "isn't the origin of a page",
		"ws://localhost:5173":       "isn't the origin of a page",
		"localhost:5173":            "isn't the origin of a page",
		"http://":                   "isn't the origin of a page",
		"http://:80":                "isn't the origin of a page",
		"http://localhost:5173/":    "write http://localhost:5173",
		"http://localhost/#a":       "write http://localhost",
		"http://ann@localhost":      "write http://localhost",
		"http://Localhost:5173":     "write http://localhost:5173",
		"http://localhost:80":       "write http://localhost",
		"https://ui.example:443":    "write https://ui.example",
		"http://localhost:":         "colon",
		"http://localhost:5173 , x": "isn't the origin of a page",
	} {
		switch err := checkOrigin(origin); {
		case want == "" && err != nil, want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%q: %v, want %q", origin, err, want)
		}
	}
}
