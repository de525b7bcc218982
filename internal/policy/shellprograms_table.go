package policy

import "strings"

// An inertKind says what a program does with its arguments, apart from the
// options in dangers: it never runs them as commands.
type inertKind int

const (
	// opensNone: arguments are texts, or names that are only looked up.
	opensNone inertKind = iota + 1
	// opensRead: arguments may be files to read.
	opensRead
	// opensWrite: arguments may be files to write; see writesTo.
	opensWrite
)

// inertPrograms are the programs whose arguments are data. A program that is not
// here may run its arguments, and is given only words that cannot mean a command
// that is denied.
var inertPrograms = func() map[string]inertKind {
	table := map[string]inertKind{}
	for kind, names := range map[inertKind]string{
		opensNone: `: true false echo printf pwd date cal whoami id groups uname hostname uptime nproc which whereis whatis dirname basename seq sleep
			tty expr kill pkill killall pgrep pidof ps free jobs exit return break continue shift times umask ulimit printenv locale tput clear
			reset yes factor getconf logname who w last ping dig nslookup host type tr sync dirs read unset wait`,
		opensRead: `ls dir vdir stat realpath readlink df test [ cat head tail wc file sort uniq cut grep egrep fgrep rg ag ack diff cmp comm nl od xxd hexdump strings md5sum sha1sum sha224sum
			sha256sum sha384sum sha512sum b2sum cksum sum shasum base64 base32 tree du column fold paste join expand unexpand fmt tac rev shuf jq yq
			sed gsed zcat bzcat xzcat less more man look tsort pr iconv nm objdump readelf size c++filt addr2line shellcheck yamllint hadolint
			awk gawk mawk nawk`,
		opensWrite: `mkdir rmdir rm mv cp ln install touch chmod chown chgrp truncate tee split csplit mktemp dd shred gofmt prettier eslint black ruff isort tsc
			mypy flake8 pylint golangci-lint staticcheck curl wget rsync scp tar gtar bsdtar zip unzip gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd
			dos2unix unix2dos git gh`,
	} {
		for name := range strings.FieldsSeq(names) {
			table[name] = kind
		}
	}
	return table
}()

// gitInert are git's own commands whose arguments are data.
var gitInert = setOf(`add am annotate apply archive blame branch bundle cat-file check-attr check-ignore checkout cherry cherry-pick clean
		clone commit commit-graph count-objects describe diff diff-files diff-index diff-tree fetch for-each-ref format-patch fsck gc grep hash-object
		help init log ls-files ls-remote ls-tree merge merge-base merge-tree mv name-rev notes pack-refs prune pull push range-diff read-tree rebase
		reflog remote repack replace rerere reset restore rev-list rev-parse revert rm shortlog show show-branch show-ref sparse-checkout stash status
		switch symbolic-ref tag update-index update-ref verify-commit verify-tag version whatchanged worktree write-tree`)

// ghInert are the commands of gh that run no program which their words name.
var ghInert = []string{"pr", "issue", "run", "workflow", "release", "search", "label", "status", "api", "browse", "gist"}

// listOptions are options that take the names of files, or further options, from
// a file or from the input.
var listOptions = map[string]string{
	"": "--files0-from --files-from --pathspec-from-file --from-file --input-file", "tar": "-T", "gtar": "-T", "bsdtar": "-T", "wget": "-i", "find": "-files0-from",
	"file": "-f", "xz": "--files --files0", "unxz": "--files --files0", "xzcat": "--files --files0", "zstd": "--filelist", "unzstd": "--filelist", "ack": "-x",
	"zip": "-@", "git": "--stdin-paths", "shellcheck": "-x -a --external-sources --check-sourced", "md5sum": "-c --check", "sha1sum": "-c --check",
	"sha224sum": "-c --check", "sha256sum": "-c --check", "sha384sum": "-c --check", "sha512sum": "-c --check", "b2sum": "-c --check",
	"cksum": "-c --check", "shasum": "-c --check", "rsync": "-f --filter",
}

// wholeOptions look like the beginning of one of listOptions, and are none.
var wholeOptions = map[string]string{"rg": "--files", "ag": "--files-with-matches", "ack": "--files-with-matches"}

// openers are the options of programs that else open none of their arguments.
var openers = map[string]string{
	"date": "-f --file", "dig": "-f -k", "last": "-f --file", "pkill": "-F --pidfile", "pgrep": "-F --pidfile", "hostname": "-F --file", "whatis": "-C --config-file",
}

// atFiles are programs that take options from a file that a word like @file
// names.
var atFiles = setOf(`gcc cc g++ c++ clang clang++ cpp ld gold lld as ar nm objdump objcopy ranlib readelf size strings strip addr2line c++filt
		dlltool elfedit gprof javac java javadoc jar kotlinc scalac pytest py.test rustc swiftc zig flang gfortran msgfmt mypy dmypy ruff tsc
		windres mold ghc protoc clang-tidy clang-format dotnet msbuild csc`)

// linkFollowers are programs that follow the links inside of a folder that they
// are given, always or with one of the options.
var linkFollowers = map[string]string{
	"diff": "", "zip": "", "scp": "", "grep": "-R --dereference-recursive", "egrep": "-R --dereference-recursive", "fgrep": "-R --dereference-recursive",
	"rg": "-L --follow", "ag": "-f --follow", "ack": "--follow", "find": "-L -follow", "gfind": "-L -follow", "bfs": "-L -follow", "fd": "-L --follow",
	"fdfind": "-L --follow", "tar": "-h --dereference", "gtar": "-h --dereference", "bsdtar": "-h -L -H --dereference", "cp": "-L --dereference",
	"rsync": "-L -k --copy-links --copy-dirlinks --copy-unsafe-links", "du": "-L --dereference", "tree": "-l", "chmod": "-R", "chown": "-L", "chgrp": "-L",
}

// runsInput are programs that run commands which they read or are given, at once
// or later.
var runsInput = setOf(`at batch crontab parallel expect ed ex vim vi nvim view vimdiff emacs m4 osascript R irb ghci jshell gdb lldb dc ftp sftp lftp
	newgrp login machinectl nix-shell`)

// clients run what they read, too, unless the statement is an argument.
var clients = map[string]string{"sqlite3": "", "psql": "-c -f -l --command --file --list", "mysql": "-e --execute", "mariadb": "-e --execute"}

// interpreters run code from their input or from an option, unless they are given
// a file.
var interpreters = setOf(`python python2 python3 perl ruby node bun php lua luajit tclsh Rscript scala groovy gnuplot octave julia racket guile sbcl bc`)
