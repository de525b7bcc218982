package access

import (
	"crypto/sha256"
	"fmt"
	"net"
	"slices"
	"strings"

	"rsc.io/qr"

	"github.com/switchboard-dev/switchboard/api"
)

// CertificateFile is the name of the file with the certificate of [PhoneCertificate]
// and its key.
const CertificateFile = "phone.pem"

// HubCertificateFile is the name of the file with the certificate of [HubCertificate] and
// its key.
const HubCertificateFile = "hub.pem"

// Fingerprint returns the SHA-256 fingerprint of a certificate, as browsers show it:
// "AB:CD:…".
func Fingerprint(der []byte) string {
	sum := sha256.Sum256(der)
	parts := make([]string, len(sum))
	for i, b := range sum {
		parts[i] = fmt.Sprintf("%02X", b)
	}
	return strings.Join(parts, ":")
}

// A Device is where other devices reach the hub.
type Device struct {
	// URL is its address; empty if only this machine can reach it.
	URL string
	// Fingerprint is that of a certificate that browsers do not know; it may be empty.
	Fingerprint string
}

// forDevice adds to a code what another device needs.
func forDevice(c *api.Code, d Device) {
	if d.URL == "" {
		return
	}
	c.DeviceURL, c.Fingerprint = d.URL+"/#code="+c.Code, d.Fingerprint
	code, err := qr.Encode(c.DeviceURL, qr.M)
	if err != nil {
		return // it is too long for one; the address is told anyway
	}
	for y := range code.Size {
		row := make([]byte, code.Size)
		for x := range row {
			row[x] = '0'
			if code.Black(x, y) {
				row[x] = '1'
			}
		}
		c.QR = append(c.QR, string(row))
	}
}

// A NetAddress is a private address of this machine.
type NetAddress struct {
	Interface string
	IP        net.IP
}

// virtual are what the names of interfaces begin with that lead to containers and
// virtual machines, not to other devices.
func virtual() []string {
	return []string{"docker", "br-", "veth", "virbr", "vmnet", "vboxnet", "cni", "flannel", "podman", "lxc", "lxd", "kube", "bridge"}
}

// PrivateAddresses lists the addresses by which devices in the same network reach this
// machine.
func PrivateAddresses() ([]NetAddress, error) {
	interfaces, err := net.Interfaces()
	if err != nil {
		return nil, fmt.Errorf("finding the addresses of this machine: %w", err)
	}
	var found []NetAddress
	for i := range interfaces {
		at := &interfaces[i]
		if at.Flags&net.FlagUp == 0 || at.Flags&(net.FlagLoopback|net.FlagPointToPoint) != 0 ||
			slices.ContainsFunc(virtual(), func(prefix string) bool { return strings.HasPrefix(at.Name, prefix) }) {
			continue
		}
		addresses, err := at.Addrs()
		if err != nil {
			return nil, fmt.Errorf("finding the addresses of %s: %w", at.Name, err)
		}
		for _, a := range addresses {
			if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil && n.IP.IsPrivate() {
				found = append(found, NetAddress{at.Name, n.IP.To4()})
			}
		}
	}
	return found, nil
}
