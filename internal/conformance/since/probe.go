package since

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/switchboard-dev/switchboard/claude"
	"github.com/switchboard-dev/switchboard/claude/claudetest"
	"github.com/switchboard-dev/switchboard/wire"
)

// silence is how long a CLI that does not answer unknown requests is given for the known ones, after it has answered the last.
const silence = 4 * time.Second

// A prober tries one version.
type prober struct {
	cli       *claude.CLI
	home, dir string
	env       []string
	model     *claudetest.Model
	found     Findings
}

// Probe tries features on an installed CLI. It runs it with a home and a working folder of its own, which are removed, and with the simulated model; no
// connection leaves the machine. The features are those of [Features] that match, all of them if match is nil.
func Probe(ctx context.Context, program string, match func(Feature) bool) (found Findings, err error) {
	folder, err := os.MkdirTemp("", "switchboard-since-")
	if err != nil {
		return nil, fmt.Errorf("making a folder for the CLI: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	// The CLI names folders by their real path.
	if folder, err = filepath.EvalSymlinks(folder); err != nil {
		return nil, fmt.Errorf("making a folder for the CLI: %w", err)
	}
	p := &prober{home: filepath.Join(folder, "home"), dir: filepath.Join(folder, "project"), found: Findings{}}
	if err := p.furnish(); err != nil {
		return nil, err
	}
	p.model = claudetest.NewModel(&claudetest.ModelOptions{Script: claudetest.Directives(nil)})
	defer func() { err = errors.Join(err, p.model.Close()) }()
	p.env = claudetest.Env(p.home, p.model.URL())
	if p.cli, err = claude.Find(ctx, &claude.FindOptions{Path: program, Env: p.env}); err != nil {
		return nil, fmt.Errorf("finding the CLI: %w", err)
	}
	byWay := map[Way][]Feature{}
	for _, f := range Features() {
		if match == nil || match(f) {
			byWay[f.Way] = append(byWay[f.Way], f)
		}
	}
	for _, try := range []struct {
		way Way
		run func(context.Context, []Feature) error
	}{{ByName, p.names}, {ByFlag, p.flags}, {ByAnswer, p.answers}, {ByTurn, p.turns}} {
		if features := byWay[try.way]; len(features) > 0 {
			if err := try.run(ctx, features); err != nil {
				return nil, fmt.Errorf("trying Claude Code %s (by %s): %w", p.cli.Version, try.way, err)
			}
		}
	}
	return p.found, nil
}

// skillMark is in the description of the only skill of the working folder.
const skillMark = "switchboard-skill-mark"

// furnish makes the folders.
func (p *prober) furnish() error {
	skill := filepath.Join(p.dir, ".claude", "skills", "marked")
	for _, dir := range []string{p.home, skill} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("making a folder for the CLI: %w", err)
		}
	}
	text := "---\nname: marked\ndescription: Use it for nothing, " + skillMark + "\n---\nDo nothing.\n"
	if err := os.WriteFile(filepath.Join(skill, "SKILL.md"), []byte(text), 0o600); err != nil {
		return fmt.Errorf("making a folder for the CLI: %w", err)
	}
	return nil
}

func (p *prober) note(f Feature, yes bool) {
	p.found[f.Key()] = No
	if yes {
		p.found[f.Key()] = Yes
	}
}

// names searches the program.
func (p *prober) names(_ context.Context, features []Feature) error {
	texts := make([]string, len(features))
	for i, f := range features {
		texts[i] = f.text
	}
	found, err := p.search(texts)
	if err != nil {
		return err
	}
	for i, f := range features {
		p.note(f, found[i])
	}
	return nil
}

// search searches the program for texts.
func (p *prober) search(texts []string) ([]bool, error) {
	file, err := os.Open(p.cli.Path)
	if err != nil {
		return nil, fmt.Errorf("reading the program: %w", err)
	}
	defer func() { _ = file.Close() }() // it was only read
	return search(file, texts)
}

// search reports which texts occur in what r holds. A text that ends with a letter has to end a word.
func search(r io.Reader, texts []string) ([]bool, error) {
	const window, longest = 8 << 20, 256
	found := make([]bool, len(texts))
	buffer := make([]byte, 0, window)
	for {
		n, err := io.ReadFull(r, buffer[len(buffer):cap(buffer)])
		buffer = buffer[:len(buffer)+n]
		end := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !end {
			return nil, fmt.Errorf("reading the program: %w", err)
		}
		for i, text := range texts {
			found[i] = found[i] || contains(buffer, []byte(text), end)
		}
		if end {
			return found, nil
		}
		// What may begin here is looked for again with what follows.
		buffer = append(buffer[:0], buffer[len(buffer)-longest:]...)
	}
}

// contains reports whether a text occurs, with no letter behind it; end says that nothing follows.
func contains(data, text []byte, end bool) bool {
	for {
		i := bytes.Index(data, text)
		if i < 0 {
			return false
		}
		data = data[i+len(text):]
		if len(data) == 0 {
			return end
		}
		if last := text[len(text)-1]; !word(last) || !word(data[0]) {
			return true
		}
	}
}

func word(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

var unknownOption = regexp.MustCompile(`unknown option '--([A-Za-z-]+)`)

// flags starts the CLI with flags, until it complains about none but the one that no version has.
func (p *prober) flags(ctx context.Context, features []Feature) error {
	texts := make([]string, len(features))
	for i, f := range features {
		texts[i], _, _ = strings.Cut(f.text, "=")
	}
	named, err := p.search(texts)
	if err != nil {
		return err
	}
	var together, alone []Feature
	for i, f := range features {
		if !named[i] {
			p.note(f, false) // which saves a start
			continue
		}
		// The CLI looks at the address of --sdk-url before anything else, and has one permission mode.
		if f.Kind == wire.FeatureMode || f.Name == "sdk-url" {
			alone = append(alone, f)
		} else {
			together = append(together, f)
		}
	}
	for len(together) > 0 {
		complaint, err := p.complain(ctx, together)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(together, func(f Feature) bool { return f.Name == complaint })
		switch {
		case complaint == noSuchFlag:
			for _, f := range together {
				p.note(f, true)
			}
			together = nil
		case i >= 0:
			p.note(together[i], false)
			together = slices.Delete(together, i, i+1)
		default: // one of the values is not to its taste
			alone = append(alone, together...)
			together = nil
		}
	}
	for _, f := range alone {
		complaint, err := p.complain(ctx, []Feature{f})
		if err != nil {
			return err
		}
		switch {
		case complaint == noSuchFlag:
			p.note(f, true)
		case complaint == f.Name, complaint == "invalid" && f.Kind == wire.FeatureMode:
			p.note(f, false)
		case complaint == "invalid":
			p.note(f, true) // it has the flag, and another idea of its value
		default:
			p.found[f.Key()] = Unclear
		}
	}
	return nil
}

// complain starts the CLI with flags and with one that no version has. It returns the flag that the CLI complains about first, "invalid" for the
// value of one, or "" if it says nothing of the kind.
func (p *prober) complain(ctx context.Context, features []Feature) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	args := append(slices.Clone(p.cli.Args), "--print", "--output-format=stream-json", "--input-format=stream-json", "--verbose")
	for _, f := range features {
		args = append(args, f.text)
	}
	args = append(args, "--"+noSuchFlag)
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env, cmd.Dir, cmd.WaitDelay = p.env, p.dir, time.Second
	output, err := cmd.CombinedOutput()
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended || ctx.Err() != nil {
		return "", fmt.Errorf("starting the CLI with flags: %w", errors.Join(err, ctx.Err()))
	}
	if m := unknownOption.FindSubmatch(output); m != nil {
		return string(m[1]), nil
	}
	if bytes.Contains(output, []byte("is invalid")) {
		return "invalid", nil
	}
	return "", nil
}

// answers sends control requests and looks at what comes back.
func (p *prober) answers(ctx context.Context, features []Feature) error {
	var plain []Feature
	for _, f := range features {
		switch {
		case f.Name == "initialize":
			p.note(f, true) // no session starts without
		case f.Name == managedObeyed:
			if err := p.askManaged(ctx, f); err != nil {
				return err
			}
		default:
			plain = append(plain, f)
		}
	}
	for len(plain) > 0 {
		left, err := p.ask(ctx, plain)
		if err != nil {
			return err
		}
		if len(left) == len(plain) {
			// The CLI ends at the first of them.
			p.note(left[0], false)
			left = left[1:]
		}
		plain = left
	}
	return nil
}

// ask tries features on one process, in order, and returns those of which it says nothing because it has ended.
func (p *prober) ask(ctx context.Context, features []Feature) (left []Feature, err error) {
	s, err := p.start(ctx, "")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	talks := s.answersUnknown(ctx)
	var sent, ends []Feature
	for _, f := range features {
		switch {
		case f.Kind == wire.FeatureAnswer:
			p.note(f, s.told(f.Name))
		case f.Name == unknownAnswered:
			p.note(f, talks)
		case f.Name == cancelTaken, f.Name == "end_session":
			ends = append(ends, f)
		default:
			rest := f.text
			if rest != "" {
				rest = "," + rest
			}
			s.request(ctx, "probe-"+f.Name, f.Name, rest)
			sent = append(sent, f)
		}
	}
	if len(sent) > 0 {
		s.awaitAnswers(ctx, sent, talks)
	}
	for _, f := range sent {
		a, ok := s.answers["probe-"+f.Name]
		switch {
		case ok:
			p.note(f, !a.unknown(f.Name, s.answers["unknown"]))
		case s.ended != nil:
			left = append(left, f)
		case talks:
			p.found[f.Key()] = Unclear
		default:
			p.note(f, false)
		}
	}
	if s.ended != nil {
		return append(left, ends...), ctx.Err()
	}
	// What may end the CLI comes last, and what will end it after that.
	slices.SortFunc(ends, func(a, b Feature) int { return strings.Compare(a.Name, b.Name) })
	for _, f := range ends {
		switch {
		case s.ended != nil:
			left = append(left, f)
		case f.Name == cancelTaken:
			p.note(f, s.takesCancel(ctx))
		default:
			p.note(f, s.endsItself(ctx, f.Name, talks))
		}
	}
	return left, ctx.Err()
}

// told reports whether the answer to initialize has a member.
func (s *session) told(name string) bool {
	var members map[string]json.RawMessage
	_ = json.Unmarshal(s.answers["initialize"].Response, &members) // what is no object has no members
	_, ok := members[name]
	return ok
}

// answersUnknown reports whether the CLI answers a request that it cannot know, once it has answered a later one.
func (s *session) answersUnknown(ctx context.Context) bool {
	s.request(ctx, "unknown", noSuchRequest, "")
	s.request(ctx, "barrier", "mcp_status", "")
	s.await(ctx, time.Minute, func() bool { return s.answered("barrier") })
	if !s.answered("unknown") {
		s.quiet(ctx, time.Second)
	}
	return s.answered("unknown")
}

// awaitAnswers waits for the answers to requests. Of a CLI that does not talk about requests that it does not know, it waits for the last one,
// which every version knows, and then for a time in which nothing comes.
func (s *session) awaitAnswers(ctx context.Context, sent []Feature, talks bool) {
	all := func() bool {
		return !slices.ContainsFunc(sent, func(f Feature) bool { return !s.answered("probe-" + f.Name) })
	}
	if !talks {
		s.request(ctx, "last", "mcp_status", "")
	}
	s.await(ctx, time.Minute, func() bool { return all() || !talks && s.answered("last") })
	if !talks {
		s.quiet(ctx, silence)
	}
}

// unknown reports whether an answer says that the request is not known: in the words that a request gets which no version knows, or by its code.
func (a answer) unknown(subtype string, other answer) bool {
	if a.Subtype != "error" {
		return false
	}
	words := strings.ReplaceAll(a.Error, subtype, noSuchRequest)
	return a.ErrorCode == "unsupported_request" || other.Error != "" && words == other.Error
}

// endsItself sends the request that ends the CLI, and reports whether it is known.
func (s *session) endsItself(ctx context.Context, subtype string, talks bool) bool {
	s.request(ctx, "end", subtype, "")
	limit := silence
	if talks {
		limit = time.Minute
	}
	s.await(ctx, limit, func() bool { return s.answered("end") })
	a, ok := s.answers["end"]
	return ok && !a.unknown(subtype, s.answers["unknown"]) || !ok && s.ended != nil
}

// takesCancel withdraws a request that was never made. A CLI that does not know the line ends.
func (s *session) takesCancel(ctx context.Context) bool {
	s.send(ctx, `{"type":"control_cancel_request","request_id":"nobody"}`)
	s.request(ctx, "cancelled", "mcp_status", "")
	return s.await(ctx, time.Minute, func() bool { return s.answered("cancelled") })
}

// askManaged has the CLI say whether settings that the user cannot change are in force.
func (p *prober) askManaged(ctx context.Context, f Feature) (err error) {
	const flag = "managed-settings"
	complaint, err := p.complain(ctx, []Feature{{text: "--" + flag + "={}"}})
	if err != nil || complaint == flag {
		p.note(f, false)
		return err
	}
	s, err := p.start(ctx, "", `--`+flag+`={"permissions":{"deny":["WebFetch(domain:switchboard-managed.example)"]}}`)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	s.request(ctx, "settings", "get_settings", "")
	s.await(ctx, time.Minute, func() bool { return s.answered("settings") })
	var settings struct {
		Effective json.RawMessage `json:"effective"`
	}
	a := s.answers["settings"]
	if a.Subtype != "success" || json.Unmarshal(a.Response, &settings) != nil {
		p.found[f.Key()] = Unclear
		return nil
	}
	p.note(f, bytes.Contains(settings.Effective, []byte("switchboard-managed.example")))
	return nil
}
