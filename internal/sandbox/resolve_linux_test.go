package sandbox

import (
	"os"
	"path"
	"path/filepath"
	"testing"
)

// TestLayoutOfProfiles: the layout of a resolved profile says the same about each
// file as the profile: the longest path decides.
func TestLayoutOfProfiles(t *testing.T) {
	t.Parallel()
	for name, policy := range map[string]Policy{
		"deny-only":       {Mode: DenyOnly, DenyRead: []string{"~/.ssh", "~/work/**/.env"}, DenyWrite: []string{"~/.bashrc", "~/work/src"}},
		"deny edit":       {Mode: DenyOnly, DenyWrite: []string{"/"}, DenyRead: []string{"~/.ssh"}},
		"deny edit home":  {Mode: DenyOnly, DenyWrite: []string{"~"}},
		"strict":          {Mode: Strict, DenyRead: []string{"~/work/**/.env"}, DenyWrite: []string{"~/work/src"}, Dirs: []string{"~/extra"}},
		"strict, no edit": {Mode: Strict, DenyWrite: []string{"/"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, "home/work/.env", "home/work/sub/.env", "home/other/file")
			l.policy = policy
			l.policy.Network = NetworkAll
			p, _, _ := l.resolve()
			layout, err := newLayout(p, "")
			if err != nil {
				t.Fatal(err)
			}
			decided := func(name string) effect {
				for at := name; at != "/"; at = path.Dir(at) {
					for _, pl := range layout.places {
						if pl.path == at {
							return effect(pl.access)
						}
					}
				}
				return effect(layout.root)
			}
			if err := filepath.WalkDir(l.root, func(name string, _ os.DirEntry, err error) error {
				if want, got := effectOf(p, name), decided(name); got != want {
					t.Errorf("%s: the layout says %d, the profile %d", name, got, want)
				}
				return err
			}); err != nil {
				t.Fatal(err)
			}
		})
	}
}
