package client_test

import (
	"os"
	"strings"
	"testing"
)

// TestDocument holds the Go code of docs/questions.md against the examples, which are run.
func TestDocument(t *testing.T) {
	read := func(name string) string {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	// All code in examples is one tab further in.
	examples := strings.ReplaceAll(read("example_test.go"), "\n\t", "\n")
	blocks := strings.Split(read("../docs/questions.md"), "\n```go\n")[1:]
	if len(blocks) != 2 {
		t.Errorf("there are %d blocks of Go", len(blocks))
	}
	for _, block := range blocks {
		code, _, _ := strings.Cut(block, "\n```")
		if !strings.Contains(examples, "\n"+code+"\n") {
			t.Errorf("this is not part of an example:\n%s", code)
		}
	}
}
