// Command consume takes a flood of lines from a CLI through the SDK, for the benchmark that compares it with the official TypeScript SDK.
//
//	consume CLI peek|decode PROMPT
//
// It starts the CLI, says the prompt and reads events to the result of the turn: their headers and the text of deltas, or all of them decoded.
// It prints one JSON object: how many events came, the characters in their deltas, the seconds from the prompt to the result, and the most
// memory that was resident. Linux only.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/wire"
)

// A report is what is printed.
type report struct {
	Messages   int     `json:"messages"`
	Characters int     `json:"characters"`
	Seconds    float64 `json:"seconds"`
	Memory     int64   `json:"memory"`
}

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: consume CLI peek|decode PROMPT")
		os.Exit(2)
	}
	if err := run(context.Background(), os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "consume:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, program, how, prompt string) (err error) {
	cli := &claude.CLI{Args: []string{program}}
	s, err := claude.Start(ctx, &claude.Options{CLI: cli, Env: os.Environ(), IncludePartialMessages: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	var r report
	start := time.Now()
	if _, err := s.Send(ctx, claude.Prompt{Text: prompt}); err != nil {
		return err
	}
	for e, err := range s.Events(ctx, 0) {
		if err != nil {
			return err
		}
		r.Messages++
		if how == "decode" {
			n, err := decoded(e)
			if err != nil {
				return err
			}
			r.Characters += n
		} else if d, ok := e.Delta(); ok {
			r.Characters += utf8.RuneCount(d.Text)
		}
		if e.Header.Is("result", "") {
			break
		}
	}
	r.Seconds = time.Since(start).Seconds()
	if r.Memory, err = memory(); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(r)
}

// decoded returns how many characters a decoded event adds.
func decoded(e claude.Event) (int, error) {
	m, err := e.Message()
	if err != nil {
		return 0, err
	}
	s, ok := m.(*wire.StreamEvent)
	if !ok {
		return 0, nil
	}
	piece, ok := s.Event.(*wire.ContentBlockDeltaEvent)
	if !ok {
		return 0, nil
	}
	text := ""
	switch d := piece.Delta.(type) { //nolint:gochecksumtype // the others add none
	case *wire.TextDelta:
		text = d.Text
	case *wire.ThinkingDelta:
		text = d.Thinking
	case *wire.InputJSONDelta:
		text = d.PartialJSON
	}
	return utf8.RuneCountInString(text), nil
}

var resident = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)

// memory returns the most that was resident since the program was started.
func memory() (int64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	found := resident.FindSubmatch(status)
	if found == nil {
		return 0, fmt.Errorf("there is no VmHWM in %s", status)
	}
	kib, err := strconv.ParseInt(string(found[1]), 10, 64)
	return kib << 10, err
}
