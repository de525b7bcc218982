package policy

import "testing"

// TestFoldersOfProcesses has paths that lead to another place for the agent than
// for whoever judges them.
func TestFoldersOfProcesses(t *testing.T) {
	t.Parallel()
	o := testOptions()
	o.Resolve = nil
	for _, rules := range [][]string{{"allow Bash(cat:*)", "deny Read(.env)"}, {"allow Bash", "deny Read(.env)"}, {"set read-only"}} {
		e := engineOf(t, o, rules...)
		want(t, e, bash("cat /proc/self/cwd/.env"), "")
		want(t, e, bash("cat /proc/thread-self/cwd/../.config/switchboard/x"), "")
		want(t, e, bash("cat /dev/fd/../cwd/.env"), "")
	}
	e := engineOf(t, o, "allow Read", "deny Read(.env)")
	want(t, e, file("Read", "/proc/self/cwd/.env"), "")
	want(t, e, file("Read", "/proc/self/status"), Allow)
	want(t, engineOf(t, o, "allow Bash(cat:*)"), bash("cat /proc/self/status"), Allow)
}
