package server

import (
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/server/access"
)

func TestPhoneAddress(t *testing.T) {
	for listen, want := range map[string]string{
		"192.168.1.20":         "192.168.1.20 ",
		"192.168.1.20:9000":    "192.168.1.20 9000",
		"[fd00::1]:9000":       "fd00::1 9000",
		"fd00::1":              "fd00::1 ",
		"127.0.0.2:0":          "127.0.0.2 0",
		"0.0.0.0":              "stands for many addresses",
		"[::]:8775":            "stands for many addresses",
		"224.0.0.1":            "stands for many addresses",
		"hub.example":          "is not an address",
		"192.168.1.20:x":       "is not an address",
		"192.168.1.20:7000000": "is not an address",
		"192.168.1.20:-1":      "is not an address",
		"eth0":                 "is not an address",
	} {
		ip, port, err := phoneAddress(listen)
		got := ip.String() + " " + port
		if problem, ok := errors.AsType[*api.Error](err); ok {
			got = problem.Detail
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", listen, got, want)
		}
	}
}

func TestChooseAddress(t *testing.T) {
	none := chooseAddress(nil)
	if none.Title != "This machine has no private network address" || !strings.Contains(none.Hint, "--listen ADDRESS") {
		t.Errorf("%+v", none)
	}
	some := chooseAddress([]access.NetAddress{{Interface: "wlan0", IP: net.IPv4(192, 168, 1, 20)}, {Interface: "eth0", IP: net.IPv4(10, 0, 0, 5)}})
	if some.Detail != "192.168.1.20 (wlan0), 10.0.0.5 (eth0)." || !strings.HasSuffix(some.Hint, "--listen 192.168.1.20") {
		t.Errorf("%+v", some)
	}
}
