package since

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/switchboard-dev/switchboard/claude/claudetest"
)

// Marks that are looked for in what the model is asked, and in files.
const (
	titleMark  = "switchboard-title-mark"
	planMark   = "switchboard-plan-mark"
	systemMark = "switchboard-system-mark"
	envMark    = "switchboard-env-mark"
)

// turns holds two short conversations and looks at what the model was asked.
func (p *prober) turns(ctx context.Context, features []Feature) error {
	effects := map[string]bool{}
	if err := p.turnWithout(ctx, effects); err != nil {
		return err
	}
	if err := p.turnInPlanMode(ctx, effects); err != nil {
		return err
	}
	for _, f := range features {
		if yes, ok := effects[f.Name]; ok {
			p.note(f, yes)
		} else {
			p.found[f.Key()] = Unclear
		}
	}
	return nil
}

// turnWithout leaves out skills and the changing parts of the system prompt, and sets a title and a variable of the environment.
func (p *prober) turnWithout(ctx context.Context, effects map[string]bool) error {
	s, err := p.start(ctx, `"excludeDynamicSections":true,"skills":[],"title":"`+titleMark+`"`, "--allowedTools=Bash")
	if err != nil {
		return err
	}
	before := len(p.model.Requests())
	s.send(ctx, `{"type":"update_environment_variables","variables":{"SWITCHBOARD_PROBE":"`+envMark+`"}}`)
	done, err := s.turn(ctx, "@tool Bash {\"command\":\"echo value=$SWITCHBOARD_PROBE\"}\n@say Done.")
	if err := errors.Join(err, s.close()); err != nil || !done {
		return err
	}
	first, bodies := p.asked(before)
	if first == nil {
		return nil
	}
	effects["excludeDynamicSections"] = !strings.Contains(first.System, p.dir)
	effects["skills"] = !bytes.Contains(first.Body, []byte(skillMark)) // unless no version shows it, see below
	effects[environmentSet] = bytes.Contains(bodies, []byte("value="+envMark))
	effects["title"], err = p.inTranscripts(titleMark)
	return err
}

// turnInPlanMode gives instructions for plan mode, and a system prompt as a list.
func (p *prober) turnInPlanMode(ctx context.Context, effects map[string]bool) error {
	s, err := p.start(ctx, `"planModeInstructions":"`+planMark+`","systemPrompt":["One.","`+systemMark+`"]`, "--permission-mode=plan")
	if err != nil {
		return err
	}
	before := len(p.model.Requests())
	done, err := s.turn(ctx, "@say Done.")
	if err := errors.Join(err, s.close()); err != nil || !done {
		return err
	}
	first, bodies := p.asked(before)
	if first == nil {
		return nil
	}
	effects["planModeInstructions"] = bytes.Contains(bodies, []byte(planMark))
	effects["systemPrompt[]"] = strings.Contains(first.System, systemMark)
	if !bytes.Contains(bodies, []byte(skillMark)) {
		delete(effects, "skills") // it is not shown here either
	}
	return nil
}

// asked returns the first request of the model for a turn after a number of them, and the bodies of all.
func (p *prober) asked(before int) (first *claudetest.Request, bodies []byte) {
	for _, r := range p.model.Requests()[before:] {
		if r.Kind != claudetest.KindTurn {
			continue
		}
		if first == nil {
			first = &r
		}
		bodies = append(bodies, r.Body...)
	}
	return first, bodies
}

// inTranscripts reports whether a conversation on disk holds a text.
func (p *prober) inTranscripts(text string) (bool, error) {
	found := false
	err := filepath.WalkDir(filepath.Join(p.home, ".claude", "projects"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".jsonl" {
			return err
		}
		data, err := os.ReadFile(path)
		found = found || bytes.Contains(data, []byte(text))
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return found, err
}
