// Package audit says what rules would decide: about one call, or about all calls of tools in a log. Logs are those of sessions, recordings of the
// lines of a CLI, and the CLI's own transcripts. Beside each decision stands what really happened, as far as the log knows it.
package audit
