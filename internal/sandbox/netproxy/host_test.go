package netproxy

import (
	"net/netip"
	"strings"
	"testing"
)

func TestTargets(t *testing.T) {
	for in, want := range map[string]string{
		"example.com":        "example.com",
		"EXAMPLE.Com.":       "example.com",
		"xn--mnchen-3ya.de":  "xn--mnchen-3ya.de",
		"a_b.example":        "a_b.example",
		"1e100.net":          "1e100.net",
		"127.0.0.1":          "127.0.0.1",
		"::1":                "::1",
		"[::1]":              "::1",
		"[2001:DB8::1]":      "2001:db8::1",
		"::ffff:127.0.0.1":   "127.0.0.1",
		"[::ffff:10.0.0.1]":  "10.0.0.1",
		"münchen.de":         "",
		"example.com..":      "",
		".example.com":       "",
		"":                   "",
		".":                  "",
		"exam ple.com":       "",
		"example.com\x00.de": "",
		"a/b":                "",
		"user@example.com":   "",
		"example.com:80":     "",
		// Old spellings of addresses, which some resolvers understand.
		"0177.0.0.1":                          "",
		"127.1":                               "",
		"0x7f.0.0.1":                          "",
		"0x7f000001":                          "",
		"2130706433":                          "",
		"127.0.0.01":                          "",
		"127.0.0.1.":                          "",
		"1.2.3.4.5":                           "",
		"example.0x7f":                        "",
		"[127.0.0.1]":                         "",
		"[example.com]":                       "",
		"fe80::1%eth0":                        "",
		strings.Repeat("a", 64):               "",
		strings.Repeat("a.", 130):             "",
		"a." + strings.Repeat("b", 63) + ".c": "a." + strings.Repeat("b", 63) + ".c",
	} {
		target, err := parseTarget(in, 443)
		got := ""
		if err == nil {
			got = target.host()
		}
		if got != want {
			t.Errorf("parseTarget(%q) = %q, want %q", in, got, want)
		}
	}
	for _, port := range []int{-1, 0, 65536} {
		if _, err := parseTarget("example.com", port); err == nil {
			t.Errorf("port %d is taken", port)
		}
	}
}

func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		pattern, host string
		port          int
		want          bool
	}{
		{"example.com", "example.com", 443, true},
		{"Example.COM.", "example.com", 443, true},
		{"example.com", "EXAMPLE.com.", 443, true},
		{"example.com", "www.example.com", 443, false},
		{"example.com", "badexample.com", 443, false},
		{"*.example.com", "www.example.com", 443, true},
		{"*.example.com", "a.b.example.com", 443, true},
		{"*.example.com", "example.com", 443, false},
		{"*.example.com", "badexample.com", 443, false},
		{"*.example.com", "example.com.evil.test", 443, false},
		{"*", "example.com", 443, true},
		{"*", "10.0.0.1", 443, true},
		{"example.com:443", "example.com", 443, true},
		{"example.com:443", "example.com", 80, false},
		{"*.example.com:443", "www.example.com", 80, false},
		{"127.0.0.1:80", "127.0.0.1", 80, true},
		{"[::1]:80", "::1", 80, true},
		{"[::1]:80", "::1", 81, false},
		{"::1", "[::1]", 81, true},
		{"127.0.0.1", "::ffff:127.0.0.1", 80, true},
		{"*.0.0.1", "127.0.0.1", 80, false},
		{"example.*", "example.com", 80, false},
		{"exa*.com", "example.com", 80, false},
		{"example.com:0", "example.com", 80, false},
		{"", "example.com", 80, false},
	} {
		target, err := parseTarget(c.host, c.port)
		if err != nil {
			t.Fatal(err)
		}
		if _, got := match(parsePatterns([]string{c.pattern}), target); got != c.want {
			t.Errorf("%q matches %s: %v, want %v", c.pattern, target, got, c.want)
		}
	}
}

func TestClassify(t *testing.T) {
	own := []netip.Addr{netip.MustParseAddr("203.0.113.7"), netip.MustParseAddr("2001:db8::7")}
	for text, want := range map[string]class{
		"93.184.216.34": public, "2606:2800:220:1::1": public,
		"127.0.0.1": local, "127.8.9.10": local, "0.0.0.0": local, "0.1.2.3": local, "::": local, "::1": local,
		"::ffff:127.0.0.1": local, "64:ff9b::127.0.0.1": local, "::127.0.0.1": local, "2002:7f00:1::": local,
		"203.0.113.7": local, "::ffff:203.0.113.7": local, "2001:db8::7": local,
		"169.254.169.254": linkLocal, "fe80::1": linkLocal, "224.0.0.1": linkLocal, "ff02::1": linkLocal, "255.255.255.255": linkLocal,
		"::ffff:169.254.169.254": linkLocal, "64:ff9b::a9fe:a9fe": linkLocal,
		"10.1.2.3": private, "172.16.0.1": private, "172.32.0.1": public, "192.168.1.1": private, "100.100.100.200": private,
		"fd00::1": private, "fec0::1": private, "64:ff9b::10.0.0.1": private, "198.18.0.1": private,
	} {
		if got := classify(netip.MustParseAddr(text), own); got != want {
			t.Errorf("classify(%s) = %d, want %d", text, got, want)
		}
	}
}

// What is taken for a host is taken for the same one again, and no pattern that
// is a host's own spelling misses it.
func FuzzTarget(f *testing.F) {
	for _, seed := range []string{"example.com", "[::1]", "0x7f.1", "EXAMPLE.com.", "*.a", "::ffff:1.2.3.4", "a:80"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, host string) {
		target, err := parseTarget(host, 443)
		if err != nil {
			return
		}
		again, err := parseTarget(target.host(), 443)
		if err != nil || again != target {
			t.Fatalf("%q is %v, and that is %v (%v)", host, target, again, err)
		}
		if _, ok := match(parsePatterns([]string{host}), target); !ok {
			t.Fatalf("the pattern %q does not match %v", host, target)
		}
		if _, ok := match(parsePatterns([]string{target.String()}), target); !ok {
			t.Fatalf("the pattern %q does not match %v", target, target)
		}
	})
}
