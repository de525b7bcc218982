package policy

import (
	"slices"
	"strings"
)

// wrapper takes a command that runs the command in its arguments. Where that one
// begins is not certain, so that it counts from each place on.
func (c *certainty) wrapper(cmd *command) {
	name := cmd.name()
	if !cmd.exact() {
		if inner := innerCommands(texts(cmd.words), wrappers[name]); len(inner) == 0 || cmd.words[inner[len(inner)-1]].unknown || cmd.open {
			c.doubt("`" + name + "` runs " + quoteShort(cmd.what) + ", and what that is cannot be known.")
			return
		}
	}
	if name == "command" && len(cmd.words) > 1 && strings.EqualFold(cmd.words[1].text, "-v") {
		return
	}
	if why := startsShell(cmd); why != "" {
		c.doubt(why)
		return
	}
	for _, w := range cmd.args() {
		if commandOption(name, w) || w == ":::" || w == "::::" {
			c.doubt("`" + name + "` runs the text behind " + quoteShort(w) + ".")
			return
		}
		if strings.HasPrefix(w, "-") && len(w) > 2 {
			// A value that is attached may be a command.
			option, value, attached := strings.Cut(w, "=")
			if !attached {
				value = option
			}
			c.hand([]string{value})
		}
		if isAssignment(w) {
			key, value, _ := strings.Cut(w, "=")
			if isSpecial(key) {
				c.doubt("The command sets the variable " + quoteShort(key) + ", which decides what programs do.")
			}
			c.hand([]string{value})
		}
	}
	inner := innerCommands(texts(cmd.words), wrappers[name])
	if len(cmd.words) > maxWrapped {
		c.doubt("The command has too many parts to look at all of them.")
		return
	}
	c.depth++
	for _, at := range inner {
		if strings.ContainsAny(cmd.words[at].text, " \t\n;&|") {
			c.text(cmd.words[at].text)
			continue
		}
		c.run(cmd.from(at))
	}
	c.depth--
}

// commandOption reports whether a wrapper's option has a command as its value.
func commandOption(name, w string) bool {
	letters := strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "--")
	switch name {
	case "env":
		return letters && strings.Contains(w, "S") || isOption(w, "--split-string")
	case "su", "runuser", "script", "flock":
		return letters && strings.Contains(w, "c") || isOption(w, "--command") || isOption(w, "--session-command")
	}
	return strings.HasPrefix(w, "--command")
}

// bareShells are the wrappers that start a shell where there is no command.
var bareShells = setOf(`pkexec ssh chroot unshare nsenter setarch linux32 linux64 x86_64 i386 i486 i586 i686 script firejail fakeroot fakechroot run0`)

// startsShell says why a wrapper starts a shell that reads its commands from its
// input, or may do so; "" if it does not.
func startsShell(cmd *command) string {
	name := cmd.name()
	before := wrappers[name]
	if name == "ssh" {
		before = 1 // the host
	}
	options, operands := 0, 0
	why := "`" + name + "` may start a shell, which reads its commands from its input."
	for i, w := range cmd.args() {
		letters := strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "--")
		switch {
		case w == "--":
			if i+2 < len(cmd.words) {
				options = 0
				operands = max(operands, before) + 1
			}
		case !strings.HasPrefix(w, "-"):
			operands++
		case (name == "sudo" || name == "doas") && operands <= options && (letters && strings.ContainsAny(w, "si") || isOption(w, "--shell") || isOption(w, "--login")),
			name == "systemd-run" && (letters && strings.Contains(w, "S") || isOption(w, "--shell")):
			return why
		case operands <= before+options && !strings.Contains(w, "="):
			options++
		}
	}
	switch {
	case name == "su", name == "runuser" && !slices.ContainsFunc(cmd.args(), func(w string) bool { return isOption(w, "-u") || isOption(w, "--user") }):
		return why
	case bareShells[name] && operands <= before+options:
		return why
	}
	return ""
}
