package sandbox

import (
	"fmt"
	"testing"
)

// BenchmarkResolve compares paths that are named, which is what most rules do, with
// a search in a folder of 10,000 files.
func BenchmarkResolve(b *testing.B) {
	names := []string{"home/.claude/", "home/.claude.json", "home/.ssh/id", "home/work/.env"}
	for i := range 10_000 {
		names = append(names, fmt.Sprintf("home/work/%d/%d", i/100, i))
	}
	root := makeTree(b, names...)
	m := &Machine{Home: root + "/home", Dir: root + "/home/work", ConfigDir: root + "/home/.claude"}
	for name, deny := range map[string][]string{"named": {"~/.ssh", "~/.aws", "~/.netrc"}, "searched": {"~/.ssh", "~/work/**/.env", "~/work/**/*.pem"}} {
		b.Run(name, func(b *testing.B) {
			p := &Policy{Mode: DenyOnly, Network: NetworkAll, DenyRead: deny}
			for b.Loop() {
				if _, _, err := Resolve(b.Context(), p, m); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
