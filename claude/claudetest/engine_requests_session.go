package claudetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// cancelMessage takes a prompt out of the queue.
func (e *engine) cancelMessage(r controlRequest) *exit {
	var request struct {
		UUID string `json:"message_uuid"`
	}
	r.read(&request)
	e.mu.Lock()
	before := len(e.queue)
	e.queue = slices.DeleteFunc(e.queue, func(p prompt) bool { return p.uuid != "" && p.uuid == request.UUID })
	cancelled := len(e.queue) < before
	e.mu.Unlock()
	if cancelled {
		e.lifecycle(request.UUID, "cancelled")
	}
	e.succeed(r, members{"cancelled", cancelled})
	return nil
}

// renameSession gives the conversation a title.
func (e *engine) renameSession(r controlRequest) *exit {
	var request struct {
		Title string `json:"title"`
	}
	r.read(&request)
	title := strings.TrimSpace(request.Title)
	if title == "" {
		e.fail(r, "title must be non-empty", "")
		return nil
	}
	e.retitle(title)
	e.emit(e.systemLine("session_title_changed", "title", title))
	e.succeed(r, nil)
	return nil
}

func (e *engine) retitle(title string) {
	e.mu.Lock()
	e.title = title
	session := e.session
	e.mu.Unlock()
	if err := e.store.Rename(session, title); err != nil {
		_, _ = fmt.Fprintf(e.stderr, "writing the title: %v\n", err)
	}
}

// generateTitle asks the model for a title. One that was given before is kept.
func (e *engine) generateTitle(r controlRequest) *exit {
	var request struct {
		Description string `json:"description"`
		Persist     bool   `json:"persist"`
	}
	r.read(&request)
	e.mu.Lock()
	title := e.title
	e.mu.Unlock()
	if title != "" && e.quirks.ModelAnswers {
		e.succeed(r, members{"title", title})
		return nil
	}
	e.aside(r, func(ctx context.Context) {
		asked := members{
			"model", e.quirks.models().resolve("haiku"), "max_tokens", 1024, "system", "Make a title for the session, as JSON with one member, title.",
			"messages",
			[]members{{"role", "user", "content", request.Description}},
		}
		var answer struct{ Title string }
		text, err := e.askOnce(ctx, asked)
		if err == nil {
			_ = json.Unmarshal([]byte(text), &answer) // an answer of another form is no title
		}
		if answer.Title != "" && request.Persist {
			e.retitle(answer.Title)
		}
		e.succeed(r, members{"title", orNull(answer.Title)})
	})
	return nil
}

// errSideCancelled is what a question beside the conversation ends with when the controller takes it back.
var errSideCancelled = errors.New("side question cancelled")

// sideCancelled is how the CLI says it.
const sideCancelled = "Side question cancelled"

// sideQuestion asks the model something that the conversation does not see.
func (e *engine) sideQuestion(r controlRequest) *exit {
	var request struct {
		Question string `json:"question"`
	}
	r.read(&request)
	e.aside(r, func(ctx context.Context) {
		if e.quirks.LongRequestsTold {
			e.emit(e.systemLine("control_request_progress", "request_id", r.id, "status", "started"))
		}
		th := &thread{messages: e.main.snapshot()}
		th.add("user", request.Question)
		text, err := e.askOnce(ctx, e.modelRequest(th))
		switch {
		case errors.Is(err, errSideCancelled):
			e.fail(r, sideCancelled, "")
		case err != nil:
			e.succeed(r, members{"response", "(API error: " + err.Error() + ")", "synthetic", true})
		default:
			e.succeed(r, members{"response", text, "synthetic", false})
		}
	})
	return nil
}

// aside works on a request while others are read. Its answer may be taken back, see takeCancel.
func (e *engine) aside(r controlRequest, work func(context.Context)) {
	ctx, cancel := context.WithCancelCause(e.ctx)
	e.mu.Lock()
	if e.asides == nil {
		e.asides = map[string]context.CancelCauseFunc{}
	}
	e.asides[string(r.id)] = cancel
	e.mu.Unlock()
	e.tasks.Go(func() {
		defer cancel(errEnded)
		defer func() {
			e.mu.Lock()
			delete(e.asides, string(r.id))
			e.mu.Unlock()
		}()
		work(ctx)
	})
}

// takeCancel withdraws a request of the controller that is still worked on, where the version does.
func (e *engine) takeCancel(line []byte) {
	var cancelled struct {
		RequestID json.RawMessage `json:"request_id"`
	}
	if !e.quirks.LongRequestsTold || json.Unmarshal(line, &cancelled) != nil {
		return
	}
	e.mu.Lock()
	cancel := e.asides[string(cancelled.RequestID)]
	e.mu.Unlock()
	if cancel != nil {
		cancel(errSideCancelled)
	}
}

// askOnce asks the model for one message and returns its text.
func (e *engine) askOnce(ctx context.Context, request members) (string, error) {
	whole, err := e.brain.whole(ctx, request)
	if err != nil {
		return "", err
	}
	var message struct {
		Content []struct{ Type, Text string }
	}
	if err := json.Unmarshal(whole, &message); err != nil {
		return "", fmt.Errorf("reading the model's answer: %w", err)
	}
	var text strings.Builder
	for _, block := range message.Content {
		text.WriteString(block.Text)
	}
	return text.String(), nil
}

// getSessionCost tells what was spent, for people.
func (e *engine) getSessionCost(r controlRequest) *exit {
	e.succeed(r, members{"text", e.costText()})
	return nil
}

// costText says what was spent.
func (e *engine) costText() string {
	e.mu.Lock()
	spent := e.spending.clone()
	e.mu.Unlock()
	var text strings.Builder
	fmt.Fprintf(&text, "Total cost:            $%.4f\n", spent.total)
	fmt.Fprintf(&text, "Total duration (API):  %s\n", spent.apiTime.Round(time.Second))
	fmt.Fprintf(&text, "Total duration (wall): %s\n", (spent.before + time.Since(e.started)).Round(time.Second))
	text.WriteString("Total code changes:    0 lines added, 0 lines removed\n")
	if len(spent.models) == 0 {
		text.WriteString("Usage:                 0 input, 0 output, 0 cache read, 0 cache write")
		return text.String()
	}
	text.WriteString("Usage by model:")
	for _, model := range sortedKeys(spent.models) {
		u := spent.models[model]
		fmt.Fprintf(&text, "\n%20s:  %d input, %d output, %d cache read, %d cache write ($%.4f)", model,
			u.usage.InputTokens, u.usage.OutputTokens, u.usage.CacheReadInputTokens, u.usage.CacheCreationInputTokens, u.cost)
	}
	return text.String()
}

// getContextUsage tells what the conversation is made of. The numbers are made up from the length of the messages.
func (e *engine) getContextUsage(r controlRequest) *exit {
	const perToken, system, tools, buffer, cell = 4, 2000, 6000, 33_000, 100
	e.mu.Lock()
	model, size := e.model, 0
	e.mu.Unlock()
	for _, message := range e.main.snapshot() {
		size += len(message)
	}
	window := e.quirks.models().rate(model).context
	said := size / perToken
	total := system + tools + said
	percent := (100*total + window/2) / window // rounded, as the CLI does it
	detailed := e.quirks.InitializeTellsVersion
	category := func(id, name, kind string, tokens int) members {
		line := members{}
		return line.when(detailed, "id", id).with("name", name, "tokens", tokens, "color", "inactive").when(detailed, "kind", kind)
	}
	row := make([]members, 0, cell)
	for i := range 10 {
		row = append(row, members{
			"color", "inactive", "isFilled", i == 0, "categoryName", "Free space", "tokens", window - total, "percentage", 100 - percent, "squareFullness", 1,
		})
	}
	body := members{
		"categories",
		[]members{
			category("system_prompt", "System prompt", "used", system), category("system_tools", "System tools", "used", tools),
			category("messages", "Messages", "used", said), category("autocompact_buffer", "Autocompact buffer", "buffer", buffer),
			category("free_space", "Free space", "free", window-total-buffer),
		},
		"totalTokens", total, "maxTokens", window, "rawMaxTokens", window, "autocompactSource", "auto", "percentage", percent,
		"gridRows",
		[][]members{row},
		"model", model, "memoryFiles",
		[]any{},
		"mcpTools",
		[]any{},
	}
	body = body.when(detailed, "mcpInstructions", []any{}).with(
		"agents", []any{}, "slashCommands", members{"totalCommands", len(e.commandNames()), "includedCommands", len(e.commandNames()), "tokens", 0},
		"skills", members{"totalSkills", 0, "includedSkills", 0, "tokens", 0, "skillFrontmatter", []any{}},
		"autoCompactThreshold", window-buffer, "isAutoCompactEnabled", true,
		"messageBreakdown", members{
			"toolCallTokens", 0, "toolResultTokens", 0, "attachmentTokens", 0, "assistantMessageTokens", 0, "userMessageTokens", said,
			"redirectedContextTokens", 0, "unattributedTokens", 0, "toolCallsByType",
			[]any{},
			"attachmentsByType",
			[]any{},
		},
		"apiUsage", nil,
	)
	e.succeed(r, body)
	return nil
}

// exportConversation tells the conversation as a text.
func (e *engine) exportConversation(r controlRequest) *exit {
	var text strings.Builder
	for _, raw := range e.main.snapshot() {
		var message struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		}
		_ = json.Unmarshal(raw, &message) // of our own making
		mark := "❯"
		if message.Role == "assistant" {
			mark = "●"
		}
		if said := lastText(message.Content); said != "" {
			fmt.Fprintf(&text, "\n%s %s\n", mark, said)
		}
	}
	e.succeed(r, members{"text", text.String(), "default_filename", time.Now().UTC().Format("2006-01-02-150405") + "-conversation.txt"})
	return nil
}

// getPlan tells the plan of the conversation.
func (e *engine) getPlan(r controlRequest) *exit {
	path := e.planPath()
	body := members{"exists", false}
	if text, ok, err := e.store.ReadPlan(path); err == nil && ok {
		body = members{"exists", true, "content", text, "path", path}
	}
	e.succeed(r, body)
	return nil
}
