package conformance

import (
	"os"
	"slices"
	"testing"

	probe "github.com/switchboard-dev/switchboard/internal/conformance/since"
	"github.com/switchboard-dev/switchboard/wire"
)

// TestFeatures holds the table of features, wire/schema/features.tsv, against real CLIs: what a version has must be in the table, and what it
// lacks must not. In make test those are the pinned versions, which are installed anyway, and on the older ones what one start of the CLI
// shows. make soak tries everything on them, fetches other versions at which the table changes, and removes those again.
func TestFeatures(t *testing.T) {
	soak := os.Getenv(soakEnv) != ""
	cheap := func(f probe.Feature) bool { return f.Way == probe.ByName || f.Way == probe.ByAnswer }
	for _, version := range Versions() {
		match := cheap
		if soak || version == Newest {
			match = nil
		}
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			checkFeatures(t, program(t, version), version, match)
		})
	}
	if !soak {
		return
	}
	for _, version := range sample(6) {
		t.Run(version, func(t *testing.T) { checkFeatures(t, fetched(t, version), version, nil) })
	}
}

// fetched installs a version for the time of a test.
func fetched(t *testing.T, version string) string {
	t.Helper()
	if path, err := Program(version); err == nil {
		return path
	}
	dir, err := Dir(version)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	installer := Installer{Progress: t.Output()}
	path, err := installer.Install(t.Context(), version)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// sample returns some of the versions that are first to have something, evenly spread.
func sample(count int) []string {
	var all []wire.Version
	for _, f := range probe.Features() {
		first := wire.FeatureOf(f.Kind, f.Name).Since
		if !first.IsZero() && !slices.Contains(Versions(), first.String()) && !slices.Contains(all, first) {
			all = append(all, first)
		}
	}
	slices.SortFunc(all, wire.Version.Compare)
	var chosen []string
	for i := range count {
		chosen = append(chosen, all[i*len(all)/count].String())
	}
	return chosen
}

// checkFeatures tries the features that match, all if match is nil.
func checkFeatures(t *testing.T, path, version string, match func(probe.Feature) bool) {
	t.Helper()
	found, err := probe.Probe(t.Context(), path, match)
	if err != nil {
		t.Fatal(err)
	}
	v := mustParse(t, version)
	for _, f := range probe.Features() {
		if match != nil && !match(f) {
			continue
		}
		want := map[wire.Support]probe.Finding{wire.Supported: probe.Yes, wire.Unsupported: probe.No}[wire.FeatureOf(f.Kind, f.Name).In(v)]
		if got := found[f.Key()]; want != "" && got != want {
			t.Errorf("%s %s in %s: %s, and the table says %s (make since)", f.Kind, f.Name, version, got, want)
		}
	}
}
