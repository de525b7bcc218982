//go:build unix

package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/internal/launch"
	"github.com/switchboard-dev/switchboard/internal/terminal/termtest"
)

var record = flag.Bool("record", false, "make the recordings in docs/media anew: make record")

// A recording is a film of a terminal and the picture that is made of it.
type recording struct {
	name, title, description string
	// maxPicture is how large the picture may be.
	maxPicture int
}

func (r *recording) cast() string { return filepath.Join("../../docs/media", r.name+".cast") }
func (r *recording) svg() string  { return filepath.Join("../../docs/media", r.name+".svg") }

// TestRecording does what a person does who has just fetched the sources: make build, run, and the key y for what the agent asks. It compares what is
// on the screen with the recording that the README shows; with -record it makes that recording.
//
// All is real but for two things. What "go build" and npm do is not done, since it takes minutes: this very test binary, which is the program as well,
// takes the place of what they would make. And what differs from time to time is made the same: times, the number of a process, a session's id, names and folders.
func TestRecording(t *testing.T) {
	t.Parallel() // most of it is waiting
	s := newShoot(t, &recording{
		name: "first-approval", title: "Switchboard: from make build to an answered approval",
		description: "A terminal. make build makes the program. bin/switchboard run --simulated starts a simulated agent, which reads files and asks whether it may run the tests. " +
			"The key y allows it; the agent goes on, and asks its next question.",
		maxPicture: 200 << 10, // it is loaded with every look at the README
	})
	s.build()
	s.runAndAllow()
	s.stop() // an agent that is gone is left with one key
	s.leave(termtest.CtrlC, termtest.CtrlC)
	s.exit()
	s.compare()
}

// TestRecordingReturn goes on where TestRecording ends: the person leaves the agent, the hub is killed, and attach finds the agent again with its
// question.
func TestRecordingReturn(t *testing.T) {
	t.Parallel()
	s := newShoot(t, &recording{
		name: "first-return", title: "Switchboard: leave an agent, kill its hub, come back",
		description: "A terminal. An agent that bin/switchboard run has started asks a question. Esc and Ctrl+D leave it running. The hub is killed with kill -9. " +
			"bin/switchboard ls starts the hub again and lists the agent, which still waits; bin/switchboard attach shows its question full screen, and keys answer it, until the agent shows its plan.",
		maxPicture: 400 << 10,
	})
	s.build()
	s.runAndAllow()
	s.term.Type(termtest.Esc)
	s.moment(scene{"esc: later", 2 * time.Second, "What should the slug be", false}, func(screen *termtest.Screen) bool {
		return screen.Contains("esc")
	})
	s.leave(termtest.CtrlD)
	s.moment(scene{"ctrl+d: left, and still running", 4 * time.Second, "Agent still running", true}, atPrompt)
	s.command("clear")
	s.await(func(screen *termtest.Screen) bool { return screen.CursorY == 0 && atPrompt(screen) })
	s.command("kill -9 $(head -n 1 ~/.local/share/switchboard/simulated/lock)")
	s.await(func(screen *termtest.Screen) bool { return screen.CursorY > 0 && atPrompt(screen) })
	s.command("bin/switchboard ls")
	s.moment(scene{"$ bin/switchboard ls", 4 * time.Second, "switchboard ls", true}, func(screen *termtest.Screen) bool {
		return screen.Contains("UPDATED") && atPrompt(screen)
	})
	s.command("bin/switchboard attach")
	s.moment(scene{"$ bin/switchboard attach", 5 * time.Second, "", false}, func(screen *termtest.Screen) bool {
		return screen.AltScreen && screen.Contains("What should the slug be") && !screen.Contains("one moment")
	})
	s.term.Type(termtest.Enter)
	s.await(func(screen *termtest.Screen) bool { return screen.Contains("❯ 1 [ ]") })
	s.term.Type("1", termtest.Enter)
	s.await(func(screen *termtest.Screen) bool { return screen.Contains("✓ Tests") })
	s.term.Type(termtest.Enter)
	s.moment(scene{"answered", 6 * time.Second, "│ Fix slug.Make", false}, func(screen *termtest.Screen) bool {
		return screen.Contains("Approve this plan?") && !screen.Contains("one moment")
	})
	s.stop()
	s.leave(termtest.CtrlC, termtest.CtrlC)
	s.exit()
	s.compare()
}

// build makes the program.
func (s *shoot) build() {
	s.t.Helper()
	s.command("make build")
	s.moment(scene{"$ make build", 1200 * time.Millisecond, "", true}, func(screen *termtest.Screen) bool {
		return screen.CursorY > 1 && screen.Row(screen.CursorY) == "$"
	})
}

// runAndAllow starts an agent, and allows the first thing that it asks for.
func (s *shoot) runAndAllow() {
	s.t.Helper()
	s.command(`bin/switchboard run --simulated "Our slugs have double dashes. Fix that."`)
	s.moment(scene{"$ bin/switchboard run --simulated …", 5 * time.Second, "I'll look at how slugs are made", false}, func(screen *termtest.Screen) bool {
		return screen.Contains("Run this command?") && screen.Contains("y/enter allow") && screen.Contains("waiting for you")
	})
	s.term.Type("y")
	s.moment(scene{"the key y: allowed", 6 * time.Second, "Run this command?", false}, func(screen *termtest.Screen) bool {
		return screen.Contains("allowed by") && screen.Contains("What should the slug be") && screen.Contains("waiting for you") && !screen.Contains("one moment")
	})
}

// atPrompt says whether the shell waits for a command.
func atPrompt(screen *termtest.Screen) bool {
	return screen.Row(screen.CursorY) == "$" && screen.CursorX == 2
}

// await waits for a screen that is not part of the film.
func (s *shoot) await(ready func(*termtest.Screen) bool) {
	s.t.Helper()
	s.term.WaitUntil(ready, "after moment "+strconv.Itoa(s.next))
}

// A shoot is the making of a recording, or the comparison with one.
type shoot struct {
	t     *testing.T
	made  *recording
	home  string
	term  *termtest.Terminal
	film  termtest.Film
	masks []mask
	want  []termtest.Frame // the recording that is there
	next  int              // which of its frames comes
	bad   bool
}

// A mask makes the same what differs from time to time.
type mask struct {
	expression *regexp.Regexp
	with       string
}

// newShoot starts a shell in a folder of sources.
func newShoot(t *testing.T, made *recording) *shoot {
	t.Helper()
	s := &shoot{t: t, made: made, home: shortFolder(t)}
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []struct{ expression, with string }{
		{regexp.QuoteMeta(s.home), "/home/ann"},
		{`process \d+`, "process 4711"},
		{`(SIMULATED · |session |attach |stop )s[a-z0-9]{8}\b`, "${1}s5k2m7q3z"},
		{`\bs[a-z0-9]{8}  (needs you)`, "s5k2m7q3z  ${1}"},
		{`pid \d+`, "pid 4711"},
		{`\b\d+s ago`, "now"},
		{`\b` + regexp.QuoteMeta(me.Username) + `\b`, "ann"},
		{`\b\d+(\.\d+)?s\b`, "1s"},
		{`\b\d+ tokens\b`, "212 tokens"},
		{`[\x{2801}-\x{28ff}]`, "⠋"},
	} {
		s.masks = append(s.masks, mask{regexp.MustCompile(m.expression), m.with})
	}
	if !*record {
		file, err := os.Open(s.made.cast())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = file.Close() }() // it was only read
		cast, err := termtest.ReadCast(file)
		if err != nil {
			t.Fatal(err)
		}
		s.want = cast.Frames(frameOptions())
	}
	sources := filepath.Join(s.home, "switchboard")
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	compiler := "#!/bin/sh\ncase \" $* \" in *' -o bin/ ./cmd/switchboard '*) mkdir -p bin && { ln \"$PROGRAM\" bin/switchboard || cp \"$PROGRAM\" bin/switchboard; } 2>/dev/null;; esac\n"
	const nothing = "#!/bin/sh\n"
	files := map[string]string{
		"switchboard/Makefile": string(makefile), "go": compiler,
		"bin/npm": nothing + "mkdir -p node_modules\n", "bin/npx": nothing + "mkdir -p dist/app\n", "bin/node": nothing, "bin/git": nothing,
	}
	// What the console is made of.
	for _, name := range []string{"package.json", "package-lock.json", "index.html", "vite.config.ts", "tsconfig.json", "src/main.tsx", "public/icon.svg", "../api/v1.d.ts"} {
		files[filepath.Join("switchboard/web", name)] = ""
	}
	for name, text := range files {
		path := filepath.Join(s.home, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o700)); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(s.end) // before the terminal goes, which is cleaned up after it
	s.term = termtest.Start(t, termtest.Options{
		Args: []string{"sh"}, Dir: sources, Cols: 90, Rows: 28,
		Env: []string{"HOME=" + s.home, "PS1=$ ", "PATH=" + filepath.Join(s.home, "bin") + ":/usr/local/bin:/usr/bin:/bin", "GO=" + filepath.Join(s.home, "go"), "PROGRAM=" + self, "GOCOVERDIR=" + s.home, noSandbox},
	})
	s.moment(scene{"a first look, without an account", 800 * time.Millisecond, "", true}, func(screen *termtest.Screen) bool { return screen.Row(0) == "$" })
	return s
}

// frameOptions show each moment for as long as the film has it.
func frameOptions() termtest.FrameOptions {
	return termtest.FrameOptions{Step: time.Millisecond, Longest: time.Minute, Last: 6 * time.Second}
}

// shortFolder makes a folder whose path is as long as that of a home folder, so that lines with it are as long.
func shortFolder(t *testing.T) string {
	t.Helper()
	for {
		name := fmt.Sprintf("/tmp/%04x", rand.IntN(1<<16))
		err := os.Mkdir(name, 0o700)
		if err == nil {
			t.Cleanup(func() {
				if err := os.RemoveAll(name); err != nil {
					t.Error(err)
				}
			})
			return name
		}
		if !errors.Is(err, os.ErrExist) {
			t.Fatal(err)
		}
	}
}

// command types a command and sends it.
func (s *shoot) command(text string) {
	s.t.Helper()
	row := s.term.Screen().CursorY
	for i := range text {
		s.term.Type(text[i : i+1])
		typed := "$ " + text[:i+1]
		while := 45 * time.Millisecond
		if i == len(text)-1 {
			while = 700 * time.Millisecond
		}
		s.moment(scene{while: while, from: typed, still: true}, func(screen *termtest.Screen) bool {
			return screen.Row(row) == strings.TrimRight(typed, " ") && screen.CursorX == len(typed)
		})
	}
	s.term.Type(termtest.Enter)
}

// A scene is a moment of the film.
type scene struct {
	// name is what stands above it; empty means that of the one before. while is how long it is shown.
	name  string
	while time.Duration
	// from is in the first row that matters; empty means all.
	from string
	// still says that nothing moves in it.
	still bool
}

// moment waits until the screen is ready, and shows it for a while. Where there is a recording it also has to be as it is there: a screen
// that is being drawn gets the time to become so.
func (s *shoot) moment(sc scene, ready func(*termtest.Screen) bool) {
	s.t.Helper()
	if sc.name != "" {
		s.film.Mark(sc.name)
	}
	var want string
	if !*record {
		if s.next >= len(s.want) {
			s.t.Fatalf("the recording has only %d moments, and this is one more; make record makes it anew", len(s.want))
		}
		want = sc.matters(s.want[s.next].Screen)
		s.next++
	}
	var since time.Time // since when it looks as it does
	last := ""
	s.term.WaitUntil(func(screen *termtest.Screen) bool {
		if !ready(screen) {
			return false
		}
		if sc.still {
			return true
		}
		text := sc.matters(s.masked(screen))
		if text != last {
			last, since = text, time.Now()
		}
		if *record {
			return time.Since(since) > 3*time.Second // the clock on the screen goes on
		}
		return text == want || time.Since(since) > 20*time.Second
	}, "moment "+strconv.Itoa(s.next)+", "+sc.name)
	screen := s.masked(s.term.Screen())
	s.film.Show(screen, sc.while)
	if diff := cmp.Diff(want, sc.matters(screen)); diff != "" && !*record && !s.bad {
		s.bad = true
		s.t.Errorf("the recording is out of date; make record makes it anew. %s:\n%s", sc.name, diff)
	}
}

// masked returns a screen with all that differs made the same.
func (s *shoot) masked(screen *termtest.Screen) *termtest.Screen {
	for _, m := range s.masks {
		screen = screen.Replace(m.expression, m.with)
	}
	return screen
}

// matters returns what of a screen has to be the same: the beginnings of its rows, without times. What took no time has none, and where a row is cut
// depends on it.
func (sc scene) matters(screen *termtest.Screen) string {
	var rows []string
	begun := false
	for y := range screen.Rows {
		if begun = begun || strings.Contains(screen.Row(y), sc.from); !begun {
			continue
		}
		row := []rune(strings.ReplaceAll(screen.Row(y), " · 1s", ""))
		rows = append(rows, strings.TrimRight(string(row[:min(len(row), 60)]), " "))
	}
	return strings.TrimRight(strings.Join(rows, "\n"), "\n")
}

// leave ends the program on the screen with some keys.
func (s *shoot) leave(keys ...string) {
	s.t.Helper()
	s.term.Type(keys...)
	s.await(atPrompt)
	if left := s.term.Screen().LeftOver(); len(left) > 0 && !(len(left) == 1 && left[0] == "mode 2004 is on") { // that is the shell's own
		s.t.Errorf("the terminal is not as it was: %q", left)
	}
	if unknown := s.term.Screen().Unknown; len(unknown) > 0 {
		s.t.Errorf("the terminal does not know %q", unknown)
	}
}

// exit ends the shell.
func (s *shoot) exit() {
	s.t.Helper()
	s.term.Type("exit", termtest.Enter)
	s.term.Exit()
}

// data is the folder of the hub that run has started.
func (s *shoot) data() string {
	return filepath.Join(s.home, ".local", "share", "switchboard", "simulated")
}

// stop ends the agents.
func (s *shoot) stop() {
	cmd := exec.CommandContext(s.t.Context(), filepath.Join(s.home, "switchboard", "bin", "switchboard"), "stop", "--all", "--data-dir", s.data())
	cmd.Env = []string{"HOME=" + s.home, "PATH=" + os.Getenv("PATH"), "GORACE=atexit_sleep_ms=0", "GOCOVERDIR=" + s.home}
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Errorf("ending the agent: %v\n%s", err, out)
	}
}

// end ends what lives on: the hub, and its agents if they have not been stopped.
func (s *shoot) end() {
	text, err := os.ReadFile(filepath.Join(s.data(), "lock"))
	if err != nil {
		return // it was never started
	}
	first, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(first)
	if err != nil {
		s.t.Errorf("the lock says %q", text)
		return
	}
	runs, err := launch.Runs(s.data())
	if err != nil {
		s.t.Error(err)
	}
	_ = syscall.Kill(pid, syscall.SIGTERM) // it may have ended
	lock, err := os.Open(filepath.Join(s.data(), "lock"))
	if err != nil {
		s.t.Error(err)
		return
	}
	defer func() { _ = lock.Close() }()                                    // and with it the lock goes
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil { // which it has until its end
		s.t.Error(err)
	}
	for _, run := range runs {
		if run.Alive {
			_ = syscall.Kill(run.PID, syscall.SIGTERM) // it ends what belongs to it
		}
	}
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); <-ticker.C {
		if runs, err = launch.Runs(s.data()); err != nil || len(runs) == 0 {
			return
		}
	}
	s.t.Errorf("the agents do not end: %+v", runs)
}

// compare writes recording and picture, or looks whether the picture is that of the recording.
func (s *shoot) compare() {
	s.t.Helper()
	castFile, svgFile := s.made.cast(), s.made.svg()
	if *record {
		cast := &bytes.Buffer{}
		if err := s.film.Cast(s.made.title).Write(cast); err != nil {
			s.t.Fatal(err)
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(castFile), 0o755), os.WriteFile(castFile, cast.Bytes(), 0o644)); err != nil {
			s.t.Fatal(err)
		}
	} else if s.next != len(s.want) {
		s.t.Errorf("the recording has %d moments more; make record makes it anew", len(s.want)-s.next)
	}
	cast, err := os.Open(s.made.cast())
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = cast.Close() }() // it was only read
	picture := &bytes.Buffer{}
	err = termtest.SVG(cast, picture, termtest.SVGOptions{
		FrameOptions: frameOptions(), Title: s.made.title, Description: s.made.description,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	if picture.Len() > s.made.maxPicture {
		s.t.Errorf("the picture has %d bytes, more than %d", picture.Len(), s.made.maxPicture)
	}
	if *record {
		if err := os.WriteFile(svgFile, picture.Bytes(), 0o644); err != nil {
			s.t.Fatal(err)
		}
	}
	have, err := os.ReadFile(svgFile)
	if err != nil {
		s.t.Fatal(err)
	}
	if !bytes.Equal(have, picture.Bytes()) {
		s.t.Errorf("%s is not the picture of %s; make record makes it anew", svgFile, castFile)
	}
}
