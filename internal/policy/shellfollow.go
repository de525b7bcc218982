package policy

import (
	"path"
	"strings"
)

// full reports whether enough commands inside of commands were found. The ones
// that stand in the text itself are all taken: its length bounds them.
func (f *finder) full() bool {
	if f.depth == 0 {
		return false
	}
	if f.inner++; f.inner > maxFound {
		f.cut = true
		return true
	}
	return false
}

// add takes one command into the finder, and what it runs in turn.
func (f *finder) add(words []string, plain int) {
	if len(words) == 0 || f.full() {
		return
	}
	base := path.Base(words[0])
	f.found = append(f.found, found{words: words, name: base, glob: base != "[" && strings.ContainsAny(base, "*?["), plain: plain})
	f.depth++
	defer func() { f.depth-- }()
	name := strings.ToLower(base)
	args := words[1:]
	switch {
	case shells[name]:
		f.shell(args)
	case name == "eval":
		f.textIn(strings.Join(withoutEnd(args), " "))
	case name == "source" || name == ".":
		f.blind("The command runs the file " + quoteShort(strings.Join(args, " ")) + " in its own shell.")
	case name == "trap":
		if args = withoutEnd(args); len(args) > 0 {
			f.textIn(args[0])
		}
	case name == "alias":
		for _, a := range args {
			if _, value, ok := strings.Cut(a, "="); ok {
				f.textIn(value)
			}
		}
	case name == "find" || name == "gfind" || name == "bfs" || name == "fd" || name == "fdfind":
		f.find(args)
	case name == "git":
		f.git(args)
	case name == "ssh":
		for _, at := range f.commandStarts(words, 1) {
			f.textIn(strings.Join(words[at:], " "))
		}
	case name == "tar" || name == "gtar" || name == "bsdtar":
		for _, a := range args {
			if _, value, ok := strings.Cut(a, "exec="); ok {
				f.textIn(value)
			} else if _, value, ok := strings.Cut(a, "-command="); ok {
				f.textIn(value)
			}
		}
	}
	if extra, ok := wrappers[name]; ok {
		f.wrapped(words, extra)
	} else if extra, ok := starters[name]; ok || strings.HasPrefix(name, "ld-linux") || strings.HasPrefix(name, "ld-musl") {
		f.wrapped(words, extra)
	}
	if runner := runners[name]; runner != "" {
		for i, a := range args {
			if a == runner {
				f.wrapped(args[i:], 0)
				break
			}
		}
	}
	switch name {
	case "test", "[", "printf", "read", "unset", "let", "declare", "typeset", "export", "local", "readonly", "mapfile", "readarray", "wait", "getopts":
		// Bash looks up names like 'a[$(…)]' by running what is in them.
		for _, a := range args {
			f.document(a)
		}
	}
}

// withoutEnd returns arguments without a "--" in front.
func withoutEnd(args []string) []string {
	if len(args) > 0 && args[0] == "--" {
		return args[1:]
	}
	return args
}

// runners are programs that run another one behind a word of their own.
var runners = map[string]string{
	"uv": "run", "poetry": "run", "pipenv": "run", "conda": "run", "rye": "run", "pdm": "run", "hatch": "run",
	"bundle": "exec", "npm": "exec", "pnpm": "exec", "yarn": "exec", "mise": "exec", "direnv": "exec", "asdf": "exec",
	"opam": "exec", "stack": "exec", "cabal": "exec", "docker": "exec", "podman": "exec", "kubectl": "exec", "ip": "exec",
}

// starters are like wrappers, for deny and ask rules only.
var starters = map[string]int{
	"npx": 0, "bunx": 0, "pnpx": 0, "uvx": 0, "perf": 1, "hyperfine": 0, "sg": 1, "screen": 0, "tmux": 1, "ld.so": 0, "gdb": 0, "rr": 1, "heaptrack": 0,
}

// blind notes that something cannot be seen through.
func (f *finder) blind(why string) {
	if f.opaque == "" {
		f.opaque = why
	}
}

// commandStarts returns where the command in a wrapper's arguments may begin, as long as
// it is near enough.
func (f *finder) commandStarts(words []string, extra int) []int {
	if len(words) > maxWrapped {
		defer func() { f.cut = true }()
		words = words[:maxWrapped]
	}
	return innerCommands(words, extra)
}

// wrapped follows a command that runs its arguments.
func (f *finder) wrapped(words []string, extra int) {
	for _, at := range f.commandStarts(words, extra) {
		f.add(words[at:], 0)
		if strings.ContainsAny(words[at], " \t\n;&|") {
			f.textIn(words[at])
		}
	}
	for i, w := range words[1:] {
		switch {
		case w == "-c" || w == "--command" || w == "-S" || w == "--split-string" || w == "--session-command":
			if i+2 < len(words) {
				f.textIn(words[i+2])
			}
		case strings.HasPrefix(w, "--command=") || strings.HasPrefix(w, "--split-string="):
			_, value, _ := strings.Cut(w, "=")
			f.textIn(value)
		case strings.HasPrefix(w, "-S") && len(w) > 2:
			f.textIn(w[2:])
		case w == "::::" || w == ":::":
			f.blind("The command runs what it reads.")
		}
	}
	if path.Base(words[0]) == "watch" && len(words) > 1 {
		f.textIn(strings.Join(words[1:], " "))
	}
}

// shell follows a call of a shell.
func (f *finder) shell(args []string) {
	text, operand := false, false
	for _, a := range args {
		switch {
		case strings.HasPrefix(a, "--command="), strings.HasPrefix(a, "--init-command="):
			_, value, _ := strings.Cut(a, "=")
			f.textIn(value)
			operand = true
		case strings.HasPrefix(a, "-") && len(a) > 1, strings.HasPrefix(a, "+"):
			if !strings.HasPrefix(a, "--") && strings.ContainsAny(a, "cC") {
				text = true
			}
		default:
			operand = operand || a != "-"
			if text {
				f.textIn(a)
			}
		}
	}
	if !operand {
		f.blind("The command has a shell read its commands from its input.")
	}
}

// find follows the commands in find's arguments.
func (f *finder) find(args []string) {
	for i := 0; i < len(args); i++ {
		switch args[i] {
		case "-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch":
			end := i + 1
			for end < len(args) && args[end] != ";" && args[end] != "+" {
				end++
			}
			f.add(args[i+1:end], 0)
			i = end
		default:
			for _, option := range []string{"--exec=", "--exec-batch=", "-x", "-X"} {
				if value, ok := strings.CutPrefix(args[i], option); ok && value != "" {
					f.add(append([]string{value}, args[i+1:]...), 0)
				}
			}
		}
	}
}

// git follows the commands in git's arguments and settings.
func (f *finder) git(args []string) {
	for i, a := range args {
		if _, value, ok := strings.Cut(a, "=!"); ok {
			f.textIn(value)
		}
		if value, ok := strings.CutPrefix(a, "!"); ok {
			f.textIn(value)
		}
		if key, value, ok := strings.Cut(a, "="); ok {
			key = strings.ToLower(key)
			for _, part := range []string{"pager", "editor", "command", "fsmonitor", "--exec", "-pack", "textconv", "extcmd", "program", "askpass", ".cmd", "helper"} {
				if strings.Contains(key, part) {
					f.textIn(value)
					break
				}
			}
		}
		if i+1 < len(args) {
			switch a {
			case "-x", "--exec", "--extcmd", "--upload-pack", "--receive-pack", "-O":
				f.textIn(args[i+1])
			case "run":
				f.add(args[i+1:], 0)
			case "foreach":
				f.textIn(strings.Join(args[i+1:], " "))
			}
		}
	}
}

// textIn reads a text that a command runs as shell.
func (f *finder) textIn(text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	f.read += len(text)
	if f.depth >= maxInnerText || f.read > 4*maxShellText || nesting(text) > maxShellDepth {
		f.cut = true
		f.blind("The command is nested too deeply.")
		return
	}
	f.depth++
	defer func() { f.depth-- }()
	if strings.ContainsAny(text, "\r\x00") {
		f.doubtful(text)
		return
	}
	f.parse(text)
}

// parse reads a text and looks at all of it.
func (f *finder) parse(text string) {
	file, err := parseText(text)
	if err != nil {
		f.cut = true
		f.blind("The command runs a text that cannot be read as shell.")
		return
	}
	f.collectVars(file)
	f.notePatterns(text, file)
	f.list(file.Stmts, false)
}

// doubtful reads a text with carriage returns or NULs in every way that one
// might: Bash takes a return for a letter, the parser takes it for part of a line
// end and drops a NUL, and a program that hands the text on may have changed either.
func (f *finder) doubtful(text string) {
	for _, r := range []string{"", "\n", "\x7f"} {
		f.parse(strings.NewReplacer("\r", r, "\x00", r).Replace(text))
	}
}

// document reads a text in which only substitutions are run.
func (f *finder) document(text string) {
	if !strings.ContainsAny(text, "$`") {
		return
	}
	if f.depth >= maxInnerText || nesting(text) > maxShellDepth {
		f.cut = true
		return
	}
	word, err := parseDocument(text)
	if err != nil {
		f.cut = true
		return
	}
	f.depth++
	f.inside(word)
	f.depth--
}
