package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/format"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A feature is a row of the table of features: which versions have it.
type feature struct {
	kind, name                  string
	without, since, until, gone string // empty for none
}

// A featureTable is what schema/features.tsv holds.
type featureTable struct {
	oldest, newest string
	rows           []feature
}

// featureKinds are the kinds of features, in the order of the table.
var featureKinds = []string{"flag", "mode", "request", "initialize", "answer", "hook", "member", "env", "line", "behavior"}

// parseFeatures reads the table of features of a folder.
func parseFeatures(dir string) (*featureTable, error) {
	const name = "features.tsv"
	text, err := os.ReadFile(filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return &featureTable{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the table of features: %w", err)
	}
	t := &featureTable{}
	seen := map[string]bool{}
	for i, line := range strings.Split(string(text), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Split(line, "\t")
		fail := func(format string, args ...any) (*featureTable, error) {
			return nil, fmt.Errorf("%s:%d: %s", name, i+1, fmt.Sprintf(format, args...))
		}
		if fields[0] == "tried" && len(fields) == 3 {
			t.oldest, t.newest = fields[1], fields[2]
			continue
		}
		if len(fields) != 7 || !slices.Contains(featureKinds, fields[0]) {
			return fail("expected kind, name, four versions and the way it was tried, found %q", line)
		}
		for j := 2; j < 6; j++ {
			if fields[j] == "-" {
				fields[j] = ""
			} else if !sincePattern.MatchString(fields[j]) {
				return fail("expected a version or -, found %q", fields[j])
			}
		}
		if (fields[4] == "") != (fields[5] == "") {
			return fail("expected the last version with it and the first one after that, or neither")
		}
		if key := fields[0] + " " + fields[1]; seen[key] {
			return fail("%s is there twice", key)
		} else {
			seen[key] = true
		}
		t.rows = append(t.rows, feature{fields[0], fields[1], fields[2], fields[3], fields[4], fields[5]})
	}
	if len(t.rows) > 0 && t.newest == "" {
		return nil, fmt.Errorf("%s: expected a line with the oldest and the newest version that were tried", name)
	}
	return t, nil
}

// join adds the requests that declare their first version themselves, because they
// were not tried yet, and finds requests and hooks of which nothing is said.
func (t *featureTable) join(decls []*decl) error {
	have, empty := map[string]bool{}, len(t.rows) == 0
	for _, row := range t.rows {
		have[row.kind+" "+row.name] = true
	}
	for _, d := range decls {
		switch {
		case d.kind == "hook" && !empty && !have["hook "+d.tags[0]]:
			return fmt.Errorf("%s: hook %s is not in features.tsv: run make since", d.pos, d.tags[0])
		case d.kind != "request" || d.attrs["dir"] == "in":
		case have["request "+d.tags[0]]:
			if d.attrs["since"] != "" {
				return fmt.Errorf("%s: request %s says since, and so does features.tsv: remove the former", d.pos, d.tags[0])
			}
		case d.attrs["since"] == "":
			return fmt.Errorf("%s: request %s is not in features.tsv: run make since, or say since", d.pos, d.tags[0])
		default:
			t.rows = append(t.rows, feature{kind: "request", name: d.tags[0], since: d.attrs["since"]})
		}
	}
	return nil
}

// source returns the Go code of the table.
func (t *featureTable) source() ([]byte, error) {
	version := func(s string) string {
		return "Version{" + strings.ReplaceAll(s, ".", ", ") + "}"
	}
	var b bytes.Buffer
	b.WriteString("// Code generated from schema/features.tsv by wire/internal/gen. DO NOT EDIT.\n\npackage wire\n\n")
	fmt.Fprintf(&b, "// triedVersions returns the oldest and the newest version that were tried.\nfunc triedVersions() (first, last Version) { return %s, %s }\n\n", version(t.oldest), version(t.newest))
	b.WriteString("// featureOf returns the row of a feature.\nfunc featureOf(kind FeatureKind, name string) Feature {\n\tswitch kind {\n")
	for _, kind := range featureKinds {
		rows := slices.DeleteFunc(slices.Clone(t.rows), func(f feature) bool { return f.kind != kind })
		if len(rows) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\tcase Feature%s:\n\t\tswitch name {\n", strings.ToUpper(kind[:1])+kind[1:])
		for _, f := range rows {
			fmt.Fprintf(&b, "\t\tcase %q:\n\t\t\treturn Feature{", f.name)
			for _, member := range [][2]string{{"Without", f.without}, {"Since", f.since}, {"Until", f.until}, {"Gone", f.gone}} {
				if member[1] != "" {
					fmt.Fprintf(&b, "%s: %s, ", member[0], version(member[1]))
				}
			}
			b.WriteString("}\n")
		}
		b.WriteString("\t\t}\n")
	}
	b.WriteString("\t}\n\treturn Feature{}\n}\n")
	text, err := format.Source(b.Bytes())
	if err != nil {
		return nil, fmt.Errorf("formatting the table of features: %w", err)
	}
	return text, nil
}
