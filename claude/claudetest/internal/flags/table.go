package flags

import (
	"slices"
	"strings"

	"github.com/switchboard-dev/switchboard/wire"
)

// kind is what a flag takes.
type kind int

const (
	boolean  kind = iota
	value         // one value
	variadic      // one value or more
	optional      // a value or none
)

// spec is a flag of the CLI.
type spec struct {
	kind   kind
	meta   string // the name of the value in messages
	since  int    // first patch version of 2.1 that has it; 0: 2.1.37 or before
	until  int    // last one; 0: still there
	short  string
	alias  string
	hidden bool // not in the help text, and never suggested
}

// table has the flags by their long name. "since" and "until" name versions that
// were tried; where a flag came or went in between is not known.
var table = map[string]spec{
	"add-dir":                                {kind: variadic, meta: "directories"},
	"advisor":                                {kind: value, meta: "model", since: 325, hidden: true},
	"agent":                                  {kind: value, meta: "agent"},
	"agent-color":                            {kind: value, meta: "color", hidden: true},
	"agent-id":                               {kind: value, meta: "id", hidden: true},
	"agent-name":                             {kind: value, meta: "name", hidden: true},
	"agent-type":                             {kind: value, meta: "type", hidden: true},
	"agents":                                 {kind: value, meta: "json-or-file"},
	"allow-dangerously-skip-permissions":     {kind: boolean},
	"allowedTools":                           {kind: variadic, meta: "tools", alias: "allowed-tools"},
	"append-system-prompt":                   {kind: value, meta: "prompt"},
	"append-system-prompt-file":              {kind: value, meta: "file", hidden: true},
	"autocompact":                            {kind: value, meta: "auto|tokens", since: 325},
	"await-claim":                            {kind: boolean, since: 325, hidden: true},
	"await-initialize":                       {kind: boolean, since: 325, hidden: true},
	"ax-screen-reader":                       {kind: boolean, since: 325},
	"bare":                                   {kind: boolean, since: 120},
	"betas":                                  {kind: variadic, meta: "betas"},
	"bg":                                     {kind: boolean, since: 325, alias: "background"},
	"brief":                                  {kind: boolean, since: 120},
	"channels":                               {kind: variadic, meta: "servers", since: 120, hidden: true},
	"chrome":                                 {kind: boolean},
	"cloud":                                  {kind: optional, since: 325},
	"continue":                               {kind: boolean, short: "c"},
	"dangerously-load-development-channels":  {kind: variadic, meta: "servers", since: 120, hidden: true},
	"dangerously-skip-permissions":           {kind: boolean},
	"debug":                                  {kind: optional, short: "d"},
	"debug-file":                             {kind: value, meta: "path"},
	"debug-to-stderr":                        {kind: boolean, hidden: true},
	"deep-link-origin":                       {kind: boolean, since: 120, hidden: true},
	"desktop":                                {kind: boolean, since: 325},
	"disable-slash-commands":                 {kind: boolean},
	"disallowedTools":                        {kind: variadic, meta: "tools", alias: "disallowed-tools"},
	"effort":                                 {kind: value, meta: "level", since: 120},
	"enable-auth-status":                     {kind: boolean, hidden: true},
	"enable-auto-mode":                       {kind: boolean, since: 120, hidden: true},
	"environment":                            {kind: value, meta: "environment_id", since: 325},
	"exclude-dynamic-system-prompt-sections": {kind: boolean, since: 120},
	"fallback-model":                         {kind: value, meta: "model"},
	"file":                                   {kind: variadic, meta: "specs"},
	"fork-session":                           {kind: boolean},
	"forward-subagent-text":                  {kind: boolean, since: 325},
	"from-pr":                                {kind: optional},
	"help":                                   {kind: boolean, short: "h"},
	"ide":                                    {kind: boolean},
	"include-hook-events":                    {kind: boolean, since: 120},
	"include-partial-messages":               {kind: boolean},
	"init":                                   {kind: boolean, hidden: true},
	"init-only":                              {kind: boolean, hidden: true},
	"input-format":                           {kind: value, meta: "format"},
	"json-schema":                            {kind: value, meta: "schema"},
	"maintenance":                            {kind: boolean, hidden: true},
	"managed-settings":                       {kind: value, meta: "json", since: 120, hidden: true},
	"max-budget-usd":                         {kind: value, meta: "amount"},
	"max-thinking-tokens":                    {kind: value, meta: "tokens", hidden: true},
	"max-turns":                              {kind: value, meta: "turns", hidden: true},
	"mcp-config":                             {kind: variadic, meta: "configs"},
	"mcp-debug":                              {kind: boolean, until: 120},
	"model":                                  {kind: value, meta: "model"},
	"name":                                   {kind: value, meta: "name", since: 120, short: "n"},
	"no-chrome":                              {kind: boolean},
	"no-session-persistence":                 {kind: boolean},
	"output-format":                          {kind: value, meta: "format"},
	"parent-session-id":                      {kind: value, meta: "id", hidden: true},
	"permission-mode":                        {kind: value, meta: "mode"},
	"permission-prompt-tool":                 {kind: value, meta: "tool", hidden: true},
	"permission-prompts":                     {kind: value, meta: "target", since: 325},
	"plan-mode-instructions":                 {kind: value, meta: "instructions", since: 120, hidden: true},
	"plan-mode-required":                     {kind: boolean, hidden: true},
	"plugin-dir":                             {kind: value, meta: "path"},
	"plugin-dir-no-mcp":                      {kind: value, meta: "path", since: 325, hidden: true},
	"plugin-url":                             {kind: value, meta: "url", since: 325},
	"prefill":                                {kind: value, meta: "text", since: 120, hidden: true},
	"print":                                  {kind: boolean, short: "p"},
	"project-config-root":                    {kind: value, meta: "dir", since: 325, hidden: true},
	"prompt-suggestions":                     {kind: optional, since: 325},
	"remote":                                 {kind: optional, hidden: true},
	"remote-control":                         {kind: optional, since: 120, alias: "rc"},
	"remote-control-session-name-prefix":     {kind: value, meta: "prefix", since: 120},
	"replay-user-messages":                   {kind: boolean},
	"restricted":                             {kind: boolean, since: 325},
	"resume":                                 {kind: optional, short: "r"},
	"resume-drops-turn":                      {kind: value, meta: "message id", since: 325, hidden: true},
	"resume-session-at":                      {kind: value, meta: "message id", hidden: true},
	"rewind-files":                           {kind: value, meta: "user-message-id", hidden: true},
	"safe-mode":                              {kind: boolean, since: 325},
	"sdk-url":                                {kind: value, meta: "url", hidden: true},
	"session-id":                             {kind: value, meta: "uuid"},
	"session-mirror":                         {kind: boolean, since: 120, hidden: true},
	"setting-sources":                        {kind: value, meta: "sources"},
	"settings":                               {kind: value, meta: "file-or-json"},
	"strict-mcp-config":                      {kind: boolean},
	"system-prompt":                          {kind: value, meta: "prompt"},
	"system-prompt-file":                     {kind: value, meta: "file", hidden: true},
	"system-prompt-snapshot":                 {kind: value, meta: "on|off", since: 325},
	"task-budget":                            {kind: value, meta: "tokens", since: 120, hidden: true},
	"team-name":                              {kind: value, meta: "name", hidden: true},
	"teammate-mode":                          {kind: value, meta: "mode", hidden: true},
	"teleport":                               {kind: optional},
	"thinking":                               {kind: value, meta: "mode", since: 120, hidden: true},
	"thinking-display":                       {kind: value, meta: "display", since: 120, hidden: true},
	"tmux":                                   {kind: boolean, since: 120},
	"tools":                                  {kind: variadic, meta: "tools"},
	"verbose":                                {kind: boolean},
	"version":                                {kind: boolean, short: "v"},
	"workload":                               {kind: value, meta: "tag", since: 120, hidden: true},
	"worktree":                               {kind: optional, since: 120, short: "w"},
}

// choices are the values that flags are limited to.
func choices(name string, v wire.Version) []string {
	switch name {
	case "output-format":
		return []string{"text", "json", "stream-json"}
	case "input-format":
		return []string{"text", "stream-json"}
	case "permission-prompts":
		return []string{"host", "none"}
	case "system-prompt-snapshot":
		return []string{"on", "off"}
	case "thinking":
		return []string{"enabled", "adaptive", "disabled"}
	case "thinking-display":
		return []string{"summarized", "omitted"}
	case "permission-mode":
		switch {
		case v.AtLeast(2, 1, 325):
			return []string{"acceptEdits", "auto", "bypassPermissions", "manual", "dontAsk", "plan"}
		case v.AtLeast(2, 1, 91):
			return []string{"acceptEdits", "auto", "bypassPermissions", "default", "dontAsk", "plan"}
		}
		return []string{"acceptEdits", "bypassPermissions", "default", "delegate", "dontAsk", "plan"}
	}
	return nil
}

// in says whether a version has the flag.
func (s spec) in(v wire.Version) bool {
	patch := v.Patch
	if v.Major != 2 || v.Minor != 1 {
		patch = 0
		if v.AtLeast(2, 2, 0) {
			patch = 1 << 30
		}
	}
	return (s.since == 0 || patch >= s.since) && (s.until == 0 || patch <= s.until)
}

// usage is how messages name a flag.
func (s spec) usage(name string) string {
	var b strings.Builder
	if s.short != "" {
		b.WriteString("-" + s.short + ", ")
	}
	b.WriteString("--" + name)
	if s.alias != "" {
		b.WriteString(", --" + s.alias)
	}
	switch s.kind {
	case value:
		b.WriteString(" <" + s.meta + ">")
	case variadic:
		b.WriteString(" <" + s.meta + "...>")
	case boolean, optional:
	}
	return b.String()
}

// find returns the flag that a word such as "--model" or "-p" names.
func find(word string, v wire.Version) (string, spec, bool) {
	long, isLong := strings.CutPrefix(word, "--")
	if s, ok := table[long]; ok && isLong && s.in(v) {
		return long, s, true
	}
	for name, s := range table {
		if s.in(v) && (isLong && s.alias != "" && s.alias == long || !isLong && s.short != "" && word == "-"+s.short) {
			return name, s, true
		}
	}
	return "", spec{}, false
}

// suggestion is the line that follows the complaint about an unknown flag: the
// flags that are written alike.
func suggestion(word string, v wire.Version) string {
	long, ok := strings.CutPrefix(word, "--")
	if !ok {
		return ""
	}
	const limit, similar = 3, 0.4
	best := limit
	var alike []string
	for name, s := range table {
		if s.hidden || !s.in(v) || len(name) < 2 {
			continue
		}
		n := distance(long, name)
		longest := max(len(long), len(name))
		if n > best || float64(longest-n)/float64(longest) <= similar {
			continue
		}
		if n < best {
			best, alike = n, nil
		}
		alike = append(alike, "--"+name)
	}
	slices.Sort(alike)
	switch len(alike) {
	case 0:
		return ""
	case 1:
		return "(Did you mean " + alike[0] + "?)\n"
	}
	return "(Did you mean one of " + strings.Join(alike, ", ") + "?)\n"
}

// distance returns how many letters have to be added, removed, changed or
// swapped with their neighbour to make one word of the other.
func distance(a, b string) int {
	if d := len(a) - len(b); d > 3 || d < -3 {
		return max(len(a), len(b)) // too far to matter, and words may be long
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
