package rooms

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// maxTerms is how many terms the glossary may have: a new one replaces another.
const maxTerms = 40

// glossary returns the terms of the table in CONTRIBUTING.md.
func glossary(text string) []string {
	var terms []string
	inside := false
	for line := range strings.Lines(text) {
		cells := strings.Split(line, "|")
		switch {
		case strings.HasPrefix(line, "| term |"):
			inside = true
		case !inside || strings.HasPrefix(line, "| ---"):
		case len(cells) != 4:
			return terms
		default:
			terms = append(terms, strings.Split(strings.TrimSpace(cells[1]), ", ")...)
		}
	}
	return terms
}

// unused returns the terms that occur in none of the texts.
func unused(terms, texts []string) []string {
	var list []string
	for _, term := range terms {
		word := regexp.MustCompile(`(?i)\b` + strings.ReplaceAll(regexp.QuoteMeta(term), " ", `[\s/]+`))
		if !slices.ContainsFunc(texts, word.MatchString) {
			list = append(list, term)
		}
	}
	return list
}

// TestGlossary looks for terms that no Go file uses, and for too many of them.
func TestGlossary(t *testing.T) {
	files := repository()
	var code []string
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			return enter(files, name)
		case path.Ext(name) == ".go" && path.Dir(name) != "internal/rooms":
			code = append(code, read(t, files, name))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	terms := glossary(read(t, files, "CONTRIBUTING.md"))
	if len(terms) < maxTerms/2 {
		t.Fatalf("CONTRIBUTING.md has %d terms: is its table still read?", len(terms))
	}
	if rows := len(terms); rows > maxTerms+1 { // "durable, live" is a row
		t.Errorf("the glossary has %d terms, and should have at most %d: replace one", rows, maxTerms)
	}
	for _, term := range unused(terms, code) {
		t.Errorf("no Go file says %q, which the glossary explains", term)
	}
}

func TestGlossaryNotices(t *testing.T) {
	table := "x\n\n| term | meaning |\n| --- | --- |\n| fan-out | a |\n| durable, live | b |\n\n| other | table |\n"
	terms := glossary(table)
	if got := strings.Join(terms, ";"); got != "fan-out;durable;live" {
		t.Errorf("terms: %s", got)
	}
	if got := unused(terms, []string{"// A durable line\n", "// Fan-out"}); len(got) != 1 || got[0] != "live" {
		t.Errorf("unused: %q", got)
	}
}
