package fold

// Plain reports whether a line is read without being decoded.
func (l *Line) Plain() bool {
	_, ok := l.plainly()
	return ok
}
