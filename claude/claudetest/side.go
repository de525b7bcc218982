package claudetest

import "strings"

// summary is how every CLI begins the task of a compaction, somewhere in its last message.
const summary = "create a detailed summary of the conversation so far"

// kind tells a request that the CLI makes for itself from a step of the conversation. There is no mark for it on the wire; what tells them
// apart on all CLIs that were looked at (2.1.37, 2.1.120, 2.1.325):
//
//   - the check of key and quota allows one token;
//   - titles, topics, shell prefixes and touched paths are asked of the small model without tools;
//   - a compaction asks for a summary in words that no other request uses.
func (r Request) kind() Kind {
	switch {
	case r.MaxTokens == 1,
		len(r.Tools) == 0 && strings.Contains(r.Model, "haiku"),
		strings.Contains(r.Prompt(), summary):
		return KindSide
	}
	return KindTurn
}

// harmless answers a side request. "none" is what the CLI itself asks for where a shell command has no prefix; for titles and paths it is
// unusable, which the CLI takes for no title and no paths.
func harmless(Request) Reply { return Say(Text("none")) }
