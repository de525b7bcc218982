package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/switchboard-dev/switchboard/claude/claudetest"
	"github.com/switchboard-dev/switchboard/internal/conformance"
	"github.com/switchboard-dev/switchboard/wire"
)

// What is said in the conversation.
const (
	firstPrompt  = "Please write a greeting into greeting.txt."
	secondPrompt = "Now clean up the folder."
	greeting     = "Hello from Switchboard.\n"
	refusal      = "Nothing is to be removed in this conversation."
)

// policy is what the program lets the agent do, in words; scene.judge does it.
const policy = "files may be written inside the project folder; everything else that is asked for is refused"

// A scene is a conversation in a project folder.
type scene struct {
	project string
}

// path returns the path of the file that the conversation is about.
func (s scene) path() string { return filepath.Join(s.project, "greeting.txt") }

// script is what the simulated model says.
func (s scene) script() func(claudetest.Request) claudetest.Reply {
	return claudetest.Rules(
		claudetest.Rule{Prompt: firstPrompt, Replies: []claudetest.Reply{
			claudetest.Say(
				claudetest.Text("I will write the file."),
				claudetest.Tool("Write", map[string]any{"file_path": s.path(), "content": greeting}),
			),
			claudetest.Say(claudetest.Text("Done: greeting.txt holds a greeting.")),
		}},
		claudetest.Rule{Prompt: secondPrompt, Replies: []claudetest.Reply{
			claudetest.Say(
				claudetest.Text("I will remove the file again."),
				claudetest.Tool("Bash", map[string]any{"command": "rm greeting.txt", "description": "Remove the greeting"}),
			),
			claudetest.Say(claudetest.Text("You did not want that, so I left everything as it is.")),
		}},
	)
}

// judge decides about a tool after the policy, and says why.
func (s scene) judge(q *wire.CanUseToolRequest) (wire.PermissionResult, string) {
	if q.ToolName == "Write" {
		var input struct {
			FilePath string `json:"file_path"`
		}
		if err := json.Unmarshal(q.Input, &input); err == nil && strings.HasPrefix(filepath.Clean(input.FilePath), s.project+string(filepath.Separator)) {
			return &wire.Allow{}, "it writes a file inside the project folder"
		}
	}
	return &wire.Deny{Message: refusal}, "the policy does not allow it"
}

// play holds the conversation and checks that it went as it should.
func (s scene) play(ctx context.Context, talk *conformance.Talk) error {
	answer, err := talk.Initialize(ctx)
	if err != nil {
		return err
	}
	if answer.Response.Subtype != "success" {
		return fmt.Errorf("the CLI refused to be initialized: %s", answer.Response.Error)
	}
	for _, prompt := range []string{firstPrompt, secondPrompt} {
		turn, err := talk.Turn(ctx, prompt)
		if err != nil {
			return err
		}
		if turn.Result.IsError || turn.Result.Subtype != wire.ResultSubtypeSuccess {
			return fmt.Errorf("the turn %q failed: %s", prompt, turn.Result.Raw())
		}
		if len(turn.Asked) != 1 {
			return fmt.Errorf("the turn %q asked for permission %d times, want once", prompt, len(turn.Asked))
		}
	}
	content, err := os.ReadFile(s.path())
	if err != nil {
		return fmt.Errorf("looking at what the agent did: %w", err)
	}
	if string(content) != greeting {
		return errors.New("the agent's file does not hold what the model wrote")
	}
	return nil
}
