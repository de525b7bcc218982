package claudemcp

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/claude/claudetest"
	"github.com/switchboard-dev/switchboard/wire"
)

// patience is the last guard of tests whose time is the real one.
const patience = 90 * time.Second

// versions are the CLIs that are imitated.
var versions = []string{"2.1.37", "2.1.120", "2.1.325"}

// start starts a session with a simulated CLI that serves a server as "calc".
func start(t *testing.T, version string, s *Server, change ...func(*claude.Options)) *claude.Session {
	t.Helper()
	quirks, err := claudetest.QuirksFor(version)
	if err != nil {
		t.Fatal(err)
	}
	sim := claudetest.StartSim(&claudetest.SimOptions{
		Quirks: &quirks,
		Args: []string{
			"--print", "--verbose", "--input-format=stream-json", "--output-format=stream-json", "--permission-prompt-tool=stdio",
			"--replay-user-messages",
		},
		Env: []string{"HOME=" + t.TempDir()},
		Dir: t.TempDir(),
	})
	o := &claude.Options{
		OnQuestion: func(_ context.Context, q claude.Question) (claude.Reply, error) {
			if q, ok := q.(*claude.PermissionQuestion); ok {
				return q.Allow(), nil
			}
			return nil, fmt.Errorf("asked %T", q)
		},
	}
	if s != nil {
		o.MCPServers = map[string]claude.MCPServer{"calc": s}
	}
	for _, c := range change {
		c(o)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	session, err := claude.NewSession(ctx, sim, o)
	if err != nil {
		_ = sim.Close()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := session.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
	})
	return session
}

// turn has the model do something and returns the results of its tools.
func turn(t *testing.T, session *claude.Session, prompt string) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	done, err := session.Ask(ctx, claude.Prompt{Text: prompt})
	if err != nil {
		t.Fatal(err)
	}
	if err := done.Err(); err != nil {
		t.Fatal(err)
	}
	var results []string
	for event, err := range session.Events(ctx, 0) {
		if err != nil {
			t.Fatal(err)
		}
		m, err := event.Message()
		if err != nil {
			t.Fatal(err)
		}
		switch m := m.(type) { //nolint:gochecksumtype // the rest is of no interest
		case *wire.User:
			for _, block := range m.Message.Content.Blocks {
				if r, ok := block.(*wire.ToolResultBlock); ok {
					results = append(results, resultText(r))
				}
			}
		case *wire.Result:
			if m.UUID == done.Result.UUID {
				return results
			}
			results = nil
		}
	}
	t.Fatal("the session ended before its turn")
	return nil
}

// resultText is what the model reads of a tool's result.
func resultText(r *wire.ToolResultBlock) string {
	var b strings.Builder
	if r.IsError {
		b.WriteString("failed: ")
	}
	b.WriteString(r.Content.Text)
	for _, block := range r.Content.Blocks {
		if block, ok := block.(*wire.TextBlock); ok {
			b.WriteString(block.Text)
			continue
		}
		b.WriteString("(" + block.BlockType() + ")")
	}
	return b.String()
}

func TestSession(t *testing.T) {
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			var ids sync.Map
			s := NewServer("calc", "1.0.0", nil, add(), failing(), NewTool("tell", "Tells what it knows.", func(ctx context.Context, _ struct{}) (string, error) {
				if err := Progress(ctx, 1, 2, "half of it"); err != nil {
					return "", err
				}
				ids.Store(ToolUseID(ctx), true)
				return "Told.", nil
			}))
			session := start(t, version, s)
			got := turn(t, session, `@tool mcp__calc__add {"a":1,"b":2}
				@tool mcp__calc__fail {"how":"error"}
				@tool mcp__calc__tell {}
				@say Over.`)
			want := []string{`{"sum":3}`, "failed: that is no number", "Told."}
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
			known := 0
			ids.Range(func(id, _ any) bool {
				known++
				return strings.HasPrefix(id.(string), "toolu_")
			})
			if known != 1 {
				t.Errorf("the tool knows %d calls, want 1", known)
			}
			status, err := session.MCPStatus(t.Context())
			if err != nil || len(status) != 1 || status[0].Name != "calc" || status[0].Status != "connected" {
				t.Errorf("status %+v, %v", status, err)
			}
		})
	}
}

// A server that comes later, which old CLIs open twice, goes, and comes back.
func TestSessionSetServers(t *testing.T) {
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			session := start(t, version, nil)
			s := NewServer("calc", "1.0.0", nil, add())
			for range 2 {
				answer, err := session.SetMCPServers(t.Context(), nil, map[string]claude.MCPServer{"calc": s})
				if err != nil || len(answer.Added) != 1 {
					t.Fatalf("setting: %+v, %v", answer, err)
				}
				got := turn(t, session, `@tool mcp__calc__add {"a":1,"b":2}
					@say Over.`)
				if d := cmp.Diff([]string{`{"sum":3}`}, got); d != "" {
					t.Error(d)
				}
				if answer, err = session.SetMCPServers(t.Context(), nil, nil); err != nil || len(answer.Removed) != 1 {
					t.Fatalf("removing: %+v, %v", answer, err)
				}
				for range s.MCP().Sessions() {
					t.Error("a session of the server is left")
				}
			}
		})
	}
}

// An interrupt ends the tool that runs.
func TestSessionInterrupt(t *testing.T) {
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			w := newWaiting()
			session := start(t, version, NewServer("calc", "1.0.0", nil, w.tool("wait")))
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			if _, err := session.Send(ctx, claude.Prompt{Text: "@tool mcp__calc__wait {}\n@say Over."}); err != nil {
				t.Fatal(err)
			}
			awaitRun(ctx, t, w)
			if _, err := session.Interrupt(ctx); err != nil {
				t.Fatal(err)
			}
			awaitEnd(ctx, t, w)
		})
	}
}

// The end of a session ends its tools.
func TestSessionClose(t *testing.T) {
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			w := newWaiting()
			s := NewServer("calc", "1.0.0", nil, w.tool("wait"))
			session := start(t, version, s)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			if _, err := session.Send(ctx, claude.Prompt{Text: "@tool mcp__calc__wait {}\n@say Over."}); err != nil {
				t.Fatal(err)
			}
			awaitRun(ctx, t, w)
			if err := session.Close(); err != nil {
				t.Error(err)
			}
			awaitEnd(ctx, t, w)
			for range s.MCP().Sessions() {
				t.Error("a session of the server is left")
			}
		})
	}
}

func awaitRun(ctx context.Context, t *testing.T, w *waiting) {
	t.Helper()
	select {
	case <-w.runs:
	case <-ctx.Done():
		t.Fatal("the tool was not called")
	}
}

func awaitEnd(ctx context.Context, t *testing.T, w *waiting) {
	t.Helper()
	select {
	case <-w.ended:
	case <-ctx.Done():
		t.Fatal("the tool's context did not end")
	}
}

// A tool that is added while a session runs is there for CLIs that look again.
func TestSessionToolsChange(t *testing.T) {
	s := NewServer("calc", "1.0.0", nil, add())
	session := start(t, "2.1.325", s)
	turn(t, session, "@say Ready.")
	if err := s.Add(returns("Late.")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for known := false; !known; {
		status, err := session.MCPStatus(ctx)
		if err != nil {
			t.Fatalf("the CLI has not looked again: %v", err)
		}
		known = slices.ContainsFunc(status, func(server wire.MCPServerStatus) bool { return len(server.Tools) == 2 })
	}
	if d := cmp.Diff([]string{"Late."}, turn(t, session, "@tool mcp__calc__value {}\n@say Over.")); d != "" {
		t.Error(d)
	}
}

// What is wrong with a server is told by the start of the session.
func TestSessionUnusable(t *testing.T) {
	sim := claudetest.StartSim(nil)
	defer func() { _ = sim.Close() }()
	session, err := claude.NewSession(t.Context(), sim, &claude.Options{
		MCPServers: map[string]claude.MCPServer{"calc": NewServer("calc", "1", nil, add(), add())},
	})
	if err == nil {
		_ = session.Close()
	}
	if err == nil || !strings.Contains(err.Error(), `tool "add": it is there twice`) {
		t.Errorf("error %v", err)
	}
}
