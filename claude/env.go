package claude

import (
	"crypto/rand"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/switchboard-dev/switchboard/wire"
)

// MarkerEnv is the variable that marks a CLI and everything it starts. Its
// value is unique to a run; [Sweep] finds processes by it.
const MarkerEnv = "SWITCHBOARD_RUN"

// apiKeyEnv would silently take the place of the user's own login.
const apiKeyEnv = "ANTHROPIC_API_KEY"

// strippedEnv is what StrippedEnv returns. A name that ends in "*" is a prefix.
var strippedEnv = [...]string{
	// Set by a CLI for its tools, hooks and plugins (measured on 2.1.37,
	// 2.1.120 and 2.1.325): a CLI that finds them takes itself for a part of
	// the other one.
	"CLAUDECODE", "AI_AGENT", "CLAUDE_PID", "CLAUDE_EFFORT",
	"CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_EXECPATH", "CLAUDE_CODE_CHILD_SESSION",
	"CLAUDE_CODE_MESSAGING_*", "CLAUDE_CODE_SESSION_*", "CLAUDE_CODE_SSE_PORT",
	"CLAUDE_PROJECT_DIR", "CLAUDE_ENV_FILE", "CLAUDE_PLUGIN_*",
	// Of sessions run by a remote service: they lead a CLI to dial out, or to
	// show a token that is not ours.
	"CLAUDE_CODE_REMOTE*", "CLAUDE_CODE_CONTAINER_ID", "CLAUDE_CODE_ENVIRONMENT_*",
	"CLAUDE_CODE_WEBSOCKET_*", "CLAUDE_CODE_POST_FOR_SESSION_INGRESS*",
	// Set by a program that controls a CLI, for that CLI.
	"CLAUDE_AGENT_SDK_*", "CLAUDE_CODE_SDK_*", "DEBUG_CLAUDE_AGENT_SDK",
	"CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS", "CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING",
	"CLAUDE_CODE_QUESTION_PREVIEW_FORMAT",
	// Options of another program's Node.js: a debugger or a loader there
	// would break this one.
	"NODE_OPTIONS",
	// Ours.
	"SWITCHBOARD_*",
	// Unless asked for.
	apiKeyEnv,
}

// StrippedEnv lists the variables that [Environ] takes out of the environment
// before it is given to a CLI: those that a CLI sets for what it starts, those
// that make a CLI part of a remote session, those that a controlling program
// sets for its CLI, NODE_OPTIONS, our own, and ANTHROPIC_API_KEY unless it is
// asked for. A name that ends in "*" stands for all names that begin so.
func StrippedEnv() []string { return slices.Clone(strippedEnv[:]) }

// Environ returns the entries of an environment that a CLI is given: all but
// those of [StrippedEnv], with ANTHROPIC_API_KEY if passAPIKey is set. To add
// variables to the inherited ones, append them to its result and use that as
// [Options].Env.
func Environ(inherited []string, passAPIKey bool) []string {
	out := make([]string, 0, len(inherited))
	for _, kv := range inherited {
		name, _, ok := strings.Cut(kv, "=")
		if name == "" || !ok {
			// Windows has entries such as "=C:=C:\dir" that programs expect.
			if strings.HasPrefix(kv, "=") {
				out = append(out, kv)
			}
			continue
		}
		if !stripped(name) || name == apiKeyEnv && passAPIKey {
			out = append(out, kv)
		}
	}
	return out
}

func stripped(name string) bool {
	if runtime.GOOS == "windows" {
		name = strings.ToUpper(name)
	}
	return slices.ContainsFunc(strippedEnv[:], func(pattern string) bool {
		prefix, isPrefix := strings.CutSuffix(pattern, "*")
		return name == pattern || isPrefix && strings.HasPrefix(name, prefix)
	})
}

// environ returns the environment of a CLI.
func (o *Options) environ(v wire.Version, dir, marker string) ([]string, error) {
	env := slices.Clone(o.Env)
	if o.Env == nil {
		env = Environ(os.Environ(), o.PassAPIKey)
		if dir != "" {
			env = setEnv(env, "PWD", dir)
		}
	}
	for option, list := range map[string][]string{"Env": env, "ExtraEnv": o.ExtraEnv} {
		for i, kv := range list {
			if name, _, ok := strings.Cut(kv, "="); !ok || strings.ContainsRune(kv, 0) || option == "ExtraEnv" && name == "" {
				// By its place: it may be a secret whose name was forgotten.
				return nil, &OptionError{option, fmt.Sprintf("entry %d is not of the form NAME=value", i+1)}
			}
		}
	}
	for _, kv := range o.ExtraEnv {
		name, value, _ := strings.Cut(kv, "=")
		env = setEnv(env, name, value)
	}
	// The CLI tells the API which program controls it; a name of the caller's wins.
	if !hasEnv(env, "CLAUDE_CODE_ENTRYPOINT") {
		env = append(env, "CLAUDE_CODE_ENTRYPOINT=sdk-go")
	}
	if !o.NoSessionStateEvents {
		env = setEnv(env, "CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS", "1")
	}
	if o.session && !hasEnv(env, "CLAUDE_CODE_STARTUP_FAILURE_RESULTS") {
		// A session reads results, and so learns why a CLI did not start.
		env = append(env, "CLAUDE_CODE_STARTUP_FAILURE_RESULTS=1")
	}
	if o.FileCheckpointing {
		env = setEnv(env, "CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING", "1")
	}
	if o.QuestionPreviewFormat != "" {
		const name = "CLAUDE_CODE_QUESTION_PREVIEW_FORMAT"
		if err := require(v, wire.FeatureEnv, name, "QuestionPreviewFormat", ""); err != nil {
			return nil, err
		}
		env = setEnv(env, name, o.QuestionPreviewFormat)
	}
	if o.ClientApp != "" {
		env = setEnv(env, "CLAUDE_AGENT_SDK_CLIENT_APP", o.ClientApp)
	}
	if o.SDKPost {
		env = setEnv(env, "CLAUDE_CODE_POST_FOR_SESSION_INGRESS_V2", "1")
	}
	return setEnv(env, MarkerEnv, marker), nil
}

// setEnv replaces or adds a variable. Entries of the same name must not remain:
// which of two counts differs from program to program.
func setEnv(env []string, name, value string) []string {
	env = slices.DeleteFunc(env, func(kv string) bool { return envName(kv) == name })
	return append(env, name+"="+value)
}

func hasEnv(env []string, name string) bool {
	return slices.ContainsFunc(env, func(kv string) bool { return envName(kv) == name })
}

func envName(kv string) string {
	name, _, _ := strings.Cut(kv, "=")
	return name
}

var markerPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9._:-]{8,128}$`) })

// checkMarker refuses markers that could be taken for another's.
func checkMarker(marker string) error {
	if !markerPattern().MatchString(marker) {
		return &OptionError{"Marker", fmt.Sprintf("%.40q is not 8 to 128 letters, digits, dots, colons, dashes and underscores", marker)}
	}
	return nil
}

// newMarker returns a marker that no other run has.
func newMarker() string { return "run-" + rand.Text() }
