package claudetest

import "testing"

func TestUsableSettings(t *testing.T) {
	for _, test := range []struct {
		settings     string
		old, checked bool
	}{
		{`{}`, true, true},
		{`{"permissions":{"deny":["Bash(echo:*)"],"defaultMode":"plan"},"unknown":1}`, true, true},
		{`{"cleanupPeriodDays":"many","permissions":{"deny":["Bash(echo:*)"]}}`, false, false},
		{`{"hooks":{"PreToolUse":"x"}}`, false, false},
		{`{"permissions":{"allow":"x"}}`, false, false},
		{`{"permissions":{"defaultMode":"whatever"}}`, false, false},
		{`{"permissions":{"deny":["Bash("]}}`, false, true},
		{`{"permissions":{"ask":[""]}}`, false, true},
		{`{"permissions":{"allow":["Read()"]}}`, false, true},
	} {
		if got := usableSettings([]byte(test.settings), false); got != test.old {
			t.Errorf("%s: got %t, want %t", test.settings, got, test.old)
		}
		if got := usableSettings([]byte(test.settings), true); got != test.checked {
			t.Errorf("%s, rule by rule: got %t, want %t", test.settings, got, test.checked)
		}
	}
}
