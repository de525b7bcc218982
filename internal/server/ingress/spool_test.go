package ingress

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/link"
)

// AttachSpool lets a fakeHub take in files.
func (h *fakeHub) AttachSpool(ctx context.Context, hello hub.Hello, w hub.Wire) (attachment, link.Welcome, error) {
	return h.Attach(ctx, hello, w)
}

func TestImportSpool(t *testing.T) {
	var whole bytes.Buffer
	header := &link.SpoolHeader{Version: link.Version, Session: "s1", Run: 2, Instance: "i", Oldest: 3, Next: 6, Written: 7}
	records := []link.Record{line(3, "c"), line(4, "d"), {Kind: link.Happened, Number: 5, Bytes: []byte(`{"event":"exited"}`)}}
	if err := link.WriteSpool(&whole, header, slices.Values(records)); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name   string
		data   []byte
		refuse error
		have   int64
		want   []string // the lines, "-" for a gap
		left   string   // what is left of the file: its name's end
		fails  bool
	}{
		{"a whole file", whole.Bytes(), nil, 2, []string{"c", "d", `{"event":"exited"}`}, "", false},
		{"lines that are there", whole.Bytes(), nil, 3, []string{"d", `{"event":"exited"}`}, "", false},
		{"a file that is cut off", whole.Bytes()[:whole.Len()-6], nil, 2, []string{"-"}, ".damaged", false},
		{"a file whose end is missing", whole.Bytes()[:whole.Len()-4], nil, 2, []string{"c", "d", `{"event":"exited"}`}, ".damaged", false},
		{"a run that the hub does not know", whole.Bytes(), &hub.GoneError{Reason: "unknown"}, 2, nil, ".spool", true},
		{"no spool file", []byte("x"), nil, 2, nil, ".spool", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := newFakeHub()
			h.refuse = tt.refuse
			h.items = []hub.Item{{Record: link.Record{Kind: link.Line, Number: tt.have, Bytes: []byte("before")}}}
			file := filepath.Join(t.TempDir(), "s1-2.spool")
			if err := os.WriteFile(file, tt.data, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := importSpool(t.Context(), h, file); (err != nil) != tt.fails {
				t.Fatalf("taking it in: %v", err)
			}
			var got []string
			for _, it := range h.items[1:] {
				if it.Gap != nil {
					it.Bytes = []byte("-")
				}
				got = append(got, string(it.Bytes))
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("the hub has %q, want %q", got, tt.want)
			}
			for _, end := range []string{".spool", ".damaged"} {
				name := file
				if end == ".damaged" {
					name += end
				}
				if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) != (end != tt.left) {
					t.Errorf("%s: %v", name, err)
				}
			}
			if len(h.hellos) > 0 && (h.hellos[0].Run != 2 || h.hellos[0].Next != 6 || h.hellos[0].Written != 7) {
				t.Errorf("the hub was told %+v", h.hellos[0])
			}
		})
	}
	if err := importSpool(t.Context(), newFakeHub(), filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}
