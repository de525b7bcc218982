package wire

import (
	"bytes"
	"errors"
	"strings"
)

// Content is what a message says: plain text, or a list of blocks. The zero
// value is the empty text.
type Content struct {
	// Text is the content if it is plain text.
	Text string
	// Blocks is the content if it is a list; nil means that it is plain text.
	Blocks []Block
}

// TextContent returns plain text as content.
func TextContent(s string) Content { return Content{Text: s} }

// BlockContent returns blocks as content.
func BlockContent(blocks ...Block) Content {
	if blocks == nil {
		blocks = []Block{}
	}
	return Content{Blocks: blocks}
}

// IsZero reports whether there is no content at all.
func (c Content) IsZero() bool { return c.Text == "" && c.Blocks == nil }

// All returns the content as blocks, plain text as one text block.
func (c Content) All() []Block {
	if c.Blocks != nil || c.Text == "" {
		return c.Blocks
	}
	return []Block{&TextBlock{Text: c.Text}}
}

// String returns the text of the content; blocks that are not text are left
// out.
func (c Content) String() string {
	var s strings.Builder
	s.WriteString(c.Text)
	for _, b := range c.Blocks {
		if t, ok := b.(*TextBlock); ok {
			s.WriteString(t.Text)
		}
	}
	return s.String()
}

// UnmarshalJSON decodes a string or a list of blocks.
func (c *Content) UnmarshalJSON(data []byte) error {
	d := newDecoder(bytes.Clone(bytes.TrimSpace(data)))
	if d == nil {
		return errors.New("expected valid JSON")
	}
	defer d.done()
	if v, _ := d.value(0, 0); !setContent(d, c, v) {
		return errors.New("expected a string or a list of blocks")
	}
	return nil
}

// MarshalJSON encodes plain text as a string, everything else as a list.
func (c Content) MarshalJSON() ([]byte, error) {
	e := encoder{decoded: map[*byte]object{}}
	b := encContent(&e, c)
	return b, e.err
}

func setContent(d *decoder, dst *Content, v value) bool {
	if d.isString(v) {
		*dst = Content{Text: d.string(v)}
		return true
	}
	if d.isNull(v) {
		*dst = Content{}
		return true
	}
	var blocks []Block
	if !setList(d, &blocks, v, setBlock) {
		return false
	}
	*dst = Content{Blocks: blocks}
	return true
}

func setBlock(d *decoder, dst *Block, v value) bool { return setUnion(d, dst, v, decodeBlock) }

func encContent(e *encoder, c Content) []byte {
	if c.Blocks == nil {
		return appendString(nil, c.Text)
	}
	return encList(encUnion[Block])(e, c.Blocks)
}
