package claude

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/wire"
)

// forked reads the fork of a transcript. Its uuids are given back as those of the
// lines that they are copies of, with a mark.
func forked(t *testing.T, text string, o ForkOptions) (lines []map[string]any, raw string) {
	t.Helper()
	o.ConfigDir = t.TempDir()
	path := putConversation(t, o.ConfigDir, "/x", testID(1), 0, text)
	id, err := ForkConversation(t.Context(), testID(1), &o)
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(filepath.Dir(path), id+".jsonl")
	if info, err := os.Stat(copied); err != nil || runtime.GOOS != "windows" && info.Mode() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if got, err := os.ReadDir(filepath.Dir(path)); err != nil || len(got) != 2 {
		t.Errorf("files %v, %v", got, err)
	}
	if got := readText(t, path); got != text {
		t.Errorf("the original is %s", got)
	}
	raw = readText(t, copied)
	names := strings.NewReplacer(id, "fork")
	for line := range strings.Lines(raw) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		lines = append(lines, m)
		if from, ok := m["forkedFrom"].(map[string]any); ok {
			if from["sessionId"] != testID(1) || m["uuid"] == from["messageUuid"] || !wire.IsUUID(m["uuid"].(string)) {
				t.Errorf("line %s", line)
			}
			names = strings.NewReplacer(id, "fork", m["uuid"].(string), "*"+from["messageUuid"].(string))
			raw = names.Replace(raw)
		}
		if m["sessionId"] != id {
			t.Errorf("line %s", line)
		}
	}
	return lines, names.Replace(raw)
}

// chainOf returns the uuids and parents of a fork's lines.
func chainOf(raw string) string {
	var all []string
	for line := range strings.Lines(raw) {
		var m struct{ UUID, ParentUUID, LogicalParentUUID, Type string }
		if json.Unmarshal([]byte(line), &m) != nil || m.Type == "custom-title" {
			continue
		}
		all = append(all, m.UUID+"<"+m.ParentUUID+m.LogicalParentUUID)
	}
	return strings.Join(all, " ")
}

func TestForkConversation(t *testing.T) {
	tests := []struct {
		name  string
		lines []string
		upTo  string
		want  string
	}{
		{"all", []string{"1 < - says a", "2 < 1 attachment", "3 < 2 answers b"}, "", "*1< *2<*1 *3<*2"},
		{"up to", []string{"1 < - says a", "2 < 1 answers b", "3 < 2 says c", "4 < 3 answers d"}, "2", "*1< *2<*1"},
		{"what was given up", []string{"1 < - says a", "2 < 1 answers gone", "3 < 1 answers b"}, "", "*1< *3<*1"},
		{"up to what was given up", []string{"1 < - says a", "2 < 1 answers gone", "3 < 1 answers b"}, "2", "*1< *2<*1"},
		{"sub-agents", []string{"1 < - says a", "2 < 1 side x", "3 < 1 answers b"}, "", "*1< *3<*1"},
		{"calls of one answer", []string{"1 < - says a", "2 < 1 calls t1 m", "3 < 2 calls t2 m", "4 < 2 result t1", "5 < 3 result t2", "6 < 5 answers b"}, "", "*1< *2<*1 *3<*2 *4<*2 *5<*3 *6<*5"},
		{"in the middle of calls", []string{"1 < - says a", "2 < 1 calls t1 m", "3 < 2 calls t2 m", "4 < 2 result t1", "5 < 3 result t2"}, "4", "*1< *2<*1 *3<*2 *4<*2"},
		{"compacted", []string{"1 < - says a", "2 < 1 compacted", "3 < 2 summary s", "4 < 3 says c"}, "", "*1< *2<*1 *3<*2 *4<*3"},
		{"up to the compaction", []string{"1 < - says a", "2 < 1 compacted", "3 < 2 summary s"}, "2", "*1<"},
		{"a queued prompt", []string{"1 < - says a", "2 < 1 queued b", "3 < 2 answers c"}, "q2", "*1< *2<*1"},
		{"damaged lines", []string{"1 < - says a", "!{\"uuid\":", "2 < 1 answers b"}, "", "*1< *2<*1"},
		{"a parent that is not there", []string{"2 < 1 says a", "3 < 2 answers b"}, "", "*2<1 *3<*2"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, raw := forked(t, short(t, test.lines...), ForkOptions{UpTo: test.upTo})
			if got := chainOf(raw); got != test.want {
				t.Errorf("%q, expected %q", got, test.want)
			}
		})
	}
}

func TestForkKeepsWhatWasSaid(t *testing.T) {
	message := `{"role":"user","content":[{"tool_use_id":"t", "type":"tool_result","content":"u1 \u00fc <b>"}]}`
	text := prompt("/x", "first", `,"slug":"a-plan","forkedFrom":{"sessionId":"older","messageUuid":"m"}`) +
		`{"type":"tools-used","tools":["A"],"sessionId":"x"}` + "\n" +
		`{"type":"user","uuid":"u2","parentUuid":"u1","isSidechain":false,"message":` + message + `,"toolUseResult":{"uuid":"u1"},"sourceToolAssistantUUID":"u1","promptId":"keep","sessionId":"x"}` + "\n" +
		`{"type":"content-replacement","replacements":[1],"sessionId":"x"}` + "\n" +
		`{"type":"system","subtype":"compact_boundary","uuid":"u3","parentUuid":null,"logicalParentUuid":"u2","compactMetadata":{"a":[ "u1", 1 ,{"b":"u2"}],"c":"u9"},"sessionId":"x"}` + "\n" +
		`{"type":"tools-used","tools":["A","B"],"sessionId":"x"}` + "\n" +
		`{"type":"assistant","uuid":"u4","parentUuid":"u3","message":{"role":"assistant","content":[{"type":"text","text":"done"}]},"sessionId":"x"}` + "\n" +
		`{"type":"api-request","sessionId":"x"}` + "\n" + `{"type":"tag","tag":"t","sessionId":"x"}` + "\n"
	_, raw := forked(t, strings.ReplaceAll(text, `"sessionId":"x"`, `"sessionId":"`+testID(1)+`"`), ForkOptions{})
	for _, want := range []string{
		`"message":` + message + `,"toolUseResult":{"uuid":"u1"},"sourceToolAssistantUUID":"*u1","promptId":"keep","sessionId":"fork","forkedFrom":{"sessionId":"` + testID(1) + `","messageUuid":"*u2"}}`,
		`"compactMetadata":{"a":["*u1",1,{"b":"*u2"}],"c":"u9"}`,
		`{"type":"content-replacement","replacements":[1],"sessionId":"fork"}`,
		`{"type":"tools-used","tools":["A","B"],"sessionId":"fork"}`,
		`{"type":"custom-title","customTitle":"first (fork)","sessionId":"fork","uuid":"`,
	} {
		if want = strings.ReplaceAll(want, `"messageUuid":"*`, `"messageUuid":"`); strings.Count(raw, want) != 1 {
			t.Errorf("there is no %s in\n%s", want, raw)
		}
	}
	for _, gone := range []string{"slug", "older", "api-request", `"tag"`, `["A"]`} {
		if strings.Contains(raw, gone) {
			t.Errorf("there is %s in\n%s", gone, raw)
		}
	}
}

func TestForkTitles(t *testing.T) {
	title := func(text string, o ForkOptions) any {
		t.Helper()
		lines, _ := forked(t, text, o)
		return lines[len(lines)-1]["customTitle"]
	}
	begin := prompt("/x", "asked", "")
	if got := title(begin, ForkOptions{Title: " Mine "}); got != "Mine" {
		t.Errorf("given: %v", got)
	}
	if got := title(begin+`{"type":"custom-title","customTitle":"Theirs"}`+"\n", ForkOptions{}); got != "Theirs (fork)" {
		t.Errorf("of a titled one: %v", got)
	}
	if got := title(begin, ForkOptions{}); got != "asked (fork)" {
		t.Errorf("of a prompt: %v", got)
	}
}

func TestForkRefuses(t *testing.T) {
	config := t.TempDir()
	path := putConversation(t, config, "/x", testID(1), 0, short(t, "1 < - compacted"))
	for _, upTo := range []string{"2", "1"} {
		if _, err := ForkConversation(t.Context(), testID(1), &ForkOptions{ConversationOptions: ConversationOptions{ConfigDir: config}, UpTo: upTo}); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("up to %s: %v", upTo, err)
		}
	}
	if got, err := os.ReadDir(filepath.Dir(path)); err != nil || len(got) != 1 {
		t.Errorf("files %v, %v", got, err)
	}
}
