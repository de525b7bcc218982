package shim

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/switchboard-dev/switchboard/claude"
)

// WrapName is the name of a link to the program by which it is [Wrap] with the
// arguments of the CLI and nothing else.
const WrapName = "claude-switchboard"

// wrappingEnv tells a wrapped CLI's environment by which process, and how deep
// within others, it was wrapped: "PID.DEPTH", or "PID.DEPTH.tee" if that process
// did not become the CLI but is its parent. Only wrap itself looks at it.
const (
	wrappingEnv = "SWITCHBOARD_WRAPPING"
	wrappingTee = "tee"
)

// deepest is how deep CLIs may be wrapped within one another. Agents that start
// agents are not; a claude that leads back to wrap is, without an end.
const deepest = 8

// streamJSON is the format in which a program and a CLI talk to each other.
const streamJSON = "stream-json"

// Speaks reports whether a CLI with these arguments, which do not contain the
// program, talks to a program: in lines of JSON both ways, over its standard
// input and output. With any others it is for a person, or answers and ends.
func Speaks(args []string) bool {
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") && slices.Contains(subcommands(), args[0]) {
		return false
	}
	for _, arg := range args {
		if arg == "--" {
			break
		}
		switch name, _, _ := strings.Cut(arg, "="); name {
		case "--help", "-h", "--version", "-v":
			return false
		case "--sdk-url":
			return false // it talks to that
		}
	}
	return Flag(args, "--input-format") == streamJSON && Flag(args, "--output-format") == streamJSON
}

// subcommands are the first arguments with which the CLI does something else
// than to hold a conversation. With one that is not in this list it has no flags
// for formats.
func subcommands() []string {
	return []string{
		"agents", "auth", "auto-mode", "config", "doctor", "install", "mcp", "migrate-installer", "plugin", "plugins", "project",
		"remote-control", "server", "setup-token", "ultrareview", "update", "upgrade",
	}
}

// Flag returns the value of a flag of the CLI, the last one as the CLI takes it,
// or "".
func Flag(args []string, name string) string {
	value := ""
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			break
		}
		if v, found := strings.CutPrefix(args[i], name+"="); found {
			value = v
		} else if args[i] == name && i+1 < len(args) {
			i++
			value = args[i]
		}
	}
	return value
}

// A LoopError says that the program that was to be wrapped is wrap itself.
type LoopError struct {
	// Path is the program, or "".
	Path string
}

// Error says what to do.
func (e *LoopError) Error() string {
	if e.Path == "" {
		return "the claude that was found leads back to switchboard wrap; name the real one by its path"
	}
	return e.Path + " is switchboard itself; name the real claude by its path"
}

// FindWrapped finds the CLI that a name or a path stands for. self is the path of
// this program: a link to it is never found by a name. If there is none in the
// PATH of env, claude is looked for where its installers put it.
//
// By its path a link to this program that is named claude, the simulated CLI, is
// accepted. Anything else that leads here is a [*LoopError].
func FindWrapped(ctx context.Context, name, self string, env []string) (*claude.CLI, error) {
	if name != filepath.Base(name) {
		if sameFile(name, self) && programName(name) != "claude" {
			return nil, &LoopError{Path: name}
		}
		return claude.Find(ctx, &claude.FindOptions{Path: name, Env: env, NoProbe: true})
	}
	itself := ""
	var path []string // of folders without this program
	for _, dir := range filepath.SplitList(getenv(env, "PATH")) {
		file := filepath.Join(dir, name)
		if filepath.IsAbs(dir) && sameFile(file, self) {
			itself = file
			continue
		}
		path = append(path, dir)
	}
	env = append(slices.Clone(env), "PATH="+strings.Join(path, string(filepath.ListSeparator)))
	cli, err := claude.Find(ctx, &claude.FindOptions{Path: name, Env: env, NoProbe: true})
	if missing := (*claude.NotFoundError)(nil); errors.As(err, &missing) && name == "claude" {
		cli, err = claude.Find(ctx, &claude.FindOptions{Env: env, NoProbe: true})
	}
	switch {
	case err != nil && itself != "":
		return nil, fmt.Errorf("%w (%s is this program)", err, itself)
	case err != nil:
		return nil, err
	case sameFile(cli.Path, self):
		return nil, &LoopError{Path: cli.Path}
	}
	return cli, nil
}

// programName is the name by which a program is called.
func programName(path string) string {
	return strings.TrimSuffix(strings.ToLower(filepath.Base(path)), ".exe")
}

// sameFile reports whether two paths lead to the same file.
func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// getenv returns a variable; the last one of a name counts.
func getenv(env []string, name string) string {
	value := ""
	for _, kv := range env {
		if v, found := strings.CutPrefix(kv, name+"="); found {
			value = v
		}
	}
	return value
}

// WrappedEnv returns the environment of the CLI: the same, with a mark by which
// a CLI that leads back to wrap is noticed, which is a [*LoopError]. pid is this
// process, parent the one that started it. tee says that this process will be the
// CLI's parent and not the CLI itself.
func WrappedEnv(env []string, pid, parent int, tee bool) ([]string, error) {
	depth := 0
	if mark := getenv(env, wrappingEnv); mark != "" {
		by, rest, _ := strings.Cut(mark, ".")
		deep, kind, _ := strings.Cut(rest, ".")
		// A script that ends in exec is the same process, or the child of a tee. The
		// child of a process that has become the CLI is what the CLI has started: an
		// agent that uses wrap, which is no loop.
		if by == strconv.Itoa(pid) || kind == wrappingTee && by == strconv.Itoa(parent) {
			return nil, &LoopError{}
		}
		n, err := strconv.Atoi(deep)
		if depth = n + 1; err != nil || n < 0 || depth >= deepest {
			return nil, &LoopError{}
		}
	}
	out := slices.DeleteFunc(slices.Clone(env), func(kv string) bool { return strings.HasPrefix(kv, wrappingEnv+"=") })
	mark := fmt.Sprintf("%s=%d.%d", wrappingEnv, pid, depth)
	if tee {
		mark += "." + wrappingTee
	}
	return append(out, mark), nil
}
