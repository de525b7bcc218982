package claude

import (
	"path/filepath"
	"slices"
	"testing"
)

func TestFindAll(t *testing.T) {
	root := tree(t, "bin1/claude*", "bin2/claude -> ../bin1/claude", "home/.local/bin/claude*", "home/.bun/bin/claude")
	env := []string{"PATH=" + filepath.Join(root, "bin2") + ":" + filepath.Join(root, "bin1"), "HOME=" + filepath.Join(root, "home")}
	got := newFinder("linux", "amd64", root, env).all()
	want := []string{filepath.Join(root, "bin2", "claude"), filepath.Join(root, "home", ".local", "bin", "claude")}
	if !slices.Equal(got, want) {
		t.Errorf("found %q, want %q: each once, in order, and nothing that cannot be run", got, want)
	}

	missing := filepath.Join(root, "nowhere")
	found := FindAll(t.Context(), &FindOptions{Path: missing, Env: env})
	if len(found) != 1 || found[0].Path != missing || found[0].CLI != nil || found[0].Err == nil {
		t.Errorf("a program that is named and not there: %+v", found)
	}
	found = FindAll(t.Context(), &FindOptions{Path: got[0], Env: env, NoProbe: true})
	if len(found) != 1 || found[0].Err != nil || found[0].CLI.Path != got[0] {
		t.Errorf("a program that is there: %+v", found)
	}
}
