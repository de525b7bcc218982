package rooms

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The files that build and run Switchboard elsewhere. No test machine has a Docker engine or a cluster, so what they say is read and compared with
// the repository; cmd/switchboard compares their command lines with its commands.

const (
	dockerfile   = "contrib/docker/Dockerfile"
	dockerignore = "contrib/docker/Dockerfile.dockerignore"
)

// instructions returns the instructions of a Dockerfile, one line each, without comments.
func instructions(text string) []string {
	var list []string
	whole := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "#") || line == "" {
			continue
		}
		part, more := strings.CutSuffix(line, "\\")
		whole += strings.TrimSpace(part) + " "
		if !more {
			list = append(list, strings.TrimSpace(whole))
			whole = ""
		}
	}
	return list
}

// ignored says whether a file of dockerignore keeps a path out of the build context: the last pattern that fits it, or a folder above it, decides.
func ignored(patterns, name string) bool {
	out := false
	for line := range strings.Lines(patterns) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		pattern, keep := strings.CutPrefix(line, "!")
		for above := name; above != "."; above = path.Dir(above) {
			whole, _ := path.Match(pattern, above)
			anywhere, found := strings.CutPrefix(pattern, "**/")
			base, _ := path.Match(anywhere, path.Base(above))
			if whole || found && base {
				out = !keep
				break
			}
		}
	}
	return out
}

var (
	secretName  = regexp.MustCompile(`(?i)token|secret|password|credential|api_?key|private`)
	shellSecret = regexp.MustCompile(`(?i)(sk-ant-|--mount=type=secret|id_rsa|\.npmrc|\.netrc)`)
)

// checkDockerfile says what is wrong with a Dockerfile: sources that do not exist or are not in the context, a version of Go or Node.js that is not
// the repository's, an image that runs as root, has no volume for its data, or holds a secret.
func checkDockerfile(files fs.FS, text, ignore, gomod, engines string) []string {
	var wrong []string
	complain := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	arguments, stages := map[string]string{}, map[string]bool{}
	var stage string
	has := map[string]map[string]string{} // by stage and instruction
	for _, line := range instructions(text) {
		name, rest, _ := strings.Cut(line, " ")
		fields := strings.Fields(rest)
		switch name {
		case "ARG":
			key, value, _ := strings.Cut(rest, "=")
			arguments[key] = value
			if secretName.MatchString(key) {
				complain("the argument %s stays in the image's history", key)
			}
		case "FROM":
			if len(fields) != 3 || fields[1] != "AS" {
				complain("%q names no stage", line)
				continue
			}
			stage = fields[2]
			stages[stage], has[stage] = true, map[string]string{}
		case "COPY":
			from := ""
			if value, found := strings.CutPrefix(fields[0], "--from="); found {
				from, fields = value, fields[1:]
				if !stages[from] {
					complain("%q copies from a stage that there is not", line)
				}
			}
			for _, source := range fields[:len(fields)-1] {
				if from != "" {
					continue
				}
				if _, err := fs.Stat(files, source); err != nil {
					complain("COPY %s: there is no such file", source)
				} else if ignored(ignore, source) {
					complain("COPY %s: the file is not in the build context", source)
				}
			}
		case "ENV":
			if key, _, _ := strings.Cut(rest, "="); secretName.MatchString(key) {
				complain("ENV %s: a secret would be in the image", key)
			}
		}
		if shellSecret.MatchString(rest) {
			complain("%q looks like a secret", line)
		}
		if stage != "" {
			has[stage][name] = rest
		}
	}
	if m := goVersion.FindStringSubmatch(gomod); m == nil || arguments["GO_VERSION"] != m[1] {
		complain("GO_VERSION is %q, and go.mod asks for another", arguments["GO_VERSION"])
	}
	need, err := strconv.Atoi(strings.Split(strings.TrimLeft(engines, ">=^~ "), ".")[0])
	if got, err2 := strconv.Atoi(arguments["NODE_VERSION"]); err != nil || err2 != nil || got < need {
		complain("NODE_VERSION is %q, and web/package.json asks for %s", arguments["NODE_VERSION"], engines)
	}
	for _, stage := range []string{"hub", "node"} {
		of := has[stage]
		if of == nil {
			complain("there is no stage %s", stage)
			continue
		}
		if user := of["USER"]; user == "" || user == "root" || user == "0" {
			complain("stage %s runs as root", stage)
		}
		if of["VOLUME"] != "/data" || of["ENV"] != "HOME=/data" {
			complain("stage %s keeps its data outside of a volume", stage)
		}
		for _, what := range []string{"ENTRYPOINT", "CMD"} {
			var words []string
			if json.Unmarshal([]byte(of[what]), &words) != nil || len(words) == 0 {
				complain("%s of stage %s is no list of words", what, stage)
			}
		}
		if !strings.Contains(of["RUN"], "ca-certificates") || !strings.Contains(of["RUN"], "git") {
			complain("stage %s has no git or no certificates", stage)
		}
	}
	return wrong
}

// checkUnit says what is wrong with the unit of a service whose agents must outlive it.
func checkUnit(name, text, command string) []string {
	var wrong []string
	for _, line := range []string{"KillMode=process", "UMask=0077", "RestartPreventExitStatus=2", "Restart=on-failure", "ExecStart=%h/.local/bin/switchboard " + command} {
		if !slices.Contains(strings.Split(text, "\n"), line) {
			wrong = append(wrong, fmt.Sprintf("%s has no line %s", name, line))
		}
	}
	return wrong
}

var (
	manifestKind  = regexp.MustCompile(`(?m)^kind: (\w+)$`)
	manifestImage = regexp.MustCompile(`(?m)^\s+image: ([a-z-]+):`)
	mountName     = regexp.MustCompile(`\{name: ([a-z]+), mountPath:`)
	secretValue   = regexp.MustCompile(`(?i)(stringData|^data:|value: "?(sb_|sbn_|sk-))`)
)

// checkManifest says what is wrong with a Kubernetes manifest: documents without a kind, pods that run as root or may more than the image needs,
// volumes that are mounted and not there, secrets.
func checkManifest(name, text string, kinds []string, images []string) []string {
	var wrong []string
	complain := func(format string, args ...any) { wrong = append(wrong, name+": "+fmt.Sprintf(format, args...)) }
	if strings.Contains(text, "\t") {
		complain("YAML knows no tabs")
	}
	var found []string
	for document := range strings.SplitSeq(text, "\n---\n") {
		m := manifestKind.FindStringSubmatch(document)
		if m == nil || !strings.Contains(document, "\nmetadata:\n  name: switchboard") || !strings.Contains(document, "apiVersion: ") {
			complain("a document without apiVersion, kind or name: %.60q", document)
			continue
		}
		found = append(found, m[1])
		if !strings.Contains(document, "containers:") {
			continue
		}
		for _, want := range []string{"automountServiceAccountToken: false", "runAsNonRoot: true", "runAsUser: 10001, runAsGroup: 10001, fsGroup: 10001", "seccompProfile: {type: RuntimeDefault}"} {
			if !strings.Contains(document, want) {
				complain("%s has no %s", m[1], want)
			}
		}
		const narrow = "securityContext: {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}"
		if n := len(manifestImage.FindAllString(document, -1)); n == 0 || strings.Count(document, narrow) != n {
			complain("%d containers of %s, not all with %s", n, m[1], narrow)
		}
		for _, mount := range mountName.FindAllStringSubmatch(document, -1) {
			if !strings.Contains(document, "- {name: "+mount[1]+", emptyDir: ") && !strings.Contains(document, "- {name: "+mount[1]+", persistentVolumeClaim: ") &&
				!strings.Contains(document, "- metadata: {name: "+mount[1]+"}") {
				complain("the volume %s is mounted, and is not there", mount[1])
			}
		}
		for _, image := range manifestImage.FindAllStringSubmatch(document, -1) {
			if !slices.Contains(images, image[1]) {
				complain("the image %s is none that the Dockerfile builds", image[1])
			}
		}
	}
	if !slices.Equal(found, kinds) {
		complain("it holds %v, want %v", found, kinds)
	}
	if secretValue.MatchString(text) {
		complain("it holds a secret")
	}
	return wrong
}

// engines returns which Node.js the console asks for.
func engines(t *testing.T, packages string) string {
	t.Helper()
	var p struct{ Engines struct{ Node string } }
	if err := json.Unmarshal([]byte(packages), &p); err != nil {
		t.Fatal(err)
	}
	return p.Engines.Node
}

func TestContrib(t *testing.T) {
	files := repository()
	report(t, checkDockerfile(files, read(t, files, dockerfile), read(t, files, dockerignore), read(t, files, "go.mod"), engines(t, read(t, files, "web/package.json"))))
	for _, name := range []string{".git", ".git/config", "bin/switchboard", "web/node_modules/vite/index.js", "internal/x/key.pem", "admin.token"} {
		if !ignored(read(t, files, dockerignore), name) {
			t.Errorf("%s is in the build context", name)
		}
	}
	for name, command := range map[string]string{"switchboard.service": "serve", "switchboard-node.service": "node run"} {
		report(t, checkUnit(name, read(t, files, "contrib/systemd/"+name), command))
	}
	images := []string{"switchboard-hub", "switchboard-node"}
	report(t, checkManifest("hub.yaml", read(t, files, "contrib/kubernetes/hub.yaml"), []string{"Service", "StatefulSet"}, images))
	report(t, checkManifest("session.yaml", read(t, files, "contrib/kubernetes/session.yaml"), []string{"PersistentVolumeClaim", "Job"}, images))
}

func TestContribNotices(t *testing.T) {
	files := repository()
	text, ignore, gomod := read(t, files, dockerfile), read(t, files, dockerignore), read(t, files, "go.mod")
	swap := func(text, old, by string) string {
		t.Helper()
		if !strings.Contains(text, old) {
			t.Fatalf("the file has no %q", old)
		}
		return strings.Replace(text, old, by, 1)
	}
	for _, test := range []struct{ name, old, by, want string }{
		{"source", "COPY wire wire", "COPY wires wire", "no such file"},
		{"out of context", "COPY wire wire", "COPY docs wire", "not in the build context"},
		{"stage", "--from=build /out", "--from=built /out", "copies from a stage"},
		{"Go", "ARG GO_VERSION=1.26", "ARG GO_VERSION=1.25", "GO_VERSION"},
		{"Node.js", "ARG NODE_VERSION=22", "ARG NODE_VERSION=18", "NODE_VERSION"},
		{"root", "USER switchboard", "USER root", "runs as root"},
		{"volume", "VOLUME /data", "VOLUME /elsewhere", "outside of a volume"},
		{"no certificates", "ca-certificates git tini", "git tini", "no certificates"},
		{"secret argument", "ARG UID=10001", "ARG API_KEY=x", "API_KEY"},
		{"secret variable", "EXPOSE 8765", "ENV TOKEN=x", "TOKEN"},
		{"shell form", `CMD ["node", "run"]`, "CMD switchboard node run", "no list of words"},
	} {
		t.Run(test.name, func(t *testing.T) {
			wrong := checkDockerfile(files, swap(text, test.old, test.by), ignore, gomod, ">=20.19")
			if !slices.ContainsFunc(wrong, func(w string) bool { return strings.Contains(w, test.want) }) {
				t.Errorf("%q does not say %q", wrong, test.want)
			}
		})
	}
	expect(t, checkDockerfile(files, text, ignore, gomod, ">=20.19"))
	unit := read(t, files, "contrib/systemd/switchboard-node.service")
	expect(t, checkUnit("x", swap(unit, "KillMode=process", "KillMode=mixed"), "node run"), "KillMode=process")
	manifest := read(t, files, "contrib/kubernetes/session.yaml")
	check := func(old, by string) []string {
		return checkManifest("x", swap(manifest, old, by), []string{"PersistentVolumeClaim", "Job"}, []string{"switchboard-node"})
	}
	expect(t, check("kind: Job", "kind: CronJob"), "it holds")
	expect(t, check("runAsNonRoot: true, ", ""), "runAsNonRoot")
	expect(t, check("drop: [ALL]", "drop: []"), "2 containers")
	expect(t, check("{name: tmp, mountPath", "{name: temp, mountPath"), "volume temp")
	expect(t, check("image: switchboard-node:latest", "image: other:latest"), "image other")
	expect(t, check("- {name: SWITCHBOARD_NODE_CODE, valueFrom: {secretKeyRef: {name: switchboard-task-42, key: code}}}", `- {name: SWITCHBOARD_NODE_CODE, value: "sbn_123"}`), "secret")
	for name, want := range map[string]bool{"api": false, "api/session.go": false, "docs": true, "web/node_modules/a": true, "web/src/a.ts": false} {
		if got := ignored(ignore, name); got != want {
			t.Errorf("%s is ignored: %t", name, got)
		}
	}
}
