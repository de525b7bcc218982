package claudetest

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/switchboard-dev/switchboard/wire"
)

// A task is a sub-agent, or a command that runs for long or in the background.
type task struct {
	id          string
	run         string // id of this run of it
	call        string // the tool call that started it
	kind        string // the agent's type; empty for a command
	description string
	prompt      string // of an agent
	background  bool
	planning    bool  // its own mode is plan
	owner       *task // the agent that started it; nil for the conversation
	depth       int   // how many agents deep
	began       time.Time
	number      int // in order of start
	ctx         context.Context
	cancel      context.CancelCauseFunc

	// Guarded by the engine's mu.
	status string // taskRunning and so on
	ending bool   // its end is being told

	mu    sync.Mutex
	usage usage    // of its last message
	tools []string // that it used
}

// plans reports whether a sub-agent has a plan of its own to show. The conversation itself, nil, is none.
func (k *task) plans() bool { return k != nil && k.planning }

// The states of a task.
const (
	taskRunning   = "running"
	taskCompleted = "completed"
	taskFailed    = "failed"
	taskKilled    = "killed"
)

// errKilled is the cause with which a task is stopped.
var errKilled = errors.New("the task was stopped")

// count books a message of an agent's.
func (k *task) count(u usage) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.usage = u
}

// usedTool books a tool call of an agent's.
func (k *task) usedTool(name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.tools = append(k.tools, name)
}

// spent is what an agent has used so far.
func (k *task) spent() (last usage, tools []string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.usage, slices.Clone(k.tools)
}

func (u usage) total() int {
	return u.InputTokens + u.CacheCreationInputTokens + u.CacheReadInputTokens + u.OutputTokens
}

// usageLine is what an agent has used, in the lines about it.
func (k *task) usageLine() members {
	last, tools := k.spent()
	return members{"total_tokens", last.total(), "tool_uses", len(tools), "duration_ms", time.Since(k.began).Milliseconds()}
}

// newTask returns a task that begins now. An agent has a kind.
func (e *engine) newTask(call, kind, description string, background bool, owner *task) *task {
	k := &task{
		call: call, kind: kind, description: description, background: background, owner: owner, depth: 1, began: time.Now(), status: taskRunning,
		run: "0" + strconv.FormatInt(time.Now().UnixMilli(), 36) + "-" + randomHex(4),
	}
	if owner != nil {
		k.depth = owner.depth + 1
	}
	letter, length := "b", 4
	if kind != "" {
		letter, length = "a", 8
	}
	if !e.quirks.TaskLines {
		length = 3
	}
	k.id = letter + randomHex(length)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.taskCount++
	k.number = e.taskCount
	return k
}

// randomHex returns n random bytes as hexadecimal digits.
func randomHex(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

// openTasks lists the tasks in the background that are still at it, in the order of their start. mu is held.
func (e *engine) openTasks() []*task {
	var open []*task
	for _, k := range e.running {
		if k.status == taskRunning && !k.ending {
			open = append(open, k)
		}
	}
	slices.SortFunc(open, func(a, b *task) int { return cmp.Compare(a.number, b.number) })
	return open
}

// waitsForTasks reports whether the process goes on after the end of input because of tasks. mu is held.
func (e *engine) waitsForTasks() bool {
	if !e.quirks.EndWaitsForAgents {
		return false
	}
	for _, k := range e.running {
		if k.status == taskRunning { // also while its end is being told
			return true
		}
	}
	return false
}

// busyWithTasks reports whether the session counts as running because of tasks, though no turn is. mu is held.
func (e *engine) busyWithTasks() bool {
	if len(e.taskTurns) > 0 && e.quirks.TaskTurns {
		return true
	}
	for _, k := range e.running {
		if k.status == taskRunning && (k.kind != "" || e.quirks.StateBusyWithTasks) {
			return true
		}
	}
	return false
}

// launch makes a background task one of those that run, and tells so.
func (e *engine) launch(k *task) {
	k.ctx, k.cancel = context.WithCancelCause(e.ctx)
	e.mu.Lock()
	e.running[k.id] = k
	e.mu.Unlock()
	e.tellTasks()
	e.tellStarted(k)
}

// taskLine is a system message about a task.
func (e *engine) taskLine(subtype string, k *task, more ...any) members {
	line := members{"type", "system", "subtype", subtype, "task_id", k.id}.when(e.quirks.TaskDetails, "run_id", k.run)
	return line.with(more...).with("uuid", wire.NewUUID(), "session_id", e.conversation())
}

// tellTasks lists what runs in the background.
func (e *engine) tellTasks() {
	if !e.quirks.TaskDetails {
		return
	}
	e.mu.Lock()
	open := e.openTasks()
	e.mu.Unlock()
	list := []members{}
	for _, k := range open {
		line := members{"task_id", k.id, "run_id", k.run, "task_type", k.taskType()}
		list = append(list, line.when(k.kind != "", "subagent_type", k.kind).with("description", k.description))
	}
	e.emit(e.systemLine("background_tasks_changed", "tasks", list))
}

func (k *task) taskType() string {
	if k.kind != "" {
		return "local_agent"
	}
	return "local_bash"
}

// tellStarted tells that a task has begun.
func (e *engine) tellStarted(k *task) {
	if !e.quirks.TaskLines {
		return
	}
	details, agent := e.quirks.TaskDetails, k.kind != ""
	about := members{}
	about = about.when(details && !agent && k.owner != nil, "owned_by_subagent", true).
		with("tool_use_id", k.call, "description", k.description).
		when(details && agent, "subagent_type", k.kind).
		when(details, "is_backgrounded", k.background).
		when(details && agent, "spawn_depth", k.depth)
	if details && k.owner != nil {
		about = about.with("parent_task_id", k.owner.id)
	}
	about = about.with("task_type", k.taskType()).when(agent, "prompt", k.prompt)
	e.emit(e.taskLine("task_started", k, about...))
}

// tellProgress tells which tool an agent uses.
func (e *engine) tellProgress(k *task, tool, what string) {
	if !e.quirks.TaskLines {
		return
	}
	about := members{"tool_use_id", k.call, "description", "Running " + what}
	about = about.when(e.quirks.TaskDetails, "subagent_type", k.kind).with("usage", k.usageLine(), "last_tool_name", tool)
	e.emit(e.taskLine("task_progress", k, about...))
}

// tellUpdated tells how a task ended; why is empty unless it failed.
func (e *engine) tellUpdated(k *task, status, why string) {
	if e.quirks.TaskLines {
		patch := members{"status", status, "end_time", time.Now().UnixMilli()}.when(why != "" && e.quirks.TaskDetails, "error", why)
		e.emit(e.taskLine("task_updated", k, "patch", patch))
	}
}

// tellNotification tells what came of a task.
func (e *engine) tellNotification(n notice) {
	k := n.task
	about := members{}
	about = about.when(e.quirks.TaskLines, "tool_use_id", k.call).with("status", n.status, "output_file", n.file, "summary", n.summary)
	if e.quirks.TaskLines && n.usage != nil {
		about = about.with("usage", n.usage)
	}
	e.emit(e.taskLine("task_notification", k, about...))
}

// outputFile is where the CLI would write what a task prints. The simulated one writes nothing there.
func (e *engine) outputFile(k *task) string {
	folder := "/tmp/claude-1000/" + projectName(e.dir)
	if e.quirks.TaskLines {
		folder += "/" + e.conversation()
	}
	return folder + "/tasks/" + k.id + ".output"
}

// projectName is a folder's name among the projects.
func projectName(dir string) string {
	name := []byte(filepath.ToSlash(dir))
	for i, c := range name {
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			name[i] = '-'
		}
	}
	return string(name)
}

// endTask tells the end of a background task and lets the model know. It does nothing for one that was stopped meanwhile.
func (e *engine) endTask(k *task, n notice, why string) {
	if !e.beginEnd(k) {
		return
	}
	e.tellUpdated(k, n.status, why)
	if e.quirks.TaskDetails {
		e.tellNotification(n)
		e.tellTasks()
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	k.status = n.status
	e.taskTurns = append(e.taskTurns, n)
	e.signal()
}

// beginEnd reports whether the caller is the one to end a task.
func (e *engine) beginEnd(k *task) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if k.status != taskRunning || k.ending {
		return false
	}
	k.ending = true
	return true
}

// kill tells that a background task is stopped. The model is not told. The caller cancels it when it has said what else there is to say.
func (e *engine) kill(k *task) bool {
	if !e.beginEnd(k) {
		return false
	}
	e.withdrawAll(func(a *ask) bool { return a.belongsTo(k) })
	e.tellUpdated(k, taskKilled, "")
	file := ""
	if e.quirks.TaskDetails {
		file = e.outputFile(k)
	}
	e.tellNotification(notice{task: k, status: "stopped", file: file, summary: k.description})
	e.tellTasks()
	e.mu.Lock()
	k.status = taskKilled
	e.signal()
	e.mu.Unlock()
	return true
}

// belongsTo reports whether a question was asked by an agent.
func (a *ask) belongsTo(k *task) bool {
	request, _ := a.line[len(a.line)-1].(members)
	for i := 0; i+1 < len(request); i += 2 {
		if request[i] == "agent_id" {
			return request[i+1] == k.id
		}
	}
	return false
}

// tellQuiet tells that nothing runs any more, if that is so.
func (e *engine) tellQuiet() {
	e.mu.Lock()
	quiet := e.turn == nil && len(e.queue) == 0 && !e.busyWithTasks()
	asked := e.state == "requires_action"
	e.mu.Unlock()
	if !quiet {
		return
	}
	if asked {
		e.tellState("running")
	}
	e.releaseResult()
	e.tellState("idle")
}

// interruptTasks stops the background agents where an interrupt does that. What is returned is to be called after the answer.
func (e *engine) interruptTasks() (after func()) {
	var stopped []*task
	if e.quirks.InterruptStopsAgents {
		e.mu.Lock()
		open := e.openTasks()
		e.mu.Unlock()
		for _, k := range open {
			if k.kind != "" && e.kill(k) {
				stopped = append(stopped, k)
			}
		}
	}
	return func() {
		if len(stopped) > 0 {
			e.tellQuiet()
		}
		for _, k := range stopped {
			k.cancel(errKilled)
		}
	}
}

// stopTask answers stop_task.
func (e *engine) stopTask(r controlRequest) *exit {
	var request struct {
		TaskID string `json:"task_id"`
	}
	r.read(&request)
	e.mu.Lock()
	k := e.running[request.TaskID]
	status := ""
	if k != nil {
		status = k.status
	}
	e.mu.Unlock()
	switch {
	case e.quirks.TaskStopForgiving:
		if k != nil {
			e.kill(k)
		}
		e.succeed(r, members{})
	case k == nil:
		e.fail(r, "No task found with ID: "+request.TaskID, "")
		return nil
	case status != taskRunning:
		e.fail(r, fmt.Sprintf("Task %s is not running (status: %s)", k.id, status), "")
		return nil
	default:
		e.succeed(r, members{})
		e.kill(k)
	}
	e.tellQuiet()
	if k != nil {
		k.cancel(errKilled)
	}
	return nil
}

// backgroundTasks answers background_tasks, which would move what runs in the foreground to the background: nothing ever waits for that.
func (e *engine) backgroundTasks(r controlRequest) *exit {
	e.succeed(r, members{})
	return nil
}

// taskOutput answers get_task_output. The simulated CLI keeps no output.
func (e *engine) taskOutput(r controlRequest) *exit {
	e.fail(r, "get_task_output: no shell or Monitor task with that task_id in this session", "")
	return nil
}

// detached reports whether a task works in the background, or for one that does. It may be called on nil.
func (k *task) detached() bool {
	for ; k != nil; k = k.owner {
		if k.background {
			return true
		}
	}
	return false
}
