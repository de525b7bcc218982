// Command gen makes the Go types of package wire, and their TypeScript
// declarations, from the protocol tables in wire/schema. It is run by `go
// generate ./wire`; with -check it writes nothing and fails if a file differs
// from what it would write.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	dir := flag.String("dir", ".", "folder of package wire")
	check := flag.Bool("check", false, "fail if a generated file is out of date, write nothing")
	flag.Parse()
	if err := run(*dir, *check); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(dir string, check bool) error {
	files, err := generate(filepath.Join(dir, "schema"))
	if err != nil {
		return err
	}
	for _, f := range files {
		path := filepath.Join(dir, f.name)
		if check {
			have, err := os.ReadFile(path)
			if err != nil {
				return fmt.Errorf("reading what was generated: %w", err)
			}
			if !bytes.Equal(have, f.text) {
				return fmt.Errorf("%s is out of date: run go generate ./wire", path)
			}
			continue
		}
		if err := os.WriteFile(path, f.text, 0o644); err != nil { //nolint:gosec // sources are for everyone to read
			return fmt.Errorf("writing what was generated: %w", err)
		}
	}
	return nil
}

// A file is one generated file.
type file struct {
	name string
	text []byte
}

// generate makes all files from the tables in a folder.
func generate(schema string) ([]file, error) {
	decls, err := parseDir(schema)
	if err != nil {
		return nil, err
	}
	features, err := parseFeatures(schema)
	if err != nil {
		return nil, err
	}
	if err := features.join(decls); err != nil {
		return nil, err
	}
	files, err := goFiles(decls)
	if err != nil {
		return nil, err
	}
	table, err := features.source()
	if err != nil {
		return nil, err
	}
	return append(files, file{"zz_features.go", table}, file{"protocol.d.ts", typescript(decls)}), nil
}
