package paint

// MarkdownParts is Markdown, and shows the parts that are rendered for themselves.
func (s *Styles) MarkdownParts(text string, width int, part func([]byte)) []string {
	m := NewMarkdownStream(s, width)
	m.renderer.watch = part
	m.Push(text)
	return m.Close()
}
