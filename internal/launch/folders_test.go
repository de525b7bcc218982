//go:build unix

package launch

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestFolders(t *testing.T) {
	home := t.TempDir()
	for _, dir := range []string{"src/blog/.git", "src/Books", "src/bin", "src/.hidden", "src/closed", "music"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(home, "src", "b.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(home, "music"), filepath.Join(home, "src", "beats")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", filepath.Join(home, "src", "broken")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(home, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	l := &Launcher{config: Config{Env: []string{"HOME=" + home}}}
	for _, test := range []struct {
		prefix string
		limit  int
		want   string
	}{
		{home + "/src/b", 10, "src/beats src/bin src/blog(git) src/Books"},
		{home + "/src/B", 10, "src/Books src/beats src/bin src/blog(git)"},
		{home + "/src/b", 2, "src/beats src/bin"},
		{home + "/src/", 10, "src/Books src/beats src/bin src/blog(git) src/closed"},
		{home + "/src/.", 10, "src/.hidden"},
		{home + "/music/../src/bl", 10, "src/blog(git)"},
		{"~/mu", 10, "music"},
		{"~", 10, "music src"},
		{"~/", 10, "music src"},
		{"~other/", 10, ""},
		{"src", 10, ""},
		{home + "/nothing/x", 10, ""},
		{home + "/src/b.txt/", 10, ""},
		{home + "/pipe/", 10, ""},
	} {
		found, err := l.Folders(t.Context(), test.prefix, test.limit)
		if err != nil {
			t.Fatal(err)
		}
		var list []string
		for _, f := range found {
			text := strings.TrimPrefix(f.Path, home+"/")
			if f.Git {
				text += "(git)"
			}
			list = append(list, text)
		}
		if got := strings.Join(list, " "); got != test.want {
			t.Errorf("%s: %s, expected %s", strings.TrimPrefix(test.prefix, home), got, test.want)
		}
	}
	looked, err := l.Look(t.Context(), []string{home + "/src/blog", home + "/gone", "relative", home + "/src/b.txt", home + "/music"})
	if err != nil || len(looked) != 2 || !looked[0].Git || looked[1].Path != home+"/music" {
		t.Errorf("Look: %+v, %v", looked, err)
	}
}
