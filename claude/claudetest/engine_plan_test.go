package claudetest

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// planFile finds the plan's file in what the model was told.
var planFile = regexp.MustCompile(`[^\s"]+/plans/[A-Za-z0-9_-]+\.md`)

// modes are the modes that were told, in order.
func (s *simTest) modes() []string {
	var modes []string
	for _, line := range s.lines {
		if mode, ok := line["permissionMode"].(string); ok && line["subtype"] == "status" {
			modes = append(modes, mode)
		}
	}
	return modes
}

// plan has the model enter plan mode and write a plan. It returns the plan's file.
func (s *simTest) plan(text string) string {
	s.t.Helper()
	s.turn("@tool EnterPlanMode {}\n@say I plan.")
	path := planFile.FindString(s.story())
	if path == "" {
		s.t.Fatalf("the model was not told the plan's file:\n%s", s.story())
	}
	s.turn("@tool Write " + string(plainJSON(members{"file_path", path, "content", text})) + "\n@say Written.")
	return path
}

func TestSimPlan(t *testing.T) {
	for _, version := range SimVersions() {
		t.Run(version, func(t *testing.T) {
			s := startSim(t, version)
			path := s.plan("Build it.")
			for _, line := range s.lines {
				if isQuestion(line, "can_use_tool") {
					t.Errorf("it was asked: %v", line)
				}
			}
			if written, err := os.ReadFile(path); err != nil || string(written) != "Build it." {
				t.Errorf("the plan's file has %q (%v)", written, err)
			}
			s.prompt("@tool ExitPlanMode {}\n@say Go.")
			id, request := s.question("can_use_tool")
			input := request["input"].(map[string]any)
			if told := input["planFilePath"] == path; input["plan"] != "Build it." || told != (version != "2.1.37") {
				t.Errorf("asked with %v", input)
			}
			if asked := request["requires_user_interaction"] == true; asked != (version == "2.1.325") {
				t.Errorf("asked with %v", request)
			}
			s.answer(id, `{"behavior":"deny","message":"Make it blue."}`)
			s.result()
			if !strings.Contains(s.story(), "Make it blue.") {
				t.Error("the model was not told")
			}
			s.prompt("@tool ExitPlanMode {}\n@say Go.")
			id, _ = s.question("can_use_tool")
			s.answer(id, `{"behavior":"allow","updatedInput":{"plan":"Paint it."},"updatedPermissions":[{"type":"setMode","mode":"acceptEdits","destination":"session"}]}`)
			s.result()
			if got, want := s.modes(), []string{"plan", "acceptEdits"}; !slices.Equal(got, want) {
				t.Errorf("the modes are %v, want %v", got, want)
			}
			edited := strings.Contains(s.story(), "(edited by user):\\nPaint it.")
			if edited != (version != "2.1.37") {
				t.Errorf("the edited plan counts: %t", edited)
			}
		})
	}
}

// Leaving plan mode goes back to the mode before.
func TestSimPlanGoesBack(t *testing.T) {
	s := startSim(t, "2.1.325", withArgs("--permission-mode", "acceptEdits"))
	s.turn("@tool EnterPlanMode {}\n@say I plan.")
	s.prompt("@tool ExitPlanMode {}\n@say Go.")
	id, request := s.question("can_use_tool")
	if input := string(plainJSON(request["input"])); input != "{}" {
		t.Errorf("asked with %s though there is no plan", input)
	}
	s.answer(id, `{"behavior":"allow","updatedInput":{}}`)
	s.result()
	if got, want := s.modes(), []string{"plan", "acceptEdits"}; !slices.Equal(got, want) {
		t.Errorf("the modes are %v, want %v", got, want)
	}
}

func TestSimQuestion(t *testing.T) {
	const questions = `[{"question":"Which colour?","header":"Colour","options":[{"label":"Red","description":"r"},{"label":"Blue","description":"b"}],"multiSelect":true}]`
	tests := []struct {
		name, body string
		want       map[string]string // by version, what the model is told; "" is an error
	}{
		{"by text", `{"questions":` + questions + `,"answers":{"Which colour?":["Red","Blue"]}}`, map[string]string{"2.1.37": `"Which colour?"="Red,Blue"`, "2.1.120": `"Which colour?"="Red,Blue"`, "2.1.325": `"Which colour?"="Red,Blue"`}},
		{"by header", `{"questions":` + questions + `,"answers":{"Colour":"Red"}}`, map[string]string{"2.1.37": `"Colour"="Red"`, "2.1.120": "questions: .", "2.1.325": "did not answer"}},
		{"without questions", `{"answers":{"Which colour?":"Red"}}`, map[string]string{"2.1.37": `"Which colour?"="Red"`, "2.1.120": "", "2.1.325": ""}},
		{"annotated", `{"questions":` + questions + `,"answers":{"Which colour?":"Red"},"annotations":{"Which colour?":{"notes":"A dark one"}}}`, map[string]string{"2.1.37": `="Red". You`, "2.1.120": "A dark one", "2.1.325": "A dark one"}},
		{"free reply", `{"questions":` + questions + `,"answers":{},"response":"Neither."}`, map[string]string{"2.1.37": "questions: .", "2.1.120": "questions: .", "2.1.325": "Neither."}},
	}
	for _, version := range SimVersions() {
		for _, test := range tests {
			t.Run(version+" "+test.name, func(t *testing.T) {
				s := startSim(t, version)
				s.prompt(`@tool AskUserQuestion {"questions":` + questions + "}\n@say Over.")
				id, _ := s.question("can_use_tool")
				s.answer(id, `{"behavior":"allow","updatedInput":`+test.body+`}`)
				s.result()
				text, failed := s.toolResult()
				want := test.want[version]
				if failed != (want == "") || !strings.Contains(text, want) {
					t.Errorf("the model is told %q (error: %t), want %q", text, failed, want)
				}
			})
		}
	}
}

// toolResult returns the last result of a tool.
func (s *simTest) toolResult() (text string, failed bool) {
	s.t.Helper()
	for _, line := range slices.Backward(s.lines) {
		var user struct {
			Message struct {
				Content []struct {
					Type    string
					Content string
					IsError bool `json:"is_error"`
				}
			}
		}
		if json.Unmarshal(plainJSON(line), &user) == nil && line["type"] == "user" && len(user.Message.Content) > 0 && user.Message.Content[0].Type == "tool_result" {
			return user.Message.Content[0].Content, user.Message.Content[0].IsError
		}
	}
	s.t.Fatalf("no tool has a result:\n%s", s.story())
	return "", false
}

// A question with one option is a mistake of the model's; nobody is asked.
func TestSimQuestionInvalid(t *testing.T) {
	s := startSim(t, "2.1.325")
	s.turn(`@tool AskUserQuestion {"questions":[{"question":"Which?","header":"One","options":[{"label":"This","description":"t"}],"multiSelect":false}]}` + "\n@say Over.")
	if _, failed := s.toolResult(); !failed {
		t.Error("the question was taken")
	}
}
