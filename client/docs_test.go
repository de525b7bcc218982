package client_test

import (
	"os"
	"strings"
	"testing"
)

// TestDocuments holds the Go code of documents against the examples, which are run.
func TestDocuments(t *testing.T) {
	read := func(name string) string {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	// All code in examples is one tab further in.
	examples := strings.ReplaceAll(read("example_test.go")+read("example_remote_test.go"), "\n\t", "\n")
	for name, want := range map[string]int{"questions.md": 2, "client.md": 6} {
		blocks := strings.Split(read("../docs/"+name), "\n```go\n")[1:]
		if len(blocks) != want {
			t.Errorf("there are %d blocks of Go in %s, want %d", len(blocks), name, want)
		}
		for _, block := range blocks {
			code, _, _ := strings.Cut(block, "\n```")
			if !strings.Contains(examples, "\n"+code+"\n") {
				t.Errorf("this in %s is not part of an example:\n%s", name, code)
			}
		}
	}
}
