package claude

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
)

// UpdateEnvironment writes the line where the version obeys it, refuses what a version
// would ignore, and quotes no value.
func TestUpdateEnvironment(t *testing.T) {
	const secret = "s3cr3t-0123456789"
	tests := []struct {
		version   string
		variables map[string]string
		sent      bool
	}{
		{"2.1.37", map[string]string{"B": secret, "A": ""}, true},
		{"2.1.120", map[string]string{"A": secret}, true},
		{"2.1.325", map[string]string{"A": secret}, false},
		{"2.1.325", map[string]string{"CLAUDE_CODE_OAUTH_TOKEN": secret}, true},
		{"2.1.37", map[string]string{MarkerEnv: secret}, false},
		{"2.1.37", map[string]string{"A=": secret}, false},
		{"2.1.37", map[string]string{"A": secret + "\x00"}, false},
	}
	for _, tt := range tests {
		synctest.Test(t, func(t *testing.T) {
			f, s, _ := askingSession(t, tt.version, nil)
			var got string
			done := make(chan struct{})
			if tt.sent {
				go func() {
					got = f.next(t)
					close(done)
				}()
			}
			err := s.UpdateEnvironment(t.Context(), tt.variables)
			if tt.sent {
				<-done
				if err != nil || !strings.HasPrefix(got, `{"type":"update_environment_variables","variables":{"`) || !strings.Contains(got, secret) {
					t.Errorf("%s, %q: sent %s, %v", tt.version, tt.variables, got, err)
				}
				return
			}
			if err == nil || strings.Contains(err.Error(), secret) {
				t.Errorf("%s, %q: %v", tt.version, tt.variables, err)
			}
			if _, ok := errors.AsType[*UnsupportedError](err); ok != (tt.version == "2.1.325") {
				t.Errorf("%s, %q: %T", tt.version, tt.variables, err)
			}
		})
	}
}
