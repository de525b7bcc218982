package paint

import (
	"strconv"
	"strings"
	"sync"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// markdownParser returns the parser, which knows no state between texts. HTML and references are left out: what is HTML is to be read, not
// hidden; and a reference that is defined at the end would change what has been shown long before.
var markdownParser = sync.OnceValue(func() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(
			util.Prioritized(parser.NewSetextHeadingParser(), 100),
			util.Prioritized(parser.NewThematicBreakParser(), 200),
			util.Prioritized(parser.NewListParser(), 300),
			util.Prioritized(parser.NewListItemParser(), 400),
			util.Prioritized(parser.NewCodeBlockParser(), 500),
			util.Prioritized(parser.NewATXHeadingParser(), 600),
			util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
			util.Prioritized(parser.NewBlockquoteParser(), 800),
			util.Prioritized(parser.NewParagraphParser(), 1000),
		),
		parser.WithInlineParsers(
			util.Prioritized(extension.NewTaskCheckBoxParser(), 0),
			util.Prioritized(parser.NewCodeSpanParser(), 100),
			util.Prioritized(parser.NewLinkParser(), 200),
			util.Prioritized(parser.NewAutoLinkParser(), 300),
			util.Prioritized(parser.NewEmphasisParser(), 500),
			util.Prioritized(extension.NewStrikethroughParser(), 500),
			util.Prioritized(extension.NewLinkifyParser(), 999),
		),
		parser.WithParagraphTransformers(util.Prioritized(extension.NewTableParagraphTransformer(), 200)),
		parser.WithASTTransformers(util.Prioritized(extension.NewTableASTTransformer(), 0)),
	)
})

// Nesting beyond these is shown without further indentation. A sign needs less room.
const (
	leastText  = 4
	maxNested  = 12
	leastWidth = 10
)

// A renderer turns segments of Markdown into lines. It belongs to one goroutine.
type renderer struct {
	*brush
	width int
	watch func([]byte) // sees each segment, for tests
}

func newRenderer(s *Styles, width int) *renderer { return &renderer{brush: newBrush(s), width: width} }

// A frame is what stands before the lines of a block: first before its first line, rest before the others.
type frame struct {
	first, rest string
	columns     int
	depth       int
}

// within returns the frame of a block within another, or the frame itself where there is no room.
func (r *renderer) within(f frame, first, rest string, columns int) frame {
	if f.depth >= maxNested || r.width > 0 && r.width-f.columns-columns < leastWidth {
		return frame{first: f.first, rest: f.rest, columns: f.columns, depth: f.depth + 1}
	}
	return frame{first: f.first + first, rest: f.rest + rest, columns: f.columns + columns, depth: f.depth + 1}
}

// room returns how many columns a frame leaves; 0 if lines are not wrapped.
func (r *renderer) room(f frame) int {
	if r.width <= 0 {
		return 0
	}
	return max(r.width-f.columns, 2)
}

// codeIndent stands before lines of code.
const codeIndent = "  "

// code shows a line of a block of code.
func (r *renderer) code(line string, emit func(string)) {
	r.codeIn(frame{}, line, emit)
}

func (r *renderer) codeIn(f frame, line string, emit func(string)) {
	indent := codeIndent
	if r.width > 0 && r.width-f.columns < leastWidth {
		indent = ""
	}
	r.spans(frame{first: f.first + indent, rest: f.rest + indent, columns: f.columns + len(indent)}, []span{{text: strings.TrimRight(line, " "), ink: inkCode}}, emit)
}

// label names the language of a block of code.
func (r *renderer) label(info string, emit func(string)) {
	r.labelIn(frame{}, info, emit)
}

func (r *renderer) labelIn(f frame, info string, emit func(string)) {
	// All of it is shown: more than the language may stand there, and nothing that is written is hidden.
	if info = CleanLine(info, 0); info == "" {
		info = "code"
	}
	r.spans(f, []span{{text: info, ink: inkDim}}, emit)
}

// plain shows a text as it is.
func (r *renderer) plain(line string, emit func(string)) {
	r.spans(frame{}, []span{{text: line}}, emit)
}

// spans lays spans out within a frame.
func (r *renderer) spans(f frame, spans []span, emit func(string)) {
	before := f.first
	layout(spans, r.room(f), func(pieces []piece) {
		emit(strings.TrimRight(before+r.row(spans, pieces), " "))
		before = f.rest
	})
}

// segment renders a segment.
func (r *renderer) segment(source []byte, emit func(string)) {
	if r.watch != nil {
		r.watch(source)
	}
	document := markdownParser().Parse(text.NewReader(source))
	r.blocks(document, source, frame{}, true, emit)
}

// blocks renders what is within a block. Loose ones have blank lines between.
func (r *renderer) blocks(parent ast.Node, source []byte, f frame, loose bool, emit func(string)) {
	inner := f
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		if n != parent.FirstChild() && (loose || n.Kind() != ast.KindList) {
			emit(strings.TrimRight(f.rest, " "))
		}
		r.block(n, source, inner, emit)
		inner.first = f.rest
	}
}

// block renders a block.
func (r *renderer) block(n ast.Node, source []byte, f frame, emit func(string)) {
	switch n := n.(type) {
	case *ast.Heading:
		spans := r.inlines(n, source, inkHeading)
		if !r.styles.Profile.Color {
			spans = append([]span{{text: strings.Repeat("#", n.Level) + " "}}, spans...)
		}
		r.spans(f, spans, emit)
	case *ast.ThematicBreak:
		columns := 40
		if room := r.room(f); room > 0 {
			columns = min(columns, room)
		}
		r.spans(f, []span{{text: strings.Repeat(r.glyph(r.styles.Glyphs.Rule, "-"), columns), ink: inkDim}}, emit)
	case *ast.Blockquote:
		bar := r.draw(r.glyph(r.styles.Glyphs.Bar, "|"), inkDim, "") + " "
		r.blocks(n, source, r.within(f, bar, bar, 2), true, emit)
	case *ast.List:
		r.list(n, source, f, emit)
	case *ast.FencedCodeBlock:
		info := ""
		if n.Info != nil {
			info = string(n.Info.Value(source))
		}
		r.labelIn(f, info, emit)
		r.codeLines(n, source, frame{first: f.rest, rest: f.rest, columns: f.columns}, emit)
	case *ast.CodeBlock:
		r.codeLines(n, source, f, emit)
	case *extast.Table:
		r.table(n, source, f, emit)
	case *ast.Paragraph, *ast.TextBlock:
		r.spans(f, r.inlines(n, source, 0), emit)
	default: // no parser of ours makes others
		r.spans(f, []span{{text: Clean(linesOf(n, source))}}, emit)
	}
}

// glyph returns a sign, or another if styles were made without it.
func (r *renderer) glyph(sign, other string) string {
	if sign == "" {
		return other
	}
	return sign
}

func (r *renderer) codeLines(n ast.Node, source []byte, f frame, emit func(string)) {
	for line := range strings.SplitSeq(strings.TrimRight(linesOf(n, source), "\n"), "\n") {
		r.codeIn(f, line, emit)
		f.first = f.rest
	}
}

// linesOf returns the text of a block as it is.
func linesOf(n ast.Node, source []byte) string {
	if n.Type() != ast.TypeBlock {
		return ""
	}
	var b strings.Builder
	for i := range n.Lines().Len() {
		segment := n.Lines().At(i)
		b.Write(segment.Value(source))
	}
	return b.String()
}

// list renders a list.
func (r *renderer) list(n *ast.List, source []byte, f frame, emit func(string)) {
	number := n.Start
	inner := f
	for i := n.FirstChild(); i != nil; i = i.NextSibling() {
		if i != n.FirstChild() && !n.IsTight {
			emit(strings.TrimRight(f.rest, " "))
		}
		sign := r.glyph(r.styles.Glyphs.Bullet, "*") + " "
		if n.IsOrdered() {
			sign = strconv.Itoa(number) + string(n.Marker) + " "
			number++
		} else if box := checkbox(i); box != nil {
			sign = r.glyph(r.styles.Glyphs.Open, "o") + " "
			if box.IsChecked {
				sign = r.glyph(r.styles.Glyphs.Done, "+") + " "
			}
		}
		columns := Width(sign)
		item := r.within(inner, sign, strings.Repeat(" ", columns), columns)
		if item.columns == inner.columns && (r.width <= 0 || r.width-inner.columns-columns >= leastText) {
			// Too deep to be set further in; but the sign says that it is an item.
			item.first, item.columns = inner.first+sign, inner.columns+columns
		}
		if i.FirstChild() == nil {
			emit(strings.TrimRight(item.first, " "))
		}
		r.blocks(i, source, item, !n.IsTight, emit)
		inner.first = f.rest
	}
}

// checkbox returns the box of an item of a task list, or nil.
func checkbox(item ast.Node) *extast.TaskCheckBox {
	if first := item.FirstChild(); first != nil && first.FirstChild() != nil {
		box, _ := first.FirstChild().(*extast.TaskCheckBox)
		return box
	}
	return nil
}

// inlines returns the text within a block.
func (r *renderer) inlines(parent ast.Node, source []byte, with ink) []span {
	in := &inliner{source: source, plain: !r.styles.Profile.Color}
	in.children(parent, with, "", 0)
	return in.spans
}

// An inliner collects the text within a block.
type inliner struct {
	source []byte
	plain  bool // there are no colours, nor lines through a text
	spans  []span
}

func (in *inliner) add(text string, with ink, link string) {
	if text != "" {
		in.spans = append(in.spans, span{text: Clean(text), ink: with, link: link})
	}
}

// maxInline is how deep emphasis and links may be nested. What is deeper is text.
const maxInline = 64

func (in *inliner) children(parent ast.Node, with ink, link string, depth int) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		in.inline(n, with, link, depth)
	}
}

// deep shows what is nested too deep as text.
func (in *inliner) deep(n ast.Node, with ink, link string) {
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			in.inline(n, with, link, 0)
		case *ast.String:
			in.inline(n, with, link, 0)
		case *ast.AutoLink:
			in.inline(n, with, link, 0)
		case *ast.Link:
			in.add("("+CleanLine(string(n.Destination), maxAddress)+") ", with, "")
		case *ast.Image:
			in.add("("+CleanLine(string(n.Destination), maxAddress)+") ", with, "")
		}
		return ast.WalkContinue, nil
	})
}

func (in *inliner) inline(n ast.Node, with ink, link string, depth int) {
	if depth > maxInline {
		in.deep(n, with, link)
		return
	}
	switch n := n.(type) {
	case *ast.Text:
		in.add(resolved(n.Segment.Value(in.source)), with, link)
		if n.SoftLineBreak() || n.HardLineBreak() {
			in.add("\n", with, link)
		}
	case *ast.String:
		in.add(string(n.Value), with, link)
	case *ast.CodeSpan:
		in.add(strings.ReplaceAll(raw(n, in.source), "\n", " "), with|inkCode, link)
	case *ast.Emphasis:
		more := inkItalic
		if n.Level > 1 {
			more = inkBold
		}
		in.children(n, with|more, link, depth+1)
	case *extast.Strikethrough:
		sign := ""
		if in.plain { // or what is struck out would be said
			sign = "~~"
		}
		in.add(sign, with, link)
		in.children(n, with|inkStrike, link, depth+1)
		in.add(sign, with, link)
	case *extast.TaskCheckBox: // it is the item's sign
	case *ast.Link:
		in.target(n, string(n.Destination), string(n.Title), "", with, depth)
	case *ast.Image:
		in.target(n, string(n.Destination), string(n.Title), "image: ", with, depth)
	case *ast.AutoLink:
		in.add(string(n.Label(in.source)), with|inkLink, address(string(n.URL(in.source))))
	default:
		in.children(n, with, link, depth+1)
	}
}

// target shows a link: its text, where it leads, and its title. No user should have to trust the text.
func (in *inliner) target(n ast.Node, destination, title, label string, with ink, depth int) {
	to := CleanLine(destination, maxAddress)
	link := address(to)
	from := len(in.spans)
	in.add(label, with, "")
	in.children(n, with|inkLink, link, depth+1)
	var said strings.Builder
	for _, s := range in.spans[from:] {
		said.WriteString(s.text)
	}
	switch said.String() {
	case to, strings.TrimPrefix(to, "mailto:"):
	case "":
		in.add(to, with|inkLink, link)
	default:
		if to != "" {
			in.add(" (", with|inkDim, "")
			in.add(to, with|inkDim, link)
			in.add(")", with|inkDim, "")
		}
	}
	if title != "" {
		in.add(" \""+CleanLine(title, 0)+"\"", with|inkDim, "")
	}
}

// raw returns the text within an inline as it is written.
func raw(parent ast.Node, source []byte) string {
	var b strings.Builder
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		if t, ok := n.(*ast.Text); ok {
			b.Write(t.Segment.Value(source))
			if t.SoftLineBreak() || t.HardLineBreak() {
				b.WriteByte('\n')
			}
		}
	}
	return b.String()
}

// resolved returns a text with its escapes and entities resolved. It may hold control characters now, and has to be cleaned.
func resolved(source []byte) string {
	if !strings.ContainsAny(string(source), `\&`) {
		return string(source)
	}
	return string(util.UnescapePunctuations(util.ResolveEntityNames(util.ResolveNumericReferences(source))))
}
