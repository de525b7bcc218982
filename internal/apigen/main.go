// Command apigen writes what is made from the code of the interface /v1: its
// OpenAPI document, api/openapi.json, and TypeScript declarations of the same,
// api/v1.d.ts. It is run by `go generate ./api`; with -check it writes nothing and
// fails if a file differs from what it would write.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	v1 "github.com/switchboard-dev/switchboard/internal/server/v1"
)

func main() {
	dir := flag.String("dir", ".", "folder of package api")
	check := flag.Bool("check", false, "fail if a generated file is out of date, write nothing")
	flag.Parse()
	if err := run(*dir, *check); err != nil {
		fmt.Fprintln(os.Stderr, "apigen:", err)
		os.Exit(1)
	}
}

func run(dir string, check bool) error {
	files, err := generate()
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
				return fmt.Errorf("%s is out of date: run go generate ./api", path)
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

// generate makes all files.
func generate() ([]file, error) {
	document, err := v1.Document()
	if err != nil {
		return nil, err
	}
	declarations, err := typescript(document)
	if err != nil {
		return nil, err
	}
	// On many lines, so that a change shows what has changed.
	var indented bytes.Buffer
	if err := json.Indent(&indented, bytes.TrimSpace(document), "", "  "); err != nil {
		return nil, fmt.Errorf("writing the OpenAPI document: %w", err)
	}
	indented.WriteByte('\n')
	return []file{{"openapi.json", indented.Bytes()}, {"v1.d.ts", declarations}}, nil
}
