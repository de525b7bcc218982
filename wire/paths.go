package wire

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"unicode/utf16"
)

// maxProjectName is the length from which newer CLIs cut a project folder's name
// and add a hash; older ones fail to write there at all.
const maxProjectName = 200

var safeID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$`) })

// ConfigDir returns the folder in which the CLI keeps its files: the variable
// CLAUDE_CONFIG_DIR if it is set, else .claude in the home folder.
func ConfigDir(getenv func(string) string, home string) string {
	if dir := getenv("CLAUDE_CONFIG_DIR"); dir != "" {
		return dir
	}
	return filepath.Join(home, ".claude")
}

// PlanDir returns the folder of the plan files.
func PlanDir(configDir string) string { return filepath.Join(configDir, "plans") }

// ProjectDir returns the folder of the transcripts of sessions that ran in dir,
// which must be absolute with symbolic links resolved. If exact is false the name
// is too long to be known in full: the folder's name begins with the one
// returned and a hash follows.
func ProjectDir(configDir, dir string) (path string, exact bool) {
	name := projectName(dir)
	exact = len(name) <= maxProjectName
	if !exact {
		name = name[:maxProjectName] + "-"
	}
	return filepath.Join(configDir, "projects", name), exact
}

// projectName maps a folder to the name the CLI gives it: one "-" for each
// UTF-16 unit that is not an ASCII letter or digit.
func projectName(dir string) string {
	var b strings.Builder
	for _, r := range dir {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
			b.WriteRune(r)
		default:
			b.WriteString(strings.Repeat("-", max(1, utf16.RuneLen(r))))
		}
	}
	return b.String()
}

// TranscriptPath returns the transcript of a session in a folder that
// [ProjectDir] named. The id is checked, since it may come from elsewhere and
// becomes part of a path.
func TranscriptPath(projectDir, sessionID string) (string, error) {
	if !safeID().MatchString(sessionID) {
		return "", fmt.Errorf("finding a transcript: expected a session id of letters, digits, - and _, found %.40q", sessionID)
	}
	return filepath.Join(projectDir, sessionID+".jsonl"), nil
}

// SubagentTranscriptPath returns the transcript of a sub-agent of a session.
func SubagentTranscriptPath(projectDir, sessionID, agentID string) (string, error) {
	if !safeID().MatchString(sessionID) || !safeID().MatchString(agentID) {
		return "", fmt.Errorf("finding a sub-agent's transcript: expected ids of letters, digits, - and _, found %.40q and %.40q", sessionID, agentID)
	}
	return filepath.Join(projectDir, sessionID, "subagents", "agent-"+agentID+".jsonl"), nil
}
