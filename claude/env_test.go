package claude

import (
	"slices"
	"strings"
	"testing"
)

func TestEnviron(t *testing.T) {
	kept := []string{
		"PATH=/bin", "HOME=/h", "ANTHROPIC_BASE_URL=http://x", "ANTHROPIC_AUTH_TOKEN=x", "CLAUDE_CONFIG_DIR=/c",
		"CLAUDE_CODE_USE_BEDROCK=1", "CLAUDE_CODE_OAUTH_TOKEN=x", "CLAUDE_CODE_MAX_OUTPUT_TOKENS=1", "NODE_EXTRA_CA_CERTS=/x",
		"EMPTY=", "MY_SWITCHBOARD_X=1", "CLAUDECODEX=1", "=C:=C:\\dir",
	}
	dropped := []string{
		"CLAUDECODE=1", "AI_AGENT=x", "CLAUDE_PID=1", "CLAUDE_EFFORT=high", "CLAUDE_CODE_ENTRYPOINT=cli", "CLAUDE_CODE_EXECPATH=/x",
		"CLAUDE_CODE_CHILD_SESSION=1", "CLAUDE_CODE_MESSAGING_SOCKET=/x", "CLAUDE_CODE_MESSAGING_TOKEN=x", "CLAUDE_CODE_SESSION_ID=x",
		"CLAUDE_CODE_SESSION_ATTENDED=0", "CLAUDE_CODE_SSE_PORT=1", "CLAUDE_PROJECT_DIR=/x", "CLAUDE_ENV_FILE=/x", "CLAUDE_PLUGIN_ROOT=/x",
		"CLAUDE_CODE_SESSION_ACCESS_TOKEN=x", "CLAUDE_CODE_WEBSOCKET_AUTH_FILE_DESCRIPTOR=3", "CLAUDE_CODE_POST_FOR_SESSION_INGRESS_V2=1",
		"CLAUDE_CODE_ENVIRONMENT_RUNNER_VERSION=1", "CLAUDE_CODE_REMOTE=1", "CLAUDE_CODE_REMOTE_SESSION_ID=x", "CLAUDE_CODE_CONTAINER_ID=x",
		"CLAUDE_AGENT_SDK_VERSION=1", "CLAUDE_AGENT_SDK_CLIENT_APP=x", "CLAUDE_CODE_SDK_READS_SESSION_STATE=1",
		"CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS=1", "CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING=1",
		"NODE_OPTIONS=--inspect", "SWITCHBOARD_RUN=x", "SWITCHBOARD_TOKEN=x", "ANTHROPIC_API_KEY=x", "malformed",
	}
	all := slices.Concat(dropped, kept)
	if got := Environ(all, false); !slices.Equal(got, kept) {
		t.Errorf("got %q", got)
	}
	if got := Environ(all, true); !slices.Equal(got, append([]string{"ANTHROPIC_API_KEY=x"}, kept...)) {
		t.Errorf("with the key: %q", got)
	}
	// The list is documentation: every entry must be one that works, and
	// nobody can change it.
	list := StrippedEnv()
	for _, name := range list {
		if entry := strings.TrimSuffix(name, "*") + "=x"; len(Environ([]string{entry}, false)) > 0 {
			t.Errorf("%s is listed and kept", name)
		}
	}
	list[0] = "PATH"
	if len(Environ([]string{"PATH=x"}, false)) == 0 {
		t.Error("the list can be changed")
	}
}

func TestExplicitEnvironment(t *testing.T) {
	t.Setenv("INHERITED", "1")
	given := []string{"ANTHROPIC_API_KEY=x", "CLAUDECODE=1", "CLAUDE_CODE_ENTRYPOINT=mine", MarkerEnv + "=other", "A=1", MarkerEnv + "=again"}
	o := Options{Env: slices.Clone(given), FileCheckpointing: true, NoSessionStateEvents: true, QuestionPreviewFormat: "html", ClientApp: "x/1", Dir: "/x"}
	got, err := o.environ(version(325), "/x", "marker-1")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"ANTHROPIC_API_KEY=x", "CLAUDECODE=1", "CLAUDE_CODE_ENTRYPOINT=mine", "A=1",
		"CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING=1", "CLAUDE_CODE_QUESTION_PREVIEW_FORMAT=html",
		"CLAUDE_AGENT_SDK_CLIENT_APP=x/1", MarkerEnv + "=marker-1",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got      %q\nexpected %q", got, want)
	}
	if !slices.Equal(o.Env, given) {
		t.Errorf("the caller's slice was changed: %q", o.Env)
	}
}

func TestMarkersAreUnique(t *testing.T) {
	a, b := newMarker(), newMarker()
	if a == b || checkMarker(a) != nil {
		t.Errorf("markers %q and %q", a, b)
	}
}
