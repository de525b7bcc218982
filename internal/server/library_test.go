package server

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/switchboard-dev/switchboard/internal/launch"
	"github.com/switchboard-dev/switchboard/internal/report"
	"github.com/switchboard-dev/switchboard/wire"
)

// TestLibrary looks at real files through all that is between them and the hub.
func TestLibrary(t *testing.T) {
	config, dir := t.TempDir(), t.TempDir()
	launcher, err := launch.New(launch.Config{
		Program: "/switchboard", DataDir: t.TempDir(), Socket: "/socket", Env: []string{"HOME=" + dir, "CLAUDE_CONFIG_DIR=" + config},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := launcher.Close(); err != nil {
			t.Error(err)
		}
	})
	l := library{launcher}
	project, _ := wire.ProjectDir(config, dir)
	path, err := wire.TranscriptPath(project, "c1")
	if err != nil {
		t.Fatal(err)
	}
	line := `{"type":"user","message":{"role":"user","content":"Hello"},"cwd":"` + dir + `","uuid":"u1","parentUuid":null,"sessionId":"c1"}` + "\n"
	for _, folder := range []string{project, filepath.Join(dir, "blog", ".git")} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(path, []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	modified := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	if err := os.Chtimes(path, time.Time{}, modified); err != nil {
		t.Fatal(err)
	}

	want := report.TranscriptFile{Conversation: "c1", Dir: dir, Title: "Hello", Modified: modified, Bytes: int64(len(line))}
	files, err := l.Transcripts(t.Context(), report.TranscriptQuery{Dir: dir, Conversation: "c1", Limit: 1})
	if err != nil || len(files) != 1 {
		t.Fatalf("%+v, %v", files, err)
	}
	if files[0].Modified = files[0].Modified.UTC(); !reflect.DeepEqual(files[0], want) {
		t.Errorf("the transcript is %+v, expected %+v", files[0], want)
	}
	for _, q := range []report.TranscriptQuery{{Dir: "/elsewhere"}, {Conversation: "c2"}, {Before: modified, BeforeAfter: "c1"}, {Before: modified.Add(-1)}} {
		if files, err := l.Transcripts(t.Context(), q); err != nil || len(files) != 0 {
			t.Errorf("%+v selects %+v, %v", q, files, err)
		}
	}
	lines, err := l.ReadTranscript(t.Context(), dir, "c1")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line, err := range lines {
		if n++; err != nil || !strings.Contains(string(line), "Hello") {
			t.Errorf("%s, %v", line, err)
		}
	}
	if n != 1 {
		t.Errorf("the transcript has %d lines", n)
	}
	folders, err := l.Folders(t.Context(), "~/b", 10)
	if err != nil || len(folders) != 1 || folders[0].Path != filepath.Join(dir, "blog") || !folders[0].Git {
		t.Errorf("folders: %+v, %v", folders, err)
	}
	if looked, err := l.Look(t.Context(), []string{dir, "/gone"}); err != nil || len(looked) != 1 || looked[0].Git {
		t.Errorf("Look: %+v, %v", looked, err)
	}
}
