package main

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestFeatures(t *testing.T) {
	const table = "# Words.\ntried\t2.1.37\t2.1.325\nflag\teffort\t2.1.51\t2.1.52\t-\t-\tflag\nmode\tdelegate\t-\t2.1.37\t2.1.60\t2.1.61\tflag\nrequest\tset_color\t2.1.325\t-\t-\t-\tanswer\nhook\tStop\t-\t2.1.37\t-\t-\tname\n"
	const decls = "request SetColor set_color : sets.\nrequest New new since=2.1.325 : is new.\nrequest Asks asks dir=in : asks.\nhook Stop : is told.\n"
	made := func(t *testing.T, table, decls string) (string, error) {
		t.Helper()
		dir := t.TempDir()
		write(t, filepath.Join(dir, "features.tsv"), table)
		all, err := parse("a.wire", decls)
		if err != nil {
			t.Fatal(err)
		}
		features, err := parseFeatures(dir)
		if err != nil {
			return "", err
		}
		if err := features.join(all); err != nil {
			return "", err
		}
		text, err := features.source()
		return string(text), err
	}
	text, err := made(t, table, decls)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		"{ return Version{2, 1, 37}, Version{2, 1, 325} }",
		"case \"effort\":\n\t\t\treturn Feature{Without: Version{2, 1, 51}, Since: Version{2, 1, 52}}",
		"case \"delegate\":\n\t\t\treturn Feature{Since: Version{2, 1, 37}, Until: Version{2, 1, 60}, Gone: Version{2, 1, 61}}",
		"case \"set_color\":\n\t\t\treturn Feature{Without: Version{2, 1, 325}}",
		"case \"new\":\n\t\t\treturn Feature{Since: Version{2, 1, 325}}",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is missing in\n%s", part, text)
		}
	}
	for _, tt := range []struct{ name, table, decls, want string }{
		{"too short", table + "flag\tx\n", decls, "features.tsv:7: expected kind, name, four versions"},
		{"unknown kind", table + "thing\tx\t-\t-\t-\t-\tflag\n", decls, "features.tsv:7: expected kind"},
		{"odd version", table + "flag\tx\t-\t2.1\t-\t-\tflag\n", decls, `features.tsv:7: expected a version or -, found "2.1"`},
		{"gone and never left", table + "flag\tx\t-\t2.1.37\t-\t2.1.60\tflag\n", decls, "features.tsv:7: expected the last version with it"},
		{"twice", table + "flag\teffort\t-\t2.1.37\t-\t-\tflag\n", decls, "features.tsv:7: flag effort is there twice"},
		{"no ends", strings.Replace(table, "tried\t2.1.37\t2.1.325\n", "", 1), decls, "features.tsv: expected a line with the oldest and the newest"},
		{"request not tried", table, decls + "request Newer newer : is newer.\n", "a.wire:5: request newer is not in features.tsv: run make since"},
		{"said twice", table, "request SetColor set_color since=2.1.325 : sets.\n", "a.wire:1: request set_color says since, and so does features.tsv"},
		{"hook not tried", table, decls + "hook Go : is told.\n", "a.wire:5: hook Go is not in features.tsv"},
	} {
		if _, err := made(t, tt.table, tt.decls); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", tt.name, err, tt.want)
		}
	}
}
