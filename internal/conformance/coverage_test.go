package conformance

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// facts returns what must be in the table: every row of the comparison of the seeds with reality, and every rule for controllers. The value
// says why no scenario has it, where that is so.
func facts() map[string]string {
	all := map[string]string{
		"seed 000: system/init is the first message":      "",
		"seed 000: stream_event with --verbose":           "",
		"seed 000: old messages are replayed on resume":   "",
		"seed 000: three attempts, then closed":           "",
		"seed 000: the CLI replays its buffer":            "",
		"seed 000: the server replays":                    "",
		"seed 000: frames without a line end":             "",
		"seed 000: keep_alive periodically":               "",
		"seed 000: no ping on Bun":                        "",
		"seed 000: control_cancel_request to the CLI":     "",
		"seed 000: error results have is_error":           "",
		"seed 000: the PermissionRequest hook decides":    "",
		"seed 000: compact_boundary, then status null":    "",
		"seed 000: hook response async defers":            "",
		"seed 000: interrupt response empty":              "",
		"seed 000: second initialize":                     "",
		"seed 000: filesChanged is a number":              "",
		"seed 000: mode list with delegate":               "",
		"seed 000: bypassPermissions never asks":          "",
		"seed 001: protocolVersion and features":          "",
		"seed 001: session_id and content":                "",
		"seed 001: hook_callback shape":                   "",
		"seed 001: user echo":                             "",
		"seed 001: sdk_control_interrupt and error lines": "",
		"seed 001: 10 MB read buffer":                     "",
		"seed 001: plan in ExitPlanMode":                  "",
		"seed 002: setMode and addRules in answers":       "",
		"seed 002: delay before set_permission_mode":      "",
		"seed 002: EnterPlanMode needs approval":          "",
		"seed 002: mode after ExitPlanMode":               "",
		"seed 002: folder of plans":                       "",
		"seed 002: answer with subtype allow":             "",
		"seed 002: dontAsk approves":                      "",
		"seed 002: environment live update":               "",
		"seed 003: PermissionPromptTool":                  "",
		"seed 003: drop lines after result":               "",
		"seed 003: PTY needed":                            "",
		"seed 004: init right after initialize":           "",
		"seed 004: cost_usd in result":                    "",
		"seed 004: permission allow true":                 "",
		"seed facts: close 4001":                          "",
	}
	for rule := 1; rule <= 22; rule++ {
		all[fmt.Sprintf("rule %d", rule)] = ""
	}
	return all
}

// named matches facts that must be in the list.
var named = regexp.MustCompile(`^(seed|rule) `)

func TestTableIsWhole(t *testing.T) {
	known, found := facts(), map[string]bool{}
	ids := map[string]bool{}
	for _, sc := range scenarios() {
		if !regexp.MustCompile(`^[a-z0-9_-]+(\.[A-Za-z0-9_-]+)+$`).MatchString(sc.ID) {
			t.Errorf("%q is not an id such as hooks.pretooluse.deny", sc.ID)
		}
		if ids[sc.ID] {
			t.Errorf("%s is there twice", sc.ID)
		}
		ids[sc.ID] = true
		if sc.Run == nil || len(sc.Want) == 0 || sc.Facts == "" {
			t.Errorf("%s needs Facts, Run and Want", sc.ID)
		}
		if _, ok := warmKinds()[sc.Warm]; !ok {
			t.Errorf("%s wants a warm process of the unknown kind %q", sc.ID, sc.Warm)
		}
		for fact := range strings.SplitSeq(sc.Facts, "; ") {
			if _, ok := known[fact]; !ok && named.MatchString(fact) {
				t.Errorf("%s proves %q, which is not in the list", sc.ID, fact)
			}
			found[fact] = true
		}
	}
	for _, fact := range slices.Sorted(maps.Keys(known)) {
		switch reason := known[fact]; {
		case reason == "" && !found[fact]:
			t.Errorf("no scenario proves %q", fact)
		case reason != "" && found[fact]:
			t.Errorf("%q is proven by a scenario; the reason why none does is out of date: %s", fact, reason)
		}
	}
}

// TestEveryCellIsDecided holds that a scenario says for every subject what it wants there, or why it does not run.
func TestEveryCellIsDecided(t *testing.T) {
	for _, sc := range scenarios() {
		runs := 0
		for _, subject := range subjects(t) {
			if sc.why(subject) != "" {
				continue
			}
			runs++
			if _, err := sc.Want.on(subject); err != nil {
				t.Errorf("%s: %v", sc.ID, err)
			}
		}
		if runs == 0 {
			t.Errorf("%s runs nowhere", sc.ID)
		}
	}
}
