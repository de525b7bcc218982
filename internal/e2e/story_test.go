//go:build linux || darwin

package e2e

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/claude"
)

// asking is a prompt whose turn has one question, and name in its tool's input.
func asking(name string) string {
	return fmt.Sprintf("@say I ask.\n@tool Bash {\"command\":\"touch %s\"}\n@result done\n@say Done with %s.", name, name)
}

// saying is a prompt whose turn streams some text and asks nothing.
func saying(name string) string {
	return fmt.Sprintf("@slow 1ms\n@say Here are some words about %s, and then a few more of them.", name)
}

// tell is the story that is told at every kill: a turn that streams, one with a
// question, two prompts at once, and a question that stays open. Every step may
// find the hub dead; whoever kills it starts it again.
func (s *session) tell(ctx context.Context) error {
	if err := s.turn(ctx, "first", saying("one")); err != nil {
		return err
	}
	second, err := s.send(ctx, "second", asking("two"))
	if err != nil {
		return err
	}
	if err := s.allow(ctx, 1); err != nil {
		return err
	}
	if err := s.awaitTurn(ctx, 0, second); err != nil {
		return err
	}
	var both []*api.Message
	for _, name := range []string{"third", "fourth"} {
		message, err := s.send(ctx, name, saying(name))
		if err != nil {
			return err
		}
		both = append(both, message)
	}
	for _, message := range both {
		if err := s.awaitTurn(ctx, 0, message); err != nil {
			return err
		}
	}
	if _, err := s.send(ctx, "fifth", asking("five")); err != nil {
		return err
	}
	_, err = s.awaitQuestion(ctx, 0, 2)
	return err
}

// conclude answers the question that tell has left open, after the hub was
// started again, and waits for the end of its turn.
func (s *session) conclude(ctx context.Context) error {
	question, err := s.awaitQuestion(ctx, 0, 2)
	if err != nil {
		return err
	}
	if err := s.answer(ctx, question.ID, api.Answer{ClientID: "last", Decision: "allow"}); err != nil {
		return err
	}
	_, err = s.await(ctx, "the end of the last turn", func(events []api.Event) bool {
		opened := questionSeq(events, 2)
		for _, e := range events {
			if e.Seq > opened && isResult(e) {
				return true
			}
		}
		return false
	})
	return err
}

// questionSeq returns where the n-th question was opened.
func questionSeq(events []api.Event, n int) int64 {
	for _, e := range events {
		if e.Kind != api.KindQuestionOpened {
			continue
		}
		if n--; n == 0 {
			return e.Seq
		}
	}
	return 0
}

// createDialled creates a session and starts a simulated CLI that dials in to it,
// through via if that is not nil.
func (l *lab) createDialled(transport string, via *proxy) *session {
	l.t.Helper()
	s := &session{lab: l, dialled: true}
	s.dir, s.record = l.newDir(lastDialling)
	program := filepath.Join(s.dir, ".agent", "claude")
	if l.options.real {
		program = l.options.agent
	}
	var created api.Created
	request := api.CreateSession{ClientID: "create-" + s.dir, Dir: s.dir, Transport: transport}
	if err := l.insist(l.ctx(), "POST", "/v1/sessions", request, &created); err != nil {
		l.t.Fatal(err)
	}
	address := "ws://" + l.address + "/ws/cli/" + created.ID
	if created.Token == "" || created.URL != address {
		l.t.Errorf("the session has the address %q and a token of %d bytes; want %s", created.URL, len(created.Token), address)
	}
	s.id, s.follower = created.ID, l.follow(created.ID)
	if via != nil {
		address = "ws://" + via.listener.Addr().String() + "/ws/cli/" + created.ID
	}
	l.dial(s.dir, program, address, created.Token, transport == "hybrid")
	return s
}

// dial starts a CLI that dials in. It ends with the test.
func (l *lab) dial(dir, program, address, token string, post bool) {
	l.t.Helper()
	env := l.environment()
	cli, err := claude.Find(l.ctx(), &claude.FindOptions{Path: program, Env: env})
	if err != nil {
		l.t.Fatal(err)
	}
	process, err := cli.Start(l.ctx(), &claude.Options{
		Dir: dir, Env: env, SDKURL: address, SDKToken: token, SDKPost: post, IncludePartialMessages: true, ReplayUserMessages: true,
	})
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { _ = process.Close() }) // how it ends is not what is tested
}

// TestStory holds that the story comes to its end when nobody is killed, and
// that what happens to an agent when its hub ends in good order is nothing. Its
// hub is one that was told nothing of sandboxes: agents that it starts are in one.
func TestStory(t *testing.T) {
	t.Parallel()
	for _, transport := range []string{"shim", "websocket", "hybrid"} {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, &labOptions{sandbox: sandboxAuto})
			l.start()
			s := l.session(transport)
			if err := s.tell(l.ctx()); err != nil {
				t.Fatal(err)
			}
			if !s.dialled {
				s.contained(sandboxDeny)
			}
			l.verdict(s)
			l.start()
			if err := s.conclude(l.ctx()); err != nil {
				t.Fatal(err)
			}
			l.verdict(s)
		})
	}
}

// lastDialling is the newest version that dials in.
const lastDialling = "2.1.120"

// session creates a session with a transport.
func (l *lab) session(transport string) *session {
	l.t.Helper()
	if transport == "shim" {
		return l.mustCreate(nil)
	}
	return l.createDialled(transport, nil)
}
