package rooms

import (
	"bufio"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// exported returns the exported identifiers of a package: Name, Type.Field and
// Type.Method. Those of embedded types of the same package are there too.
func exported(t *testing.T, files fs.FS, dir string) map[string]bool {
	t.Helper()
	entries, err := fs.ReadDir(files, dir)
	if err != nil {
		t.Fatalf("looking for the package %s: %v", dir, err)
	}
	s := surface{names: map[string]bool{}, embeds: map[string][]string{}}
	for _, entry := range entries {
		name := entry.Name()
		if path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, read(t, files, path.Join(dir, name)), parser.SkipObjectResolution)
		if err != nil {
			t.Fatalf("%s: %v", dir, err)
		}
		for _, decl := range file.Decls {
			s.declare(decl)
		}
	}
	s.promote()
	return s.names
}

// A surface is what a package shows.
type surface struct {
	names  map[string]bool
	embeds map[string][]string // what each type embeds
}

func (s *surface) declare(decl ast.Decl) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			s.names[d.Name.Name] = true
		} else {
			s.names[baseName(d.Recv.List[0].Type)+"."+d.Name.Name] = true
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch sp := spec.(type) {
			case *ast.ValueSpec:
				for _, name := range sp.Names {
					s.names[name.Name] = true
				}
			case *ast.TypeSpec:
				s.names[sp.Name.Name] = true
				switch typ := sp.Type.(type) {
				case *ast.StructType:
					s.members(sp.Name.Name, typ.Fields)
				case *ast.InterfaceType:
					s.members(sp.Name.Name, typ.Methods)
				}
			}
		}
	}
}

func (s *surface) members(typ string, list *ast.FieldList) {
	for _, field := range list.List {
		if len(field.Names) == 0 {
			s.embeds[typ] = append(s.embeds[typ], baseName(field.Type))
		}
		for _, name := range field.Names {
			s.names[typ+"."+name.Name] = true
		}
	}
}

// promote gives types what they embed, which may embed something itself.
func (s *surface) promote() {
	members := map[string][]string{}
	for name := range s.names {
		if typ, member, ok := strings.Cut(name, "."); ok {
			members[typ] = append(members[typ], member)
		}
	}
	var give func(typ, embedded string, depth int)
	give = func(typ, embedded string, depth int) {
		for _, member := range members[embedded] {
			s.names[typ+"."+member] = true
		}
		for _, inner := range s.embeds[embedded] {
			if depth < 5 { // a type may embed a pointer to itself
				give(typ, inner, depth+1)
			}
		}
	}
	for typ, embedded := range s.embeds {
		for _, e := range embedded {
			give(typ, e, 0)
		}
	}
}

// baseName returns the name of a type without its pointer and its parameters. It
// is empty for a type of another package.
func baseName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return baseName(e.X)
	case *ast.IndexExpr:
		return baseName(e.X)
	case *ast.IndexListExpr:
		return baseName(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// checkParity reads the tables of the page on parity. known are our identifiers, as
// they are written there; required are those that must be there. It says what is
// wrong.
func checkParity(page string, known map[string]bool, required []string) []string {
	var wrong []string
	named := map[string]bool{}
	lines := bufio.NewScanner(strings.NewReader(page))
	for number := 1; lines.Scan(); number++ {
		line := lines.Text()
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| ---") || strings.Contains(line, " | ours | ") {
			continue
		}
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		if len(cells) != 3 {
			wrong = append(wrong, fmt.Sprintf("line %d has %d columns instead of three", number, len(cells)))
			continue
		}
		spans := codeSpan.FindAllStringSubmatch(cells[1], -1)
		for _, span := range spans {
			if named[span[1]] = true; !known[span[1]] {
				wrong = append(wrong, fmt.Sprintf("line %d names %s, which does not exist", number, span[1]))
			}
		}
		if rest := strings.TrimSpace(codeSpan.ReplaceAllString(cells[1], "")); rest != "" && rest != "-" {
			wrong = append(wrong, fmt.Sprintf("line %d has %q among our names", number, rest))
		}
		yes := strings.HasPrefix(cells[2], "yes")
		switch no := strings.HasPrefix(cells[2], "no"); {
		case yes && len(spans) == 0:
			wrong = append(wrong, fmt.Sprintf("line %d says yes and does not say to what", number))
		case no && len(strings.Fields(cells[2])) < 4:
			wrong = append(wrong, fmt.Sprintf("line %d says no and does not say why", number))
		}
	}
	for _, name := range required {
		if !named[name] {
			wrong = append(wrong, name+" is missing")
		}
	}
	return wrong
}

var declaration = regexp.MustCompile(`(?m)^(message|request|hook) (\w+)`)

func TestParity(t *testing.T) {
	files := repository()
	known := map[string]bool{}
	var required []string
	for dir, prefix := range map[string]string{
		"claude": "", "wire": "wire.", "wire/fold": "fold.",
		"claude/claudemcp": "claudemcp.", "claude/claudews": "claudews.", "claude/storetest": "storetest.",
	} {
		for name := range exported(t, files, dir) {
			known[prefix+name] = true
			typ, member, _ := strings.Cut(name, ".")
			if prefix == "" && ast.IsExported(member) && slices.Contains([]string{"Options", "Session", "Hooks"}, typ) {
				required = append(required, name)
			}
		}
	}
	schemas, err := fs.Glob(files, "wire/schema/*.wire")
	if err != nil {
		t.Fatal(err)
	}
	for _, schema := range schemas {
		for _, m := range declaration.FindAllStringSubmatch(read(t, files, schema), -1) {
			suffix := map[string]string{"message": "", "request": "Request", "hook": "Input"}[m[1]]
			required = append(required, "wire."+m[2]+suffix)
		}
	}
	if len(required) < 250 {
		t.Fatalf("found only %d names, the reading of the packages must be broken", len(required))
	}
	slices.Sort(required)
	for _, wrong := range checkParity(read(t, files, "docs/sdk-parity.md"), known, required) {
		t.Errorf("docs/sdk-parity.md: %s", wrong)
	}
}

func TestParityNotices(t *testing.T) {
	const head = "| official | ours | |\n| --- | --- | --- |\n"
	known := map[string]bool{"Options.Dir": true, "wire.User": true}
	tests := []struct {
		name, page string
		want       []string
	}{
		{"all well", head + "| cwd | `Options.Dir` `wire.User` | yes |\n| user | - | no: nobody needs it |\n", nil},
		{"gone", head + "| cwd | `Options.Cwd` `Options.Dir` | yes |\n", []string{"line 3 names Options.Cwd, which does not exist"}},
		{"left out", head + "| user | `wire.User` | yes |\n", []string{"Options.Dir is missing"}},
		{"yes to nothing", head + "| x | `Options.Dir` | yes |\n| y | - | yes |\n", []string{"line 4 says yes and does not say to what"}},
		{"no without a reason", head + "| x | `Options.Dir` | yes |\n| y | - | no |\n", []string{"line 4 says no and does not say why"}},
		{"columns", head + "| x | `Options.Dir` | yes |\n| y | z |\n", []string{"line 4 has 2 columns instead of three"}},
		{"prose", head + "| x | `Options.Dir` and more | yes |\n", []string{`line 3 has "and more" among our names`}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := checkParity(test.page, known, []string{"Options.Dir"}); !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
