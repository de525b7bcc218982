package claudetest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/switchboard-dev/switchboard/wire"
)

// commandName splits a prompt into the name of a slash command and what follows. The name is empty for a text that only begins like one, such as a
// path.
func commandName(text string) (name, args string) {
	rest, found := strings.CutPrefix(text, "/")
	if !found {
		return "", ""
	}
	end := strings.IndexAny(rest, " \t\n")
	if end < 0 {
		end = len(rest)
	}
	name, args = rest[:end], strings.TrimSpace(rest[end:])
	for _, c := range name {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != ':' && c != '-' && c != '_' {
			return "", ""
		}
	}
	return name, args
}

// slash works on a slash command. It reports false for one that goes to the model.
func (e *engine) slash(p prompt) bool {
	name, args := commandName(p.text)
	if name == "" {
		return false
	}
	c := command{engine: e, prompt: p, name: name, args: args}
	switch {
	case name == "compact":
		c.run(c.compact)
	case name == "cost" || name == "usage" && e.quirks.CommandsSpeak:
		c.run(func(t *turn) { c.say(t, e.costText()) })
	case name == "context":
		c.run(func(t *turn) { c.say(t, e.contextText()) })
	case name == "clear" && e.quirks.ClearKnown:
		c.run(c.clear)
	case name == "model" && e.quirks.CommandsUnknownToModel:
		c.run(c.setModel)
	case slices.Contains(e.commandNames(), name):
		return false // its text is a prompt
	case e.quirks.CommandsSpeak && slices.Contains(terminalCommands(), name):
		c.outcome = members{"local_command_outcome", members{"kind", "unavailable_headless"}}
		c.run(func(t *turn) { c.say(t, "/"+name+" isn't available in this environment.") })
	case e.quirks.CommandsUnknownToModel:
		return false
	default:
		c.run(c.unknown)
	}
	return true
}

// terminalCommands are those that only work at a terminal.
func terminalCommands() []string {
	return []string{
		"bug", "config", "doctor", "exit", "export", "feedback", "help", "hooks", "ide", "login", "logout", "memory", "model", "permissions",
		"resume", "status", "theme", "upgrade", "vim",
	}
}

// A command is a slash command at work.
type command struct {
	engine  *engine
	prompt  prompt
	name    string
	args    string
	outcome members // what the newest version says about one that did not work
}

// run makes the command a turn of its own.
func (c *command) run(work func(*turn)) {
	e := c.engine
	e.tellLateNotices()
	t := e.begin([]prompt{c.prompt})
	t.none = true
	defer e.finish(t)
	work(t)
}

// say answers with a text.
func (c *command) say(t *turn, text string) { c.answer(t, "stdout", text, text) }

// answer answers with a text that was printed to stdout or stderr, and a result that may be another.
func (c *command) answer(t *turn, stream, text, result string) {
	e := c.engine
	e.emit(e.initLine(t))
	if !e.quirks.CommandsSpeak {
		e.emit(e.printed(stream, text))
		c.finish(t, "")
		return
	}
	var more members
	if e.quirks.CommandsUnknownToModel {
		tag := "local-command-" + stream
		more = more.with("local_command_source", "<"+tag+">"+text+"</"+tag+">").
			when(c.known(), "local_command_run", members{"command", c.name, "args", c.args}).with(c.outcome...)
	}
	e.emit(e.syntheticAssistant(e.main, text, "", more...))
	c.finish(t, result)
}

// known reports whether the command ran.
func (c *command) known() bool {
	return len(c.outcome) == 0 || c.outcome[0] != "local_command_outcome" || c.name == "compact"
}

// printed is what a command prints, as a line in the user's role.
func (e *engine) printed(stream, text string) members {
	line := e.commandOutput(text)
	if stream == "stderr" {
		message := members{"role", "user", "content", "<local-command-stderr>" + text + "</local-command-stderr>"}
		line[3] = message // behind type and "message"
	}
	return line
}

// finish writes the result.
func (c *command) finish(t *turn, result string) {
	e := c.engine
	end := ending{subtype: "success", text: result}
	if e.quirks.CommandsUnknownToModel {
		if e.flags.ReplayUserMessages {
			e.emit(e.echoCommand(c))
		}
		end.extra = end.extra.when(c.known(), "local_command", c.name)
	}
	const messages = 3 // the command, a caveat and what it printed
	e.countMessages(t, messages)
	e.emitResult(t, end)
}

// echoCommand is a command as it is echoed with --replay-user-messages.
func (e *engine) echoCommand(c *command) members {
	text := fmt.Sprintf("<command-name>/%s</command-name>\n            <command-message>%s</command-message>\n            <command-args>%s</command-args>", c.name, c.name, c.args)
	p := c.prompt
	p.content = plainJSON(text)
	return e.echo(p, true)
}

// countMessages makes the result count all messages so far, where the version does that.
func (e *engine) countMessages(t *turn, more int) {
	if !e.quirks.CommandsCountAll {
		return
	}
	e.mu.Lock()
	total := e.said + more
	e.said = total - 2 // what finish adds
	e.mu.Unlock()
	t.mu.Lock()
	t.none, t.turnCount = false, total
	t.mu.Unlock()
}

// unknown refuses a command that there is not.
func (c *command) unknown(t *turn) {
	e := c.engine
	e.emit(e.initLine(t))
	text := "Unknown command: /" + c.name
	if !e.quirks.CommandsSpeak {
		text = "Unknown skill: " + c.name
	}
	e.countMessages(t, 1)
	if e.quirks.CommandsCountAll {
		e.mu.Lock()
		e.said++ // the answer is counted with the next
		e.mu.Unlock()
	}
	e.emitResult(t, ending{subtype: "success", text: text})
}

// setModel changes the model.
func (c *command) setModel(t *turn) {
	e := c.engine
	model := e.quirks.models().resolve(c.args)
	e.mu.Lock()
	e.model = model
	e.mu.Unlock()
	c.say(t, "Set model to `"+model+"` for this session only")
}

// clear begins a new conversation.
func (c *command) clear(t *turn) {
	e := c.engine
	e.hookCleared(t, "SessionEnd")
	if e.quirks.ClearTold {
		id := wire.NewUUID()
		line := members{"type", "conversation_reset", "new_conversation_id", id, "uuid", id, "trigger", "clear"}
		e.emit(line.when(c.prompt.uuid != "", "user_message_uuid", c.prompt.uuid).with("timestamp", stamp(), "session_id", e.conversation()))
		e.tellTasks()
	}
	if e.quirks.ClearTold { // otherwise the model still sees what was said
		e.main.replace()
	}
	e.mu.Lock()
	e.session = wire.NewUUID()
	e.planned.path = ""
	if e.quirks.ClearTold {
		e.spending = spending{}
	}
	e.mu.Unlock()
	e.hookCleared(t, "SessionStart")
	e.emit(e.initLine(t))
	if !e.quirks.ClearTold {
		e.emit(e.syntheticAssistant(e.main, "(no content)", ""))
	}
	c.finish(t, "")
}

// contextText says what the conversation is made of, for people.
func (e *engine) contextText() string {
	const perToken = 4
	size := 0
	for _, message := range e.main.snapshot() {
		size += len(message)
	}
	model := e.modelName()
	window := e.quirks.models().rate(model).context
	return fmt.Sprintf("## Context Usage\n\n**Model:** %s  \n**Tokens:** %d / %d (%d%%)\n\n### Estimated usage by category\n\n"+
		"| Category | Tokens | Percentage |\n|----------|--------|------------|\n| Messages | %d | %d%% |\n",
		model, size/perToken, window, 100*size/perToken/window, size/perToken, 100*size/perToken/window)
}

// commandNames are the slash commands that the CLI lists.
func (e *engine) commandNames() []string {
	switch {
	case !e.quirks.CommandsSpeak:
		return []string{"compact", "context", "cost", "init", "pr-comments", "release-notes", "review", "security-review"}
	case !e.quirks.CommandsUnknownToModel:
		return []string{"clear", "compact", "context", "init", "review", "security-review", "usage"}
	}
	return []string{"clear", "compact", "context", "init", "model", "security-review", "usage"}
}

// displayName is how a tool is shown to people: those of MCP servers without the server's name.
func (e *engine) displayName(tool string) string {
	if strings.HasPrefix(tool, "mcp__") {
		return mcpTitle(tool)
	}
	return tool
}

// systemPrompt is what the model is told first.
func (e *engine) systemPrompt(th *thread) string {
	if th.agent != nil {
		return "You are a sub-agent of the simulated CLI."
	}
	prompt := "You are the model of the simulated CLI."
	var own string
	e.mu.Lock()
	body := e.body
	e.mu.Unlock()
	more := e.flags.AppendSystemPrompt
	if e.flags.SystemPrompt != "" {
		prompt = e.flags.SystemPrompt
	}
	if body != nil {
		if text := lastText(body.SystemPrompt); text != "" {
			own = text
		}
		if body.AppendSystemPrompt != "" {
			more = body.AppendSystemPrompt
		}
	}
	if own != "" {
		prompt = own
	}
	if e.gate.Mode() == "plan" {
		more += "\nPlan mode is active. The plan file is " + e.planPath()
	}
	return strings.TrimSpace(prompt + "\n" + more)
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
