package terminal_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/terminal"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
)

// machines are nodes in all states.
func machines(now time.Time) []api.Node {
	return []api.Node{
		{
			ID: "n1", Name: "gpu-1", State: api.NodeOnline, Labels: map[string]string{"zone": "eu", "gpu": "h100"}, Sessions: 2, MaxSessions: 8, CPUs: 16, Load: 0.25,
			MemoryBytes: 64 << 30, MemoryFree: 48 << 30, CLIs: []api.NodeCLI{{Path: "/usr/bin/claude", Version: "2.1.325"}}, Version: "v1.2.3", LastSeen: now.Add(-time.Second),
			Hostname: "gpu-1.lab\x1b[2J", OS: "linux", Arch: "amd64", Address: "192.0.2.7", Sandbox: "bubblewrap", SkewMillis: -3500, Created: now.Add(-24 * time.Hour), Fingerprint: "sha256:abc",
		},
		{ID: "n2", Name: "laptop", State: api.NodeOffline, Draining: true, LastSeen: now.Add(-2 * time.Hour)},
		{ID: "n3", Name: "new", State: api.NodeOffline},
		{ID: "n4", Name: "try", State: api.NodeDraining, CLIs: []api.NodeCLI{{Simulated: true}}, LastSeen: now},
	}
}

// inPipe and inTerminal are views without colours.
func inPipe(now time.Time) *terminal.View {
	return &terminal.View{Styles: paint.Profile{}.Styles(), Headings: true, Now: now}
}

func inTerminal(now time.Time) *terminal.View {
	return &terminal.View{Styles: paint.Profile{Width: 160}.Styles(), Headings: true, Terminal: true, Now: now, Home: "/home/ann"}
}

// columns returns the words of lines, with one space between them.
func columns(lines []string) string {
	var out []string
	for _, line := range lines {
		out = append(out, strings.Join(strings.Fields(line), " "))
	}
	return strings.Join(out, "\n")
}

func TestNodes(t *testing.T) {
	now := time.Date(2026, 11, 18, 7, 0, 0, 0, time.UTC)
	list := machines(now)
	want := `NAME STATE SESSIONS LOAD MEMORY FREE CLAUDE CODE LABELS VERSION LAST SEEN
gpu-1 online 2/8 25% 48GiB 2.1.325 gpu=h100,zone=eu v1.2.3 2026-11-18T06:59:59Z
laptop offline 0 - - none - - 2026-11-18T05:00:00Z
new offline 0 - - - - - never
try draining 0 - - simulated - - 2026-11-18T07:00:00Z`
	if diff := cmp.Diff(want, columns(inPipe(now).Nodes(list))); diff != "" {
		t.Error(diff)
	}
	text := columns(inTerminal(now).Nodes(list))
	for _, part := range []string{"gpu-1 online 2/8 25%", "v1.2.3 now", "never", "2h"} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in:\n%s", part, text)
		}
	}
}

func TestNode(t *testing.T) {
	now := time.Date(2026, 11, 18, 7, 0, 0, 0, time.UTC)
	list := machines(now)
	text := columns(inPipe(now).Node(&list[0]))
	for _, line := range []string{
		"machine gpu-1", "id n1", "state online", "labels gpu=h100, zone=eu", "sessions 2 of 8", "address 192.0.2.7", "load 25 % of 16 CPUs", "sandbox bubblewrap",
		"agent Claude Code 2.1.325, /usr/bin/claude", "version v1.2.3", "fingerprint sha256:abc",
	} {
		if !strings.Contains("\n"+text+"\n", "\n"+line+"\n") {
			t.Errorf("%q is not in:\n%s", line, text)
		}
	}
	if !strings.Contains(text, "behind the hub's") || strings.Contains(text, "\x1b") {
		t.Errorf("got:\n%s", text)
	}
	text = columns(inPipe(now).Node(&list[1]))
	for _, part := range []string{"state offline, draining", "no Claude Code found"} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in:\n%s", part, text)
		}
	}
}

func TestSessionsOnMachines(t *testing.T) {
	now := time.Date(2026, 11, 18, 7, 0, 0, 0, time.UTC)
	list := []api.SessionSummary{
		{ID: "s1", State: api.StateIdle, Dir: "/home/ann/blog", Title: "Here", Updated: now},
		{ID: "s2", State: api.StateIdle, Dir: "/home/ann/blog", Title: "There", Node: "gpu-1", Updated: now},
	}
	want := `ID STATE ASKS COST UPDATED MODEL MACHINE FOLDER TITLE
s1 idle - 0.0000 2026-11-18T07:00:00Z - - /home/ann/blog Here
s2 idle - 0.0000 2026-11-18T07:00:00Z - gpu-1 /home/ann/blog There`
	if diff := cmp.Diff(want, columns(inPipe(now).Sessions(list))); diff != "" {
		t.Error(diff)
	}
	// Another machine's home is not the one of this machine.
	text := columns(inTerminal(now).Sessions(list))
	for _, part := range []string{"Here ~/blog", "There gpu-1 /home/ann/blog"} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in:\n%s", part, text)
		}
	}
	// Where there is one machine only, there is no column.
	if text := columns(inPipe(now).Sessions(list[:1])); strings.Contains(text, "MACHINE") {
		t.Errorf("got:\n%s", text)
	}
}

func TestHubs(t *testing.T) {
	now := time.Date(2026, 11, 18, 7, 0, 0, 0, time.UTC)
	list := []terminal.KnownHub{{Name: "local"}, {Name: "work", URL: "https://hub.example", Pin: "sha256:abc", Current: true, Added: now}}
	want := `CURRENT NAME ADDRESS LOGGED IN FINGERPRINT
- local - - -
* work https://hub.example 2026-11-18T07:00:00Z sha256:abc`
	if diff := cmp.Diff(want, columns(inPipe(now).Hubs(list))); diff != "" {
		t.Error(diff)
	}
	if text := columns(inTerminal(now).Hubs(list)); !strings.Contains(text, "local this machine") {
		t.Errorf("got:\n%s", text)
	}
}
