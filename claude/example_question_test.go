package claude_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/wire"
)

// Answer questions with a callback.
func ExampleQuestionHandler() {
	ctx := context.Background()
	o := &claude.Options{OnQuestion: func(_ context.Context, q claude.Question) (claude.Reply, error) {
		permission, ok := q.(*claude.PermissionQuestion)
		if !ok {
			return q.Decline("Nobody is here to answer."), nil
		}
		fmt.Println("may it use", permission.Tool)
		if permission.Tool == "Write" {
			return permission.Allow(), nil
		}
		return permission.Deny("Only files may be written."), nil
	}}
	defer simulate(o)()

	answer, err := claude.Text(ctx, `@tool Write {"file_path":"notes.txt","content":"one"}
@tool Bash {"command":"touch notes.txt"}
@say Written.`, o)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer)
	// Unordered output:
	// may it use Write
	// may it use Bash
	// Written.
}

// Without a callback, a program reads the questions and answers them by id.
func ExampleSession_Answer() {
	ctx := context.Background()
	o := &claude.Options{Pull: true}
	defer simulate(o)()

	session, err := claude.Start(ctx, o)
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	if _, err := session.Send(ctx, claude.Prompt{Text: "@tool Bash {\"command\":\"touch here\"}\n@say Done."}); err != nil {
		log.Fatal(err)
	}

	for question, err := range session.Questions(ctx) { // each once; session.Pending() are those that are open
		if err != nil {
			log.Fatal(err)
		}
		q, ok := question.(*claude.PermissionQuestion)
		if !ok {
			continue
		}
		if err := session.Answer(ctx, q.ID(), q.AllowAlways()); err != nil {
			log.Fatal(err)
		}
		err := session.Answer(ctx, q.ID(), q.Deny("Too late."))
		fmt.Println(q.Tool, errors.Is(err, claude.ErrSettled), len(session.Pending()))
		break
	}
	// Output: Bash true 0
}

// Answer a choice.
func ExampleChoiceQuestion() {
	ctx := context.Background()
	o := &claude.Options{OnQuestion: func(_ context.Context, q claude.Question) (claude.Reply, error) {
		choice, ok := q.(*claude.ChoiceQuestion)
		if !ok {
			return q.Decline("Only choices are answered."), nil
		}
		for _, one := range choice.Questions {
			fmt.Println(one.Question, one.Options[0].Label, one.Options[1].Label)
		}
		return choice.Pick("Blue"), nil // a label, or any text
	}}
	defer simulate(o)()

	_, err := claude.Text(ctx, `@tool AskUserQuestion {"questions":[{"question":"Which colour?","header":"Colour","multiSelect":false,"options":[{"label":"Red","description":"warm"},{"label":"Blue","description":"cold"}]}]}
@say Blue it is.`, o)
	if err != nil {
		log.Fatal(err)
	}
	// Output: Which colour? Red Blue
}

// Review a plan.
func ExamplePlanQuestion() {
	ctx := context.Background()
	reviewed := false
	o := &claude.Options{
		PermissionMode: wire.PermissionModePlan,
		OnQuestion: func(_ context.Context, q claude.Question) (claude.Reply, error) {
			plan, ok := q.(*claude.PlanQuestion)
			switch {
			case !ok:
				return q.Decline("Only plans are answered."), nil
			case !reviewed:
				reviewed = true
				fmt.Println("back:", plan.Title())
				return plan.KeepPlanning("Write the tests first."), nil
			default:
				fmt.Println("approved")
				return plan.Approve(wire.PermissionModeAcceptEdits), nil
			}
		},
	}
	defer simulate(o)()

	_, err := claude.Text(ctx, "@tool ExitPlanMode {\"plan\":\"1. Code.\"}\n@next\n@tool ExitPlanMode {\"plan\":\"1. Tests. 2. Code.\"}\n@say At work.", o)
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// back: Carry out the plan?
	// approved
}

// Fill in a form of an MCP server. Values that do not fit are rejected before they
// are sent.
func ExampleFormQuestion() {
	ctx := context.Background()
	o := &claude.Options{OnQuestion: func(_ context.Context, q claude.Question) (claude.Reply, error) {
		switch q := q.(type) {
		case *claude.FormQuestion:
			fmt.Println(q.Server, "asks:", q.Message)
			return q.Accept(map[string]any{"name": "Ada", "nights": 2}), nil
		case *claude.PermissionQuestion: // may the tool be called at all?
			return q.Allow(), nil
		default:
			return q.Decline("Only forms are answered."), nil
		}
	}}
	defer simulate(o)()

	_, err := claude.Text(ctx, `@tool mcp__travel__book {}
@form {"message":"Who travels?","requested_schema":{"type":"object","properties":{"name":{"type":"string"},"nights":{"type":"integer"}},"required":["name"]}}
@say Booked.`, o)
	if err != nil {
		log.Fatal(err)
	}
	// Output: travel asks: Who travels?
}

// Hooks see calls before they run, and decide about them.
func ExampleHooks() {
	ctx := context.Background()
	o := &claude.Options{
		AllowedTools: []string{"Bash"},
		Hooks: claude.Hooks{
			PreToolUse: claude.On("Bash", func(_ context.Context, in *wire.PreToolUseInput) (*claude.HookAnswer[wire.PreToolUseOutput], error) {
				fmt.Println("about to run", string(in.ToolInput))
				return claude.Output(&wire.PreToolUseOutput{
					PermissionDecision:       wire.HookPermissionDecisionDeny,
					PermissionDecisionReason: "The branch is protected.",
				}), nil
			}),
			Stop: claude.On("", func(context.Context, *wire.StopInput) (*claude.HookAnswer[wire.StopOutput], error) {
				fmt.Println("about to stop")
				return nil, nil
			}),
		},
	}
	defer simulate(o)()

	answer, err := claude.Text(ctx, "@tool Bash {\"command\":\"git push\"}\n@say I may not push.", o)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer)
	// Output:
	// about to run {"command":"git push"}
	// about to stop
	// I may not push.
}

// Public control requests have methods; send others with Request, or as JSON with
// RawRequest.
func ExampleSession_Request() {
	ctx := context.Background()
	o := &claude.Options{}
	defer simulate(o)()

	session, err := claude.Start(ctx, o)
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()

	if err := session.SetPermissionMode(ctx, wire.PermissionModePlan); err != nil {
		log.Fatal(err)
	}
	if err := session.SetModel(ctx, "haiku"); err != nil {
		log.Fatal(err)
	}
	answer, err := session.Request(ctx, &wire.GetBinaryVersionRequest{})
	if err != nil {
		log.Fatal(err)
	}
	if version, ok := answer.(*wire.GetBinaryVersionAnswer); ok {
		fmt.Println(version.Version)
	}
	_, err = session.RawRequest(ctx, []byte(`{"subtype":"make_coffee"}`))
	if refused, ok := errors.AsType[*claude.ControlError](err); ok {
		fmt.Println("refused:", refused.Code)
	}
	// Output:
	// 2.1.325
	// refused: unsupported_request
}
