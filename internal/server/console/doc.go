// Package console serves the files of the console to browsers. They hold no secret and need no token; what the page shows it asks of
// /v1, with a token of its own. The policy that goes with the page forbids everything that the console does not need: scripts and
// styles that are not among its files, requests to other hosts, being shown inside of another page, and text that becomes HTML
// without having been cleaned.
package console
