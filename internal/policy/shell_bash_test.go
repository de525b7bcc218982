//go:build unix

package policy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

// A lab is a folder in which a real Bash runs what the rules have allowed, with
// programs that only say how they were called.
type lab struct {
	root, home, work, log string
	bash                  string
	engine                *Engine
}

// labRules are the rules of the lab: everything is allowed but for one program
// and some files.
var labRules = []string{"allow Bash", "deny Bash(rm:*)", "deny Read(secret/**)", "deny Read(~/.ssh/**)", "deny Edit(keep/**)"}

// labSecret is in the files that may not be read.
const labSecret = "the-secret"

// newLab makes the folder: recorders in place of most programs, the real ones
// for those that run others.
func newLab(t testing.TB) *lab {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{root: root, home: filepath.Join(root, "h/u"), log: filepath.Join(root, "log")}
	l.work = filepath.Join(l.home, "work")
	if l.bash, err = exec.LookPath("bash"); err != nil {
		t.Fatalf("these tests compare with a real Bash: %v", err)
	}
	write := func(name, text string, mode os.FileMode) {
		t.Helper()
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"h/u/.ssh/id", "h/u/work/secret/f"} {
		write(name, labSecret+"\n", 0o600)
	}
	for _, name := range []string{"h/u/work/a", "h/u/work/sub/b", "h/u/work/keep/x"} {
		write(name, "harmless\n", 0o600)
	}
	// A recorder writes its name and arguments to descriptor 9, and whether it reads
	// a secret if it is given no file.
	recorder := `#!/bin/sh
printf '\001%s\002%s\002' "$PWD" "${0##*/}" >&9
for a; do printf '%s\002' "$a" >&9; done
[ $# -gt 0 ] || { IFS= read -r line && [ "$line" = ` + labSecret + ` ] && printf %s "$line" >&9; }
printf '\003' >&9
`
	for _, name := range []string{"rm", "cat", "ls", "tool", "grep", "git"} {
		write("bin/"+name, recorder, 0o700)
	}
	write("bin/wrapx", "#!/bin/sh\nexec \"$@\"\n", 0o700)
	for _, name := range []string{"env", "timeout", "nice", "nohup", "setsid", "sh", "bash", "find", "xargs"} {
		real, err := exec.LookPath(name)
		if err != nil {
			continue // macOS lacks some; the grammar's commands are not found then
		}
		if err := os.Symlink(real, filepath.Join(root, "bin", name)); err != nil {
			t.Fatal(err)
		}
	}
	f := rulesFile(labRules)
	if l.engine, err = New(f, Options{Home: l.home, Resolve: labResolve}); err != nil {
		t.Fatal(err)
	}
	return l
}

// labResolve follows links where there are some: the lab itself has none.
func labResolve(name string) (string, error) {
	if strings.HasPrefix(name, "/proc/") || strings.HasPrefix(name, "/dev/") {
		return Real(name)
	}
	return path.Clean(name), nil
}

// rulesFile makes a file of rules like "deny Read(x)".
func rulesFile(texts []string) *File {
	f := &File{Name: "rules.toml"}
	for _, text := range texts {
		decision, rule, _ := strings.Cut(text, " ")
		f.Rules = append(f.Rules, Rule{Text: rule, Decision: Decision(decision), Scope: ScopeGlobal})
	}
	return f
}

func (l *lab) decide(t testing.TB, command string) Verdict {
	t.Helper()
	input, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		t.Fatal(err)
	}
	return l.engine.Decide(Call{Tool: "Bash", Input: input, Dir: l.work})
}

// driver is the Bash script that runs commands, each in a shell of its own and
// traced: PS4 has the trace begin each command with its folder.
const driver = `
__n=0
while IFS= read -r -d '' __c; do
	printf '\004%d\003' "$__n" >&9
	(
		cd "$__w" || exit
		PS4=$'\005$PWD\006'
		BASH_XTRACEFD=9
		set -x
		eval "$__c"
	) </dev/null >/dev/null 2>&1
	[ -e "$__w/keep/hit" ] && { printf '\007keep/hit\003' >&9; /bin/rm -f "$__w/keep/hit"; }
	__n=$((__n+1))
done
`

// run has Bash run commands and returns what each of them did.
func (l *lab) run(t testing.TB, commands []string) []string {
	t.Helper()
	log, err := os.Create(l.log)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	cmd := exec.CommandContext(t.Context(), l.bash, "--norc", "--noprofile", "-c", driver)
	cmd.Env = []string{"PATH=" + filepath.Join(l.root, "bin"), "HOME=" + l.home, "__w=" + l.work, "LC_ALL=C"}
	cmd.Dir = l.work
	cmd.Stdin = strings.NewReader(strings.Join(commands, "\x00") + "\x00")
	// Descriptors 3 to 8 are nothing; 9 is the log.
	cmd.ExtraFiles = []*os.File{nil, nil, nil, nil, nil, nil, log}
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Run(); err != nil {
		t.Fatalf("the driver: %v\n%s", err, output.String())
	}
	data, err := os.ReadFile(l.log)
	if err != nil {
		t.Fatal(err)
	}
	did := make([]string, len(commands))
	for part := range strings.SplitSeq(string(data), "\x04") {
		number, rest, ok := strings.Cut(part, "\x03")
		if !ok {
			continue
		}
		n, err := strconv.Atoi(number)
		if err != nil || n >= len(did) {
			t.Fatalf("the log has the command %q of %d", number, len(did))
		}
		did[n] = rest
	}
	return did
}

// forbidden says which rule a trace breaks; "" if none.
func (l *lab) forbidden(trace string) string {
	if strings.Contains(trace, "\x07") {
		return "it wrote keep/hit"
	}
	if strings.Contains(trace, labSecret) {
		return "it read a secret"
	}
	for part := range strings.FieldsFuncSeq(trace, func(r rune) bool { return r == '\x01' || r == '\x05' }) {
		if dir, words, ok := strings.Cut(part, "\x06"); ok {
			// Traced by Bash: words in its own quotes, nested commands with the mark
			// repeated.
			if fields := traceWords(words); len(fields) > 0 {
				if why := l.forbiddenWords(dir, fields); why != "" && fields[0] != "eval" {
					return why
				}
			}
			continue
		}
		// Noted by a recorder.
		fields := strings.Split(strings.TrimSuffix(strings.TrimSuffix(part, "\x03"), "\x02"), "\x02")
		if len(fields) > 1 {
			if why := l.forbiddenWords(fields[0], fields[1:]); why != "" {
				return why
			}
		}
	}
	return ""
}

// forbiddenWords judges the words of one command that ran in a folder.
func (l *lab) forbiddenWords(dir string, words []string) string {
	switch words[0] {
	case "for", "case", "[[", "((", "select":
		return ""
	}
	for len(words) > 0 && isAssignment(words[0]) {
		words = words[1:]
	}
	if len(words) > 1 && words[0] == "time" {
		words = words[1:] // a program after a pipe, which runs the rest
	}
	if len(words) == 0 {
		return ""
	}
	if path.Base(words[0]) == "rm" {
		return "it ran " + strings.Join(words, " ")
	}
	if inertPrograms[words[0]] == opensNone {
		return "" // it prints its words
	}
	for _, w := range words {
		if !path.IsAbs(w) {
			w = path.Join(dir, w)
		}
		w = path.Clean(w)
		for _, denied := range []string{path.Join(l.work, "secret"), path.Join(l.home, ".ssh")} {
			if isBelow(denied, w) && path.Base(words[0]) != "cd" {
				return "it named " + w
			}
		}
	}
	return ""
}

// traceWords splits a traced command at blanks, and takes Bash's quotes off.
func traceWords(text string) []string {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil || len(file.Stmts) == 0 {
		return strings.Fields(text)
	}
	call, ok := file.Stmts[0].Cmd.(*syntax.CallExpr)
	if !ok {
		return strings.Fields(text)
	}
	var words []string
	for _, a := range call.Assigns {
		words = append(words, assignName(a)+"=")
	}
	for _, w := range call.Args {
		words = append(words, joined(first((&finder{}).guess(w))))
	}
	return words
}

// bashCommands is how many commands TestBashAgrees tries: a million where there
// is time.
func bashCommands() int {
	if os.Getenv("SWITCHBOARD_SOAK") != "" {
		return 1_000_000
	}
	return 6_000
}

// TestBashAgrees holds what deny rules promise beside a rule that allows every
// command: of commands made by chance, whatever is allowed runs no denied program
// and names no denied file when a real Bash expands and runs it.
func TestBashAgrees(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	seed := uint64(1)
	if os.Getenv("SWITCHBOARD_SOAK") != "" {
		seed = rand.Uint64()
		t.Logf("seed %d", seed)
	}
	g := &grammar{Rand: rand.New(rand.NewPCG(seed, 7))}
	total, allowed, denied := 0, 0, 0
	seen := map[string]bool{}
	for total < bashCommands() {
		var batch []string
		for len(batch) < 500 && total < bashCommands() {
			command := g.script()
			total++
			switch l.decide(t, command).Decision {
			case Allow:
				allowed++
				if !seen[command] {
					seen[command] = true
					batch = append(batch, command)
				}
			case Deny:
				denied++
			default:
			}
		}
		if len(seen) > 1<<20 {
			clear(seen)
		}
		for i, trace := range l.run(t, batch) {
			if trace == "" {
				t.Fatalf("%q was not traced", batch[i])
			}
			if why := l.forbidden(trace); why != "" {
				t.Errorf("allowed: %s\nwhen Bash runs it, %s: %q", batch[i], why, trace)
			}
		}
		if t.Failed() {
			break
		}
	}
	t.Logf("%d commands: %d allowed and run, %d denied, %d asked about", total, allowed, denied, total-allowed-denied)
	if allowed < total/50 || denied < total/50 {
		t.Errorf("of %d commands %d are allowed and %d denied: the grammar tries too little", total, allowed, denied)
	}
}

// TestBashNotices shows that the lab notices what it is there for.
func TestBashNotices(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	commands := []string{
		"rm x", "env rm x", "sh -c 'rm x'", "r=m; r$r x", "/nowhere/rm x", "cat secret/f", "cat ../.ssh/id", "cd secret; cat f", "cat < secret/f", "echo x > keep/hit",
		"sh -c 'echo x > keep/hit'", "wrapx rm x", "cat ~/.ssh/id", "echo rm | xargs -I{} env {} x", "find . -exec rm {} \\;", "cat sec*/f",
	}
	for i, trace := range l.run(t, commands) {
		if l.forbidden(trace) == "" {
			t.Errorf("%q: nothing noticed in %q", commands[i], trace)
		}
		if v := l.decide(t, commands[i]); v.Decision == Allow {
			t.Errorf("%q is allowed: %s", commands[i], v.Reason)
		}
	}
	fine := []string{"ls -l", "cat a sub/b", "echo rm", "git rm x", "cd sub && cat b", "cat < a", "echo x > out"}
	for i, trace := range l.run(t, fine) {
		if why := l.forbidden(trace); why != "" || trace == "" {
			t.Errorf("%q: %s in %q", fine[i], why, trace)
		}
		if v := l.decide(t, fine[i]); v.Decision != Allow {
			t.Errorf("%q is not allowed: %s", fine[i], v.Reason)
		}
	}
}

// A grammar makes commands by chance, many of which hide what they do.
type grammar struct {
	*rand.Rand
	depth int
}

func (g *grammar) one(list ...string) string { return list[g.IntN(len(list))] }

// script makes a whole text.
func (g *grammar) script() string {
	g.depth = 0
	var b strings.Builder
	for i := range 1 + g.IntN(3) {
		if i > 0 {
			b.WriteString(g.one("; ", " && ", " || ", "\n", " | ", " & wait; "))
		}
		b.WriteString(g.statement())
	}
	return b.String()
}

// statement makes one statement of any kind.
func (g *grammar) statement() string {
	if g.depth++; g.depth > 4 {
		return g.simple()
	}
	switch g.IntN(40) {
	case 0:
		return "(" + g.statement() + ")"
	case 1:
		return "{ " + g.statement() + "; }"
	case 2:
		return "if " + g.one("true", "[ -f a ]", "ls") + "; then " + g.statement() + "; fi"
	case 3:
		return "for " + g.variable() + " in " + g.word() + " " + g.word() + "; do " + g.statement() + "; done"
	case 4:
		return "case " + g.word() + " in *) " + g.statement() + ";; esac"
	case 5:
		return g.one("f", "ls", "cat") + "() { " + g.statement() + "; }; " + g.one("f", "ls", "cat") + " " + g.word()
	case 6:
		return "sh -c " + quoted(g.statement())
	case 7:
		return "bash -c " + quoted(g.statement()) + g.one("", " _ "+g.word())
	case 8:
		return "eval " + g.one("", "-- ") + g.one(quoted(g.statement()), g.simple())
	case 9:
		return g.one("env ", "env -i ", "env -u X ", "env X=1 ", "env -- ", "timeout 5 ", "nice -n 1 ", "nohup ", "setsid ", "command ", "command -p ", "exec ", "builtin ", "wrapx ", "wrapx wrapx ", "env -C sub ", "env --chdir=.. ") + g.simple()
	case 10:
		return "env -S" + g.one("", " ") + quoted(g.simple())
	case 11:
		return "echo " + g.word() + " | xargs " + g.one("", "-n 1 ", "-I{} ") + g.simple()
	case 12:
		return "find . " + g.one("-name a ", "") + g.one("-exec ", "-execdir ") + g.simple() + g.one(" \\;", " {} +")
	case 13:
		return "trap " + g.one("", "-- ") + quoted(g.statement()) + " EXIT"
	case 14:
		return "echo " + quoted(g.simple()) + " | " + g.one("sh", "bash", "cat", "bash -s", "xargs sh -c")
	case 15:
		return g.one("sh", "bash", "cat") + " <<" + g.one("E", "'E'") + "\n" + g.simple() + "\nE\n"
	case 16:
		return "cat <(" + g.statement() + ")"
	case 17:
		return "read " + g.one("", "-r ") + g.variable() + " <<< " + g.word() + "; " + g.simple()
	case 18:
		return "printf -v " + g.variable() + " %s " + g.word() + "; " + g.simple()
	case 19:
		return "set -- " + g.word() + " " + g.word() + `; "$@"`
	case 20:
		return "a=(" + g.word() + " " + g.word() + `); "${a[@]}"`
	case 21:
		return g.one("cd", "cd ..", "cd sub", "cd ~", "cd secret", "cd -", "cd "+g.word(), "pushd sub", "pushd ~", "cd ../.ssh", "cd . && cd ..", "(cd sub)", "cd -P ..", "cd -- ..") + g.one("; ", " && ") + g.simple()
	case 22:
		return "while " + g.one("false", "! true") + "; do " + g.statement() + "; done; " + g.simple()
	case 23:
		return "[[ " + g.word() + " == " + g.word() + " ]] && " + g.simple()
	case 24:
		return g.one("hash -p rm ls; ", "alias ls=rm; ", "IFS=x; ", "IFS=; ", "PATH=.; ", "set -f; ", "set +f; ", "shopt -s extglob; ", "HOME=/x; ", "unset HOME; ") + g.simple()
	case 25:
		return "exec 3< " + g.path() + "; cat <&3"
	case 26:
		return "! " + g.statement()
	case 27:
		return "time " + g.statement()
	case 28:
		return "mapfile -t " + g.variable() + " <<< " + g.word() + "; " + g.simple()
	case 29:
		return "declare " + g.one("", "-x ", "-n ", "-a ") + g.variable() + "=" + g.word() + "; " + g.simple()
	case 30:
		return g.assignment() + "; " + g.assignment() + "; " + g.simple()
	case 31:
		return g.assignment() + "; " + g.one("sh", "bash") + " -c " + quoted(g.simple())
	case 32:
		return "export " + g.assignment() + "; sh -c " + quoted(g.simple())
	default:
		return g.simple()
	}
}

// simple makes a simple command.
func (g *grammar) simple() string {
	var b strings.Builder
	if g.IntN(10) == 0 {
		b.WriteString(g.assignment() + " ")
	}
	if g.IntN(8) == 0 {
		b.WriteString(g.assignment() + "; ")
	}
	b.WriteString(g.name())
	for range g.IntN(3) {
		b.WriteString(" " + g.word())
	}
	switch g.IntN(14) {
	case 0:
		b.WriteString(" > " + g.target())
	case 1:
		b.WriteString(" < " + g.path())
	case 2:
		b.WriteString(" >& " + g.target())
	}
	return b.String()
}

func (g *grammar) variable() string { return g.one("x", "y", "d", "p") }

func (g *grammar) assignment() string {
	return g.variable() + g.one("=", "=", "=", "+=") + g.one("r", "m", "rm", "secret", "sec", "ret/f", "a", "..", "~", "'rm x'", "'*'", "$x", "\"$y\"", "$(echo rm)", "sub", "sub/b", "a' 'b")
}

// name makes the name of a program, often in disguise.
func (g *grammar) name() string {
	if g.IntN(3) > 0 {
		return g.one("cat", "ls", "tool", "echo", "grep", "git", "cat", "printf", ":", "test", "true", "./tool", "wrapx", "env")
	}
	return g.one(
		"rm", "r''m", `r\m`, `"r"m`, "'rm'", `\rm`, "$x", "$y", "$x$y", `"$x"`, "${x}", "r$y", "${x:-rm}", "${p:-r}m", "${x/a/rm}", "${x#a}", "${x^^}", "${!x}", "${x@P}",
		"$(echo rm)", "`echo rm`", "$(printf r)m", "{rm,a}", "{r,}m", "r{m,x}", "{q..s}m", "{r..r}m", "/nowhere/rm", "/nowhere/r?", "/nowhere/[r]m", "/nowhere/[!a]m", "~/rm", `$'\x72m'`,
		`$'r\155'`, `$"rm"`, "r$@m", "r$*m", "$1", `"$@"`, "${a[0]}", "r${empty}m", "$((0))rm", "rm$((0))", "RM", "r\\\nm", "$'rm'", "+(r)m", "@(rm)", "~+/rm", "$_", "$0", "${IFS}rm", "!rm",
	)
}

// word makes an argument.
func (g *grammar) word() string {
	if g.IntN(2) == 0 {
		return g.path()
	}
	return g.one(
		"a", "-l", "--", "x", "rm", "'rm x'", "-f", "--file=a", "--file=secret/f", "-Csub", "$x", `"$x"`, "${y}", "$(echo rm)", "a{b,c}", "{rm,x}", "'a b'", `"$@"`, "$*", "$#", "$?", "$$",
		"*", "a*", "?", "[a]", `\*`, "$((1+1))", "$((x))", "=rm", "k=v", "@a", "~", "-", ".", "..", "#", "a#b", "\\$x", `"\$x"`, "$'a'", "~root", "-", "-c", "-S", "{}", "{a}", "!x", "a\\ b", "''",
	)
}

// path makes a path, often a denied one in disguise.
func (g *grammar) path() string {
	if g.IntN(3) == 0 {
		return g.one("a", "sub/b", "./a", "sub/../a", "$PWD/a", `"$PWD/sub/b"`, "sub/*", "$x/a", "nothing")
	}
	return g.one(
		"secret/f", "./secret/f", "sub/../secret/f", "../work/secret/f", "$PWD/secret/f", "${PWD}/secret/f", "sec*/f", "secre?/f", "[s]ecret/f", "*/f", "s{ecret,x}/f", "{s..s}ecret/f", "se{c,}ret/f",
		"sec'r'et/f", `sec\ret/f`, `"secret"/f`, "$d/f", "${d}/f", `"$d/f"`, "$d$p", "$x/f", "secret/$p", "$(echo secret)/f", "`echo secret`/f", "$(cat a)/f", "${d:-secret}/f", "${d%x}/f", "${d/a/secret}/f",
		"~/.ssh/id", "$HOME/.ssh/id", `"$HOME"/.ssh/id`, "${HOME}/.ssh/id", "../.ssh/id", "~/.s*/id", "~/.{ssh,x}/id", "~/.{s..s}sh/id", "~+/secret/f", "~-/secret/f", "~/work/secret/f", "../.s?h/id",
		"/proc/$$/cwd/secret/f", "/proc/self/cwd/secret/f", `$'secret/f'`, `$'\x73ecret/f'`, "secret", "../.ssh", "f", "id", ".ssh/id", "work/secret/f", "ecret/f", "s$@ecret/f", "sec$(:)ret/f", "sec\\\nret/f",
		"@secret/f", "--f=secret/f", "-fsecret/f", "k=secret/f", "k=../.ssh/id", "+(s)ecret/f", "$OLDPWD/secret/f",
	)
}

func (g *grammar) target() string {
	return g.one("out", "out", "keep/hit", "./keep/hit", "ke*p/hit", "keep/h\\it", "$d/hit", "k{eep,x}/hit", "../work/keep/hit", "$(echo keep)/hit", "~/work/keep/hit", "\"$PWD\"/keep/hit", "hit")
}

// quoted puts a text into single quotes.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// FuzzBashWords compares what the certain view takes a command's words for with
// what Bash makes of them in an empty folder.
func FuzzBashWords(f *testing.F) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		f.Fatalf("this compares with a real Bash: %v", err)
	}
	for i, row := range shellRows(f) {
		if i%5 == 0 { // a Bash for each
			f.Add(strings.TrimPrefix(row.command, "echo "))
		}
	}
	g := &grammar{Rand: rand.New(rand.NewPCG(3, 3))}
	for range 100 {
		f.Add(g.word() + " " + g.path() + " " + g.word())
	}
	empty := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		const name = "__words"
		s := parseShell(name + " " + text)
		if s.file == nil || len(s.file.Stmts) != 1 || len(text) > 1000 || strings.ContainsAny(text, "\x00\r") {
			return
		}
		st := s.file.Stmts[0]
		call, ok := st.Cmd.(*syntax.CallExpr)
		if !ok || len(st.Redirs) > 0 || st.Negated || st.Background || len(call.Assigns) > 0 || strings.ContainsAny(text, "`(") {
			return
		}
		c := &certainty{scope: scanVars(s.file)}
		var want []string
		for _, arg := range call.Args[1:] {
			v := c.word(arg)
			if !v.known || len(v.alts) != 1 {
				return
			}
			for _, field := range v.alts[0] {
				if field.number || field.glob {
					return
				}
				want = append(want, field.text)
			}
		}
		// Restricted, with no programs and without the builtins that reach out: the
		// text is anything.
		const script = name + `() { printf '%s\0' "$@"; }; enable -n kill exec ulimit umask suspend trap history fc bind; eval "$1"`
		cmd := exec.CommandContext(t.Context(), bash, "--norc", "--noprofile", "-r", "-c", script, "_", name+" "+text)
		cmd.Env, cmd.Dir = []string{"PATH=", "HOME=~", "PWD=" + empty, "LC_ALL=C.UTF-8"}, empty
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%q is understood as %q, and Bash says %v", text, want, err)
		}
		got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
		if len(out) == 0 || len(want) == 0 {
			got = got[:0]
			if len(want) == 0 && string(out) == "\x00" {
				return // printf writes one empty word for none
			}
		}
		for i := range got {
			got[i] = strings.Replace(got[i], empty, ".", 1)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: Bash has %s, the rules have %s", text, fmt.Sprintf("%q", got), fmt.Sprintf("%q", want))
		}
	})
}
