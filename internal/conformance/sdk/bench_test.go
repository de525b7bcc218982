//go:build linux

package sdk

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/claude/claudetest"
	"github.com/switchboard-dev/switchboard/internal/conformance"
	"github.com/switchboard-dev/switchboard/wire"
)

const (
	// sdkRounds is how often everything is measured; SDK_ROUNDS changes it.
	sdkRounds = 3
	// sdkStarts is how often a CLI is started with and without the SDK.
	sdkStarts = 20
	// sdkSteady is how far the rounds of what is compared may lie apart.
	sdkSteady = 0.25
	// sdkPatience ends a run that hangs.
	sdkPatience = 5 * time.Minute
)

// BenchmarkSDK compares this SDK with the official TypeScript one: both take the
// same floods from a simulated CLI, in turns, and `cat > /dev/null` shows what the
// pipe allows. It prints a table and which targets are met; no time makes it fail,
// but a line that is lost does.
func BenchmarkSDK(b *testing.B) {
	s := newShow(b)
	for b.Loop() {
		s.measure()
	}
}

// A flood is what is taken.
type flood struct {
	name   string
	prompt string
	how    string  // of consume
	lines  int     // how many the CLI writes
	text   int     // how many characters there are in their deltas
	faster float64 // how many times as fast as the other SDK ours is to be
}

// A taken is how one consumer took a flood: a value for each round.
type taken struct{ seconds, memory []float64 }

// A show has everything that is needed to measure.
type show struct {
	*testing.B
	modules, node, cli, consume string
	env                         []string
	dir                         string
	floods                      []*flood

	// Of floods, see pin.
	taker []string // what the program that takes one is run by
	giver string   // the CLI
}

func newShow(b *testing.B) *show {
	b.Helper()
	modules, err := conformance.SDK()
	s := &show{B: b, modules: needed(b, modules, err), dir: b.TempDir()}
	node, err := conformance.Node()
	s.node = needed(b, node, err)
	s.env = slices.DeleteFunc(claudetest.Env(b.TempDir(), ""), func(v string) bool { return strings.HasPrefix(v, "ANTHROPIC_BASE_URL=") })
	program := s.build("cmd/switchboard")
	if s.cli, err = claudetest.InstallProgram(b.TempDir(), program, nil); err != nil {
		b.Fatal(err)
	}
	s.consume = s.build("internal/conformance/cmd/consume")
	s.pin()

	// Lines are written one by one, as CLIs do, and the small ones also many at once,
	// which leaves nothing but the SDK to take time.
	small := smallEvents()
	s.add("small events", small, flood{how: "peek", faster: 2}, "singly", 160)
	s.add("small events, many at once", small, flood{how: "peek", faster: 2}, "", 160)
	s.add("messages of 2.8 kB, tool calls", toolCalls(), flood{how: "peek", faster: 3}, "singly", 800)
	s.add("messages of 2.8 kB, prose", prose(), flood{how: "peek", faster: 3}, "singly", 800)
	mix, err := os.ReadFile("testdata/mix.jsonl")
	if err != nil {
		b.Fatal(err)
	}
	s.add("a recorded mix, decoded", string(mix), flood{how: "decode", faster: 1.2}, "singly", 600)
	return s
}

// pin has who takes a flood run on one core and the CLI on another, whoever it is. Where
// Linux puts two processes that keep waking each other is a matter of luck, which changes
// the speed of a quick one by half.
func (s *show) pin() {
	s.Helper()
	s.giver = s.cli
	taskset, err := exec.LookPath("taskset")
	cores := s.cores()
	if err != nil || len(cores) < 2 {
		fmt.Println("\nThe processes run where the system puts them: pinning needs taskset and two cores.")
		return
	}
	s.taker = []string{taskset, "-c", cores[0]}
	s.giver = filepath.Join(s.dir, "pinned")
	script := fmt.Sprintf("#!/bin/sh\nexec '%s' -c %s '%s' \"$@\"\n", taskset, cores[1], s.cli)
	if err := os.WriteFile(s.giver, []byte(script), 0o700); err != nil {
		s.Fatal(err)
	}
}

// cores returns the numbers of those that may be used.
func (s *show) cores() (list []string) {
	s.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		s.Fatal(err)
	}
	_, allowed, _ := strings.Cut(string(status), "Cpus_allowed_list:")
	allowed, _, _ = strings.Cut(allowed, "\n")
	for part := range strings.SplitSeq(strings.TrimSpace(allowed), ",") {
		first, last, isRange := strings.Cut(part, "-")
		if list = append(list, first); isRange {
			list = append(list, last)
		}
	}
	return list
}

// needed is need for a benchmark.
func needed(b *testing.B, path string, err error) string {
	b.Helper()
	switch {
	case err == nil:
		return path
	case os.Getenv(conformance.RequireEnv) == "1":
		b.Fatal(err)
	default:
		b.Skip(err)
	}
	return ""
}

func (s *show) build(pkg string) string {
	s.Helper()
	program := filepath.Join(s.dir, filepath.Base(pkg))
	build := exec.CommandContext(s.Context(), "go", "build", "-o", program, "github.com/switchboard-dev/switchboard/"+pkg)
	if output, err := build.CombinedOutput(); err != nil {
		s.Fatalf("building %s: %v\n%s", pkg, err, output)
	}
	return program
}

// add completes a flood of a text that is written so many times.
func (s *show) add(name, text string, f flood, way string, times int) {
	s.Helper()
	path := filepath.Join(s.dir, fmt.Sprintf("flood-%d.jsonl", len(s.floods)))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.Fatal(err)
	}
	f.name, f.prompt = name, strings.Join(strings.Fields(fmt.Sprintf("@play %s %d %s", way, times, path)), " ")
	f.lines, f.text = times*strings.Count(text, "\n"), times*textOf(text)
	s.floods = append(s.floods, &f)
}

// textOf counts the characters in the deltas of a text's lines.
func textOf(text string) (n int) {
	for line := range strings.Lines(text) {
		h, err := wire.Peek([]byte(line))
		if err != nil {
			continue
		}
		if d, ok := h.Delta(); ok {
			n += utf8.RuneCount(d.Text)
		}
	}
	return n
}

const floodIDs = `"session_id":"1f0c2f3e-6f0f-4b7e-9d53-0a3f3f0f7f55","parent_tool_use_id":null,"uuid":"00000000-0000-4000-8000-%012d"}` + "\n"

// smallEvents are messages as they are streamed, word by word.
func smallEvents() string {
	var out strings.Builder
	n := 0
	event := func(format string, args ...any) {
		n++
		out.WriteString(`{"type":"stream_event","event":`)
		fmt.Fprintf(&out, format, args...)
		fmt.Fprintf(&out, ","+floodIDs, n)
	}
	words := strings.Fields("The function returns early when the list is empty, so the other branch can go. It is also renamed, since the old name says nothing.")
	for message := range 10 {
		event(`{"type":"message_start","message":{"id":"msg_%02d","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":10,"output_tokens":1}}}`, message)
		event(`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`)
		for word := range 495 {
			event(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"%s "}}`, words[word%len(words)])
		}
		event(`{"type":"content_block_stop","index":0}`)
		event(`{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":500}}`)
		event(`{"type":"message_stop"}`)
	}
	return out.String()
}

// code is what agents write about, with what has to be escaped in it.
const code = `// Words counts the words of a text. Upper and lower case are the same word.
func Words(text string, stop map[string]bool) (map[string]int, error) {
	counts := make(map[string]int)
	for i, line := range strings.Split(text, "\n") {
		if len(line) > maxLine {
			return nil, fmt.Errorf("line %d: %d bytes, expected at most %d", i+1, len(line), maxLine)
		}
	}
	return counts, nil
}
`

// messageSize is how long messages are, about.
const messageSize = 2800

// message is a line with an assistant message, whose content is made for the room that
// there is.
func message(n int, content func(room int) string) string {
	head := fmt.Sprintf(`{"type":"assistant","message":{"id":"msg_01AbCdEfGhIjKlMnOp%04d","type":"message","role":"assistant","model":"claude-sonnet-4-5-20250929","content":[`, n)
	tail := `],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1500,"cache_creation_input_tokens":0,"cache_read_input_tokens":1200,"output_tokens":200,"service_tier":"standard"}},` + fmt.Sprintf(floodIDs, n)
	return head + content(messageSize-len(head)-len(tail)) + tail
}

// prose are messages of text: the cheapest that there is for who parses all of it.
func prose() string {
	text := quoted(strings.Repeat("The function returns early when the list is empty, so the \"else\" branch can go. "+
		"I also rename values to counts: the old name says nothing.\n\n```go\n"+code+"```\n\n", 6))
	var out strings.Builder
	for n := range 100 {
		out.WriteString(message(n, func(room int) string {
			const begin, end = `{"type":"text","text":`, `"}`
			cut := text[:room-len(begin)-len(end)]
			// An escape is not cut in half.
			return begin + cut[:strings.LastIndexByte(cut, ' ')] + end
		}))
	}
	return out.String()
}

// toolCalls are messages in which agents do something, which most of theirs are: a part
// of a file replaced, a list of tasks, a table.
func toolCalls() string {
	var out strings.Builder
	for n := range 102 {
		out.WriteString(message(n, func(room int) string {
			name, input := "", ""
			for size := 1; ; size++ {
				var next string
				switch n % 3 {
				case 0:
					name, next = "Edit", fmt.Sprintf(`{"replace_all":false,"file_path":"/home/ada/words/words.go","old_string":%s,"new_string":%s}`,
						quoted(repeated(code, size*20)), quoted(repeated(code, size*24)))
				case 1:
					var list []string
					for i := range size {
						list = append(list, fmt.Sprintf(`{"content":"Mend case %d of the counter","status":"pending","activeForm":"Mending case %d"}`, i, i))
					}
					name, next = "TodoWrite", `{"todos":[`+strings.Join(list, ",")+`]}`
				case 2:
					var list []string
					for i := range size {
						list = append(list, fmt.Sprintf(`{"word":"w%d","count":%d,"files":["a.go","b.go"],"seen":true}`, i, 3*i))
					}
					name, next = "mcp__words__store", `{"table":"counts","rows":[`+strings.Join(list, ",")+`]}`
				}
				if len(next)+100 > room {
					break
				}
				input = next
			}
			return fmt.Sprintf(`{"type":"tool_use","id":"toolu_01AbCdEfGhIjKlMn%04d","name":%q,"input":%s}`, n, name, input)
		}))
	}
	return out.String()
}

// repeated is so much of a text over and over.
func repeated(text string, size int) string { return strings.Repeat(text, size/len(text)+1)[:size] }

// quoted is a string as JavaScript writes it, which does not escape what could be HTML.
func quoted(text string) string {
	var out strings.Builder
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		panic(err) // a string can be written
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// A report is what a consumer prints.
type report struct {
	Messages   int     `json:"messages"`
	Characters int     `json:"characters"`
	Seconds    float64 `json:"seconds"`
	Memory     float64 `json:"memory"`
}

// The consumers, in the order in which they take turns.
var consumers = []string{"cat > /dev/null", "TypeScript SDK", "this SDK"}

func (s *show) take(consumer string, f *flood) report {
	s.Helper()
	switch consumer {
	case consumers[0]:
		return report{Seconds: s.cat(f.prompt) - s.cat("@play 0 /dev/null")}
	case consumers[1]:
		script, err := filepath.Abs("flood.mjs")
		if err != nil {
			s.Fatal(err)
		}
		return s.run(f, s.node, script, s.modules, s.giver, f.prompt)
	}
	return s.run(f, s.consume, s.giver, f.how, f.prompt)
}

// run runs a consumer and checks that it got everything.
func (s *show) run(f *flood, program string, args ...string) (r report) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), sdkPatience)
	defer cancel()
	cmd := s.taking(ctx, append([]string{program}, args...)...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = s.dir, s.env, time.Second
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		s.Fatalf("%s, %s: %v\n%s", f.name, filepath.Base(program), err, &stderr)
	}
	if err := json.Unmarshal(out, &r); err != nil {
		s.Fatalf("%s printed %q: %v", program, out, err)
	}
	// Besides the flood there are an init, a result and the like.
	if r.Messages < f.lines || r.Messages > f.lines+20 || r.Characters != f.text {
		s.Fatalf("%s: %s got %d messages with %d characters, want %d with %d", f.name, filepath.Base(program), r.Messages, r.Characters, f.lines, f.text)
	}
	return r
}

// taking is the command that takes a flood.
func (s *show) taking(ctx context.Context, args ...string) *exec.Cmd {
	args = slices.Concat(s.taker, args)
	return exec.CommandContext(ctx, args[0], args[1:]...)
}

// bareArgs are those of a CLI that is started by hand.
func bareArgs() []string {
	return []string{"-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose", "--include-partial-messages"}
}

func userLine(prompt string) string {
	return fmt.Sprintf(`{"type":"user","message":{"role":"user","content":%s},"parent_tool_use_id":null,"session_id":""}`+"\n", quoted(prompt))
}

// cat returns how many seconds it takes from the start of the CLI until cat has had
// all of it.
func (s *show) cat(prompt string) float64 {
	s.Helper()
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		s.Fatal(err)
	}
	defer null.Close()
	r, w, err := os.Pipe()
	if err != nil {
		s.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(s.Context(), sdkPatience)
	defer cancel()
	cat := s.taking(ctx, "cat")
	cat.Stdin, cat.Stdout = r, null
	cli := exec.CommandContext(ctx, s.giver, bareArgs()...)
	cli.Dir, cli.Env, cli.Stdin, cli.Stdout = s.dir, s.env, strings.NewReader(userLine(prompt)), w
	start := time.Now()
	for _, cmd := range []*exec.Cmd{cat, cli} {
		if err := cmd.Start(); err != nil {
			s.Fatal(err)
		}
	}
	_, _ = r.Close(), w.Close() // they have their own
	for _, cmd := range []*exec.Cmd{cli, cat} {
		if err := cmd.Wait(); err != nil {
			s.Fatalf("%s: %v", cmd.Path, err)
		}
	}
	return time.Since(start).Seconds()
}

// bareStart returns how long it takes from the start of a CLI to its first message
// if everything is done by hand.
func (s *show) bareStart() (took time.Duration) {
	s.Helper()
	cli := exec.CommandContext(s.Context(), s.cli, bareArgs()...)
	cli.Dir, cli.Env = s.dir, s.env
	stdin, err := cli.StdinPipe()
	if err != nil {
		s.Fatal(err)
	}
	stdout, err := cli.StdoutPipe()
	if err != nil {
		s.Fatal(err)
	}
	start := time.Now()
	if err := cli.Start(); err != nil {
		s.Fatal(err)
	}
	if _, err := fmt.Fprint(stdin, `{"type":"control_request","request_id":"1","request":{"subtype":"initialize"}}`+"\n", userLine("@say hello")); err != nil {
		s.Fatal(err)
	}
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if h, err := wire.Peek(lines.Bytes()); err == nil && h.Is("system", "init") {
			took = time.Since(start)
			break
		}
	}
	if took == 0 {
		s.Fatalf("there was no message: %v", lines.Err())
	}
	if err := stdin.Close(); err != nil {
		s.Fatal(err)
	}
	for lines.Scan() { // to the end
	}
	if err := cli.Wait(); err != nil {
		s.Fatal(err)
	}
	return took
}

// sdkStart is bareStart with the SDK.
func (s *show) sdkStart() (took time.Duration) {
	s.Helper()
	start := time.Now()
	session, err := claude.Start(s.Context(), &claude.Options{CLI: &claude.CLI{Args: []string{s.cli}}, Dir: s.dir, Env: s.env, IncludePartialMessages: true})
	if err != nil {
		s.Fatal(err)
	}
	if _, err := session.Send(s.Context(), claude.Prompt{Text: "@say hello"}); err != nil {
		s.Fatal(err)
	}
	for e, err := range session.Events(s.Context(), 0) {
		if err != nil {
			s.Fatal(err)
		}
		if e.Header.Is("system", "init") {
			took = time.Since(start)
			break
		}
	}
	if err := session.Finish(s.Context()); err != nil {
		s.Fatal(err)
	}
	return took
}

// measure does all of it once.
func (s *show) measure() {
	s.Helper()
	rounds := sdkRounds
	if text := os.Getenv("SDK_ROUNDS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			s.Fatalf("SDK_ROUNDS is %q, want a number above 0", text)
		}
		rounds = n
	}
	table := map[string]*taken{}
	at := func(consumer string, f *flood) *taken {
		key := consumer + f.name
		if table[key] == nil {
			table[key] = &taken{}
		}
		return table[key]
	}
	for range rounds {
		for _, f := range s.floods {
			for _, c := range consumers {
				r := s.take(c, f)
				t := at(c, f)
				t.seconds, t.memory = append(t.seconds, r.Seconds), append(t.memory, r.Memory/(1<<20))
			}
		}
	}
	var bare, more []float64
	for range sdkStarts {
		b := s.bareStart()
		bare, more = append(bare, b.Seconds()*1e3), append(more, (s.sdkStart()-b).Seconds()*1e3)
	}

	var out strings.Builder
	fmt.Fprintf(&out, "\nFloods from a simulated CLI, %d rounds in turns, medians; ± is the spread of the rounds. Memory is the most that was resident.\n", rounds)
	fmt.Fprintf(&out, "%-34s %-16s %12s %6s %12s %6s\n", "flood", "taken by", "lines/s", "±", "memory", "±")
	for _, f := range s.floods {
		for _, c := range consumers {
			t := at(c, f)
			fmt.Fprintf(&out, "%-34s %-16s %12.0f %5.0f%%", f.name, c, float64(f.lines)/median(t.seconds), 100*spread(t.seconds))
			if c != consumers[0] {
				fmt.Fprintf(&out, " %8.1f MiB %5.0f%%", median(t.memory), 100*spread(t.memory))
			}
			out.WriteByte('\n')
		}
	}
	fmt.Fprintf(&out, "start to first message: %.1f ms by hand, %+.1f ms with this SDK (medians of %d pairs)\n\n", median(bare), median(more), sdkStarts)

	target := func(met bool, of [][]float64, format string, args ...any) {
		verdict := "met     "
		if !met {
			verdict = "NOT MET "
		}
		if slices.ContainsFunc(of, func(v []float64) bool { return spread(v) > sdkSteady }) {
			verdict = "UNSTEADY"
		}
		fmt.Fprintf(&out, "%s  %s\n", verdict, fmt.Sprintf(format, args...))
	}
	for _, f := range s.floods {
		theirs, ours := at(consumers[1], f), at(consumers[2], f)
		x := ratio(theirs.seconds, ours.seconds)
		target(x >= f.faster, [][]float64{theirs.seconds, ours.seconds}, "%s: %.2f times the TypeScript SDK's speed, want at least %g", f.name, x, f.faster)
		m := ratio(ours.memory, theirs.memory)
		target(m <= 0.25, [][]float64{theirs.memory, ours.memory}, "%s: %.2f of the TypeScript SDK's memory, want at most 0.25", f.name, m)
	}
	target(median(more) <= 15, nil, "start to first message: %.1f ms more than by hand, want at most 15", median(more))
	fmt.Fprintf(&out, "UNSTEADY: the rounds lie more than %.0f%% apart; the figure says nothing for sure, try on a quiet machine\n", 100*sdkSteady)
	fmt.Print(out.String())
	for n, name := range map[int]string{0: "x-ts-events", 2: "x-ts-calls", 3: "x-ts-prose", 4: "x-ts-decoded"} {
		s.ReportMetric(ratio(at(consumers[1], s.floods[n]).seconds, at(consumers[2], s.floods[n]).seconds), name)
	}
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

// spread says how far the values of the rounds lie apart, as a share of their
// median.
func spread(values []float64) float64 {
	return (slices.Max(values) - slices.Min(values)) / median(values)
}

// ratio is the median of the rounds' own ratios: what two did one after the other
// is compared, whatever the machine did in other rounds.
func ratio(a, b []float64) float64 {
	var list []float64
	for i := range a {
		list = append(list, a[i]/b[i])
	}
	return median(list)
}
