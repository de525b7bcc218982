package dial

import (
	"net/http"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// env returns an environment.
func env(vars map[string]string) func(string) string {
	return func(name string) string { return vars[name] }
}

func TestHeaderFrom(t *testing.T) {
	if got := HeaderFrom(env(nil)); got != nil {
		t.Errorf("headers of an empty environment: %v", got)
	}
	got := HeaderFrom(env(map[string]string{"CLAUDE_CODE_ENVIRONMENT_RUNNER_VERSION": "7"}))
	if diff := cmp.Diff(http.Header{"X-Environment-Runner-Version": {"7"}}, got); diff != "" {
		t.Errorf("headers (-want +got): %s", diff)
	}
}

func TestTLSFromNothing(t *testing.T) {
	for name, vars := range map[string]map[string]string{
		"no file": nil, "missing file": {"NODE_EXTRA_CA_CERTS": filepath.Join(t.TempDir(), "none.pem")},
	} {
		if got := TLSFrom(env(vars)); got == nil || got.RootCAs != nil || got.InsecureSkipVerify {
			t.Errorf("%s: want the system's certificates and nothing else", name)
		}
	}
}
