//go:build linux || darwin

package access

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/api"
)

func TestPhoneCertificate(t *testing.T) {
	dir, now := privateDir(t), time.Now()
	home, office := net.ParseIP("192.168.1.20"), net.ParseIP("10.0.0.5")
	path := filepath.Join(dir, CertificateFile)
	print := func(ip net.IP, at time.Time) string {
		t.Helper()
		c, err := PhoneCertificate(dir, ip, at)
		noError(t, err)
		if err := c.Leaf.VerifyHostname(ip.String()); err != nil {
			t.Error(err)
		}
		key, ok := c.Leaf.PublicKey.(*ecdsa.PublicKey)
		if !ok || key.Curve != elliptic.P256() || c.Leaf.IsCA || c.Leaf.NotAfter.Sub(at) > certificateTTL {
			t.Errorf("the certificate is %+v", c.Leaf)
		}
		info, err := os.Stat(path)
		noError(t, err)
		if info.Mode().Perm() != 0o600 {
			t.Errorf("the file has mode %v", info.Mode())
		}
		return Fingerprint(c.Certificate[0])
	}
	first := print(home, now)
	if len(first) != 95 || strings.Count(first, ":") != 31 {
		t.Errorf("the fingerprint is %s", first)
	}
	if again := print(home, now.Add(300*24*time.Hour)); again != first {
		t.Error("it was made anew without need")
	}
	moved := print(office, now)
	if moved == first {
		t.Error("it is the same for another address")
	}
	if back := print(home, now); back != moved {
		t.Error("going back to the first network makes another")
	}
	if renewed := print(home, now.Add(certificateTTL-renewBefore)); renewed == moved {
		t.Error("it is not renewed before it expires")
	}
	noError(t, os.WriteFile(path, []byte("damaged"), 0o600))
	print(home, now)
	noError(t, os.Chmod(path, 0o644))
	if _, err := PhoneCertificate(dir, home, now); err == nil || !strings.Contains(err.Error(), "remove it") {
		t.Errorf("a key that others can read: %v", err)
	}
}

func TestCodesForDevices(t *testing.T) {
	b := newTokenStore(&TokenStoreOptions{URL: func() string { return "http://127.0.0.1:1" }})
	if c := b.ConsoleCode(); c.DeviceURL != "" || c.QR != nil {
		t.Errorf("a hub that others do not reach: %+v", c)
	}
	b = newTokenStore(&TokenStoreOptions{Device: func() Device { return Device{URL: "https://192.168.1.20:8775", Fingerprint: "AB"} }})
	c := b.ConsoleCode()
	if c.DeviceURL != "https://192.168.1.20:8775/#code="+c.Code || c.Fingerprint != "AB" {
		t.Errorf("%+v", c)
	}
	checkModules(t, c)
}

// checkModules looks for the three corners by which cameras find a QR code.
func checkModules(t *testing.T, c *api.Code) {
	t.Helper()
	n := len(c.QR)
	if n < 21 {
		t.Fatalf("the QR code has %d rows", n)
	}
	for _, corner := range [][2]int{{0, 0}, {n - 7, 0}, {0, n - 7}} {
		for i, want := range []string{"1111111", "1000001", "1011101", "1011101", "1011101", "1000001", "1111111"} {
			row := c.QR[corner[1]+i]
			if len(row) != n || row[corner[0]:corner[0]+7] != want {
				t.Errorf("the corner %v has %s in row %d", corner, row, i)
			}
		}
	}
}

// A hub's own certificate keeps its key, whatever else changes.
func TestHubCertificate(t *testing.T) {
	dir, now := privateDir(t), time.Now()
	path := filepath.Join(dir, HubCertificateFile)
	make := func(at time.Time, hosts ...string) (key, certificate string) {
		t.Helper()
		c, err := HubCertificate(dir, hosts, at)
		noError(t, err)
		for _, host := range hosts {
			if err := c.Leaf.VerifyHostname(host); err != nil {
				t.Error(err)
			}
		}
		if public, ok := c.Leaf.PublicKey.(*ecdsa.PublicKey); !ok || public.Curve != elliptic.P256() || c.Leaf.IsCA {
			t.Errorf("the certificate is %+v", c.Leaf)
		}
		info, err := os.Stat(path)
		noError(t, err)
		if info.Mode().Perm() != 0o600 {
			t.Errorf("the file has mode %v", info.Mode())
		}
		return string(c.Leaf.RawSubjectPublicKeyInfo), string(c.Certificate[0])
	}
	key, first := make(now, "localhost", "127.0.0.1", "::1")
	if _, again := make(now.Add(5*365*24*time.Hour), "127.0.0.1"); again != first {
		t.Error("it was made anew without need")
	}
	moved, second := make(now, "hub.example", "localhost")
	if moved != key || second == first {
		t.Error("another name: another key, or the same certificate")
	}
	if _, third := make(now, "hub.example", "127.0.0.1", "localhost"); third != second {
		t.Error("names that it had are lost")
	}
	if renewed, last := make(now.Add(hubCertificateTTL-24*time.Hour), "localhost"); renewed != key || last == second {
		t.Error("about to expire: another key, or the same certificate")
	}
	for name, spoil := range map[string]func() error{
		"damaged":        func() error { return os.WriteFile(path, []byte("x"), 0o600) },
		"empty":          func() error { return os.WriteFile(path, nil, 0o600) },
		"open to others": func() error { return os.Chmod(path, 0o644) },
	} {
		noError(t, spoil())
		if _, err := HubCertificate(dir, []string{"localhost"}, now); err == nil || !strings.Contains(err.Error(), "pinned again") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
