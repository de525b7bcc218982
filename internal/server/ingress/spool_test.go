package ingress

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/link"
	"github.com/switchboard-dev/switchboard/internal/server/servertest"
)

func TestImportSpool(t *testing.T) {
	lab := servertest.New(t, nil)
	tests := []struct {
		name  string
		there int  // how many of the lines are in the journal
		cut   int  // how many bytes are missing at the end of the file
		alien bool // the file is of a session that there is not
		fails bool
		want  []string // the lines, "-" for a gap, "end" for when the run was found to have ended
		left  string   // what is left of the file: its name's end
	}{
		{"a whole file", 0, 0, false, false, []string{"end", "c", "d"}, ""},
		{"lines that are there", 1, 0, false, false, []string{"c", "end", "d"}, ""},
		{"a file that is cut off", 0, 6, false, false, []string{"end", "-"}, ".damaged"},
		{"a file whose end is missing", 0, 4, false, false, []string{"end", "c", "d"}, ".damaged"},
		{"a run that the hub does not know", 0, 0, true, true, []string{"end"}, ".spool"},
		{"no spool file", 0, -1, false, true, []string{"end"}, ".spool"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			lab := lab.In(t)
			a := lab.Create(api.CreateSession{})
			lab.AwaitState(a.Session, api.StateIdle)
			next := a.Given() + 1
			a.Say([]string{"c", "d"}[:tt.there]...)
			a.Kill()
			lab.AwaitState(a.Session, api.StateEnded)
			header := &link.SpoolHeader{Version: link.Version, Session: a.Session, Run: 1, Instance: a.Instance(), Oldest: next, Next: next + 3}
			if tt.alien {
				header.Session = "none"
			}
			var data bytes.Buffer
			records := []link.Record{line(next, "c"), line(next+1, "d"), {Kind: link.Happened, Number: next + 2, Bytes: []byte(`{"event":"exited","code":0}`)}}
			if err := link.WriteSpool(&data, header, slices.Values(records)); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(t.TempDir(), "s1-2.spool")
			if tt.cut < 0 {
				data.Reset()
				tt.cut = 0
			}
			if err := os.WriteFile(file, data.Bytes()[:data.Len()-tt.cut], 0o600); err != nil {
				t.Fatal(err)
			}
			if err := ImportSpool(t.Context(), lab.Hub, file); (err != nil) != tt.fails {
				t.Fatalf("taking it in: %v", err)
			}
			after, err := lab.Hub.Events(t.Context(), a.Session, "", 0)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for i := range after.Events {
				switch e := &after.Events[i]; {
				case e.Kind == api.KindGap:
					got = append(got, "-")
				case e.Kind == api.KindRunEnded:
					got = append(got, "end")
				case e.Kind == api.KindLine && e.Text != "":
					got = append(got, e.Text)
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("the log has %q, want %q", got, tt.want)
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
		})
	}
	if err := ImportSpool(t.Context(), lab.Hub, filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}

// TestImportSpoolWritten has a spool tell what was written to the CLI while the hub
// was away.
func TestImportSpoolWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "s1-2.spool")
	imported := make(chan error, 1)
	lab := servertest.New(t, &servertest.Options{Hub: func(o *hub.Options) {
		// As the server has it: called when the process is dead, before the run is ended.
		o.Left = func(ctx context.Context, h *hub.Hub, _, _ string, _ int) error {
			err := ImportSpool(ctx, h, file)
			imported <- err
			return err
		}
	}})
	a := lab.Create(api.CreateSession{Prompt: `@tool Bash {"command":"make"}`})
	q := lab.Await(a.Session, "it asks", func(s *api.Session) bool { return len(s.Questions) > 0 }).Questions[0]
	a.Cut()
	lab.AwaitState(a.Session, api.StateOffline)
	if _, err := lab.Hub.Answer(t.Context(), servertest.Admin, q.ID, api.Answer{Decision: "deny"}); err != nil {
		t.Fatal(err)
	}
	next := a.Given() + 1
	header := &link.SpoolHeader{Version: link.Version, Session: a.Session, Run: 1, Instance: a.Instance(), Oldest: next, Next: next + 1, Written: 100}
	var data bytes.Buffer
	exited := link.Record{Kind: link.Happened, Number: next, Bytes: []byte(`{"event":"exited","code":0}`)}
	if err := link.WriteSpool(&data, header, slices.Values([]link.Record{exited})); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, data.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	a.Kill()
	if err := <-imported; err != nil {
		t.Fatal(err)
	}
	if got, err := lab.Hub.Question(t.Context(), q.ID); err != nil || got.Delivery != api.MessageWritten {
		t.Errorf("the answer is %q, %v", got.Delivery, err)
	}
}

// A file that cannot be read to its end is not damaged: nothing is said to be missing, and
// the rest is taken in the next time.
func TestReadSpoolThatBreaks(t *testing.T) {
	lab := servertest.New(t, nil)
	a := lab.Create(api.CreateSession{})
	lab.AwaitState(a.Session, api.StateIdle)
	next := a.Given() + 1
	a.Kill()
	lab.AwaitState(a.Session, api.StateEnded)
	header := &link.SpoolHeader{Version: link.Version, Session: a.Session, Run: 1, Instance: a.Instance(), Oldest: next, Next: next + 2}
	var data bytes.Buffer
	if err := link.WriteSpool(&data, header, slices.Values([]link.Record{line(next, "c"), line(next+1, "d")})); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("the connection was lost")
	half := data.Bytes()[:data.Len()-6]
	if damaged, err := ReadSpool(t.Context(), lab.Hub, "", io.MultiReader(bytes.NewReader(half), iotest.ErrReader(broken))); damaged || !errors.Is(err, broken) {
		t.Errorf("%v, %v", damaged, err)
	}
	// Of another machine's file nothing is taken.
	if _, err := ReadSpool(t.Context(), lab.Hub, "n2", bytes.NewReader(data.Bytes())); err == nil {
		t.Error("a node's file has lines of a run that is elsewhere")
	}
	if damaged, err := ReadSpool(t.Context(), lab.Hub, "", bytes.NewReader(data.Bytes())); damaged || err != nil {
		t.Errorf("%v, %v", damaged, err)
	}
	entries, err := lab.Journal.Entries(t.Context(), a.Session, 0, 1000, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Kind == "gap" {
			t.Errorf("a gap was noted: %s", e.Data)
		}
	}
}
