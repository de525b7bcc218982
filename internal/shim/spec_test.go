package shim

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/wire"
)

func TestReadSpec(t *testing.T) {
	want := &Spec{
		Session: "s1", Run: 2, Instance: "i", Token: "sb_a_b", Marker: "marker-1", Socket: "/run/hub.sock",
		Command: NewCommand(&claude.Command{
			Args: []string{"claude", "-p"}, Env: []string{"A=b"}, Dir: "/work", Version: wire.Version{Major: 2, Minor: 1, Patch: 37},
			InputGrace: time.Second, TermGrace: 2 * time.Second, MaxLine: 5,
		}),
		PrivateDir: "/private", Log: "/log", SpoolDir: "/spool", OrphanAfter: time.Hour, IdleOrphanAfter: time.Minute, BufferBytes: 7,
	}
	data, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := ReadSpec(iotest.OneByteReader(strings.NewReader(string(data))))
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	c := got.command()
	if c.Marker != "marker-1" || c.Version.Patch != 37 || c.TermGrace != 2*time.Second || !slices.Equal(c.Args, want.Command.Args) {
		t.Errorf("the command is %+v", c)
	}
	const least = `{"session":"s1","run":1,"marker":"marker-1","socket":"/s","command":{"args":["x"]}}`
	got, err = ReadSpec(strings.NewReader(least))
	if err != nil || got.Instance == "" || got.OrphanAfter != 24*time.Hour || got.IdleOrphanAfter != time.Hour || got.BufferBytes != 64<<20 || got.Command.Env == nil {
		t.Errorf("the least gives %+v, %v", got, err)
	}
}

func TestReadSpecRefuses(t *testing.T) {
	const secret = "sb_secret_secret"
	for _, text := range []string{
		`[]`, `{"token":"` + secret + `","run":"x"}`, `{"token":"` + secret + `"}`, `{"session":"s1"}`,
		`{"session":"../s1","run":1,"marker":"m","socket":"/s","command":{"args":["x"]}}`,
		`{"session":"s1","run":0,"marker":"m","socket":"/s","command":{"args":["x"]}}`,
		`{"session":"s1","run":1,"socket":"/s","command":{"args":["x"]}}`,
		`{"session":"s1","run":1,"marker":"m","command":{"args":["x"]}}`,
		`{"session":"s1","run":1,"marker":"m","socket":"/s"}`,
		`{"session":"` + strings.Repeat("x", maxSpec) + `"}`,
	} {
		if spec, err := ReadSpec(strings.NewReader(text)); err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%.80s gives %+v, %v", text, spec, err)
		}
	}
	for _, text := range []string{``, `{`, `{"token":"` + secret} {
		if _, err := ReadSpec(strings.NewReader(text)); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%q gives %v", text, err)
		}
	}
	if _, err := ReadSpec(iotest.ErrReader(io.ErrClosedPipe)); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("a broken pipe gives %v", err)
	}
}

func TestLogHasAnEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	const limit = 1000
	for range 3 { // opened again, as by a second shim
		log, err := openLog(path, limit)
		if err != nil {
			t.Fatal(err)
		}
		for range 100 {
			if n, err := log.Write([]byte(strings.Repeat("x", 49) + "\n")); n != 50 || err != nil {
				t.Fatalf("wrote %d, %v", n, err)
			}
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
		if n, err := log.Write([]byte("after the end")); n == 0 || err != nil {
			t.Errorf("a write after the end: %d, %v", n, err)
		}
	}
	for _, name := range []string{path, path + ".1"} {
		info, err := os.Stat(name)
		if err != nil || info.Size() > limit/2 || info.Size() == 0 || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %+v, %v", name, info, err)
		}
	}
	if _, err := openLog(filepath.Join(path, "no folder"), limit); err == nil {
		t.Error("a log in a file was opened")
	}
}
