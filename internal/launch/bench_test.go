//go:build unix

package launch

import "testing"

// BenchmarkStart measures what the launcher adds to the start of a process:
// everything up to the moment at which the shim has its orders.
func BenchmarkStart(b *testing.B) {
	l := newLab(b, nil)
	if _, err := l.Agent(b.Context(), ""); err != nil { // the first one asks for the version
		b.Fatal(err)
	}
	for b.Loop() {
		spec, _ := l.spec("crash")
		if _, err := l.Start(b.Context(), spec); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		l.exit()
		b.StartTimer()
	}
}
