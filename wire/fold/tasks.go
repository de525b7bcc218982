package fold

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"

	"github.com/switchboard-dev/switchboard/wire"
)

// A Task is a piece of work beside the main conversation: a sub-agent or a
// command.
type Task struct {
	// ID is the task's.
	ID string `json:"id"`
	// ToolUseID is the tool call that started it.
	ToolUseID string `json:"tool_use_id,omitempty"`
	// Kind is what it is, for example "local_agent" or "local_bash".
	Kind string `json:"kind,omitempty"`
	// Agent is the kind of sub-agent.
	Agent string `json:"agent,omitempty"`
	// Description is what it does.
	Description string `json:"description,omitempty"`
	// Background says that the turn does not wait for it.
	Background bool `json:"background,omitempty"`
	// Ambient says that it is part of the surroundings: nothing to wait for.
	Ambient bool `json:"ambient,omitempty"`
	// Status is its last state, if it was told.
	Status wire.TaskStatus `json:"status,omitempty"`
	// Seq and Time are those of the line that told of it first.
	Seq  int64     `json:"seq,omitempty"`
	Time time.Time `json:"time,omitzero"`
}

// How many tasks are kept.
const (
	maxTasks     = 256
	maxTasksOver = 64
)

// inBackground reports whether a task is going on that may still start a turn.
func (s *State) inBackground() bool {
	return slices.ContainsFunc(s.Tasks, func(t Task) bool { return t.Background && !t.Ambient })
}

// task returns the task with the id given, a new one if there is none.
func (s *State) task(id string, l *Line) *Task {
	id = name(id)
	if i := slices.IndexFunc(s.Tasks, func(t Task) bool { return t.ID == id }); i >= 0 {
		return &s.Tasks[i]
	}
	s.Tasks, _ = last(append(s.Tasks, Task{ID: id, Seq: l.Seq, Time: instant(l.Time)}), maxTasks)
	return &s.Tasks[len(s.Tasks)-1]
}

// endTask removes a task.
func (s *State) endTask(id string) {
	id = name(id)
	if id != "" {
		s.TasksOver, _ = last(append(s.TasksOver, id), maxTasksOver)
	}
	s.Tasks = slices.DeleteFunc(s.Tasks, func(t Task) bool { return t.ID == id })
}

// taskStarted folds the beginning of a task.
func (s *State) taskStarted(m *wire.TaskStarted, l *Line) {
	if m.TaskID == "" {
		return
	}
	t := s.task(m.TaskID, l)
	t.ToolUseID, t.Kind, t.Agent = name(m.ToolUseID), name(m.TaskType), name(m.SubagentType)
	t.Description = clip(m.Description, shortText)
	t.Background = t.Background || m.IsBackgrounded
	t.Ambient = m.Ambient
}

// taskUpdated folds a change of a task, which may be its end.
func (s *State) taskUpdated(m *wire.TaskUpdated) {
	id := name(m.TaskID)
	i := slices.IndexFunc(s.Tasks, func(t Task) bool { return t.ID == id })
	if i < 0 {
		return
	}
	if done(m.Patch.Status) {
		s.endTask(id)
		return
	}
	t := &s.Tasks[i]
	if m.Patch.Status != "" {
		t.Status = m.Patch.Status
	}
	if m.Patch.Description != "" {
		t.Description = clip(m.Patch.Description, shortText)
	}
	if m.Patch.IsBackgrounded != nil {
		t.Background = *m.Patch.IsBackgrounded
	}
}

// done reports whether a task's state is a final one. States that are not known
// are not: a task that ended is also missing from the next list of them all.
func done(status wire.TaskStatus) bool {
	switch status {
	case wire.TaskStatusCompleted, wire.TaskStatusFailed, wire.TaskStatusKilled, wire.TaskStatusStopped:
		return true
	default:
		return false
	}
}

// tasksListed folds the whole set of background tasks.
func (s *State) tasksListed(m *wire.BackgroundTasksChanged, l *Line) {
	s.TasksListed = true
	listed := map[string]bool{}
	for i := range m.Tasks {
		listed[name(m.Tasks[i].TaskID)] = true
	}
	s.Tasks = slices.DeleteFunc(s.Tasks, func(t Task) bool { return t.Background && !listed[t.ID] })
	for i := range m.Tasks {
		b := &m.Tasks[i]
		if b.TaskID == "" {
			continue
		}
		t := s.task(b.TaskID, l)
		t.Kind, t.Agent, t.Description = name(b.TaskType), name(b.SubagentType), clip(b.Description, shortText)
		t.Background, t.Ambient = true, b.Ambient
	}
}

// launched is the part of a tool's own result that tells of a task in the
// background. 2.1.37 tells it nowhere else.
type launched struct {
	Status           string `json:"status"`
	AgentID          string `json:"agentId"`
	BackgroundTaskID string `json:"backgroundTaskId"`
	Description      string `json:"description"`
}

// toolLaunched folds a tool's own result: it may have put a task into the
// background.
func (s *State) toolLaunched(m *wire.User, l *Line) {
	// Results can be long, and few of them tell of a task.
	if !bytes.Contains(m.ToolUseResult, []byte(`"async_launched"`)) && !bytes.Contains(m.ToolUseResult, []byte(`"backgroundTaskId"`)) {
		return
	}
	var r launched
	if json.Unmarshal(m.ToolUseResult, &r) != nil {
		return
	}
	id, kind := r.BackgroundTaskID, "local_bash"
	if r.Status == "async_launched" {
		id, kind = r.AgentID, "local_agent"
	}
	if id == "" || slices.Contains(s.TasksOver, name(id)) {
		return
	}
	t := s.task(id, l)
	t.Background = true
	if t.Kind == "" {
		t.Kind, t.Description = kind, clip(r.Description, shortText)
	}
	for _, b := range m.Message.Content.Blocks {
		if r, ok := b.(*wire.ToolResultBlock); ok && t.ToolUseID == "" {
			t.ToolUseID = name(r.ToolUseID)
		}
	}
}

// waitedFor removes the tasks that a turn waits for: it is over, and so are
// they, even if an interrupt kept the CLI from saying so.
func (s *State) waitedFor() {
	s.Tasks = slices.DeleteFunc(s.Tasks, func(t Task) bool { return !t.Background })
}
