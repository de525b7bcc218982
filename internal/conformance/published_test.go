package conformance

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/wire"
)

func TestParsePublished(t *testing.T) {
	got, err := parsePublished([]byte(`["2.1.36", "2.1.120", "2.1.37", "2.1.40-beta.1", "2.1.325", "2.1.326", "0.2.9"]`))
	want := []wire.Version{{Major: 2, Minor: 1, Patch: 37}, {Major: 2, Minor: 1, Patch: 120}, {Major: 2, Minor: 1, Patch: 325}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if _, err := parsePublished([]byte(`{"error":{}}`)); err == nil {
		t.Error("an error of npm is taken for a list")
	}
}
