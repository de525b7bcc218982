package e2e

// An attack is a command that gets at what a sandbox is to hold back. Each is run
// twice: without a sandbox, where it must succeed, and in one, where it must not.
type attack struct {
	name string
	// command is for sh, in the folder of the session, with the variables of
	// breakIn.world.
	command string
	// loot is what it prints if it succeeds.
	loot string
	// leaves is a file below the lab's folder that it makes or changes if it
	// succeeds, and holds what is in it then. In the session's folder it begins
	// with w/.
	leaves, holds string
	// strict says that only a strict sandbox holds it back.
	strict bool
	// root says that only root succeeds without a sandbox.
	root bool
	// needs is a program that may be missing.
	needs string
	// inside says that it means nothing without a sandbox.
	inside bool
	// by is what starts it, if that is not the tool Bash: mcp or hook.
	by string
}

// What attacks are after. None of it occurs anywhere else.
const (
	lootKey    = "THE-KEY-OF-THE-USER"
	lootEnv    = "THE-PASSWORD-OF-THE-PROJECT"
	lootDocker = "DOCKER-ANSWERS"
	lootBus    = "BUS-ANSWERS"
	lootHidden = "ABSTRACT-ANSWERS"
	lootWeb    = "WEB-ANSWERS"
	lootDNS    = "DNS-ANSWERS"
	lootMark   = "x-was-here"
	lootAsked  = "unknown.invalid"
)

// attacks is the table. The key is denied by Read(~/.ssh/**), the password by
// Read(.env), writing below locked by Edit(/locked/**), the host localhost by
// Network(host:localhost).
func attacks() []attack {
	return []attack{
		// What rules read out of a command, and do not see in these.
		{name: "cat", command: `cat "$HOME/.ssh/id"`, loot: lootKey},
		{name: "cd", command: `cd; cat .ssh/id`, loot: lootKey},
		{name: "env -C", command: `env -C "$HOME" cat .ssh/id`, loot: lootKey},
		{name: "diff of folders", command: `mkdir -p empty; diff -rN empty "$HOME/.ssh"`, loot: lootKey},
		{name: "grep -r", command: `grep -r KEY "$HOME"`, loot: lootKey},
		{name: "git diff --no-index", command: `mkdir -p empty; git --no-pager diff --no-index empty "$HOME/.ssh"`, loot: lootKey},
		{name: "find -exec", command: `find "$HOME" -type f -exec cat {} +`, loot: lootKey},
		{name: "tar", command: `tar -C "$HOME" -cf - .ssh | tar -xOf -`, loot: lootKey},
		{name: "a command in base64", command: `echo Y2F0IH4vLnNzaC9pZA== | base64 -d | sh`, loot: lootKey},
		{name: "a background process", command: `(setsid sh -c 'cat ~/.ssh/id' &) | cat`, loot: lootKey},
		{name: "a pattern in the folder", command: `cat .e*`, loot: lootEnv},
		{name: "a file deeper in the folder", command: `cat deep/er/.env`, loot: lootEnv},

		// Programs that run what they find.
		{name: "python3 -c", command: `python3 -c 'import os; print(open(os.path.expanduser("~/.ssh/id")).read())'`, loot: lootKey, needs: "python3"},
		{name: "perl -e", command: `perl -e 'open F, "$ENV{HOME}/.ssh/id" or die; print <F>'`, loot: lootKey, needs: "perl"},
		{name: "node -e", command: `node -e 'console.log(require("fs").readFileSync(process.env.HOME + "/.ssh/id", "utf8"))'`, loot: lootKey},
		{name: "a Makefile", command: `make -s -C hostile`, loot: lootKey},
		{name: "an npm script", command: `cd hostile && npm run --silent test`, loot: lootKey},
		{name: "a git hook", command: `git -c user.name=x -c user.email=x@localhost commit -q --allow-empty -m x 2>&1`, loot: lootKey},
		{name: "a compiled C program", command: `cc -o peek hostile/peek.c && ./peek "$HOME/.ssh/id"`, loot: lootKey, needs: "cc"},
		{name: "a compiled Go test", command: `hostile/hostile.test`, loot: lootKey},
		{name: "go test", command: `cd hostile/go && go test -count=1 -v .`, loot: lootKey},
		{name: "an MCP server", command: `cat "$HOME/.ssh/id" .env`, loot: lootKey, by: "mcp"},
		{name: "a hook of the CLI", command: `cat "$HOME/.ssh/id" .env`, loot: lootEnv, by: "hook"},

		// Other ways to the same file.
		{name: "a link", command: `ln -s "$HOME" up; cat up/.ssh/id`, loot: lootKey},
		{name: "a link that is moved", command: `ln -s "$HOME" a; mv a b; cat b/.ssh/id`, loot: lootKey},
		{name: "a hard link", command: `ln "$HOME/.ssh/id" hard; cat hard`, loot: lootKey},
		{name: "the folder, moved", command: `mv "$HOME/.ssh" "$HOME/.moved"; cat "$HOME/.moved/id"`, loot: lootKey},
		{name: "/proc/self/root", command: `cat "/proc/self/root$HOME/.ssh/id"`, loot: lootKey},
		{name: "/proc/*/root", command: `for p in /proc/[0-9]*; do cat "$p/root$HOME/.ssh/id"; done`, loot: lootKey},
		{name: "/proc/*/cwd", command: `for p in /proc/[0-9]*; do cat "$p/cwd/../../h/.ssh/id"; done`, loot: lootKey},
		{name: "a namespace without the mounts", command: `unshare -Urm sh -c 'umount -l "$HOME/.ssh"; cat "$HOME/.ssh/id"'`, loot: lootKey},
		{name: "a bind mount", command: `mkdir -p x; unshare -Urm sh -c 'mount --bind "$HOME" x; cat x/.ssh/id'`, loot: lootKey},
		{name: "a recursive bind mount", command: `mkdir -p x; unshare -Urm sh -c 'mount --rbind / x; umount -l "x$HOME/.ssh"; cat "x$HOME/.ssh/id"'`, loot: lootKey},
		{name: "a mount without a namespace", command: `mkdir -p x; mount --bind "$HOME" x && { cat x/.ssh/id; umount x; }`, loot: lootKey, root: true},
		{name: "the namespace of another process", command: `for p in 1 "$SHIM" "$HUB"; do nsenter -m -t "$p" cat "$HOME/.ssh/id"; done`, loot: lootKey, root: true},
		{name: "the root of another process", command: `chroot "/proc/$SHIM/root" cat "$HOME/.ssh/id"`, loot: lootKey, root: true},

		// Switchboard's own.
		{name: "the token", command: `cat "$DATA/admin.token"`, loot: "sb_e2etests_"},
		{name: "all files of the hub", command: `find "$DATA" -type f -exec cat {} + | grep -a sb_e2etests_`, loot: "sb_e2etests_"},
		{name: "the rules", command: `cat "$HOME/.config/switchboard/rules.toml"`, loot: "Network(host:localhost)"},
		{name: "other rules", command: `echo "# $MARK" >> "$HOME/.config/switchboard/rules.toml"`, leaves: "h/.config/switchboard/rules.toml", holds: lootMark},
		{name: "other rules, by another file", command: `echo "# $MARK" > n; mv n "$HOME/.config/switchboard/rules.toml"`, leaves: "h/.config/switchboard/rules.toml", holds: lootMark},
		{name: "another token", command: `echo "$MARK" > "$DATA/made"`, leaves: "d/made", holds: lootMark},
		{name: "the socket of the hub", command: `curl -s --unix-socket "$DATA/run/hub.sock" http://hub/v1/sessions`, loot: `"sessions"`, needs: "curl"},
		{name: "the socket of the hub, by node", command: `node hostile/connect.js "$DATA/run/hub.sock"`, loot: "HTTP/1.1"},
		{name: "the shim's arguments", command: `tr '\0' ' ' < "/proc/$SHIM/cmdline"`, loot: "shim"},
		{name: "a signal to the shim", command: `kill -0 "$SHIM" && echo SIGNALED`, loot: "SIGNALED"},
		{name: "a signal to the hub", command: `kill -0 "$HUB" && echo SIGNALED`, loot: "SIGNALED"},
		{name: "ptrace of the shim", command: `cc -o attach hostile/attach.c && ./attach "$SHIM"`, loot: "ATTACHED", root: true, needs: "cc"},

		// Sockets that lead out.
		{name: "the socket of Docker", command: `node hostile/connect.js "$DOCKER"`, loot: lootDocker},
		{name: "D-Bus", command: `node hostile/connect.js "$BUS"`, loot: lootBus},
		{name: "D-Bus, by a link", command: `ln -s "$BUS" bus; node hostile/connect.js bus`, loot: lootBus},
		{name: "an abstract socket", command: `cc -o abstract hostile/abstract.c && ./abstract "$ABSTRACT"`, loot: lootHidden, needs: "cc"},

		// What may be read and not written.
		{name: "a locked file", command: `echo "$MARK" >> locked/file`, leaves: "w/locked/file", holds: lootMark},
		{name: "a locked folder", command: `echo "$MARK" > locked/made`, leaves: "w/locked/made", holds: lootMark},
		{name: "a locked folder, by cp -r", command: `mkdir -p evil/locked; echo "$MARK" > evil/locked/file; cp -r evil/locked .`, leaves: "w/locked/file", holds: lootMark},
		{name: "a locked folder, by sort -o", command: `echo "$MARK" > lines; sort -uo locked/file lines`, leaves: "w/locked/file", holds: lootMark},
		{name: "a locked folder, by sed -i", command: `sed -i "s/kept/$MARK/" locked/file`, leaves: "w/locked/file", holds: lootMark},
		{name: "a locked folder, moved away", command: `mv locked free; mkdir locked; echo "$MARK" > locked/file`, leaves: "w/locked/file", holds: lootMark},
		{name: "a locked folder, replaced", command: `rm -rf locked; mkdir -p locked; echo "$MARK" > locked/file`, leaves: "w/locked/file", holds: lootMark},
		{name: "a file outside", command: `echo "$MARK" > "$OUTSIDE/made"`, leaves: "outside/made", holds: lootMark, strict: true},
		{name: "a file outside, by a link", command: `ln -s "$OUTSIDE" out; echo "$MARK" >> out/kept`, leaves: "outside/kept", holds: lootMark, strict: true},
		{name: "a file outside, by a hard link", command: `ln "$OUTSIDE/kept" kept; echo "$MARK" >> kept`, leaves: "outside/kept", holds: lootMark, strict: true},
		{name: "a file outside, by split --filter", command: `echo "$MARK" | split --filter='cat > "$OUTSIDE/made"'`, leaves: "outside/made", holds: lootMark, strict: true},
		{name: "a file outside, by git", command: `git init -q "$OUTSIDE/clone"`, leaves: "outside/clone/.git/HEAD", holds: "ref", strict: true},
		{name: "a start file", command: `echo "$MARK" >> "$HOME/.profile"`, leaves: "h/.profile", holds: lootMark, strict: true},
		{name: "a file outside, by node", command: `node -e 'require("fs").writeFileSync(process.env.OUTSIDE + "/made", process.env.MARK)'`, leaves: "outside/made", holds: lootMark, strict: true},

		// The network.
		{name: "a denied host", command: `curl -s --noproxy "" ${PROXY:+-x "$PROXY"} "http://localhost:$PORT/"`, loot: lootWeb, needs: "curl"},
		{name: "a denied host, in capitals", command: `curl -s --noproxy "" ${PROXY:+-x "$PROXY"} "http://LOCALHOST:$PORT/"`, loot: lootWeb, needs: "curl"},
		{name: "a denied host, by CONNECT", command: `curl -s --noproxy "" ${PROXY:+-p -x "$PROXY"} "http://localhost:$PORT/"`, loot: lootWeb, needs: "curl"},
		{name: "a denied host, by SOCKS", command: `curl -s --noproxy "" ${PROXY:+--socks5-hostname "${PROXY#http://}"} "http://localhost:$PORT/"`, loot: lootWeb, needs: "curl"},
		{name: "a denied host, without the proxy", command: `env -u HTTP_PROXY -u http_proxy node hostile/connect.js localhost "$PORT"`, loot: lootWeb},
		{name: "an address, without the proxy", command: `node hostile/connect.js 127.0.0.1 "$PORT"`, loot: lootWeb},
		{name: "a port of this machine", command: `curl -s --noproxy "" ${PROXY:+-x "$PROXY"} "http://127.0.0.1:$PORT/"`, loot: lootWeb, needs: "curl"},
		{name: "the port of the hub", command: `curl -s --noproxy "" ${PROXY:+-x "$PROXY"} -i "http://127.0.0.1:$HUBPORT/healthz"`, loot: "200 OK", needs: "curl"},
		{name: "the port of the hub, without the proxy", command: `node hostile/connect.js 127.0.0.1 "$HUBPORT"`, loot: "HTTP/1.1"},
		{name: "DNS", command: `node hostile/datagram.js "$DNS"`, loot: lootDNS},
	}
}

// uses is what must still work in a sandbox, and prints loot there too.
func uses() []attack {
	return []attack{
		{name: "a file of the folder", command: `echo made > made; cat made hostile/Makefile`, loot: "made"},
		{name: "a file in a temporary folder", command: `f=$(mktemp); echo temporary > "$f"; cat "$f"; rm "$f"`, loot: "temporary"},
		{name: "a file outside, read", command: `cat "$OUTSIDE/kept"`, loot: "kept"},
		{name: "git status", command: `git status --short && echo "git works"`, loot: "git works"},
		{name: "a name of a user", command: `id -un`, loot: userName()},
		{name: "a host that is asked about", command: `curl -s --noproxy "" -x "$PROXY" "http://` + lootAsked + `/"`, loot: "refused the connection to " + lootAsked, needs: "curl", strict: true, inside: true},
		{name: "a host that is allowed", command: `curl -s --noproxy "" ${PROXY:+-x "$PROXY"} "http://127.0.0.2:$PORT/"`, loot: lootWeb, needs: "curl", strict: true},
	}
}

// hostileClone are the files of a clone that means harm.
var hostileClone = map[string]string{
	"hostile/Makefile":     "all:\n\t@cat $(HOME)/.ssh/id\n",
	"hostile/package.json": `{"name":"hostile","version":"1.0.0","scripts":{"test":"cat ~/.ssh/id"}}`,
	"hostile/go/go.mod":    "module hostile\n\ngo 1.26\n",
	"hostile/go/hostile_test.go": `package hostile

import (
	"fmt"
	"os"
	"testing"
)

func Test(t *testing.T) {
	text, err := os.ReadFile(os.Getenv("HOME") + "/.ssh/id")
	fmt.Println(string(text), err)
}
`,
	"hostile/peek.c": `#include <stdio.h>
int main(int argc, char **argv) {
	int c;
	FILE *f = fopen(argv[1], "r");
	if (!f) { perror(argv[1]); return 1; }
	while ((c = fgetc(f)) != EOF) putchar(c);
	return 0;
}
`,
	"hostile/attach.c": `#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
int main(int argc, char **argv) {
	int pid = atoi(argv[1]);
	if (ptrace(PTRACE_ATTACH, pid, 0, 0) != 0) { perror("ptrace"); return 1; }
	waitpid(pid, 0, __WALL);
	ptrace(PTRACE_DETACH, pid, 0, 0);
	puts("ATTACHED");
	return 0;
}
`,
	"hostile/abstract.c": `#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
int main(int argc, char **argv) {
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	char text[1000] = {0};
	int s = socket(AF_UNIX, SOCK_STREAM, 0);
	strcpy(a.sun_path + 1, argv[1]);
	if (connect(s, (void *)&a, offsetof(struct sockaddr_un, sun_path) + 1 + strlen(argv[1])) != 0) { perror("connect"); return 1; }
	write(s, "GET / HTTP/1.0\r\n\r\n", 18);
	read(s, text, 999);
	puts(text);
	return 0;
}
`,
	"hostile/connect.js": `const [path, port] = process.argv.slice(2);
const socket = require("net").connect(port ? { host: path, port: Number(port), family: 4 } : { path });
setTimeout(() => process.exit(1), 5000);
socket.on("connect", () => socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
socket.on("error", (error) => { console.log(error.message); process.exit(1); });
socket.on("data", (data) => { console.log(String(data)); process.exit(0); });
`,
	"hostile/datagram.js": `const socket = require("dgram").createSocket("udp4");
setTimeout(() => process.exit(1), 1000);
socket.on("error", (error) => { console.log(error.message); process.exit(1); });
socket.on("message", (data) => { console.log(String(data)); process.exit(0); });
socket.send("x", Number(process.argv[2]), "127.0.0.1", (error) => { if (error) { console.log(error.message); process.exit(1); } });
`,
	".env":                  "PASSWORD=" + lootEnv + "\n",
	"deep/er/.env":          "PASSWORD=" + lootEnv + "\n",
	"locked/file":           "kept\n",
	".git/HEAD":             "ref: refs/heads/main\n",
	".git/config":           "[core]\n\trepositoryformatversion = 0\n",
	".git/hooks/pre-commit": "#!/bin/sh\ncat ~/.ssh/id\n",
	".git/objects/.x":       "",
	".git/refs/.x":          "",
}
