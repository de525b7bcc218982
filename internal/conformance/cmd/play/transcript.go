package main

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/switchboard-dev/switchboard/wire"
)

// A transcript prints a conversation for a person. Its methods may be called concurrently: lines are sent by several goroutines.
type transcript struct {
	out     io.Writer
	raw     bool
	project string // whose path is left out, as it differs from run to run

	tools map[string]string // names of the tools called, by id; used by the reader only

	mu  sync.Mutex
	err error // the first error of writing
}

func (v *transcript) printf(format string, args ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if _, err := fmt.Fprintf(v.out, format, args...); err != nil && v.err == nil {
		v.err = fmt.Errorf("printing the transcript: %w", err)
	}
}

// failed returns the first error of writing.
func (v *transcript) failed() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.err
}

// title says what is real here and what is not.
func (v *transcript) title(what string) {
	v.printf("%s\nPolicy of this program: %s.\n", what, policy)
}

// end says that all went well.
func (v *transcript) end() { v.printf("\nThe conversation went as the script has it.\n") }

// prompt prints what the user says.
func (v *transcript) prompt(text string) {
	if !v.raw {
		v.printf("\nYou       %s\n\n", text)
	}
}

// sent prints a line to the CLI, if lines are wanted.
func (v *transcript) sent(line []byte) {
	if v.raw {
		v.printf("> %s\n", line)
	}
}

// received prints a line of the CLI.
func (v *transcript) received(line []byte, message wire.Message) {
	if v.raw {
		v.printf("< %s\n", line)
		return
	}
	switch m := message.(type) { //nolint:gochecksumtype // the rest is not for a short transcript
	case *wire.Assistant:
		v.assistant(m)
	case *wire.User:
		v.results(m)
	case *wire.ControlRequest:
		switch question := m.Request.(type) { //nolint:gochecksumtype // nothing else is asked
		case *wire.CanUseToolRequest:
			v.question(question)
		case *wire.ElicitationRequest:
			v.form(question)
		}
	case *wire.Result:
		v.printf("  turn    %s after %d steps\n", m.Subtype, m.NumTurns)
	}
}

// speaker names the agent that speaks; what a sub-agent does stands further in.
func speaker(parent string) (name, margin string) {
	if parent == "" {
		return "Agent", "  "
	}
	return "Reviewer", "      "
}

func (v *transcript) assistant(m *wire.Assistant) {
	name, margin := speaker(m.ParentToolUseID)
	if m.ParentToolUseID != "" {
		name = "    " + name
	}
	for _, block := range m.Message.Content {
		switch b := block.(type) { //nolint:gochecksumtype // the script says no others
		case *wire.TextBlock:
			v.text(name, b.Text)
		case *wire.ThinkingBlock:
			v.text(name, "("+b.Thinking+")")
		case *wire.ToolUseBlock:
			if v.tools == nil {
				v.tools = map[string]string{}
			}
			v.tools[b.ID] = b.Name
			v.tool(margin, b)
		}
	}
}

// text prints what a person says; further lines stand below the first.
func (v *transcript) text(name, text string) {
	const margin = 10
	lines := strings.Split(strings.TrimSpace(text), "\n")
	width := max(margin, len(name)+2)
	v.printf("%-*s%s\n", width, name, lines[0])
	for _, line := range lines[1:] {
		v.printf("%s\n", strings.TrimRight(strings.Repeat(" ", width)+line, " "))
	}
}

// tool prints a call: what it is about, and for an edit the difference.
func (v *transcript) tool(margin string, b *wire.ToolUseBlock) {
	var input struct {
		Command     string `json:"command"`
		FilePath    string `json:"file_path"`
		Pattern     string `json:"pattern"`
		Description string `json:"description"`
		Line        string `json:"line"`
		Old         string `json:"old_string"`
		New         string `json:"new_string"`
		Todos       []struct{ Content, Status string }
	}
	if err := json.Unmarshal(b.Input, &input); err != nil {
		v.printf("%stool    %s\n", margin, b.Name)
		return
	}
	about := ""
	switch b.Name {
	case "AskUserQuestion", "ExitPlanMode":
		return // the question itself is printed
	case "Bash":
		about = input.Command
	case "Read", "Edit", "Write":
		about = v.path(input.FilePath)
	case "Grep":
		about = input.Pattern
	case "Task", "Agent":
		about = input.Description
	case "mcp__notes__add":
		about = input.Line
	}
	v.printf("%s\n", strings.TrimRight(fmt.Sprintf("%stool    %s %s", margin, b.Name, about), " "))
	marks := map[string]string{"completed": "x", "in_progress": ">", "pending": " "}
	for _, todo := range input.Todos {
		v.printf("%s        [%s] %s\n", margin, marks[todo.Status], todo.Content)
	}
	if b.Name == "Edit" {
		v.difference(margin, input.Old, input.New)
	}
}

// difference prints the lines that an edit takes away and puts in, and between them those that stay.
func (v *transcript) difference(margin, before, after string) {
	removed, added := strings.Split(strings.TrimSuffix(before, "\n"), "\n"), strings.Split(strings.TrimSuffix(after, "\n"), "\n")
	// same[i][k] is how many lines the ends from i and from k have in common.
	same := make([][]int, len(removed)+1)
	for i := range same {
		same[i] = make([]int, len(added)+1)
	}
	for i, old := range slices.Backward(removed) {
		for k, line := range slices.Backward(added) {
			same[i][k] = max(same[i+1][k], same[i][k+1])
			if old == line {
				same[i][k] = same[i+1][k+1] + 1
			}
		}
	}
	i, k := 0, 0
	for i < len(removed) || k < len(added) {
		mark, line := " ", ""
		switch {
		case i < len(removed) && k < len(added) && removed[i] == added[k]:
			line = removed[i]
			i, k = i+1, k+1
		case k == len(added) || i < len(removed) && same[i+1][k] >= same[i][k+1]:
			mark, line = "-", removed[i]
			i++
		default:
			mark, line = "+", added[k]
			k++
		}
		v.printf("%s        %s %s\n", margin, mark, indented(line))
	}
}

// indented replaces tabs, which would be wide in a terminal.
func indented(line string) string { return strings.ReplaceAll(line, "\t", "  ") }

// planFile is the path of a plan, in which there are random words.
var planFile = regexp.MustCompile(`/\S*/plans/\S+\.md`)

// path returns a path without what differs from run to run.
func (v *transcript) path(path string) string {
	if rest, found := strings.CutPrefix(path, v.project+"/"); found {
		return rest
	}
	return planFile.ReplaceAllString(path, "the plan")
}

// results prints what tools gave.
func (v *transcript) results(m *wire.User) {
	_, margin := speaker(m.ParentToolUseID)
	for _, block := range m.Message.Content.Blocks {
		result, ok := block.(*wire.ToolResultBlock)
		if !ok {
			continue
		}
		mark, text, most := "result", plain(result.Content), 6
		switch name := v.tools[result.ToolUseID]; {
		case result.IsError:
			mark = "failed"
		case slices.Contains([]string{"AskUserQuestion", "Edit", "EnterPlanMode", "ExitPlanMode", "TodoWrite", "Write"}, name):
			continue // that it worked is all there is to say
		case name == "Read":
			text = fmt.Sprintf("%d lines", strings.Count(text, "\n")+1)
		case name == "Task" || name == "Agent":
			text, most = report(text), 12 // what another agent says is worth reading
		}
		lines := v.short(text, most)
		v.printf("%s%-7s %s\n", margin, mark, lines[0])
		for _, line := range lines[1:] {
			v.printf("%s        %s\n", margin, line)
		}
	}
}

// report returns what a sub-agent says, without what the CLI tells the model around it.
func report(text string) string {
	if _, after, framed := strings.Cut(text, "The report follows:"); framed {
		text = after
	}
	text, _, _ = strings.Cut(strings.TrimPrefix(text, "[Subagent hand-back]"), "agentId:")
	return strings.TrimSpace(text)
}

// question prints what is asked and how this program answers.
func (v *transcript) question(q *wire.CanUseToolRequest) {
	verdict, err := judge(q)
	if err != nil {
		v.printf("  asked   %s, which this program does not understand: %v\n", q.ToolName, err)
		return
	}
	switch verdict.kind {
	case "choice":
		var set wire.QuestionSet
		if json.Unmarshal(q.Input, &set) == nil {
			for _, question := range set.Questions {
				labels := make([]string, 0, len(question.Options))
				for _, option := range question.Options {
					labels = append(labels, option.Label)
				}
				v.printf("  choice  %s [%s]\n", question.Question, strings.Join(labels, " | "))
			}
		}
	case "plan":
		var exit wire.PlanExit
		if json.Unmarshal(q.Input, &exit) == nil {
			v.text("  plan", exit.Plan)
		}
	default:
		v.printf("  asked   may it use %s?\n", q.ToolName)
	}
	v.printf("  answer  %s\n", verdict.words)
}

// form prints a form and how this program fills it in.
func (v *transcript) form(form *wire.ElicitationRequest) {
	list, err := fields(form)
	if err != nil {
		v.printf("  form    %s, which this program does not understand: %v\n", form.Message, err)
		return
	}
	v.printf("  form    %s (from the server %s)\n", form.Message, form.MCPServerName)
	var words []string
	for _, f := range list {
		words = append(words, fmt.Sprintf("%s: %s", f.title, f.value))
	}
	v.printf("  answer  %s\n", strings.Join(words, "; "))
}

// plain returns the text of content.
func plain(content wire.Content) string {
	texts := []string{content.Text}
	for _, block := range content.Blocks {
		if text, ok := block.(*wire.TextBlock); ok {
			texts = append(texts, text.Text)
		}
	}
	return strings.TrimSpace(strings.Join(texts, " "))
}

// short returns the first lines of a text, none of them too long for a terminal.
func (v *transcript) short(text string, most int) []string {
	const width = 110
	text = planFile.ReplaceAllString(strings.ReplaceAll(text, v.project+"/", ""), "the plan")
	var lines []string
	for line := range strings.Lines(text) {
		line = strings.Join(strings.Fields(line), " ")
		for rest := []rune(line); len(rest) > 0; {
			end := len(rest)
			if end > width {
				end = width
				for at := width; at > width/2; at-- {
					if rest[at] == ' ' {
						end = at
						break
					}
				}
			}
			lines = append(lines, strings.TrimSpace(string(rest[:end])))
			rest = rest[end:]
		}
	}
	switch {
	case len(lines) == 0:
		return []string{"(nothing)"}
	case len(lines) > most:
		return append(lines[:most-1], "…")
	}
	return lines
}
