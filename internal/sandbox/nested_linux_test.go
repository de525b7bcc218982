package sandbox

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// TestNests holds that another bubblewrap is found to start in ours for a user, and
// not for root, who cannot map its own user into a namespace inside of another.
func TestNests(t *testing.T) {
	e, ok := enforcerFor(t, Bubblewrap).(*bubblewrap)
	if !ok {
		t.Fatal("it is not bubblewrap")
	}
	err := e.Nests(t.Context())
	if root := os.Geteuid() == 0; (err != nil) != root {
		t.Errorf("as root: %t, %v", root, err)
	}
}

// TestClosedFolder holds that a socket in a private folder of another user, which is
// hidden as all are, keeps no sandbox of root from starting: the folder is hidden.
func TestClosedFolder(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root sees what is in such a folder")
	}
	e := enforcerFor(t, Bubblewrap)
	work, dir := folderOf(t, 0), folderOf(t, nobody)
	inner := filepath.Join(dir, "inner")
	if err := os.Mkdir(inner, 0o755); err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(inner, "socket")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	for _, c := range []struct {
		perm   os.FileMode
		hidden string
	}{{0o700, dir}, {0o711, socket}} {
		if err := os.Chmod(dir, c.perm); err != nil {
			t.Fatal(err)
		}
		policy := &Policy{Mode: DenyOnly, Network: NetworkAll}
		p, _, err := Resolve(t.Context(), policy, &Machine{Home: work, Dir: work, Env: []string{"PATH=" + os.Getenv("PATH")}})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(p.Hide, c.hidden) {
			t.Errorf("with %s, %q are hidden; want %s", c.perm, p.Hide, c.hidden)
		}
		p.Hide = []string{c.hidden} // others of the machine may end meanwhile
		command, err := e.Wrap(p, Command{Args: []string{"/bin/sh", "-c", `test -S "$0" || echo started`, socket}, Dir: work, Env: []string{"PATH=" + os.Getenv("PATH")}})
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(command.Args[0], command.Args[1:]...)
		cmd.Dir, cmd.Env = command.Dir, command.Env
		for _, fd := range command.Files {
			cmd.ExtraFiles = append(cmd.ExtraFiles, os.NewFile(uintptr(fd), "file"))
		}
		out, err := cmd.CombinedOutput()
		for _, f := range cmd.ExtraFiles {
			_ = f.Close()
		}
		if err != nil || string(out) != "started\n" {
			t.Errorf("with %s: %v and %q", c.perm, err, out)
		}
	}
}
