package claudetest

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestPrint(t *testing.T) {
	tests := []struct {
		name  string
		args  []string
		stdin string
		want  func(out string) bool
		code  int
	}{
		{name: "text", args: []string{"-p", "@say Hello."}, want: func(out string) bool { return out == "Hello.\n" }},
		{name: "piped", args: []string{"-p"}, stdin: "@say From the pipe.", want: func(out string) bool { return out == "From the pipe.\n" }},
		{name: "nothing", args: []string{"-p"}, want: func(out string) bool { return out == "" }, code: 1},
		{name: "json", args: []string{"-p", "--output-format", "json", "@say Hello."}, want: func(out string) bool {
			var result struct{ Type, Result string }
			return json.Unmarshal([]byte(out), &result) == nil && result.Type == "result" && result.Result == "Hello."
		}},
		{name: "everything", args: []string{"-p", "--verbose", "--output-format", "json", "@say Hello."}, want: func(out string) bool {
			var lines []struct{ Type string }
			return json.Unmarshal([]byte(out), &lines) == nil && len(lines) >= 3 && lines[len(lines)-1].Type == "result"
		}},
		{name: "failure", args: []string{"-p", "@error 400 message=Bad."}, want: func(out string) bool { return strings.Contains(out, "API Error: 400") }, code: 1},
		{name: "nobody to ask", args: []string{"-p", "@tool Bash {\"command\":\"touch x\"}\n@say Then not."}, want: func(out string) bool { return out == "Then not.\n" }},
	}
	for _, version := range SimVersions() {
		for _, test := range tests {
			t.Run(version+"/"+test.name, func(t *testing.T) {
				quirks, err := QuirksFor(version)
				if err != nil {
					t.Fatal(err)
				}
				var out strings.Builder
				code := RunSim(t.Context(), &SimOptions{Quirks: &quirks, Args: test.args, Dir: t.TempDir(), Env: []string{"HOME=" + t.TempDir()}}, strings.NewReader(test.stdin), &out)
				if code != test.code || !test.want(out.String()) {
					t.Errorf("exit %d, want %d; printed %q", code, test.code, &out)
				}
			})
		}
	}
}
