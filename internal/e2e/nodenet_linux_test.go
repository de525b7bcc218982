package e2e

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
)

// A cable is a network between this machine and a namespace: a pair of interfaces.
type cable struct {
	t         *testing.T
	namespace string
	near      string // the interface on this side
	address   string // on this side
}

// newCable makes one, or skips the test with the reason where the machine does not
// allow it: that takes root, and iproute2.
func newCable(t *testing.T) *cable {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("network namespaces with a cable between them need root")
	}
	if _, err := exec.LookPath("ip"); err != nil {
		t.Skip("network namespaces need iproute2: " + err.Error())
	}
	// From the addresses that are set apart for measurements between machines.
	number := os.Getpid() % 250
	c := &cable{t: t, namespace: fmt.Sprintf("sb-e2e-%d", os.Getpid()), near: fmt.Sprintf("sbn%d", os.Getpid()%1_000_000), address: fmt.Sprintf("198.18.%d.1", number)}
	far := c.near + "f"
	t.Cleanup(func() {
		_ = exec.Command("ip", "link", "del", c.near).Run() // it may not be there
		_ = exec.Command("ip", "netns", "del", c.namespace).Run()
	})
	for _, args := range [][]string{
		{"netns", "add", c.namespace},
		{"link", "add", c.near, "type", "veth", "peer", "name", far, "netns", c.namespace},
		{"addr", "add", c.address + "/30", "dev", c.near},
		{"link", "set", c.near, "up"},
		{"-n", c.namespace, "addr", "add", fmt.Sprintf("198.18.%d.2/30", number), "dev", far},
		{"-n", c.namespace, "link", "set", far, "up"},
		{"-n", c.namespace, "link", "set", "lo", "up"},
	} {
		if output, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
			t.Skipf("this machine allows no network namespaces: ip %v: %v: %s", args, err, output)
		}
	}
	return c
}

// set plugs the cable in or pulls it out: packets vanish, and neither side is told.
func (c *cable) set(state string) {
	c.t.Helper()
	if output, err := exec.Command("ip", "link", "set", c.near, state).CombinedOutput(); err != nil {
		c.t.Fatalf("%v: %s", err, output)
	}
}

// TestNodeNetworkNamespace has a node in a network of its own, with nothing in it but
// a cable to the hub, which is pulled out in the middle of a turn.
func TestNodeNetworkNamespace(t *testing.T) {
	if !soak() {
		// TestNodeCuts has the same cuts, made by a proxy.
		t.Skip("a browser drops its requests when an interface comes or goes, and its tests run beside these; make soak tries it")
	}
	t.Parallel()
	c := newCable(t)
	l := newNodeLab(t, nil)
	_, port, err := net.SplitHostPort(l.address)
	if err != nil {
		t.Fatal(err)
	}
	l.address = net.JoinHostPort(c.address, port)
	l.options.args = []string{"--url", "https://" + l.address}
	l.start()
	m := l.newMachine("far")
	m.enroll(l)
	m.wrap = []string{"ip", "netns", "exec", c.namespace}
	m.start()
	if shown, err := m.node(); err != nil || shown.Address == "" || shown.Address == c.address {
		t.Errorf("the node is at %q, %v", shown.Address, err)
	}
	s := m.mustCreate(nil)
	if err := s.tell(l.ctx()); err != nil {
		t.Fatal(err)
	}
	c.set("down")
	if err := m.awaitState(api.NodeOffline); err != nil {
		t.Fatal(err)
	}
	if _, err := s.awaitState(l.ctx(), api.StateOffline); err != nil {
		t.Fatal(err)
	}
	c.set("up")
	if err := m.awaitState(api.NodeOnline); err != nil {
		t.Fatal(err)
	}
	if err := s.conclude(l.ctx()); err != nil {
		t.Fatal(err)
	}
	s.single()
	l.verdict(s)
}
