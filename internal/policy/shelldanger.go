package policy

import (
	"path"
	"slices"
	"strings"
)

// What an option does that a rule for its command does not cover.
const (
	runsOther   = "runs another program"
	writesFile  = "writes or removes files"
	otherConfig = "takes its settings from elsewhere"
)

// A danger is a group of options that let a command do something else than its
// name says.
type danger struct {
	does string
	// options, separated by spaces. "--name" is found abbreviated too, "-x"
	// also among other letters ("!-x" is not), "-name" with one dash or two, and
	// any other word as it is. One that ends in "=", ",", "." or ":" is found
	// in front of anything.
	options string
}

// dangers are the options that a rule with a wildcard does not cover unless it
// spells them out: they run other programs, or write where no path rule looks.
// A rule that names a program which runs code by its nature (python, node, awk,
// make …) is obeyed as it stands; for those the table only has the ways to make
// a narrower rule ("make test:*") run something else.
var dangers = map[string][]danger{
	"find": {
		{runsOther, "-exec -execdir -ok -okdir"},
		{writesFile, "-delete -fls -fprint -fprint0 -fprintf"},
	},
	"fd":      {{runsOther, "-x -X --exec --exec-batch"}},
	"git":     {{runsOther, "--exec --upload-pack --receive-pack --open-files-in-pager --ext-diff --textconv --extcmd"}, {writesFile, "--output"}, {otherConfig, "--config --config-env --template"}},
	"sort":    {{runsOther, "--compress-program"}, {writesFile, "-o --output"}},
	"tree":    {{writesFile, "-o -R"}},
	"rg":      {{runsOther, "--pre --hostname-bin"}},
	"ag":      {{runsOther, "--pager"}},
	"ack":     {{runsOther, "--pager"}, {otherConfig, "--ackrc"}},
	"bat":     {{runsOther, "--pager"}},
	"man":     {{runsOther, "-P -H --pager --html --browser"}, {otherConfig, "-C --config-file"}},
	"less":    {{writesFile, "-o -O --log-file --LOG-FILE"}, {otherConfig, "-k --lesskey-file --lesskey-src --lesskey-content"}},
	"fzf":     {{runsOther, "--preview --bind --execute"}},
	"file":    {{writesFile, "-C --compile"}},
	"tar":     {{runsOther, "-I -F --use-compress-program --to-command --checkpoint-action --info-script --new-volume-script --rsh-command --rmt-command"}},
	"zip":     {{runsOther, "-TT --unzip-command"}},
	"rsync":   {{runsOther, "-e --rsh --rsync-path"}},
	"ssh":     {{runsOther, "-o -I"}, {otherConfig, "-F"}, {writesFile, "-E"}},
	"scp":     {{runsOther, "-o -S -D"}, {otherConfig, "-F"}},
	"sftp":    {{runsOther, "-o -S -D -b"}, {otherConfig, "-F"}},
	"curl":    {{otherConfig, "-K --config"}, {writesFile, "-o -O -J -D -c --output --output-dir --remote-name --remote-name-all --remote-header-name --dump-header --cookie-jar --trace --trace-ascii --libcurl --stderr --hsts --alt-svc --etag-save --ssl-sessions"}, {runsOther, "--engine"}},
	"wget":    {{runsOther, "--use-askpass"}, {otherConfig, "-e --execute --config"}, {writesFile, "-O -o -a -P --output-document --output-file --append-output --directory-prefix --save-cookies --warc-file"}},
	"tcpdump": {{runsOther, "-z"}, {writesFile, "-w"}},
	"nmap":    {{runsOther, "--script"}, {writesFile, "-o"}},
	"make":    {{runsOther, "-E --eval"}, {otherConfig, "-f -C -I --file --makefile --directory --include-dir"}},
	"npm":     {{runsOther, "--script-shell --shell --node-options --call -c --config."}, {otherConfig, "-C --prefix --userconfig --globalconfig --init-module"}},
	"pnpm":    {{runsOther, "--script-shell --shell-mode -c --config."}, {otherConfig, "-C --dir --config"}},
	"yarn":    {{runsOther, "--script-shell"}, {otherConfig, "--cwd --use-yarnrc --modules-folder"}},
	"go":      {{runsOther, "-exec -toolexec -vettool -ldflags -gccgoflags"}, {otherConfig, "!-C -overlay -modfile -compiler"}, {writesFile, "!-o !-w"}},
	"cargo":   {{otherConfig, "-C -Z --config --manifest-path"}},
	"pytest":  {{runsOther, "--pdbcls"}, {otherConfig, "-p -c -o --config-file --override-ini --rootdir --confcutdir"}, {writesFile, "--basetemp --junit-xml --junitxml --log-file"}},
	"jest": {
		{otherConfig, "-c --config --rootDir --globalSetup --globalTeardown --setupFiles --setupFilesAfterEnv --runner --testRunner --reporters --resolver --transform --preset --filter --testSequencer --testEnvironment --testResultsProcessor --snapshotSerializers --moduleLoader --moduleNameMapper --modulePaths --haste --projects --watchPlugins --prettierPath"},
		{writesFile, "--cacheDirectory --coverageDirectory --outputFile"},
	},
	"vitest": {
		{otherConfig, "-c -r --config --root --reporter --environment --pool --runner --globalSetup --workspace --coverage.customProviderModule --coverage.provider --browser. --typecheck.checker --typecheck.tsconfig --snapshotEnvironment --sequence.sequencer"},
		{writesFile, "--outputFile --outputFile. --coverage.reportsDirectory"},
	},
	"mocha":    {{otherConfig, "-r -u -R --require --config --package --reporter --ui --file --opts --import --loader --node-option -n --extension"}},
	"rspec":    {{otherConfig, "-r -I -O -f --require --options --format --default-path"}, {writesFile, "-o --out"}},
	"eslint":   {{otherConfig, "-c -f --config --format --rulesdir --parser --plugin --resolve-plugins-relative-to"}, {writesFile, "-o --output-file"}},
	"prettier": {{otherConfig, "--config --plugin"}},
	"mypy":     {{otherConfig, "--config-file --python-executable"}},
	"gcc":      {{runsOther, "-wrapper -fplugin -specs -B -fuse-ld -Wl, -Wa, -Xlinker -Xassembler -no-integrated-cpp -fprofile-use -fdump-"}, {writesFile, "-MF -dumpdir -save-temps"}},
	"clang":    {{runsOther, "-fplugin -Xclang -B -fuse-ld --ld-path -Wl, -Wa, -Xlinker -Xassembler -load"}, {otherConfig, "--config"}},
	"split":    {{runsOther, "--filter"}},
	"install":  {{runsOther, "--strip-program"}},
	"vim":      {{runsOther, "-c -S -s -u -U -W -w -l -i --cmd --startuptime"}},
	"nm":       {{runsOther, "--plugin"}},
	"pylint":   {{runsOther, "--init-hook --load-plugins"}, {otherConfig, "--rcfile"}},
	"flake8":   {{otherConfig, "--config --append-config"}},
	"apt":      {{otherConfig, "-o -c --option --config-file"}},
	"kubectl":  {{otherConfig, "--kubeconfig"}},
	"env":      {{runsOther, "-S --split-string"}},
	"printf":   {{"sets a variable", "-v"}},
	"test":     {{"looks up a variable", "-v -R"}},
	"dd":       {{writesFile, "of="}},
	"sed":      {{writesFile, "-i -I --in-place"}},
	"yq":       {{writesFile, "-i --inplace --in-place"}},
	"shuf":     {{writesFile, "-o --output"}},
	"iconv":    {{writesFile, "-o --output"}},
	"mvn":      {{otherConfig, "-f -s -gs -t --file --settings --global-settings --toolchains"}},
	"gradle": {
		{otherConfig, "-b -c -g -I -p --build-file --settings-file --gradle-user-home --init-script --project-dir --include-build"},
		{writesFile, "--project-cache-dir"},
	},
	"terraform": {{otherConfig, "-chdir -plugin-dir"}, {writesFile, "-out -state-out -backup -generate-config-out"}},
}

// sameDangers are commands that take another one's options.
var sameDangers = map[string]string{
	"[": "test", "gfind": "find", "bfs": "find", "fdfind": "fd", "gsort": "sort", "gtar": "tar", "bsdtar": "tar",
	"gmake": "make", "batcat": "bat", "py.test": "pytest", "cc": "gcc", "c++": "gcc", "g++": "gcc", "clang++": "clang",
	"apt-get": "apt", "gsed": "sed", "mvnw": "mvn", "gradlew": "gradle", "tofu": "terraform", "vi": "vim", "nvim": "vim", "view": "vim", "ex": "vim",
	"vimdiff": "vim", "objdump": "nm", "ar": "nm", "ranlib": "nm", "ld": "nm",
}

// wrappers are commands that run the command in their arguments, with the
// number of arguments that come before it.
var wrappers = map[string]int{
	"sudo": 0, "doas": 0, "env": 0, "timeout": 1, "gtimeout": 1, "nice": 0, "ionice": 0, "nohup": 0, "setsid": 0,
	"stdbuf": 0, "time": 0, "gtime": 0, "command": 0, "exec": 0, "builtin": 0, "chroot": 1, "unshare": 0, "nsenter": 0,
	"taskset": 1, "chrt": 1, "setarch": 1, "linux32": 0, "linux64": 0, "flock": 1, "strace": 0, "ltrace": 0,
	"valgrind": 0, "script": 1, "watch": 0, "xvfb-run": 0, "systemd-run": 0, "systemd-inhibit": 0, "pkexec": 0,
	"runuser": 1, "su": 1, "busybox": 0, "toybox": 0, "caffeinate": 0, "faketime": 1, "torsocks": 0, "torify": 0,
	"proxychains": 0, "proxychains4": 0, "rlwrap": 0, "unbuffer": 0, "chronic": 0, "numactl": 0, "prlimit": 0,
	"firejail": 0, "cpulimit": 0, "xargs": 0, "gxargs": 0, "parallel": 0, "entr": 0, "noglob": 0, "nocorrect": 0,
	"setpriv": 0, "choom": 0, "x86_64": 0, "i386": 0, "i486": 0, "i586": 0, "i686": 0, "runcon": 1, "eatmydata": 0, "tini": 0, "dumb-init": 0,
	"gosu": 1, "su-exec": 1, "setuidgid": 1, "chpst": 0, "softlimit": 0, "cgexec": 0, "fakechroot": 0, "logsave": 1, "ifne": 0, "run0": 0,
	"repeat": 1, "-": 0, "dbus-run-session": 0, "fakeroot": 0, "catchsegv": 0, "ssh-agent": 0, "pgexec": 0, "arch": 0,
}

// shells are the programs whose arguments or input are shell text.
var shells = map[string]bool{
	"sh": true, "bash": true, "dash": true, "zsh": true, "ksh": true, "mksh": true, "ash": true, "fish": true,
	"csh": true, "tcsh": true, "rbash": true, "pwsh": true, "yash": true, "osh": true, "nu": true, "elvish": true, "xonsh": true,
}

// onlyExact are commands that run a text, or change what the commands after
// them mean: no wildcard covers them.
var onlyExact = map[string]string{
	"eval": "it runs its arguments as shell text", "source": "it runs a file in the same shell", ".": "it runs a file in the same shell",
	"trap": "it runs its arguments as shell text", "xargs": "it runs a command with what it reads", "gxargs": "it runs a command with what it reads",
	"parallel": "it runs a command with what it reads", "entr": "it runs another command", "watch": "it runs its arguments as shell text",
	"alias": changesShell, "unalias": changesShell, "export": changesShell, "declare": changesShell, "typeset": changesShell,
	"local": changesShell, "readonly": changesShell, "set": changesShell, "unset": changesShell, "shopt": changesShell,
	"setopt": changesShell, "unsetopt": changesShell, "emulate": changesShell, "enable": changesShell, "disable": changesShell,
	"hash": changesShell, "rehash": changesShell, "read": changesShell, "mapfile": changesShell, "readarray": changesShell,
	"let": changesShell, "getopts": changesShell, "bind": changesShell, "complete": changesShell, "compgen": changesShell,
	"compopt": changesShell, "fc": changesShell, "history": changesShell, "autoload": changesShell, "zmodload": changesShell,
	"functions": changesShell, "integer": changesShell, "float": changesShell, "vared": changesShell, "sched": changesShell,
	"wait": changesShell, "coproc": changesShell, "function": changesShell, "jobs": changesShell, "umask": changesShell, "ulimit": changesShell,
}

const changesShell = "it changes what the commands after it mean"

// gitGlobals are the options in front of git's own command that change nothing
// but how it writes.
var gitGlobals = map[string]bool{
	"--no-pager": true, "-P": true, "--no-optional-locks": true, "--literal-pathspecs": true, "--no-replace-objects": true,
	"--version": true, "--help": true, "-v": true, "-h": true,
}

// gitRuns are git's own commands that run others or change its settings: a rule
// must name them.
var gitRuns = map[string]bool{
	"config": true, "filter-branch": true, "difftool": true, "mergetool": true, "bisect": true, "submodule": true,
	"for-each-repo": true, "hook": true, "instaweb": true, "send-email": true, "daemon": true, "shell": true,
	"credential": true, "upload-pack": true, "receive-pack": true, "upload-archive": true, "http-backend": true,
	"merge-index": true, "merge-one-file": true, "maintenance": true, "filter-repo": true, "credential-store": true, "fast-import": true,
	"remote-ext": true, "remote-fd": true, "cvsserver": true, "p4": true, "svn": true, "web--browse": true,
}

// gitShort are the short options of some of git's own commands that run others.
var gitShort = map[string]string{
	"grep": "-O", "rebase": "-x", "difftool": "-x", "clone": "-c -u", "archive": "-o", "fetch-pack": "-u",
}

// beyondBy is beyond; writes says that it is only about files that are written.
func beyondBy(c simple, own int) (why string, writes bool) {
	why = beyond(c, own)
	return why, strings.HasSuffix(why, writesFile) || strings.HasSuffix(why, "is a file that it writes")
}

// beyond says what a command does that a rule with a wildcard does not cover,
// as the rest of a sentence. The first own words are the rule's own: what a
// person spelled out is meant.
func beyond(c simple, own int) string {
	words := c.words
	name := path.Base(words[0].text)
	if why, ok := onlyExact[name]; ok {
		return "`" + name + "` is covered only by an exact rule, because " + why
	}
	if shells[name] {
		return beyondShell(c, own)
	}
	if extra, ok := wrappers[name]; ok && !(name == "command" && len(words) > 1 && strings.EqualFold(words[1].text, "-v")) {
		inner := innerCommands(textsOf(words), extra)
		if len(inner) == 0 || inner[len(inner)-1] >= own {
			return "`" + name + "` runs another command, which the rule must name"
		}
		for _, at := range inner {
			if why := beyond(simple{words: words[at:], piped: c.piped}, own-at); why != "" {
				return why
			}
		}
	}
	if atFiles[name] {
		for _, w := range words[min(own, len(words)):] {
			if strings.HasPrefix(w.text, "@") {
				return "`" + short(w.text) + "` " + otherConfig
			}
		}
	}
	if at := runnerAt(words); at > 0 && at < own {
		if why := beyond(simple{words: words[at:], piped: c.piped}, own-at); why != "" {
			return why
		}
	}
	if same, ok := sameDangers[name]; ok {
		name = same
	}
	switch name {
	case "git":
		if why := beyondGit(words, own); why != "" {
			return why
		}
	case "sed":
		if why := beyondSed(words, own); why != "" {
			return why
		}
	case "test", "printf", "print", "exit", "return", "shift", "break", "continue":
		if w := evaluated(words[1:]); w != "" {
			return "`" + short(w) + "` may be evaluated, and run what is in it"
		}
	case "make":
		for _, w := range words[min(own, len(words)):] {
			if (strings.Contains(w.text, "=") || w.glob) && !strings.HasPrefix(w.text, "-") {
				return "`" + short(w.text) + "` sets a variable, which may run another program"
			}
		}
	case "go":
		if why := beyondGo(words, own); why != "" {
			return why
		}
	case "curl":
		for _, w := range words[min(own, len(words)):] {
			if strings.HasPrefix(w.text, "--exp") || strings.Contains(w.text, "%output{") {
				return "`" + short(w.text) + "` may write files"
			}
		}
		if format := formatFile(words, own); format != "" {
			return "`" + short(format) + "` is a format from a file, which may write files"
		}
	case "mvn":
		for _, w := range words[min(own, len(words)):] {
			if property, ok := strings.CutPrefix(w.text, "-D"); ok {
				property, _, _ = strings.Cut(property, "=")
				if !slices.Contains(mavenProperties, property) {
					return "`" + short(w.text) + "` " + otherConfig
				}
			}
		}
	case "zip":
		for _, w := range words[min(own, len(words)):] {
			if strings.HasPrefix(w.text, "-TT") {
				return "`" + short(w.text) + "` " + runsOther
			}
		}
	case "uniq", "xxd":
		files := 0
		for i, w := range words[1:] {
			if strings.HasPrefix(w.text, "-") && w.text != "-" || isNumber(w.text) {
				continue
			}
			if files++; files > 1 && i+1 >= own {
				return "`" + short(w.text) + "` is a file that it writes"
			}
		}
	case "ssh", "npm", "pnpm", "yarn":
		// Another shell reads these words once more. Where the rule leaves the whole
		// command open it may be any.
		for _, w := range words[min(own, len(words)):] {
			if own > 2 && strings.ContainsAny(w.text, "$`;&|<>()\n") {
				return "`" + short(w.text) + "` is read by another shell, and may run something else"
			}
		}
	case "npx", "bunx", "pnpx", "python", "python3":
		// What a rule says behind these is a program with options of its own.
		at := slices.IndexFunc(words[1:], func(w shellWord) bool { return !strings.HasPrefix(w.text, "-") }) + 1
		if at > 0 && at < own && (!strings.HasPrefix(name, "python") || words[at-1].text == "-m") {
			return beyond(simple{words: words[at:], piped: c.piped}, own-at)
		}
	case "tar":
		// Letters without a dash are options, if they come first.
		if len(words) > 1 && own <= 1 && !strings.HasPrefix(words[1].text, "-") && strings.ContainsAny(words[1].text, "IF") {
			return "`" + short(words[1].text) + "` " + runsOther
		}
	case "less", "more", "vi", "vim", "view":
		for _, w := range words[min(own, len(words)):] {
			if strings.HasPrefix(w.text, "+") {
				return "`" + short(w.text) + "` " + runsOther
			}
		}
	}
	return optionAmong(dangers[name], words, own)
}

// mavenProperties are the properties that only choose what Maven builds or tests.
var mavenProperties = []string{
	"skipTests", "skipITs", "maven.test.skip", "test", "it.test", "groups", "excludedGroups", "failIfNoTests", "surefire.failIfNoSpecifiedTests",
	"checkstyle.skip", "spotbugs.skip", "pmd.skip", "jacoco.skip", "enforcer.skip", "maven.javadoc.skip", "gpg.skip", "style.color", "revision",
}

// formatFile returns the word that has curl read its format from a file.
func formatFile(words []shellWord, own int) string {
	for i := max(own, 1); i < len(words); i++ {
		w := words[i].text
		switch {
		case strings.HasPrefix(w, "@") && (words[i-1].text == "-w" || strings.HasPrefix(words[i-1].text, "--w") ||
			!strings.HasPrefix(words[i-1].text, "--") && strings.HasPrefix(words[i-1].text, "-") && strings.HasSuffix(words[i-1].text, "w")):
			return w
		case strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "--") && strings.Contains(w, "w@"), strings.HasPrefix(w, "--w") && strings.Contains(w, "=@"):
			return w
		}
	}
	return ""
}

// runnerAt returns where a program begins that one like "uv run" starts; 0 if
// there is none.
func runnerAt(words []shellWord) int {
	if len(words) < 3 {
		if len(words) == 2 && packageRunners[words[0].text] && dangers[words[1].text] != nil {
			return 1
		}
		return 0
	}
	name := path.Base(words[0].text)
	switch runner := runners[name]; {
	case runner != "" && words[1].text == runner && !strings.HasPrefix(words[2].text, "-"):
		return 2
	case packageRunners[name] && dangers[words[1].text] != nil:
		return 1
	}
	return 0
}

// packageRunners run a program of the project's packages by its name.
var packageRunners = map[string]bool{"yarn": true, "pnpm": true, "bun": true}

// evaluated returns the first word that a shell may take for an expression with
// a command inside of it, like 'a[$(…)]', although it is quoted.
func evaluated(words []shellWord) string {
	for _, w := range words {
		if strings.Contains(w.text, "[") && strings.ContainsAny(w.text, "$`") {
			return w.text
		}
	}
	return ""
}

// optionAmong looks for dangerous options behind the rule's own words.
func optionAmong(list []danger, words []shellWord, own int) string {
	for _, d := range list {
		for option := range strings.FieldsSeq(d.options) {
			for i := max(own, 1); i < len(words); i++ {
				if isOption(words[i].text, option) && !isBuiltinValue(words, i) {
					return "`" + short(words[i].text) + "` " + d.does
				}
			}
		}
	}
	return ""
}

// builtinValues are values of options that name something of the program's own,
// where other values name a file or package that it loads.
var builtinValues = map[string]string{
	"--reporter":    "default verbose dot json junit tap tap-flat basic hanging-process github-actions spec list min nyan progress xunit html line",
	"-R":            "spec dot list min nyan progress tap json",
	"--ui":          "bdd tdd qunit exports",
	"--environment": "node jsdom happy-dom edge-runtime",
	"--pool":        "forks threads vmThreads vmForks",
	"--format":      "documentation progress json html d p j h stylish compact unix",
	"-f":            "documentation progress json html d p j h stylish compact unix",
}

// isBuiltinValue reports whether the i-th word is an option with one of
// builtinValues.
func isBuiltinValue(words []shellWord, i int) bool {
	option, value, attached := strings.Cut(words[i].text, "=")
	if !attached && i+1 < len(words) {
		value = words[i+1].text
	}
	return hasField(builtinValues[option], value)
}

// isOption reports whether a word is, or may be, an option of the notation that
// danger describes.
func isOption(word, option string) bool {
	name, _, _ := strings.Cut(word, "=")
	switch {
	case option[0] == '!':
		return name == option[1:] || name == "-"+option[1:]
	case strings.IndexByte("=,.:", option[len(option)-1]) >= 0:
		return strings.HasPrefix(word, option)
	case strings.HasPrefix(option, "--"):
		// Programs take any beginning that is unambiguous.
		return len(name) > 2 && strings.HasPrefix(option, name)
	case len(option) == 2 && option[0] == '-':
		return strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "--") && strings.IndexByte(word, option[1]) > 0
	case strings.HasPrefix(option, "-"):
		return name == option || name == "-"+option || strings.HasPrefix(word, option+"=")
	default:
		return word == option
	}
}

// beyondShell judges a call of a shell: a rule covers it when it runs a script
// of its own choosing with nothing in front, never text and never its input.
func beyondShell(c simple, own int) string {
	for i, w := range c.words {
		switch {
		case i == 0:
		case w.text == "-" || strings.HasPrefix(w.text, "/dev/") || strings.HasPrefix(w.text, "/proc/"):
			return "a shell that reads its commands from its input is covered only by an exact rule"
		case w.text == "--":
		case w.text == "--version" || w.text == "--help":
			return ""
		case strings.HasPrefix(w.text, "-") || strings.HasPrefix(w.text, "+"):
			if i >= own || !strings.HasPrefix(w.text, "--") && strings.ContainsAny(w.text, "cis") {
				return "`" + short(w.text) + "` in front of a shell's script is covered only by an exact rule"
			}
		default:
			return ""
		}
	}
	return "a shell that reads its commands from its input is covered only by an exact rule"
}

// beyondGit judges what stands around git's own command.
func beyondGit(words []shellWord, own int) string {
	i := 1
	for i < len(words) && strings.HasPrefix(words[i].text, "-") {
		option := words[i].text
		if i >= own && !gitGlobals[option] {
			return "`" + short(option) + "` in front of git's own command changes what it runs or where"
		}
		switch option {
		case "-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env", "--super-prefix", "--attr-source":
			i++
		}
		i++
	}
	if i >= len(words) {
		return ""
	}
	sub := words[i].text
	if i >= own && gitRuns[sub] {
		return "`git " + short(sub) + "` can run other programs, so the rule must name it"
	}
	if i+1 >= own && i+1 < len(words) && (words[i+1].text == "run" && sub != "stash" || words[i+1].text == "foreach") {
		return "`git " + short(sub) + " " + words[i+1].text + "` runs other programs, so the rule must name it"
	}
	if letters := gitShort[sub]; letters != "" {
		if why := optionAmong([]danger{{runsOther, letters}}, words, max(own, i+1)); why != "" {
			return why
		}
	}
	for _, w := range words[min(max(own, i), len(words)):] {
		if strings.Contains(w.text, "ext::") || strings.Contains(w.text, "fd::") {
			return "`" + short(w.text) + "` " + runsOther
		}
	}
	return ""
}

// beyondGo judges where go's own commands write: profiles may go below the
// session's folder, and nowhere else.
func beyondGo(words []shellWord, own int) string {
	for i := min(own, len(words)); i < len(words); i++ {
		option, value, attached := strings.Cut(strings.TrimLeft(words[i].text, "-"), "=")
		if !attached && i+1 < len(words) {
			value = words[i+1].text
		}
		away := strings.HasPrefix(value, "/") || strings.HasPrefix(value, "~") || strings.HasPrefix(value, ".") && !strings.HasPrefix(value, "./") ||
			strings.Contains(value, "..") || strings.Contains(value, "/.")
		if strings.HasPrefix(words[i].text, "-") && strings.HasPrefix(option, "debug-") {
			return "`" + short(words[i].text) + "` " + writesFile
		}
		switch option = strings.TrimPrefix(option, "test."); option {
		case "coverprofile", "cpuprofile", "memprofile", "blockprofile", "mutexprofile", "trace", "outputdir", "gocoverdir", "testlogfile", "fuzzcachedir":
			if away && strings.HasPrefix(words[i].text, "-") {
				return "`" + short(words[i].text) + "` " + writesFile
			}
		case "gcflags", "asmflags":
			if strings.ContainsAny(value, "/~") {
				return "`" + short(words[i].text) + "` " + writesFile
			}
		}
	}
	return ""
}

// beyondSed judges sed's scripts: those that print, delete or replace are
// covered, the ones that may run programs or write files are not.
func beyondSed(words []shellWord, own int) string {
	scripts := 0
	for i := 1; i < len(words); i++ {
		w := words[i].text
		script, has := "", false
		switch {
		case w == "-e" || strings.HasPrefix(w, "--e") && !strings.Contains(w, "="):
			if i+1 < len(words) {
				script, has = words[i+1].text, true
				i++
			}
		case strings.HasPrefix(w, "--e"):
			_, script, _ = strings.Cut(w, "=")
			has = true
		case w == "--":
		case w == "-l" || strings.HasPrefix(w, "--l") && !strings.Contains(w, "="):
			i++ // a length, and not the script
		case strings.HasPrefix(w, "--f"), strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "--") && strings.ContainsAny(w, "fel"):
			if i >= own {
				return "`" + short(w) + "` may bring a script that runs other programs"
			}
			scripts++
		case strings.HasPrefix(w, "-"):
		default:
			if scripts == 0 {
				script, has = w, true
			}
		}
		if !has {
			continue
		}
		scripts++
		if i >= own && (words[i].glob || !plainSed(script)) {
			return "the sed script `" + short(script) + "` may run other programs or write files"
		}
	}
	return ""
}

// plainSed reports whether a sed script surely only prints, deletes, quits or
// replaces.
func plainSed(script string) bool {
	parts := strings.FieldsFunc(script, func(r rune) bool { return r == ';' || r == '\n' })
	if len(parts) > 1 && strings.Contains(script, "[") {
		// Whether a delimiter in brackets ends an expression depends on the sed.
		return false
	}
	for _, part := range parts {
		part = strings.TrimSpace(part)
		for range 2 {
			part = strings.TrimLeft(part, "0123456789,$~+! ")
			if !strings.HasPrefix(part, "/") {
				break
			}
			// /text/ as an address; an escaped slash inside is not understood.
			address, rest, ok := strings.Cut(part[1:], "/")
			if !ok || strings.HasSuffix(address, `\`) {
				return false
			}
			part = rest
		}
		part = strings.TrimLeft(part, "! ")
		switch {
		case part == "" || part == "p" || part == "d" || part == "q" || part == "=":
		case len(part) > 1 && part[0] == 's' && strings.IndexByte("/|#,:@", part[1]) >= 0:
			pieces := strings.Split(part[2:], part[1:2])
			if len(pieces) != 3 || strings.HasSuffix(pieces[0], `\`) || strings.HasSuffix(pieces[1], `\`) ||
				strings.Trim(pieces[2], "gpiI0123456789") != "" {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// innerCommands returns the places in a wrapper's arguments where the command
// that it runs may begin. Since options may or may not take an argument, there
// are several; the last one is surely not before the command's name.
func innerCommands(words []string, extra int) []int {
	var at []int
	for i := 1; i < len(words); i++ {
		w := words[i]
		switch {
		case w == "--", isAssignment(w):
		case strings.HasPrefix(w, "-") && len(w) > 1:
			if !strings.Contains(w, "=") {
				extra++
			}
		default:
			at = append(at, i)
			if extra == 0 {
				return at
			}
			extra--
		}
	}
	return at
}

// textsOf returns the words' texts.
func textsOf(words []shellWord) []string {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = w.text
	}
	return texts
}

// isAssignment reports whether a word has the form NAME=value.
func isAssignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	if !ok || name == "" {
		return false
	}
	for i := range len(name) {
		c := name[i]
		if c != '_' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return true
}
