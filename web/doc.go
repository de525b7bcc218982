// Package web holds the console: the page for browsers, as it was built by "make build" from the TypeScript in this folder.
package web
