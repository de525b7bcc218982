package fold_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/wire/fold"
)

func permissionQuestion(id string) string {
	return fmt.Sprintf(`{"type":"control_request","request_id":%q,"request":{"subtype":"can_use_tool","tool_name":"Bash","input":{},"tool_use_id":"t-%s"}}`, id, id)
}

func permissionAnswer(id string) string {
	return fmt.Sprintf(`{"type":"control_response","response":{"subtype":"success","request_id":%q,"response":{"behavior":"allow","updatedInput":{}}}}`, id)
}

func inquiry(id string) string {
	return fmt.Sprintf(`{"type":"control_request","request_id":%q,"request":{"subtype":"initialize"}}`, id)
}

func openList(id string, open ...string) string {
	return fmt.Sprintf(`{"type":"control_response","response":{"subtype":"error","request_id":%q,"error":"Already initialized","pending_permission_requests":[%s]}}`, id, strings.Join(open, ","))
}

func TestUnconfirmed(t *testing.T) {
	asked, answered := "<"+permissionQuestion("q"), ">"+permissionAnswer("q")
	result := func(tool string) string {
		return fmt.Sprintf(`<{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":"x"}]}}`, tool)
	}
	tests := map[string]struct {
		lines   []string // written by the CLI (<) or to it (>)
		waiting bool
		lost    []string // the questions whose answers were lost
	}{
		"nothing was asked":                     {lines: []string{answered}},
		"nothing was answered":                  {lines: []string{asked}},
		"no sign":                               {lines: []string{asked, answered}, waiting: true},
		"the tool's result":                     {lines: []string{asked, answered, result("t-q")}},
		"another tool's result":                 {lines: []string{asked, answered, result("t-p")}, waiting: true},
		"a withdrawal":                          {lines: []string{asked, answered, `<{"type":"control_cancel_request","request_id":"q"}`}},
		"a request of ours is withdrawn":        {lines: []string{asked, answered, `>{"type":"control_cancel_request","request_id":"q"}`}, waiting: true},
		"the turn's result":                     {lines: []string{asked, answered, `<{"type":"result","subtype":"success"}`}},
		"answered after the turn's result":      {lines: []string{asked, `<{"type":"result","subtype":"success"}`, answered}, waiting: true},
		"open by the list":                      {lines: []string{asked, answered, ">" + inquiry("i"), "<" + openList("i", permissionQuestion("q"))}, waiting: true, lost: []string{"q"}},
		"open by an older list":                 {lines: []string{asked, answered, ">" + inquiry("i"), ">" + inquiry("k"), "<" + openList("i", permissionQuestion("q"))}, waiting: true},
		"not in the list":                       {lines: []string{asked, answered, ">" + inquiry("i"), "<" + openList("i", permissionQuestion("p"))}},
		"an empty list":                         {lines: []string{asked, answered, ">" + inquiry("i"), "<" + openList("i")}},
		"a list that nobody asked for":          {lines: []string{asked, answered, "<" + openList("i")}, waiting: true},
		"answered after the inquiry was sent":   {lines: []string{asked, ">" + inquiry("i"), answered, "<" + openList("i", permissionQuestion("q"))}, waiting: true},
		"answered, and the list had not had it": {lines: []string{asked, ">" + inquiry("i"), answered, "<" + openList("i")}, waiting: true},
		"answered again after the inquiry":      {lines: []string{asked, answered, ">" + inquiry("i"), answered, "<" + openList("i", permissionQuestion("q"))}, waiting: true},
		"known from a list alone":               {lines: []string{">" + inquiry("i"), "<" + openList("i", permissionQuestion("q")), answered}, waiting: true},
		"not JSON":                              {lines: []string{asked, answered, "<x", ">x"}, waiting: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var once, restored fold.Unconfirmed
			for _, line := range test.lines {
				lost := once.Apply(fold.NewLine([]byte(line[1:]), line[0] == '>'))
				var want [][]byte
				if strings.Contains(line, "pending_permission_requests") {
					for _, id := range test.lost {
						want = append(want, []byte(permissionAnswer(id)))
					}
				}
				if !slices.EqualFunc(lost, want, slices.Equal) {
					t.Errorf("after %s\nlost %q\nwant %q", line, lost, want)
				}
				restored.Apply(fold.NewLine([]byte(line[1:]), line[0] == '>'))
				data, err := json.Marshal(restored)
				if err != nil {
					t.Fatal(err)
				}
				restored = fold.Unconfirmed{}
				if err := json.Unmarshal(data, &restored); err != nil {
					t.Fatal(err)
				}
			}
			if once.Waiting() != test.waiting || restored.Waiting() != test.waiting {
				t.Errorf("an answer is unconfirmed: %v, restored after each line %v, want %v", once.Waiting(), restored.Waiting(), test.waiting)
			}
		})
	}
}

func TestUnconfirmedIsBounded(t *testing.T) {
	var u fold.Unconfirmed
	const most = 1024
	for i := range 3 * most {
		id := fmt.Sprint("q", i)
		u.Apply(fold.NewLine([]byte(permissionQuestion(id)), false))
		if i%2 == 0 {
			u.Apply(fold.NewLine([]byte(permissionAnswer(id)), true))
		}
		if len(u.Questions) > most {
			t.Fatalf("%d questions are kept", len(u.Questions))
		}
	}
	u.Apply(fold.NewLine([]byte(permissionQuestion(strings.Repeat("x", 1000))), false))
	if len(u.Questions) > most {
		t.Errorf("%d questions are kept", len(u.Questions))
	}
}
