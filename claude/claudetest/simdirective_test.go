package claudetest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestToolOutcomes(t *testing.T) {
	s := startSim(t, "2.1.325", withArgs("--permission-mode=bypassPermissions"), func(o *SimOptions) { o.Env = append(o.Env, "IS_SANDBOX=1") })
	s.turn(strings.Join([]string{
		`@tool Bash {"command":"make"}`, `@result "built\nand tested"`,
		`@next`, `@tool Bash {"command":"make lint"}`, `@fails Exit code 2`,
		`@next`, `@tool Bash {"command":"echo plain"}`,
		`@say Done.`,
	}, "\n"))
	var got []string
	for _, line := range s.lines {
		if line["type"] != "user" {
			continue
		}
		for _, block := range line["message"].(map[string]any)["content"].([]any) {
			result := block.(map[string]any)
			got = append(got, fmt.Sprintf("%v %v", result["is_error"], result["content"]))
		}
	}
	if want := []string{"false built\nand tested", "true Exit code 2", "false plain"}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("results %q, want %q", got, want)
	}
}

func TestLineDirective(t *testing.T) {
	const exact = `{"type":"invented",  "x":1}`
	s := startSim(t, "2.1.37")
	if result := s.turn("@line " + exact); result["subtype"] != "success" {
		t.Errorf("the turn ended with %v", result)
	}
	for _, entry := range s.sim.Record() {
		if !entry.Read && entry.Line == exact {
			return
		}
	}
	t.Errorf("%s was not written as it is:\n%s", exact, s.story())
}

func TestFlood(t *testing.T) {
	const lines, size = 2000, 400
	s := startSim(t, "2.1.120")
	s.prompt(fmt.Sprintf("@flood %d %d", lines, size))
	count := 0
	s.await(func(line map[string]any) bool {
		if line["type"] == "stream_event" {
			count++
		}
		return line["type"] == "result"
	})
	if count != lines {
		t.Errorf("%d lines came, want %d", count, lines)
	}
	gap := int64(0)
	entries := s.sim.Record()
	for i := 1; i < len(entries); i++ {
		gap = max(gap, entries[i].Number-entries[i-1].Number-1)
	}
	if gap != lines {
		t.Errorf("the record leaves out %d numbers, want one for each line of the flood", gap)
	}
}

func TestPlay(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lines")
	const one, two = `{"type":"system","subtype":"one"}`, `{"type":"system","subtype":"two"}`
	if err := os.WriteFile(path, []byte(one+"\n"+two), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startSim(t, "2.1.120")
	s.prompt("@play 2 " + path + "\n@play singly 1 " + path)
	var got []string
	s.await(func(line map[string]any) bool {
		if subtype, _ := line["subtype"].(string); line["type"] == "system" && (subtype == "one" || subtype == "two") {
			got = append(got, subtype)
		}
		return line["type"] == "result"
	})
	if want := "one two one two one two"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

// BenchmarkFlood writes small lines into a pipe that is emptied by another goroutine, as a process would.
func BenchmarkFlood(b *testing.B) {
	const lines = 200_000
	for b.Loop() {
		reader, writer, err := os.Pipe()
		if err != nil {
			b.Fatal(err)
		}
		done := make(chan int)
		go func() {
			count := 0
			buffer := make([]byte, 1<<20)
			for {
				n, err := reader.Read(buffer)
				count += bytes.Count(buffer[:n], []byte("\n"))
				if err != nil {
					done <- count
					return
				}
			}
		}()
		input := fmt.Sprintf(`{"type":"user","message":{"role":"user","content":"@flood %d 200"}}`+"\n", lines)
		if code := RunSim(b.Context(), &SimOptions{Args: defaultArgs(), Dir: b.TempDir()}, strings.NewReader(input), writer); code != 0 {
			b.Fatalf("the CLI ended with %d", code)
		}
		if err := writer.Close(); err != nil {
			b.Fatal(err)
		}
		if count := <-done; count < lines {
			b.Fatalf("%d lines came, want %d", count, lines)
		}
		if err := reader.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(lines)*float64(b.N)/b.Elapsed().Seconds(), "lines/s")
}
