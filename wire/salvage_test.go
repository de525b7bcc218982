package wire

import (
	"strings"
	"testing"
)

func TestSalvage(t *testing.T) {
	tests := []struct {
		line    string
		session string
		init    bool
	}{
		{`[system/init] session_id: sess_abc123`, "sess_abc123", true},
		{`[INIT]`, "", true},
		{`{"type":"system","subtype":"init","session_id":"0c4f-11aa","x`, "0c4f-11aa", true},
		{`{'type':'system','subtype':'init'}`, "", true},
		{`sessionId='ABCDEFGH'`, "ABCDEFGH", false},
		{"session\t= 0123.4567 and more", "0123.4567", false},
		{"\x00\xff{\"session_id\":\"0c4f11aa\xff", "0c4f11aa", false},
		{`session = short`, "", false},
		{`session: 1234567` + "\u212a", "", false},
		{`session: ` + strings.Repeat("a", 128), strings.Repeat("a", 128), false},
		{`session: ` + strings.Repeat("a", 129), "", false},
		{`subtype=initial`, "", false},
		{`nothing to see`, "", false},
		{"", "", false},
		{strings.Repeat("x", 70<<10) + "session: abcdefgh subtype=init", "", false},
	}
	for _, tt := range tests {
		session, init := Salvage([]byte(tt.line))
		if session != tt.session || init != tt.init {
			t.Errorf("%.60q: got %q %v, want %q %v", tt.line, session, init, tt.session, tt.init)
		}
	}
}

func FuzzSalvage(f *testing.F) {
	f.Add([]byte(`[system/init] session_id: sess_abc123`))
	f.Add([]byte(`{"type":"system","subtype":"init","session_id":"0c4f-11aa","x`))
	f.Fuzz(func(t *testing.T, line []byte) {
		session, _ := Salvage(line)
		if session == "" {
			return
		}
		if len(session) < 8 || len(session) > 128 || !strings.Contains(string(line), session) {
			t.Fatalf("%q became the session %q", line, session)
		}
		for _, c := range []byte(session) {
			if c < '-' || c > 'z' {
				t.Fatalf("the session %q has a byte that no id has", session)
			}
		}
	})
}
