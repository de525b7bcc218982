package main

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/naming"
	"github.com/switchboard-dev/switchboard/internal/terminal"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
	"github.com/switchboard-dev/switchboard/internal/terminal/words"
)

const (
	// completionTime bounds how long the shell waits for the hub's part of a completion. A hub that is there
	// answers within milliseconds; on a busy machine nothing at all is worse than a second.
	completionTime = 2 * time.Second
	// completionMost is how many sessions or questions are offered.
	completionMost = 50
	// completionWidth is how long what is said about each may be.
	completionWidth = 60
)

// offer returns a completion with what is said about it.
func offer(value, about string) cobra.Completion {
	return cobra.CompletionWithDesc(value, paint.CleanLine(about, completionWidth))
}

// offerID returns an id as it is usually shown, or whole if more of it is typed already.
func offerID(id, typed, about string) cobra.Completion {
	if short := naming.Short(id); strings.HasPrefix(short, typed) {
		id = short
	}
	return offer(id, about)
}

// fromHub returns a function that completes from the running hub. If there is none, or it takes too long, nothing is offered and nothing is said: a user who
// types a command can do without.
func (p *hubFlags) fromHub(e *env, ask func(ctx context.Context, c *client.Client, typed string) []cobra.Completion) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		ctx := cmd.Context()
		if ctx == nil {
			ctx = context.Background()
		}
		ctx, cancel := context.WithTimeout(ctx, completionTime)
		defer cancel()
		var list []cobra.Completion
		_ = p.withAnyHub(e, func(c *client.Client) error { // silent, see above
			list = ask(ctx, c, typed)
			return nil
		})
		return list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// firstOnly has only the first argument completed.
func firstOnly(f cobra.CompletionFunc) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return f(cmd, args, typed)
	}
}

// completeSessions completes the first argument with the ids of sessions, the last updated first.
func completeSessions(e *env, p *hubFlags) cobra.CompletionFunc {
	return firstOnly(completeSessionFlag(e, p))
}

// completeSessionFlag is like completeSessions, for the value of a flag or every argument.
func completeSessionFlag(e *env, p *hubFlags) cobra.CompletionFunc {
	return p.fromHub(e, func(ctx context.Context, c *client.Client, typed string) []cobra.Completion {
		page, err := c.List(ctx, api.SessionFilter{Limit: completionMost})
		if err != nil {
			return nil
		}
		var list []cobra.Completion
		for i := range page.Sessions {
			session := &page.Sessions[i]
			if id := session.ID; strings.HasPrefix(id, typed) {
				list = append(list, offerID(id, typed, string(session.State)+" "+session.Title))
			}
		}
		return list
	})
}

// completeQuestions completes the first argument with the ids of open questions, the oldest first.
func completeQuestions(e *env, p *hubFlags) cobra.CompletionFunc {
	return firstOnly(p.fromHub(e, func(ctx context.Context, c *client.Client, typed string) []cobra.Completion {
		page, err := c.Questions(ctx, api.QuestionFilter{State: api.QuestionOpen, Limit: completionMost})
		if err != nil {
			return nil
		}
		var list []cobra.Completion
		for i := range page.Questions {
			q := &page.Questions[i]
			if strings.HasPrefix(q.ID, typed) {
				list = append(list, offerID(q.ID, typed, strings.TrimSpace(q.Tool+" "+terminal.Gist(q))))
			}
		}
		return list
	}))
}

// completeModels completes the value of a flag with the models that the last session's CLI has told of.
func completeModels(e *env, p *hubFlags) cobra.CompletionFunc {
	return p.fromHub(e, func(ctx context.Context, c *client.Client, _ string) []cobra.Completion {
		session, err := naming.Session(ctx, c, naming.Last)
		if err != nil {
			return nil
		}
		var told struct {
			Models []struct {
				Value       string `json:"value"`
				Description string `json:"description"`
			} `json:"models"`
		}
		if err := json.Unmarshal(session.Initialize, &told); err != nil {
			return nil
		}
		var list []cobra.Completion
		for _, m := range told.Models {
			list = append(list, offer(paint.CleanLine(m.Value, 0), m.Description))
		}
		return list
	})
}

// modeCompletions are the permission modes with what they do, from the safest to the most dangerous.
func modeCompletions() []cobra.Completion {
	var list []cobra.Completion
	for _, mode := range words.Modes() {
		list = append(list, offer(mode, words.ModeAbout(mode)))
	}
	return list
}

// completeModes completes the value of a flag with the permission modes.
func completeModes(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return modeCompletions(), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// completeFolder has the value of a flag completed with folders.
func completeFolder(cmd *cobra.Command, flag string) {
	register(cmd, flag, func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return nil, cobra.ShellCompDirectiveFilterDirs
	})
}

// register has the value of a flag completed.
func register(cmd *cobra.Command, flag string, f cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic(err) // there is no such flag
	}
}

// complete has the value of a flag completed with some values.
func complete(cmd *cobra.Command, flag string, values ...cobra.Completion) {
	register(cmd, flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// completeHubs completes with the names of hubs.
func completeHubs(e *env) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		list, err := hubEntries(e)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var found []cobra.Completion
		for _, hub := range list {
			found = append(found, offer(hub.Name, hub.URL))
		}
		return found, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// completeHubFlag has the value of --hub completed, in a command and those below it.
func completeHubFlag(cmd *cobra.Command, f cobra.CompletionFunc) {
	if flag := cmd.Flags().Lookup("hub"); flag != nil && !flag.Hidden {
		register(cmd, "hub", f)
	}
	for _, below := range cmd.Commands() {
		completeHubFlag(below, f)
	}
}

// completeNodes completes with the names of nodes, after some other words.
func completeNodes(e *env, p *hubFlags, others ...string) cobra.CompletionFunc {
	return p.fromHub(e, func(ctx context.Context, c *client.Client, _ string) []cobra.Completion {
		list, err := c.Nodes(ctx)
		if err != nil {
			return nil
		}
		var found []cobra.Completion
		for _, word := range others {
			found = append(found, offer(word, "the least loaded one"))
		}
		for i := range list.Nodes {
			found = append(found, offer(list.Nodes[i].Name, string(list.Nodes[i].State)))
		}
		return found
	})
}
