package history

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/switchboard-dev/switchboard/wire"
)

// writerEnv makes the test binary a process that writes to a transcript: its value is how many lines.
const writerEnv = "HISTORY_TEST_LINES"

func TestMain(m *testing.M) {
	if lines := os.Getenv(writerEnv); lines != "" {
		if err := writeLines(lines); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// writeLines is what such a process does.
func writeLines(lines string) error {
	n, err := strconv.Atoi(lines)
	if err != nil {
		return err
	}
	s, err := Open(Options{Version: wire.Version{Major: 2, Minor: 1, Patch: 325}, Env: os.Getenv, Dir: os.Getenv("HISTORY_TEST_DIR"), Persist: true})
	if err != nil {
		return err
	}
	for range n {
		if err := s.Append(Entry{Session: first, Type: User, Message: says("user", "hello"), PermissionMode: "default"}); err != nil {
			return err
		}
	}
	return nil
}

const (
	first  = "11111111-1111-4111-8111-111111111111"
	second = "22222222-2222-4222-8222-222222222222"
	third  = "33333333-3333-4333-8333-333333333333"
)

// versions are the known forms of a transcript.
func versions() []string { return []string{"2.1.37", "2.1.120", "2.1.325"} }

// A world is a home folder and a working folder.
type world struct {
	t       testing.TB
	version string
	home    string
	dir     string
	env     map[string]string
	clock   time.Time
}

func newWorld(t testing.TB, version string) *world {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, version: version, home: filepath.Join(root, "home"), dir: filepath.Join(root, "work"), env: map[string]string{}}
	w.env["HOME"] = w.home
	w.clock = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	w.mkdir(w.dir)
	return w
}

func (w *world) mkdir(dir string) {
	w.t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		w.t.Fatal(err)
	}
}

// process opens a store as a new process does. Its clock moves by a millisecond with each look.
func (w *world) process() *Store {
	w.t.Helper()
	version, err := wire.ParseVersion(w.version)
	if err != nil {
		w.t.Fatal(err)
	}
	s, err := Open(Options{
		Version: version, Dir: w.dir, Persist: true,
		Env: func(name string) string { return w.env[name] },
		Now: func() time.Time { w.clock = w.clock.Add(time.Millisecond); return w.clock },
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// say appends a turn: a prompt and its answer. It returns the uuid of the answer.
func (w *world) say(s *Store, session, prompt, answer string) string {
	w.t.Helper()
	uuid := wire.NewUUID()
	w.must(s.Queue(session, Enqueue, uuid, prompt))
	w.must(s.Queue(session, Dequeue, uuid, ""))
	w.must(s.Append(Entry{Session: session, Type: User, UUID: uuid, Message: says("user", prompt), PermissionMode: "default"}))
	uuid = wire.NewUUID()
	w.must(s.Append(Entry{Session: session, Type: Assistant, UUID: uuid, Message: says("assistant", answer), RequestID: "req_1"}))
	return uuid
}

// load loads a session.
func (w *world) load(s *Store, session string) *Conversation {
	w.t.Helper()
	c, err := s.Load(session)
	w.must(err)
	return c
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// read returns the transcript of a session of the folder.
func (w *world) read(s *Store, session string) string {
	w.t.Helper()
	path, err := s.Path(session)
	w.must(err)
	data, err := os.ReadFile(path)
	w.must(err)
	return string(data)
}

// says returns a message with a text: a user's as a string, the model's as a block.
func says(role, text string) json.RawMessage {
	var content any = text
	if role == "assistant" {
		content = []any{map[string]string{"type": "text", "text": text}}
	}
	return message(role, content)
}

// calls returns a message with a call of a tool.
func calls(answer, id string) json.RawMessage {
	m := map[string]any{"id": answer, "role": "assistant", "content": []any{map[string]any{"type": "tool_use", "id": id, "name": "Bash", "input": map[string]any{}}}}
	data, err := json.Marshal(m)
	if err != nil {
		panic(err) // a mistake in the test
	}
	return data
}

// returns returns a message with the result of a tool.
func returns(id, text string) json.RawMessage {
	return message("user", []any{map[string]any{"type": "tool_result", "tool_use_id": id, "content": text}})
}

func message(role string, content any) json.RawMessage {
	data, err := json.Marshal(map[string]any{"role": role, "content": content})
	if err != nil {
		panic(err) // a mistake in the test
	}
	return data
}

// dialogue returns the conversation in short: each message as its role's first letter and its content.
func dialogue(c *Conversation) []string {
	var lines []string
	for _, m := range c.Messages {
		line := m.Role[:1] + ":"
		for _, b := range blocksOf(m.Content) {
			switch b.Type {
			case "tool_use":
				line += " call " + b.ID
			case "tool_result":
				line += " result " + b.ToolUseID
			default:
				line += " " + b.Text
			}
		}
		lines = append(lines, line)
	}
	return lines
}
