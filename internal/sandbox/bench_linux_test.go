package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// BenchmarkStart measures how long it takes to start a program that does nothing
// and to wait for its end, without a sandbox and in several.
func BenchmarkStart(b *testing.B) {
	dir, err := filepath.EvalSymlinks(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	var hidden []string
	for i := range 100 {
		path := filepath.Join(dir, fmt.Sprint(i))
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			b.Fatal(err)
		}
		hidden = append(hidden, path)
	}
	b.Run("none", func(b *testing.B) {
		for b.Loop() {
			if err := exec.Command("true").Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, name := range []string{Bubblewrap, Landlock} {
		e := enforcerFor(b, name)
		for _, test := range []struct {
			name    string
			profile Profile
		}{
			{"deny-only", Profile{Mode: DenyOnly, Dir: dir, Hide: hidden[:1]}},
			{"network", Profile{Mode: Strict, Dir: dir, Writable: []string{dir}, Network: NetworkListed}},
			{"100 paths", Profile{Mode: DenyOnly, Dir: dir, Hide: hidden}},
		} {
			b.Run(name+"/"+test.name, func(b *testing.B) {
				for b.Loop() {
					s := start(b, e, &test.profile, Command{Args: []string{"true"}})
					if _, code := s.wait(b); code != 0 {
						b.Fatal(code)
					}
				}
			})
		}
	}
}
