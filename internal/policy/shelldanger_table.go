package policy

// What an option does that a rule for its command does not cover.
const (
	runsOther   = "runs another program"
	writesFile  = "writes or removes files"
	otherConfig = "takes its settings from elsewhere"
	localSocket = "talks to a program on this machine"
)

// A danger is a group of options that let a command do something else than its
// name says.
type danger struct {
	does string
	// options, separated by spaces. "--name" is found abbreviated too, and
	// however it is cased and hyphenated, "~name" the same behind any number of
	// dashes, "-x" also among other letters ("!-x" is not), "-name" with one dash
	// or two, and any other word as it is. One that begins with "^", or ends in
	// "=", ",", "." or ":", is found in front of anything.
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
		{writesFile, "-delete -rm -fls -fprint -fprint0 -fprintf"},
	},
	"fd":    {{runsOther, "-x -X --exec --exec-batch"}},
	"git":   {{runsOther, "--exec --upload-pack --receive-pack --open-files-in-pager --ext-diff --textconv --extcmd"}, {writesFile, "--output --separate-git-dir --unsafe-paths"}, {otherConfig, "--config --config-env --template"}},
	"sort":  {{runsOther, "--compress-program"}, {writesFile, "-o -T --output --temporary-directory"}},
	"tree":  {{writesFile, "-o -R"}},
	"rg":    {{runsOther, "--pre --hostname-bin"}},
	"ag":    {{runsOther, "--pager"}},
	"ack":   {{runsOther, "--pager --output"}, {otherConfig, "--ackrc"}},
	"bat":   {{runsOther, "--pager"}, {writesFile, "--target --generate-config-file"}},
	"man":   {{runsOther, "-P -H -B -X --pager --html --browser --gxditview"}, {otherConfig, "-C --config-file"}},
	"less":  {{writesFile, "-o -O --log-file --LOG-FILE"}, {otherConfig, "-k --lesskey-file --lesskey-src --lesskey-content"}},
	"more":  {{runsOther, "-p"}, {writesFile, "-o -O --log-file --LOG-FILE"}, {otherConfig, "-k --lesskey-file --lesskey-src --lesskey-content"}},
	"fzf":   {{runsOther, "--preview --bind --execute --become --with-shell --listen --listen-unsafe --tmux --popup --proxy-script"}, {writesFile, "--history"}},
	"file":  {{writesFile, "-C --compile"}, {otherConfig, "-m --magic-file"}},
	"diff":  {{runsOther, "-l --paginate"}},
	"diff3": {{runsOther, "--diff-program"}},
	"sdiff": {{runsOther, "--diff-program"}, {writesFile, "-o --output"}},
	"tar": {
		{runsOther, "-I -F --use-compress-program --to-command --checkpoint-action --info-script --new-volume-script --rsh-command --rmt-command"},
		{otherConfig, "-T --files-from"},
		{writesFile, "-P -g --absolute-names --index-file --listed-incremental --volno-file --remove-files"},
	},
	"zip":   {{runsOther, "-TT --unzip-command"}, {otherConfig, "-@"}, {writesFile, "-O -m -b --output-file --move --temp-path --logfile-path"}},
	"unzip": {{writesFile, "-:"}},
	"zstd":  {{otherConfig, "--filelist"}, {writesFile, "-o --output-dir-flat --output-dir-mirror --trace"}},
	"rsync": {
		{runsOther, "-e --rsh --rsync-path"},
		{otherConfig, "-f -M --files-from --filter --remote-option --config --daemon --dparam --read-batch"},
		{writesFile, "-T --log-file --write-batch --only-write-batch --backup-dir --partial-dir --temp-dir --remove-source-files"},
	},
	"ssh":     {{runsOther, "-o -I"}, {otherConfig, "-F"}, {writesFile, "-E"}},
	"scp":     {{runsOther, "-o -S -D"}, {otherConfig, "-F"}},
	"sftp":    {{runsOther, "-o -S -D -b"}, {otherConfig, "-F"}},
	"curl":    {{otherConfig, "-K --config"}, {writesFile, "-o -O -J -D -c --output --output-dir --remote-name --remote-name-all --remote-header-name --dump-header --cookie-jar --trace --trace-ascii --libcurl --stderr --hsts --alt-svc --etag-save --ssl-sessions -T --upload-file"}, {runsOther, "--engine"}, {localSocket, "--unix-socket --abstract-unix-socket"}},
	"wget":    {{runsOther, "--use-askpass"}, {otherConfig, "-e -i --execute --config --input-file"}, {writesFile, "-O -o -a -P --output-document --output-file --append-output --directory-prefix --save-cookies --warc-file --warc-tempdir --rejected-log --hsts-file"}},
	"tcpdump": {{runsOther, "-z"}, {writesFile, "-w"}},
	"nmap":    {{runsOther, "~script"}, {otherConfig, "~datadir ~resume"}, {writesFile, "-o"}},
	"make":    {{runsOther, "-E --eval"}, {otherConfig, "-f -C -I --file --makefile --directory --include-dir"}},
	"npm":     {{runsOther, "~script-shell ~shell ~node-options ~call -c --config. ~git ~onload-script ~node-gyp ~python ~editor ~viewer ~browser"}, {otherConfig, "-C ~prefix ~userconfig ~globalconfig ~init-module"}},
	"pnpm":    {{runsOther, "~script-shell ~shell-mode -c --config. ~pnpmfile ~global-pnpmfile ~node-options ~npm-path"}, {otherConfig, "-C ~dir ~config ~prefix"}},
	"yarn":    {{runsOther, "--script-shell --require !-r"}, {otherConfig, "--cwd --use-yarnrc --modules-folder"}},
	"go":      {{runsOther, "-exec -toolexec -vettool -fixtool -ldflags -gccgoflags"}, {otherConfig, "!-C -overlay -modfile -compiler"}, {writesFile, "!-o !-w"}},
	"cargo":   {{otherConfig, "-C -Z --config --manifest-path"}, {writesFile, "--target-dir --artifact-dir --out-dir --root --lockfile-path --logfile"}},
	"pytest":  {{runsOther, "--pdbcls --tx --px"}, {otherConfig, "-p -c -o --config-file --override-ini --rootdir --confcutdir --cov-config"}, {writesFile, "--basetemp --junit-xml --junitxml --log-file --debug --report-log --result-log --html"}},
	"jest": {
		{otherConfig, "-c --config --rootDir --globalSetup --globalTeardown --setupFiles --setupFilesAfterEnv --runner --testRunner --reporters --resolver --transform --preset --filter --testSequencer --testEnvironment --testResultsProcessor --snapshotSerializers --moduleLoader --moduleNameMapper --modulePaths --haste --projects --watchPlugins --prettierPath --env --roots --moduleDirectories --coverageReporters --dependencyExtractor"},
		{writesFile, "--cacheDirectory --coverageDirectory --outputFile"},
	},
	"vitest": {
		{otherConfig, "-c -r --config --root --reporter --environment --pool --runner --globalSetup --workspace --coverage.customProviderModule --coverage.provider --browser. --typecheck.checker --typecheck.tsconfig --snapshotEnvironment --sequence.sequencer --setupFiles --alias --alias. --execArgv --poolOptions. --diff --coverage.reporter"},
		{writesFile, "--outputFile --outputFile. --coverage.reportsDirectory --benchmark. --attachmentsDir"},
	},
	"mocha":    {{otherConfig, "-r -u -R --require --config --package --reporter --ui --file --opts --import --loader --experimental-loader --node-option -n --extension"}, {writesFile, "-O --reporter-options --redirect-warnings --diagnostic-dir --report-dir"}},
	"rspec":    {{otherConfig, "-r -I -O -f --require --options --format --default-path"}, {writesFile, "-o --out"}},
	"eslint":   {{otherConfig, "-c -f --config --format --rulesdir --parser --plugin --resolve-plugins-relative-to"}, {writesFile, "-o --output-file --cache-location --cache-file"}},
	"prettier": {{otherConfig, "--config --plugin --plugin-search-dir --parser"}, {writesFile, "--cache-location"}},
	"mypy": {
		{runsOther, "--install-types"},
		{otherConfig, "--config-file --python-executable --custom-typeshed-dir"},
		{writesFile, "--cache-dir --junit-xml --any-exprs-report --cobertura-xml-report --html-report --linecount-report --linecoverage-report --lineprecision-report --memory-xml-report --txt-report --xml-report --xslt-html-report --xslt-txt-report --timing-stats --line-checking-stats"},
	},
	"ruff":  {{otherConfig, "--config"}, {writesFile, "-o --output-file --cache-dir"}},
	"black": {{otherConfig, "--config"}},
	"isort": {{otherConfig, "--settings-path --settings-file --formatter --sort-order"}},
	"tsc": {
		{otherConfig, "-p -b ~project ~build ~init"},
		{writesFile, "~outDir ~outFile ~out ~declarationDir ~tsBuildInfoFile ~generateTrace ~generateCpuProfile"},
	},
	"golangci-lint": {
		{runsOther, "custom"},
		{otherConfig, "-c --config"},
		{writesFile, "--output. --out-format --cpu-profile-path --mem-profile-path --trace-path"},
	},
	"staticcheck": {{writesFile, "-debug. --debug."}},
	"gofmt":       {{writesFile, "-cpuprofile"}},
	"base64":      {{writesFile, "-o --output"}},
	"gcc": {
		{runsOther, "-wrapper -fplugin -specs ^-B -fuse-ld -Wl, -Wa, -Wp, -Xlinker -Xassembler -Xpreprocessor -no-integrated-cpp -fprofile-use -fmodule-mapper"},
		{writesFile, "-MF -dumpdir -dumpbase -save-temps -aux-info ^-fdump- ^-fopt-info ^-fprofile-note ^-fdiagnostics-add-output"},
	},
	"clang": {
		{runsOther, "-fplugin -fpass-plugin -Xclang ^-B -fuse-ld --ld-path -Wl, -Wa, -Wp, -Xlinker -Xassembler -Xpreprocessor -load -mllvm -cc1 -cc1as --offload-arch-tool --nvptx-arch-tool --amdgpu-arch-tool --ptxas-path --cuda-path --gcc-toolchain"},
		{otherConfig, "--config --config-system-dir --config-user-dir -ivfsoverlay"},
		{writesFile, "-MF ^-ftime-trace -foptimization-record-file -fmodules-cache-path -fcrash-diagnostics-dir --serialize-diagnostics -index-store-path"},
	},
	"ld":      {{runsOther, "~plugin"}, {writesFile, "-Map --dependency-file"}},
	"split":   {{runsOther, "--filter"}},
	"install": {{runsOther, "--strip-program"}},
	"vim":     {{runsOther, "-c -S -s -e -E -u -U -W -w -l -i -t -q --cmd --startuptime --remote --remote-send --remote-expr --remote-wait --servername --server --listen --embed --headless"}, {writesFile, "-V --gui-dialog-file"}},
	"nm":      {{runsOther, "--plugin"}},
	"pylint":  {{runsOther, "--init-hook --load-plugins --output-format -f"}, {otherConfig, "--rcfile"}, {writesFile, "--output --import-graph --ext-import-graph --int-import-graph"}},
	"flake8":  {{otherConfig, "--config --append-config"}, {writesFile, "--output-file"}},
	"apt":     {{otherConfig, "-o -c --option --config-file"}},
	"kubectl": {{otherConfig, "--kubeconfig --kuberc --server"}, {writesFile, "--cache-dir --profile-output --output-directory"}},
	"env":     {{runsOther, "-S --split-string"}},
	"printf":  {{"sets a variable", "-v"}},
	"test":    {{"looks up a variable", "-v -R"}},
	"dd":      {{writesFile, "of="}},
	"sed":     {{writesFile, "-i -I --in-place"}},
	"yq":      {{runsOther, "--security-enable-system-operator --enable-system-operator"}, {writesFile, "-i -s --inplace --split-exp --split-exp-file"}},
	"shuf":    {{writesFile, "-o --output"}},
	"iconv":   {{writesFile, "-o --output"}},
	"mvn":     {{otherConfig, "-gs -gt -is -it -ps ~file ~settings ~global-settings ~project-settings ~install-settings ~toolchains ~global-toolchains ~define"}, {writesFile, "~log-file"}},
	"gradle": {
		{otherConfig, "-b -c -g -I -p ^-D --system-prop --build-file --settings-file --gradle-user-home --init-script --project-dir --include-build"},
		{writesFile, "--project-cache-dir"},
	},
	"terraform": {{otherConfig, "-chdir -plugin-dir -from-module -backend-config"}, {writesFile, "-out -state -state-out -backup -generate-config-out"}},
}

// sameDangers are commands that take another one's options.
var sameDangers = map[string]string{
	"[": "test", "gfind": "find", "bfs": "find", "fdfind": "fd", "gsort": "sort", "gtar": "tar", "bsdtar": "tar",
	"gmake": "make", "batcat": "bat", "py.test": "pytest", "cc": "gcc", "c++": "gcc", "g++": "gcc", "clang++": "clang",
	"apt-get": "apt", "gsed": "sed", "mvnw": "mvn", "gradlew": "gradle", "tofu": "terraform", "vi": "vim", "nvim": "vim", "view": "vim", "ex": "vim",
	"vimdiff": "vim", "objdump": "nm", "ar": "nm", "ranlib": "nm", "objcopy": "nm", "strip": "nm",
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
	"checkout-index": true, "bugreport": true, "diagnose": true, "remote-ext": true, "remote-fd": true, "cvsserver": true, "p4": true, "svn": true, "web--browse": true,
}

// gitShort are further options of some of git's own commands.
var gitShort = map[string]danger{
	"grep": {runsOther, "-O"}, "rebase": {runsOther, "-x"}, "difftool": {runsOther, "-x"}, "clone": {runsOther, "-c -u"}, "fetch-pack": {runsOther, "-u"},
	"archive": {writesFile, "-o"}, "format-patch": {writesFile, "-o --output-directory"},
}

// gitTransports are git's own commands that take an address. One of the form
// name::address has git run the program git-remote-name.
var gitTransports = map[string]bool{
	"clone": true, "fetch": true, "pull": true, "push": true, "ls-remote": true, "remote": true, "archive": true, "submodule": true, "fetch-pack": true,
	"send-pack": true,
}

// ghRuns are the commands of gh that run others or change its settings: a rule
// must name them.
var ghRuns = map[string]bool{
	"alias": true, "extension": true, "extensions": true, "ext": true, "config": true, "repo": true, "codespace": true, "cs": true, "auth": true,
}

// configFromFiles are programs that look for their settings, which are code,
// beside the files that they are given.
var configFromFiles = map[string]bool{"eslint": true, "prettier": true}

// mavenProperties are the properties that only choose what Maven builds or tests.
var mavenProperties = []string{
	"skipTests", "skipITs", "maven.test.skip", "test", "it.test", "groups", "excludedGroups", "failIfNoTests", "surefire.failIfNoSpecifiedTests",
	"checkstyle.skip", "spotbugs.skip", "pmd.skip", "jacoco.skip", "enforcer.skip", "maven.javadoc.skip", "gpg.skip", "style.color", "revision",
}

// packageRunners run a program of the project's packages by its name.
var packageRunners = map[string]bool{"yarn": true, "pnpm": true, "bun": true}

// builtinValues are values of a program's options that name something of its own,
// where other values name a file or package that it loads.
var builtinValues = map[string]map[string]string{
	"vitest": {
		"--reporter":          "default verbose dot json junit tap tap-flat basic hanging-process github-actions html",
		"--environment":       "node jsdom happy-dom edge-runtime",
		"--pool":              "forks threads vmThreads vmForks",
		"--coverage.reporter": "text text-summary json json-summary html lcov lcovonly clover cobertura",
	},
	"jest":     {"--env": "node jsdom", "--testEnvironment": "node jsdom", "--reporters": "default github-actions summary"},
	"mocha":    {"--reporter": mochaReporters, "-R": mochaReporters, "--ui": "bdd tdd qunit exports", "-u": "bdd tdd qunit exports"},
	"rspec":    {"--format": rspecFormats, "-f": rspecFormats},
	"eslint":   {"--format": "stylish compact unix json html", "-f": "stylish compact unix json html"},
	"pylint":   {"--output-format": pylintFormats, "-f": pylintFormats},
	"prettier": {"--parser": "babel babel-flow babel-ts flow typescript espree meriyah acorn css less scss json json5 jsonc json-stringify graphql markdown mdx vue yaml html angular lwc handlebars glimmer"},
}

const (
	mochaReporters = "spec dot list min nyan progress tap json xunit html"
	rspecFormats   = "documentation progress json html d p j h"
	pylintFormats  = "text parseable colorized json json2 msvs github"
)
