//go:build unix

package client

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestUsualSockets(t *testing.T) {
	for name, test := range map[string]struct {
		env  map[string]string
		want []string
	}{
		"nothing":  {nil, nil},
		"home":     {map[string]string{"HOME": "/h"}, []string{"/h/.local/share/switchboard/run/hub.sock"}},
		"run":      {map[string]string{"HOME": "/h", "XDG_RUNTIME_DIR": "/r"}, []string{"/r/switchboard/hub.sock", "/h/.local/share/switchboard/run/hub.sock"}},
		"data":     {map[string]string{"HOME": "/h", "XDG_DATA_HOME": "/d"}, []string{"/d/switchboard/run/hub.sock"}},
		"relative": {map[string]string{"XDG_RUNTIME_DIR": "r", "XDG_DATA_HOME": "d", "HOME": "h"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, usualSockets(func(name string) string { return test.env[name] })); diff != "" {
				t.Error(diff)
			}
		})
	}
}
