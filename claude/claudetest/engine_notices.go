package claudetest

import "strings"

// A notice is what a background task says to the model at its end.
type notice struct {
	task    *task
	status  string
	file    string // where its output would be
	summary string
	result  string  // an agent's last words
	usage   members // an agent's; nil for a command
}

// text is the notice in the words that the model reads.
func (n notice) text() string {
	var out strings.Builder
	out.WriteString("<task-notification>\n<task-id>" + n.task.id + "</task-id>\n<tool-use-id>" + n.task.call + "</tool-use-id>\n")
	if n.file != "" {
		out.WriteString("<output-file>" + n.file + "</output-file>\n")
	}
	out.WriteString("<status>" + n.status + "</status>\n<summary>" + n.summary + "</summary>\n")
	if n.result != "" {
		out.WriteString("<result>" + n.result + "</result>\n")
	}
	return out.String() + "</task-notification>"
}

// noticeContent is how notices are put to the model: as a prompt, or as a reminder that is none.
func (e *engine) noticeContent(notices []notice) []members {
	var blocks []members
	for _, n := range notices {
		text := n.text()
		if e.quirks.TaskDetails {
			text = asReminder("[SYSTEM NOTIFICATION - NOT USER INPUT]\n\n" + text)
		}
		blocks = append(blocks, members{"type", "text", "text", text})
	}
	return blocks
}

// asReminder marks a text as not the user's.
func asReminder(text string) string { return "<system-reminder>\n" + text + "\n</system-reminder>" }

// takeNotices takes the notices for one turn. mu is held.
func (e *engine) takeNotices() []notice {
	n := len(e.taskTurns)
	if !e.quirks.TaskDetails {
		n = 1
	}
	taken := e.taskTurns[:n:n]
	e.taskTurns = e.taskTurns[n:]
	return taken
}

// noticeTurn tells the model that tasks have ended, in a turn without a prompt.
func (e *engine) noticeTurn(notices []notice) {
	last := notices[len(notices)-1]
	t := e.begin(nil)
	defer e.finish(t)
	t.origin = members{"kind", "task-notification", "producer", "session-task", "runId", last.task.run}
	if !e.quirks.TaskDetails {
		for _, n := range notices {
			e.tellNotification(n)
		}
	}
	if e.quirks.TaskDetails && e.hookPrompt(t, prompt{text: last.text()}) {
		return
	}
	content := e.noticeContent(notices)
	e.main.add("user", content)
	e.storeMessage(e.main, "user", content, "")
	e.emit(e.initLine(t))
	e.converse(t)
}

// tellLateNotices tells what has ended where the version does not wake up for it: before the next turn, and after each.
func (e *engine) tellLateNotices() {
	if e.quirks.TaskTurns {
		return
	}
	e.mu.Lock()
	notices := e.taskTurns
	e.taskTurns = nil
	e.mu.Unlock()
	for _, n := range notices {
		e.tellNotification(n)
	}
}

// foldNotices puts what has ended beside the results of the running turn's tools. There is no line about it.
func (e *engine) foldNotices(th *thread) {
	if !e.quirks.TaskTurns {
		return
	}
	e.mu.Lock()
	notices := e.taskTurns
	e.taskTurns = nil
	e.mu.Unlock()
	for _, n := range notices {
		th.attach(members{"type", "text", "text", asReminder(n.text())})
	}
}

// holdResult keeps the result of a turn back while agents run in the background, where the version does that: the turn about their end has a
// result too, and that is the only one.
func (e *engine) holdResult(t *turn, end ending) bool {
	if !e.quirks.HoldsResults || end.bare {
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.held = nil
	for _, k := range e.running {
		if k.kind != "" && k.status == taskRunning {
			e.held = func() { e.emitResult(t, end) }
			return true
		}
	}
	return false
}

// releaseResult writes a result that was kept back, when no other will come.
func (e *engine) releaseResult() {
	e.mu.Lock()
	held := e.held
	e.held = nil
	e.mu.Unlock()
	if held != nil {
		held()
	}
}
