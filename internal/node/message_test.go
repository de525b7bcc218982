package node

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/api"
)

// samples has a message of each type.
func samples() []Message {
	now := time.Date(2026, 11, 18, 7, 0, 0, 0, time.UTC)
	return []Message{
		&Challenge{Version: 1, Hub: "h1", Nonce: bytes.Repeat([]byte{7}, NonceSize)},
		&Hello{Version: 1, Node: NewID(), Signature: bytes.Repeat([]byte{9}, 64), Facts: Facts{Version: "1", Home: "/home/a", Own: []string{"/home/a/.x"}}},
		&Welcome{Ticket: "t", Time: now, MaxSessions: 3},
		&Refused{Code: RefusedUnknown, Reason: "why"},
		&Call{ID: 1, Method: MethodStart, Body: json.RawMessage(`{"session":"s"}`)},
		&Cancel{ID: 1},
		&Answer{ID: 1, Body: json.RawMessage(`{"pid":1}`)},
		&Answer{ID: 2, Failure: &Failure{Code: NotExist, Reason: "gone", Hint: "look"}},
		&Facts{CPUs: 4, Load: 0.5, Spools: []string{"s1-1.spool", ".spool-abc"}, CLIs: []CLI{{Path: "/bin/claude", Version: "2"}}},
		&Exited{Session: "s1", Run: 2},
		&Ping{ID: 4, Time: now},
		&Pong{ID: 4, Time: now},
	}
}

func TestMessagesComeBack(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range samples() {
		text, err := Encode(m)
		if err != nil {
			t.Fatal(err)
		}
		back, err := Decode(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if diff := cmp.Diff(m, back); diff != "" {
			t.Errorf("%T (-sent +read):\n%s", m, diff)
		}
		seen[m.tag()] = true
	}
	for _, m := range samples() {
		if blank(m.tag()) == nil || !seen[m.tag()] {
			t.Errorf("%T is not known by its type", m)
		}
	}
}

func TestEmptyMessage(t *testing.T) {
	text, err := Encode(&Facts{})
	if err != nil || string(text) != `{"type":"facts"}` {
		t.Errorf("%s, %v", text, err)
	}
}

func TestDecodeRefuses(t *testing.T) {
	nonce := strings.Repeat("A", 43) + "="
	for name, text := range map[string]string{
		"nothing":                    ``,
		"no JSON":                    `{`,
		"no object":                  `["call"]`,
		"a text":                     `"call"`,
		"two objects":                `{"type":"ping"}{"type":"ping"}`,
		"a member of another type":   `{"type":"call","id":"one"}`,
		"a number below zero":        `{"type":"call","id":-1}`,
		"a short nonce":              `{"type":"challenge","hub":"h","nonce":"AAAA"}`,
		"a challenge without a hub":  `{"type":"challenge","nonce":"` + nonce + `"}`,
		"a welcome without a ticket": `{"type":"welcome"}`,
		"a long ticket":              `{"type":"welcome","ticket":"` + strings.Repeat("x", 200) + `"}`,
		"a long id":                  `{"type":"hello","node":"` + strings.Repeat("x", 200) + `"}`,
		"a long signature":           `{"type":"hello","node":"n","signature":"` + strings.Repeat("AAAA", 200) + `"}`,
		"the end of no run":          `{"type":"exited","session":"s"}`,
		"the end of no session":      `{"type":"exited","run":1}`,
		"a long method":              `{"type":"call","method":"` + strings.Repeat("x", 200) + `"}`,
		"a folder that is none":      `{"type":"facts","own":["relative"]}`,
		"the root as a folder":       `{"type":"facts","own":["/x/.."]}`,
		"a home that is none":        `{"type":"facts","home":"~"}`,
		"too many folders":           `{"type":"facts","own":["/a"` + strings.Repeat(`,"/a"`, maxOwn) + `]}`,
		"too long":                   `{"type":"facts","os":"` + strings.Repeat("x", MaxMessage) + `"}`,
	} {
		if m, err := Decode([]byte(text)); err == nil {
			t.Errorf("%s: read as %+v", name, m)
		}
	}
}

// Errors do not quote what was read: it may hold secrets.
func TestErrorsQuoteNothing(t *testing.T) {
	for _, text := range []string{`{"type":"call","id":"sb_secret"}`, `{"type":"start", sb_secret`, `{"type":"hello","node":"` + strings.Repeat("sb_secret", 90) + `"}`} {
		if _, err := Decode([]byte(text)); err == nil || strings.Contains(err.Error(), "sb_secret") {
			t.Errorf("%s: %v", text[:20], err)
		}
	}
	_, err := Encode(&Call{Body: json.RawMessage(`sb_secret`)})
	if err == nil || strings.Contains(err.Error(), "sb_secret") {
		t.Errorf("encoding: %v", err)
	}
}

func TestUnknownMessages(t *testing.T) {
	m, err := Decode([]byte(`{"type":"dance","steps":3}`))
	if unknown, ok := m.(*Unknown); err != nil || !ok || unknown.Type != "dance" {
		t.Errorf("%+v, %v", m, err)
	}
	m, err = Decode([]byte(`{"type":"ping","id":3,"more":{"a":1}}`))
	if ping, ok := m.(*Ping); err != nil || !ok || ping.ID != 3 {
		t.Errorf("a ping with more: %+v, %v", m, err)
	}
}

// What a node says about itself is cut to what can be shown and kept.
func TestFactsAreBounded(t *testing.T) {
	clis := make([]CLI, 100)
	text, err := Encode(&Facts{
		Hostname: strings.Repeat("é", 300), Version: "a\x1b[31mb\u0000", CPUs: -3, Load: 1e300, Runs: -1, MemoryBytes: -5, CLIs: clis,
		Spools: append([]string{"../../etc/passwd", "a/b.spool", ".hidden", "", "s-1.spool"}, make([]string, 400)...),
	})
	if err != nil {
		t.Fatal(err)
	}
	m, err := Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	f, ok := m.(*Facts)
	if !ok {
		t.Fatalf("%T", m)
	}
	want := Facts{Hostname: strings.Repeat("é", 64), Version: "a[31mb", Load: 1 << 20, CLIs: clis[:maxCLIs], Spools: []string{"s-1.spool"}}
	if diff := cmp.Diff(want, *f); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTooLongToSend(t *testing.T) {
	if _, err := Encode(&Answer{ID: 1, Body: json.RawMessage(`"` + strings.Repeat("x", MaxMessage) + `"`)}); !errors.Is(err, ErrTooLong) {
		t.Errorf("%v", err)
	}
	// A piece fits, whatever is in it.
	body, err := json.Marshal(Piece{Bytes: bytes.Repeat([]byte{0xff}, MaxPiece), End: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Encode(&Answer{ID: 1<<64 - 1, Body: body}); err != nil {
		t.Error(err)
	}
}

func TestStartProblem(t *testing.T) {
	for code, status := range map[string]int{"bad_dir": 422, "bad_option": 422, "forbidden": 403, "running": 409, Full: 409, "no_agent": 502, "no_sandbox": 502, Failed: 502, "": 502} {
		e := (&Failure{Code: code, Reason: "r", Hint: "h"}).StartProblem()
		if e.Status != status || e.Detail != "r" || e.Hint != "h" || e.Code == "" {
			t.Errorf("%s: %+v", code, e)
		}
	}
	if got := (&Failure{Reason: "r", Hint: "h"}).Error(); got != "r; h" {
		t.Error(got)
	}
}

// FuzzDecode holds that what is read is within bounds, and is read again as it was written.
func FuzzDecode(f *testing.F) {
	for _, m := range samples() {
		text, err := Encode(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(`{"type":"call","TYPE":"hello"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := Decode(text)
		if err != nil {
			if m != nil {
				t.Error("a message came with an error")
			}
			return
		}
		if _, unknown := m.(*Unknown); unknown {
			return
		}
		again, err := Encode(m)
		if err != nil {
			// JSON may grow when it is written again, but not beyond reason.
			if !errors.Is(err, ErrTooLong) || len(text) < MaxMessage/8 {
				t.Fatalf("%.200q cannot be written: %v", text, err)
			}
			return
		}
		back, err := Decode(again)
		if err != nil {
			t.Fatalf("%.200q cannot be read again: %v", again, err)
		}
		third, err := Encode(back)
		if err != nil || !bytes.Equal(again, third) {
			t.Fatalf("%.200q became %.200q", again, third)
		}
		if facts, ok := m.(*Facts); ok && (len(facts.Spools) > MaxSpools || len(facts.Own) > maxOwn || len(facts.Hostname) > maxWord) {
			t.Errorf("facts are out of bounds: %+v", facts)
		}
	})
}

// The types of the protocol and of the hub are converted into each other: none of them may
// lose a member on its way through JSON.
func TestNoMemberWithoutName(t *testing.T) {
	for _, v := range []any{Start{}, Launched{}, Process{}, PlanQuery{}, PlanFile{}, TranscriptQuery{}, TranscriptFile{}, TranscriptSearch{}, Resolved{}, Facts{}, api.NodeCLI{}} {
		typ := reflect.TypeOf(v)
		names := map[string]bool{}
		for field := range typ.Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if name == "" || name == "-" || names[name] {
				t.Errorf("%s.%s has the name %q", typ, field.Name, name)
			}
			names[name] = true
		}
	}
}
