package claudetest

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/switchboard-dev/switchboard/wire"
)

// The times after which a running tool says so.
const (
	longTool  = 3 * time.Second
	heartbeat = 30 * time.Second
)

// bashInput is what the shell tool is called with.
type bashInput struct {
	Command     string `json:"command"`
	Description string `json:"description"`
	Background  bool   `json:"run_in_background"`
}

func readBash(call ToolCall) bashInput {
	var input bashInput
	_ = json.Unmarshal(call.Input, &input) // what does not fit is missing
	if input.Description == "" {
		input.Description = input.Command
	}
	return input
}

// playBackground starts a command in the background. It reports false for a call that is none.
func (e *engine) playBackground(_ *turn, th *thread, call ToolCall, outcome ToolOutcome) (playedResult, bool) {
	input := readBash(call)
	if call.Name != "Bash" || !input.Background {
		return playedResult{}, false
	}
	k := e.newTask(call.ID, "", input.Description, true, th.agent)
	e.launch(k)
	detail := members{"stdout", "", "stderr", "", "interrupted", false, "isImage", false}
	detail = detail.when(e.quirks.TaskLines, "noOutputExpected", false).with("backgroundTaskId", k.id)
	return playedResult{
		content: "Command running in background with ID: " + k.id + ". Output is being written to: " + e.outputFile(k), detail: detail,
		then: func() { e.tasks.Go(func() { e.finishCommand(k, outcome) }) },
	}, true
}

// finishCommand waits for the end of a command in the background. It ends with the command, at the latest with the process.
func (e *engine) finishCommand(k *task, outcome ToolOutcome) {
	defer k.cancel(errEnded)
	if !pause(k.ctx, outcome.Takes) {
		return // stopped, or the process has ended
	}
	n := notice{task: k, status: taskCompleted, file: e.outputFile(k), summary: fmt.Sprintf("Background command %q completed (exit code 0)", k.description)}
	if outcome.Failed {
		n.status, n.summary = taskFailed, fmt.Sprintf("Background command %q failed with exit code 1", k.description)
	}
	e.endTask(k, n, "")
}

// wait lets a tool take its time, with what a CLI says about long ones meanwhile. It reports false if the turn ended first.
func (e *engine) wait(ctx context.Context, th *thread, call ToolCall, outcome ToolOutcome) bool {
	if outcome.Takes <= 0 {
		return true
	}
	var k *task
	begin := time.Now()
	if e.quirks.TaskLines && call.Name == "Bash" && outcome.Takes >= longTool {
		k = e.newTask(call.ID, "", readBash(call).Description, false, th.agent)
	}
	if k != nil && e.quirks.TaskDetails {
		if !pause(ctx, longTool) {
			return false
		}
		e.tellStarted(k)
	}
	for beat := 0; ; beat++ {
		rest := outcome.Takes - time.Since(begin)
		next := heartbeat*time.Duration(beat+1) - time.Since(begin)
		if !e.quirks.Heartbeats || next > rest {
			next = rest
		}
		if !pause(ctx, max(next, 0)) {
			if k != nil && time.Since(begin) >= longTool {
				if !e.quirks.TaskDetails {
					e.tellStarted(k)
				}
				e.tellNotification(notice{task: k, status: "stopped", summary: k.description})
			}
			return false
		}
		if time.Since(begin) >= outcome.Takes {
			break
		}
		e.tellHeartbeat(call, beat, time.Since(begin))
	}
	if k == nil {
		return true
	}
	if !e.quirks.TaskDetails { // it is told when it is over
		e.tellStarted(k)
	}
	status := taskCompleted
	if outcome.Failed {
		status = taskFailed
	}
	e.tellNotification(notice{task: k, status: status, summary: k.description})
	return true
}

// tellHeartbeat tells that a tool is still running.
func (e *engine) tellHeartbeat(call ToolCall, beat int, elapsed time.Duration) {
	e.emit(members{
		"type", "tool_progress", "tool_use_id", fmt.Sprintf("%s-heartbeat-%d", call.ID, beat), "tool_name", call.Name, "parent_tool_use_id", call.ID,
		"elapsed_time_seconds", int(elapsed.Seconds()), "heartbeat", true, "session_id", e.conversation(), "uuid", wire.NewUUID(),
	})
}

// maxOutput is how much a command may print before its output is put into a file.
const maxOutput = 30_000

// bashResult is the result of a command: the model gets only the beginning of much output. The file is named and not written.
func (e *engine) bashResult(call ToolCall, text string, outcome ToolOutcome) playedResult {
	detail := members{"stdout", outcome.Text, "stderr", "", "interrupted", false, "isImage", false}
	detail = detail.when(e.quirks.SilenceTold, "noOutputExpected", outcome.Text == "")
	if len(text) <= maxOutput {
		return playedResult{content: text, detail: detail}
	}
	const preview, kilo = 2000, 1024
	file := e.persistedFile(call)
	text = fmt.Sprintf("<persisted-output>\nOutput too large (%.1fKB). Full output saved to: %s\n\nPreview (first 2KB):\n%s\n...\n</persisted-output>",
		float64(len(text))/kilo, file, strings.ToValidUTF8(text[:preview], ""))
	if e.quirks.OutputCut {
		detail[1] = strings.ToValidUTF8(outcome.Text[:maxOutput], "") // behind "stdout"
		detail = detail.with("persistedOutputPath", file, "persistedOutputSize", len(outcome.Text))
	}
	return playedResult{content: text, detail: detail}
}

// persistedFile is where the CLI would keep the whole output of a command.
func (e *engine) persistedFile(call ToolCall) string {
	transcript, err := e.store.Path(e.conversation())
	if err != nil {
		return ""
	}
	return filepath.Join(strings.TrimSuffix(transcript, ".jsonl"), "tool-results", call.ID+".txt")
}
