package permit

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/wire"
)

// scene is a session with a real CLI: how it was launched, what the model asked
// for, and what came of it. testdata/measured.json has them; the folders of the
// session are below /r there.
type scene struct {
	Name     string   `json:"name"`
	Versions []string `json:"versions"`
	Options  struct {
		Mode        []string                   `json:"permission-mode"`
		AllowBypass []string                   `json:"allow-dangerously-skip-permissions"`
		Allowed     []string                   `json:"allowedTools"`
		Disallowed  []string                   `json:"disallowedTools"`
		AddDirs     []string                   `json:"add-dir"`
		Settings    []string                   `json:"settings"`
		Sources     map[string]json.RawMessage `json:"sources"`
	} `json:"options"`
	Steps []measuredStep `json:"steps"`
}

type measuredStep struct {
	SetMode  string              `json:"setMode"` // the step is a set_permission_mode
	Tool     string              `json:"tool"`
	Input    json.RawMessage     `json:"input"`
	Updates  json.RawMessage     `json:"updates"` // what the answer taught, if it was asked
	Outcomes map[string]measured `json:"outcomes"`
}

// measured is what a CLI did.
type measured struct {
	// Result is allow, deny, ask, invalid (refused by the tool's own check) or
	// none (the tool does not exist, or the session was in no state for it).
	Result string          `json:"result"`
	Ask    json.RawMessage `json:"ask"`  // the question's members that are decided here
	Mode   string          `json:"mode"` // decision_reason_type of a permission_denied line
}

// deviations are the steps that the gate is known to get wrong, with the reason.
var deviations = map[string]string{
	`2.1.120 read only: Bash {"command":"find . -delete"}`:                                     "it has words of its own for find",
	`2.1.325 read only: Bash {"command":"find . -delete"}`:                                     "it has words of its own for find",
	`2.1.120 read only: Bash {"command":"alias"}`:                                              "it has words of its own for alias",
	`2.1.325 read only: Bash {"command":"alias"}`:                                              "it has words of its own for alias",
	"2.1.37 shells: Bash {\"command\":\"git commit -m \\\"$(cat <<'EOF'\\nhi\\nEOF\\n)\\\"\"}": "it doubles quotes in a suggestion",
}

func loadScenes(t *testing.T) []scene {
	t.Helper()
	data, err := os.ReadFile("testdata/measured.json")
	if err != nil {
		t.Fatal(err)
	}
	var scenes []scene
	if err := json.Unmarshal(data, &scenes); err != nil {
		t.Fatalf("reading what was measured: %v", err)
	}
	return scenes
}

func (s *scene) gate(t *testing.T, version string) *Gate {
	t.Helper()
	v, err := wire.ParseVersion(version)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{
		Version: v, Dir: "/r/work", Home: "/r/home", AddDirs: s.Options.AddDirs, AllowedTools: s.Options.Allowed,
		DisallowedTools: s.Options.Disallowed, BypassLaunched: s.Options.AllowBypass != nil,
	}
	for _, mode := range s.Options.Mode {
		o.Mode = mode
	}
	for _, settings := range s.Options.Settings {
		o.Settings = append(o.Settings, Source{FlagSettings, json.RawMessage(settings)})
	}
	for name, settings := range s.Options.Sources {
		o.Settings = append(o.Settings, Source{name, settings})
	}
	g, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// question returns a verdict in the form that was measured.
func question(t *testing.T, g *Gate, v Verdict) any {
	t.Helper()
	q := map[string]any{}
	if v.Suggestions != nil {
		q["permission_suggestions"] = v.Suggestions
	}
	for name, text := range map[string]string{"blocked_path": v.BlockedPath, "decision_reason": v.Reason, "description": v.Description} {
		if text != "" {
			q[name] = text
		}
	}
	if v.ReasonType != "" && g.is120() {
		q["decision_reason_type"] = v.ReasonType
	}
	for _, m := range v.More {
		q[m.Name] = m.Value
	}
	data, err := json.Marshal(q)
	if err != nil {
		t.Fatal(err)
	}
	return decode(t, data)
}

func decode(t *testing.T, data json.RawMessage) any {
	t.Helper()
	var value any
	if err := json.Unmarshal(data, &value); err != nil {
		t.Fatalf("reading %s: %v", data, err)
	}
	return value
}

func TestMeasured(t *testing.T) {
	used := map[string]bool{}
	for _, s := range loadScenes(t) {
		for _, version := range s.Versions {
			t.Run(s.Name+"/"+version, func(t *testing.T) {
				g := s.gate(t, version)
				for _, step := range s.Steps {
					s.replay(t, g, version, step, used)
				}
			})
		}
	}
	for key := range deviations {
		if !used[key] {
			t.Errorf("deviation %q is listed but does not happen", key)
		}
	}
}

// replay does one step and compares.
func (s *scene) replay(t *testing.T, g *Gate, version string, step measuredStep, used map[string]bool) {
	t.Helper()
	if step.SetMode != "" {
		g.Request(step.SetMode)
		return
	}
	want, found := step.Outcomes["all"]
	if !found {
		want = step.Outcomes[version]
	}
	if want.Result == "none" {
		return
	}
	v := g.Judge(step.Tool, step.Input)
	problem := ""
	switch {
	case want.Result == "invalid" && (v.Behavior != Deny || !v.Invalid):
		problem = fmt.Sprintf("got %s, expected that the input is refused", v.Behavior)
	case want.Result != "invalid" && v.Behavior != want.Result:
		problem = fmt.Sprintf("got %s (%s %s), expected %s %s", v.Behavior, v.ReasonType, v.Reason, want.Result, want.Ask)
	case want.Result == Ask:
		if want.Ask == nil {
			want.Ask = json.RawMessage("{}")
		}
		if diff := cmp.Diff(decode(t, want.Ask), question(t, g, v)); diff != "" {
			problem = "the question differs (-real +ours):\n" + diff
		}
	case want.Result == Deny && want.Mode != "" && v.ReasonType != want.Mode:
		problem = fmt.Sprintf("denied because of %s, expected %s", v.ReasonType, want.Mode)
	}
	key := version + " " + s.Name + ": " + step.Tool + " " + string(step.Input)
	if reason, known := deviations[key]; known && problem != "" {
		used[key] = true
		t.Logf("%s: %s", key, reason)
	} else if problem != "" {
		t.Errorf("%s: %s", key, problem)
	}
	if step.Tool == "EnterPlanMode" && want.Result == Allow {
		g.SetMode(modePlan)
	}
	if want.Result != Ask || step.Updates == nil {
		return
	}
	answer := strings.NewReader(`{"behavior":"allow","updatedPermissions":` + string(step.Updates) + `}`)
	var allow wire.Allow
	if err := json.NewDecoder(answer).Decode(&allow); err != nil {
		t.Fatal(err)
	}
	for _, update := range allow.UpdatedPermissions {
		g.Apply(update)
	}
}
