package paint

import (
	"strconv"
	"strings"

	"golang.org/x/term"
)

// A Profile says what a terminal can show. The zero value is a pipe: no colours, never wrapped.
type Profile struct {
	// Color permits colours and other attributes.
	Color bool
	// Dark says that the background is dark. Colours that depend on it are few.
	Dark bool
	// Width is how many columns there are; 0 means that nothing is wrapped.
	Width int
	// Links permits OSC 8 hyperlinks.
	Links bool
	// ASCII forbids characters beyond ASCII as decoration. What an agent wrote stays as it is.
	ASCII bool
}

// Detect finds out what can be shown on out, which is a terminal if it is a file (or has its Fd method) that is one. The choice is what
// the user asked for: always, never, or auto (as is everything else), which obeys NO_COLOR, CLICOLOR_FORCE and TERM=dumb.
func Detect(out any, getenv func(string) string, choice string) Profile {
	var p Profile
	terminal := false
	if f, ok := out.(interface{ Fd() uintptr }); ok {
		fd := int(f.Fd())
		if terminal = term.IsTerminal(fd); terminal {
			p.Width = 80
			if width, _, err := term.GetSize(fd); err == nil && width > 0 {
				p.Width = width
			}
		}
	}
	dumb := getenv("TERM") == "dumb"
	force := getenv("CLICOLOR_FORCE")
	switch choice {
	case "always":
		p.Color = true
	case "never":
	default:
		p.Color = terminal && !dumb || force != "" && force != "0"
		if getenv("NO_COLOR") != "" {
			p.Color = false
		}
	}
	p.Dark = dark(getenv("COLORFGBG"))
	p.Links = p.Color && terminal && !dumb && getenv("TERM_PROGRAM") != "Apple_Terminal"
	p.ASCII = terminal && (dumb || !unicodeLocale(getenv))
	return p
}

// dark reads the background's colour from COLORFGBG, "foreground;background". Most terminals that do not say are dark.
func dark(colors string) bool {
	i := strings.LastIndexByte(colors, ';')
	if i < 0 {
		return true
	}
	background, err := strconv.Atoi(colors[i+1:])
	return err != nil || background != 7 && (background < 9 || background > 15)
}

// unicodeLocale reports whether a terminal is likely to show characters beyond ASCII. An empty locale is taken for one that does: that is
// how containers and services are started, and what people see them with can.
func unicodeLocale(getenv func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if value := strings.ToLower(getenv(name)); value != "" {
			return strings.Contains(value, "utf-8") || strings.Contains(value, "utf8")
		}
	}
	return true
}
