package claude

import (
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// A schemaField is a field as encoding/json sees it.
type schemaField struct {
	reflect.StructField
	name     string
	tagged   bool // the name is from its tag
	optional bool
	quoted   bool // the value is written as a string
	depth    int
}

// fields returns the fields of a struct in their order, those of embedded
// structs in their place, by the rules of encoding/json: of several with the
// same name the one that is least deep counts, among equals the one that has the
// name from its tag, and if that does not decide it, none.
func (b *schemaBuilder) fields(t reflect.Type, path string) ([]schemaField, error) {
	var all []schemaField
	if err := b.collect(t, 0, path, nil, &all); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(f schemaField) bool { return !dominates(f, all) }), nil
}

func dominates(f schemaField, all []schemaField) bool {
	for _, other := range all {
		if other.name != f.name || slices.Equal(other.Index, f.Index) {
			continue
		}
		if other.depth < f.depth || other.depth == f.depth && (other.tagged || !f.tagged) {
			return false
		}
	}
	return true
}

func (b *schemaBuilder) collect(t reflect.Type, depth int, path string, index []int, all *[]schemaField) error {
	for i := range t.NumField() {
		f := t.Field(i)
		f.Index = append(slices.Clone(index), i)
		tag := f.Tag.Get("json")
		if tag == "-" {
			continue
		}
		name, rest, _ := strings.Cut(tag, ",")
		if !validName(name) {
			name = ""
		}
		inner := f.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		if f.Anonymous && name == "" && inner.Kind() == reflect.Struct && inner != timeType &&
			!hasMethods(inner, schemerType) && !hasMethods(inner, unmarshalerType) && !hasMethods(inner, textUnmarshalerType) {
			leave, err := b.enter(inner, path)
			if err != nil {
				return err
			}
			err = b.collect(inner, depth+1, path, f.Index, all)
			leave()
			if err != nil {
				return err
			}
			continue
		}
		if !f.IsExported() {
			continue
		}
		options := strings.Split(rest, ",")
		field := schemaField{
			StructField: f, name: name, tagged: name != "", depth: depth,
			optional: slices.Contains(options, "omitempty") || slices.Contains(options, "omitzero"),
			quoted:   slices.Contains(options, "string") && quotable(inner.Kind()),
		}
		if name == "" {
			field.name = f.Name
		}
		*all = append(*all, field)
	}
	return nil
}

// quotable reports whether the option string of a json tag has an effect.
func quotable(k reflect.Kind) bool {
	return k == reflect.Bool || k == reflect.String || k >= reflect.Int && k <= reflect.Uintptr || k == reflect.Float32 || k == reflect.Float64
}

// validName reports whether encoding/json takes a name from a tag.
func validName(s string) bool {
	for _, c := range s {
		if !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", c) && !unicode.IsLetter(c) && !unicode.IsDigit(c) {
			return false
		}
	}
	return s != ""
}
