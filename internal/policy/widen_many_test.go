package policy

import (
	"fmt"
	"testing"
)

// BenchmarkWidens compares two versions of a file with many rules, which a hub
// does whenever the file changes.
func BenchmarkWidens(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		file := &File{}
		for i := range n {
			file.Rules = append(file.Rules, Rule{Text: fmt.Sprintf("Bash(tool-%d:*)", i), Decision: Deny})
		}
		b.Run(fmt.Sprintf("rules=%d", n), func(b *testing.B) {
			for b.Loop() {
				if list := Widens(file, file); list != nil {
					b.Fatal(list)
				}
				if got := len(Narrowed(file, file).Rules); got != n {
					b.Fatalf("%d rules are left, want %d", got, n)
				}
			}
		})
	}
}
