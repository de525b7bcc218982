package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// usage returns a function that says how a command is used. Of the program itself that is all commands: those that are used most have a line
// each, the others a line for each group, so that all of it can be seen at once.
func usage(root *cobra.Command, all []grouped) func(*cobra.Command) error {
	ofOne := root.UsageFunc()
	return func(cmd *cobra.Command) error {
		if cmd != root {
			if names, has := cmd.Annotations[annotationOptions]; has {
				return optionsUsage(cmd, strings.Fields(names))
			}
			return ofOne(cmd)
		}
		var b strings.Builder
		b.WriteString("Usage: switchboard COMMAND [FLAGS]; alone in a terminal it shows what is going on\n\n")
		for _, group := range groups() {
			var names []string
			for _, v := range all {
				switch {
				case v.group != group.ID:
				case group.ID == groupCommon:
					names = append(names, fmt.Sprintf("\n  %-10s %s", v.cmd.Name(), v.cmd.Short))
				default:
					names = append(names, " "+v.cmd.Name())
				}
			}
			switch group.ID {
			case groupCommon:
				b.WriteString(group.Title + strings.Join(names, "") + "\n\nMore commands:\n")
				continue
			case groupOther:
				names = append(names, " completion", " help")
			}
			fmt.Fprintf(&b, "  %-10s%s\n", group.Title, strings.Join(names, ""))
		}
		fmt.Fprintf(&b, "  %-10s exit-codes sessions (switchboard help TOPIC)\n\nExamples:\n%s\n\nFlags:\n%s", "Topics:", root.Example, root.LocalFlags().FlagUsages())
		b.WriteString("Use \"switchboard COMMAND --help\" for more about a command.\n")
		_, err := io.WriteString(cmd.OutOrStderr(), b.String())
		return err
	}
}

// optionsUsage says how a command with optionFlags is used: these flags are many, and have a part of their own. names are theirs.
func optionsUsage(cmd *cobra.Command, names []string) error {
	var own, options strings.Builder
	for line := range strings.Lines(cmd.LocalFlags().FlagUsages()) {
		to := &own
		// After the column of the one-letter names.
		if flag, _, _ := strings.Cut(line[min(len(line), 6):], " "); slices.Contains(names, strings.TrimPrefix(flag, "--")) {
			to = &options
		}
		to.WriteString(line)
	}
	_, err := fmt.Fprintf(cmd.OutOrStderr(), "Usage:\n  %s\n\nExamples:\n%s\n\nFlags:\n%s\n%s:\n%s\nGlobal Flags:\n%s",
		cmd.UseLine(), cmd.Example, own.String(), optionsHeading, options.String(), cmd.InheritedFlags().FlagUsages())
	return err
}

// helpExitCodes is a page of the help.
func helpExitCodes() *cobra.Command {
	return &cobra.Command{
		Use:   "exit-codes",
		Short: "What the exit codes mean",
		Long: `Exit codes of switchboard:

  0    done
  1    failed; the reason is on standard error
  2    wrong usage or settings; nothing was tried
  3    no such session, question, machine or hub, or several match the name
  4    no hub is running, or the hub can't be reached
  5    already answered by someone else, or changed meanwhile
  6    the agent's turn failed
  124  switchboard wait --timeout passed
  130  interrupted (Ctrl-C)

Exceptions: switchboard sim ends with the codes of the CLI that it simulates, switchboard wrap with
those of the CLI that it wraps. switchboard policy explain answers with its code: 0 allow, 1 deny,
2 ask, 3 error.`,
	}
}

// helpSessions is a page of the help.
func helpSessions() *cobra.Command {
	return &cobra.Command{
		Use:   "sessions",
		Short: "How to name sessions and questions",
		Long: `Name a SESSION by:

  its id, or the beginning of it (at least three letters): s5k2m7q3z
  its title, or the beginning of it, in upper or lower case: "fix the t"
  -, the session that was updated last

Name a QUESTION by:

  its id, or the beginning of it (at least three letters): q7x
  its session, if that asks one thing only
  -, the question that has waited longest

A name that matches several sessions or questions selects none: they are listed, with exit code 3.

Sessions of simulated agents (switchboard run --simulated) have a hub of their own. Commands find it
when no other hub is running, and when the usual hub doesn't know the name.`,
	}
}

// knownCommand refuses what is no command, and names those that could have been meant.
func knownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	text := fmt.Sprintf("unknown command %q", args[0])
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		text += "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return errors.New(text)
}

// noArguments refuses arguments.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%s takes no arguments, got %q", cmd.CommandPath(), args[0])
	}
	return nil
}

// oneSession, someSessions and oneQuestion say in plain words what is missing.
func oneSession(_ *cobra.Command, args []string) error { return exactlyOne("session", args) }

func oneQuestion(_ *cobra.Command, args []string) error { return exactlyOne("question", args) }

func someSessions(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return missingName("session")
	}
	return nil
}

// atMostOne refuses more than one.
func atMostOne(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return exactlyOne(what, args)
	}
}

func someQuestion(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return missingName("question")
	}
	return nil
}

// oneConversation and someConversation are for conversations on disk.
func oneConversation(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return errWhichConversation
	}
	return nil
}

func someConversation(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return errWhichConversation
	}
	return nil
}

var errWhichConversation = errors.New("which conversation? Name one by its id; switchboard disk ls lists them")

// someWords, sessionAndPrompt and oneFile are for single commands.
func someWords(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return errors.New("what should it look for? Name some words")
	}
	return nil
}

func sessionAndPrompt(_ *cobra.Command, args []string) error {
	if len(args) > 2 {
		return fmt.Errorf("name a session and one of its prompts, not %d things; quote a title with spaces", len(args))
	}
	return someSessions(nil, args)
}

func oneFile(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return errors.New("which file? Name the one to write")
	}
	return nil
}

func exactlyOne(what string, args []string) error {
	switch len(args) {
	case 0:
		return missingName(what)
	case 1:
		return nil
	default:
		return fmt.Errorf("name one %s only, not %d; quote a title with spaces", what, len(args))
	}
}

// missingName asks which session or question is meant.
func missingName(what string) error {
	last := map[string]string{"session": "the latest", "question": "the oldest open one"}[what]
	list := map[string]string{"session": "switchboard ls", "question": "switchboard questions"}[what]
	return fmt.Errorf("which %s? Name one, or - for %s; %s lists them", what, last, list)
}
