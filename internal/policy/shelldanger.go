package policy

import (
	"path"
	"slices"
	"strings"
)

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
		if why := beyondMaven(words, own); why != "" {
			return why
		}
	case "gh":
		if len(words) > 1 && own <= 1 && ghRuns[words[1].text] {
			return "`gh " + words[1].text + "` can run other programs, so the rule must name it"
		}
	case "zip", "unzip":
		// Options of two letters, found among other letters.
		for _, w := range words[min(own, len(words)):] {
			letters := strings.HasPrefix(w.text, "-") && !strings.HasPrefix(w.text, "--")
			switch {
			case letters && name == "zip" && strings.Contains(w.text, "TT"):
				return "`" + short(w.text) + "` " + runsOther
			case letters && (name == "zip" && strings.Contains(w.text, "lf") || name == "unzip" && strings.Contains(w.text, ":")):
				return "`" + short(w.text) + "` " + writesFile
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
		if why := beyondTar(words, own); why != "" {
			return why
		}
	case "less", "more", "vim":
		if name == "vim" && c.piped {
			return "`" + name + "` reads its commands from its input"
		}
		for _, w := range words[min(own, len(words)):] {
			if strings.HasPrefix(w.text, "+") {
				return "`" + short(w.text) + "` " + runsOther
			}
		}
	}
	if configFromFiles[name] {
		for _, w := range words[min(own, len(words)):] {
			if p := w.path(); strings.HasPrefix(p, "/") || strings.HasPrefix(p, "~") || p == ".." || strings.HasPrefix(p, "../") || strings.Contains(p, "/../") || strings.HasSuffix(p, "/..") {
				return "`" + short(w.text) + "` is elsewhere, where `" + name + "` " + otherConfig
			}
		}
	}
	return optionAmong(name, dangers[name], words, own)
}

// beyondTar judges what of tar's words are not plain options.
func beyondTar(words []shellWord, own int) string {
	// Letters without a dash are options, if they come first.
	if len(words) > 1 && own <= 1 && !strings.HasPrefix(words[1].text, "-") {
		for _, d := range dangers["tar"] {
			for option := range strings.FieldsSeq(d.options) {
				if len(option) == 2 && strings.IndexByte(words[1].text, option[1]) >= 0 {
					return "`" + short(words[1].text) + "` " + d.does
				}
			}
		}
	}
	for _, w := range words[min(own, len(words)):] {
		archive := w.text
		if strings.HasPrefix(archive, "-") {
			_, archive, _ = strings.Cut(archive, "f")
		}
		if host, _, ok := strings.Cut(archive, ":"); ok && host != "" && !strings.Contains(host, "/") {
			return "`" + short(w.text) + "` is on another machine, and `tar` " + runsOther + " to get there"
		}
	}
	return ""
}

// beyondMaven judges Maven's properties, and the options whose letter may have
// its value attached.
func beyondMaven(words []shellWord, own int) string {
	for _, w := range words[min(own, len(words)):] {
		property, sets := strings.CutPrefix(w.text, "-D")
		property, _, _ = strings.Cut(property, "=")
		switch {
		case sets && !slices.Contains(mavenProperties, property):
			return "`" + short(w.text) + "` " + otherConfig
		case w.text == "-fae" || w.text == "-ff" || w.text == "-fn" || strings.HasPrefix(w.text, "--"):
		case strings.HasPrefix(w.text, "-f"), strings.HasPrefix(w.text, "-s"), strings.HasPrefix(w.text, "-t"):
			return "`" + short(w.text) + "` " + otherConfig
		case strings.HasPrefix(w.text, "-l"):
			return "`" + short(w.text) + "` " + writesFile
		}
	}
	return ""
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
func optionAmong(name string, list []danger, words []shellWord, own int) string {
	for _, d := range list {
		for option := range strings.FieldsSeq(d.options) {
			for i := max(own, 1); i < len(words); i++ {
				if isOption(words[i].text, option) && !isBuiltinValue(name, words, i) {
					return "`" + short(words[i].text) + "` " + d.does
				}
			}
		}
	}
	return ""
}

// isBuiltinValue reports whether the i-th word is an option of a program with one
// of its builtinValues.
func isBuiltinValue(name string, words []shellWord, i int) bool {
	option, value, attached := strings.Cut(words[i].text, "=")
	if !attached && i+1 < len(words) {
		value = words[i+1].text
	}
	return hasField(builtinValues[name][option], value)
}

// isOption reports whether a word is, or may be, an option of the notation that
// danger describes.
func isOption(word, option string) bool {
	name, _, _ := strings.Cut(word, "=")
	switch {
	case option[0] == '!':
		return name == option[1:] || name == "-"+option[1:]
	case option[0] == '^':
		return strings.HasPrefix(word, option[1:])
	case option[0] == '~':
		bare := strings.TrimLeft(name, "-")
		return len(bare) > 1 && len(bare) < len(name) && beginsLike(option[1:], bare)
	case strings.IndexByte("=,.:", option[len(option)-1]) >= 0:
		return strings.HasPrefix(word, option) || strings.HasPrefix(option, "--") && strings.HasPrefix(word, "--") &&
			beginsLike(word, option)
	case strings.HasPrefix(option, "--"):
		// Programs take any beginning that is unambiguous, and some --globalSetup
		// for --global-setup.
		return len(name) > 2 && strings.HasPrefix(name, "--") && beginsLike(option, name)
	case len(option) == 2 && option[0] == '-':
		return strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "--") && strings.IndexByte(word, option[1]) > 0
	case strings.HasPrefix(option, "-"):
		return name == option || name == "-"+option || strings.HasPrefix(word, option+"=")
	default:
		return word == option
	}
}

// beginsLike reports whether an option begins with a word, without what programs
// do not tell apart in long options: capital letters, dashes and underscores.
func beginsLike(option, word string) bool {
	i := 0
	for j := range len(word) {
		if word[j] == '-' || word[j] == '_' {
			continue
		}
		for i < len(option) && (option[i] == '-' || option[i] == '_') {
			i++
		}
		if i == len(option) || lower(option[i]) != lower(word[j]) {
			return false
		}
		i++
	}
	return true
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
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
	if d, ok := gitShort[sub]; ok {
		if why := optionAmong("git", []danger{d}, words, max(own, i+1)); why != "" {
			return why
		}
	}
	for _, w := range words[min(max(own, i), len(words)):] {
		if strings.Contains(w.text, "ext::") || strings.Contains(w.text, "fd::") || gitTransports[sub] && namesHelper(w.text) {
			return "`" + short(w.text) + "` " + runsOther
		}
	}
	return ""
}

// namesHelper reports whether an address has the form name::address.
func namesHelper(word string) bool {
	if strings.HasPrefix(word, "-") {
		_, word, _ = strings.Cut(word, "=")
	}
	name, _, ok := strings.Cut(word, "::")
	return ok && name != "" && !strings.ContainsAny(name, "/[:@")
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
