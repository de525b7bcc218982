package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// SDKVersion is the pinned version of the official TypeScript SDK: the one that was published with [Newest]. It runs on Node 18.14 and later.
const SDKVersion = "0.3.325"

const (
	// sdkPackage is the SDK's name in the npm registry.
	sdkPackage = "@anthropic-ai/claude-agent-sdk"
	// sdkFolder is its folder below the root.
	sdkFolder = "sdk"
)

// sdkPackages returns the SDK and what it wants beside itself, with their versions: npm would take newer ones each time.
func sdkPackages() []string {
	return []string{sdkPackage + "@" + SDKVersion, "@anthropic-ai/sdk@1.8.0", "@modelcontextprotocol/sdk@1.32.2", "zod@4.6.7"}
}

// SDK returns the node_modules folder that the pinned SDK is installed in. It looks at files only and runs nothing. The error is a
// [*NotInstalledError] when it has to be installed first.
func SDK() (modules string, err error) {
	dir, err := root()
	if err != nil {
		return "", err
	}
	return sdkIn(filepath.Join(dir, sdkFolder, SDKVersion))
}

// sdkIn returns the node_modules folder of the SDK that is installed in dir.
func sdkIn(dir string) (string, error) {
	modules := filepath.Join(dir, "node_modules")
	reason, err := lacks(modules, sdkPackages())
	if err != nil {
		return "", fmt.Errorf("looking at the Agent SDK %s: %w", SDKVersion, err)
	}
	if reason != "" {
		return "", &NotInstalledError{Product: "Agent SDK", Version: SDKVersion, Dir: dir, Reason: reason}
	}
	return modules, nil
}

// lacks says which of some packages, with their versions, is not in a node_modules folder; "" if all are.
func lacks(modules string, packages []string) (reason string, err error) {
	for _, pinned := range packages {
		at := strings.LastIndexByte(pinned, '@')
		name, version := pinned[:at], pinned[at+1:]
		installed, reason, err := packageVersion(modules, name)
		if err != nil || reason != "" {
			return reason, err
		}
		if installed != version {
			return fmt.Sprintf("%s is there as version %s, want %s", name, installed, version), nil
		}
	}
	return "", nil
}

// loadSDK has node load the SDK, which shows that it is whole and that this node is new enough for it.
func loadSDK(ctx context.Context, modules string) (err error) {
	home, err := os.MkdirTemp("", "switchboard-probe-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(home)) }()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	const script = `const url = (file) => require("node:url").pathToFileURL(require("node:path").join(process.argv[1], file));
Promise.all([import(url("` + sdkPackage + `/sdk.mjs")), import(url("zod/index.js"))]).then(
  ([sdk, zod]) => process.stdout.write(typeof sdk.query + " " + typeof zod.z.object),
  (error) => { process.stderr.write(error.message); process.exit(1); });`
	cmd := exec.CommandContext(ctx, "node", "-e", script, modules)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home}
	cmd.Dir = home
	cmd.WaitDelay = 5 * time.Second
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	output, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("loading the SDK with node: %w: %.500s", err, &stderr)
	}
	if string(output) != "function function" {
		return fmt.Errorf("loading the SDK with node: it has no query function (%.100q)", output)
	}
	return nil
}
