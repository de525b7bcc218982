package policy

import (
	"fmt"
	"sort"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// A position is a place in a file, from 1.
type position struct{ line, column int }

// findPositions returns where each value of a TOML text stands, by its path:
// allow[0], rule[1].message, folder[2].rule[0].rule. The text is known to be
// valid. The decoder does not keep these positions; errors and rules name them.
func findPositions(text []byte) map[string]position {
	f := &positionFinder{positions: map[string]position{}, count: map[string]int{}, lines: []int{0}}
	for i, c := range text {
		if c == '\n' {
			f.lines = append(f.lines, i+1)
		}
	}
	f.parser.Reset(text)
	table := ""
	for f.parser.NextExpression() {
		node := f.parser.Expression()
		switch node.Kind {
		case unstable.Table:
			table = f.header(node, false)
		case unstable.ArrayTable:
			table = f.header(node, true)
		case unstable.KeyValue:
			f.keyValue(table, node)
		default:
		}
	}
	return f.positions
}

type positionFinder struct {
	parser    unstable.Parser
	positions map[string]position
	// count is how many elements the lists of tables have so far.
	count map[string]int
	// lines are where the lines begin.
	lines []int
}

// header returns the path of the table that a header begins.
func (f *positionFinder) header(node *unstable.Node, list bool) string {
	where := ""
	for it := node.Key(); it.Next(); {
		key := it.Node()
		where = join(where, string(key.Data))
		switch last := it.IsLast(); {
		case last && list:
			n := f.count[where]
			f.count[where]++
			where = fmt.Sprintf("%s[%d]", where, n)
		case f.count[where] > 0:
			// The element that was begun last is meant.
			where = fmt.Sprintf("%s[%d]", where, f.count[where]-1)
		}
		f.record(where, key)
	}
	return where
}

func (f *positionFinder) keyValue(table string, node *unstable.Node) {
	where := table
	for it := node.Key(); it.Next(); {
		where = join(where, string(it.Node().Data))
		f.record(where, it.Node())
	}
	f.value(where, node.Value())
}

func (f *positionFinder) value(where string, node *unstable.Node) {
	f.record(where, node)
	switch node.Kind {
	case unstable.Array:
		n := 0
		for it := node.Children(); it.Next(); n++ {
			f.value(fmt.Sprintf("%s[%d]", where, n), it.Node())
		}
	case unstable.InlineTable:
		for it := node.Children(); it.Next(); {
			f.keyValue(where, it.Node())
		}
	default:
	}
}

// record keeps the position of a node. Some have none: what is around them does.
func (f *positionFinder) record(where string, node *unstable.Node) {
	if node.Raw.Length == 0 {
		return
	}
	at := int(node.Raw.Offset)
	line := sort.SearchInts(f.lines, at+1)
	f.positions[where] = position{line, at - f.lines[line-1] + 1}
}

func join(where, key string) string { return strings.TrimPrefix(where+"."+key, ".") }
