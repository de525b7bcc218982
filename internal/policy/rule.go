package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxRule bounds a rule's text. Longer ones are a mistake.
const maxRule = 4096

// everything is the rule that stands for all calls. Only sessions have it, with
// an end.
const everything = "*"

// Tools whose calls name files, and the member of the input that does.
var (
	readTools = []string{"Read", "NotebookRead", "Grep", "Glob", "LS"}
	editTools = []string{"Edit", "Write", "MultiEdit", "NotebookEdit"}
)

// runsCommands reports whether a tool gives the command in its input to a shell.
// Rules for Bash that deny or ask are about all of these, as in the CLI.
func runsCommands(tool string) bool { return tool == "Bash" || tool == "Monitor" }

// undecided are the tools with which an agent asks a person something. No rule
// answers for the person.
var undecided = []string{"ExitPlanMode", "AskUserQuestion"}

// A spec is the text of a rule, taken apart.
type spec struct {
	tool    string
	content string // without escapes; "" if the rule is about all calls of the tool
}

// CheckRule says what is wrong with the text of a rule, and how to write it
// instead. It returns nil if nothing is.
func CheckRule(text string) error {
	if text == everything {
		return nil
	}
	_, err := compileText(text)
	return err
}

// CheckRuleFor is [CheckRule] for a rule whose decision is known: some texts can
// deny and not allow.
func CheckRuleFor(text string, d Decision) error {
	c := &compiled{}
	if text != everything {
		var err error
		if c, err = compileText(text); err != nil {
			return err
		}
	}
	return c.checkDecision(d)
}

// parseRule takes a rule apart and checks what does not depend on the tool.
func parseRule(text string) (spec, error) {
	switch {
	case text == "":
		return spec{}, errors.New("the rule is empty; write a tool's name, such as Bash, or Bash(git status:*)")
	case len(text) > maxRule:
		return spec{}, fmt.Errorf("the rule is longer than %d bytes", maxRule)
	case !utf8.ValidString(text):
		return spec{}, errors.New("the rule is not valid UTF-8")
	case strings.TrimSpace(text) != text:
		return spec{}, errors.New("the rule begins or ends with white space; remove it")
	case text == everything:
		return spec{}, errors.New("the rule * is for sessions only, and for a time; name the tools instead")
	}
	if i := strings.IndexFunc(text, unfit); i >= 0 {
		r, _ := utf8.DecodeRuneInString(text[i:])
		return spec{}, fmt.Errorf("the rule has the character %U in it, which cannot be seen; remove it", r)
	}
	open := unescaped(text, '(')
	if len(open) == 0 {
		if len(unescaped(text, ')')) > 0 {
			return spec{}, errors.New("the rule has a closing parenthesis and no opening one")
		}
		return spec{tool: text}, checkTool(text)
	}
	closing := unescaped(text, ')')
	switch {
	case len(closing) != len(open):
		return spec{}, errors.New(`the rule's parentheses do not match; write \( and \) where they belong to a command or a path`)
	case closing[len(closing)-1] != len(text)-1 || endsEarly(open, closing):
		return spec{}, errors.New("the rule goes on behind its closing parenthesis; write one rule each")
	}
	tool, inside := text[:open[0]], text[open[0]+1:len(text)-1]
	if err := checkTool(tool); err != nil {
		return spec{}, err
	}
	if inside == "" {
		return spec{}, fmt.Errorf("there is nothing between the parentheses; write %s for all calls of the tool", tool)
	}
	if inside == "*" {
		return spec{tool: tool}, nil
	}
	return spec{tool: tool, content: unquote(inside)}, nil
}

// String returns the rule in the form that every version of the CLI reads.
func (s spec) String() string {
	if s.content == "" {
		return s.tool
	}
	return s.tool + "(" + quote(s.content) + ")"
}

// checkTool says what is wrong with the name of a tool.
func checkTool(name string) error {
	if name == "" {
		return errors.New("the rule has no tool's name before the parenthesis; write Bash(…), Read(…), Edit(…)")
	}
	for _, r := range name {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '_', r == '-', r == '.':
		case r == '*' && strings.HasPrefix(name, "mcp__"):
		default:
			return fmt.Errorf("%q is no tool's name: there is %q in it", name, r)
		}
	}
	if slices.Contains(undecided, name) {
		return fmt.Errorf("no rule decides about %s: a person answers plans and choices", name)
	}
	if strings.HasPrefix(name, "mcp__") {
		return checkMCP(name)
	}
	if first := name[0]; first < 'A' || first > 'Z' {
		return fmt.Errorf("tool names begin with a capital letter: write %s%s", strings.ToUpper(name[:1]), name[1:])
	}
	return nil
}

// endsEarly reports whether the first parenthesis is closed before the last one.
func endsEarly(open, closing []int) bool {
	for i := range len(closing) - 1 {
		if i+1 == len(open) || closing[i] < open[i+1] {
			return true
		}
	}
	return false
}

// unescaped returns the places of c in text that no backslash stands before.
func unescaped(text string, c byte) []int {
	var places []int
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case c:
			places = append(places, i)
		}
	}
	return places
}

// unquote resolves the escapes of a rule: a backslash before a parenthesis or a
// backslash. Any other one belongs to the content.
func unquote(inside string) string {
	if strings.IndexByte(inside, '\\') < 0 {
		return inside
	}
	var b strings.Builder
	for i := 0; i < len(inside); i++ {
		if inside[i] == '\\' && i+1 < len(inside) && strings.IndexByte(`()\`, inside[i+1]) >= 0 {
			i++
		}
		b.WriteByte(inside[i])
	}
	return b.String()
}

// quote is the opposite of unquote.
func quote(content string) string {
	if !strings.ContainsAny(content, `\()`) {
		return content // as most are; every decision writes some
	}
	return strings.NewReplacer(`\`, `\\`, `(`, `\(`, `)`, `\)`).Replace(content)
}

// unfit reports characters that cannot be seen, or that make a text look like
// another one.
func unfit(r rune) bool {
	return unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r) || r == utf8.RuneError
}

// checkMCP says what is wrong with a rule about the tools of an MCP server.
func checkMCP(name string) error {
	server, tool, _ := strings.Cut(strings.TrimPrefix(name, "mcp__"), "__")
	switch {
	case server == "" || strings.Contains(server, "*"):
		return errors.New("the rule has to name the MCP server: write mcp__server, or mcp__server__tool")
	case tool != "*" && strings.Contains(tool, "*"):
		return fmt.Errorf("a * stands for all tools of a server only: write mcp__%s__*, or each tool's name", server)
	}
	return nil
}
