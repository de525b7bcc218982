// Package paint turns texts into lines for a terminal: it cleans what an agent wrote, measures and wraps it by the columns that it takes,
// renders Markdown, shows differences between files, and names the styles of it all in one place.
//
// It is pure. It reads and writes nothing but what it is given, with the one exception of Detect, which asks the operating system about a
// terminal. It starts no goroutines and keeps nothing, so all of it may be used by several goroutines, but for MarkdownStream, which
// belongs to one.
package paint
