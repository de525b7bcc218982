package access

import (
	"net/http"
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/wire"
)

func TestScopes(t *testing.T) {
	some := ScopesOf(wire.ScopePrompt, wire.ScopeObserve)
	for _, test := range []struct {
		set   Scopes
		scope wire.Scope
		want  bool
	}{
		{0, wire.ScopeObserve, false},
		{0, wire.ScopeNone, false},
		{some, wire.ScopeObserve, true},
		{some, wire.ScopePrompt, true},
		{some, wire.ScopeApprove, false},
		{some, wire.ScopeAdmin, false},
		{ScopesOf(wire.ScopeAdmin), wire.ScopeObserve, false}, // no ladder
		{AllScopes(), wire.ScopeAdmin, true},
		{AllScopes(), wire.ScopeNone, false},
		{AllScopes(), wire.Scope(7), false},
		{AllScopes(), wire.Scope(-1), false},
		{ScopesOf(wire.ScopeNone, wire.Scope(6)), wire.Scope(6), false},
	} {
		if got := test.set.Has(test.scope); got != test.want {
			t.Errorf("{%v}.Has(%v) = %v", test.set, test.scope, got)
		}
	}
	if got := some.String(); got != "observe,prompt" {
		t.Errorf("String() = %q", got)
	}
	if got, err := ParseScopes([]string{"prompt", "observe", "prompt"}); err != nil || got != some {
		t.Errorf("ParseScopes = %v, %v", got, err)
	}
	for _, bad := range []string{"none", "", "Admin", "observe,prompt"} {
		if got, err := ParseScopes([]string{"observe", bad}); err == nil {
			t.Errorf("ParseScopes(%q) = %v", bad, got)
		}
	}
}

func TestRequireWithoutAnIdentity(t *testing.T) {
	if _, e := Require(t.Context(), wire.ScopeObserve); e == nil || e.Status != http.StatusUnauthorized || e.Code != api.CodeUnauthorized {
		t.Errorf("Require = %v", e)
	}
	if _, known := From(t.Context()); known {
		t.Error("somebody is known")
	}
}

func TestTokens(t *testing.T) {
	text, token := newToken("admin", AllScopes())
	other, _ := newToken("other", AllScopes())
	store := newTokenStore(nil, token)
	id, secret, _ := splitToken(text)
	if len(secret) < 50 || strings.Contains(secret, id) {
		t.Errorf("the secret is %q", secret)
	}
	for name, test := range map[string]struct {
		text string
		want bool
	}{
		"right":            {text, true},
		"another":          {other, false},
		"unknown id":       {tokenPrefix + "x" + id + "_" + secret, false},
		"other secret":     {text[:len(text)-1] + "!", false},
		"shorter":          {text[:len(text)-1], false},
		"longer":           {text + "a", false},
		"no secret":        {tokenPrefix + id + "_", false},
		"no id":            {tokenPrefix + "_" + secret, false},
		"no prefix":        {id + "_" + secret, false},
		"other prefix":     {"SB_" + id + "_" + secret, false},
		"empty":            {"", false},
		"only underscores": {"sb___", false},
	} {
		if got, ok := store.match(test.text, nil); ok != test.want || ok && got.Name != "admin" {
			t.Errorf("%s: match = %v, %v", name, got, ok)
		}
	}
	// An empty store has a zero sum for every id.
	if _, ok := newTokenStore(nil).match(text, nil); ok {
		t.Error("a token matches no token")
	}

	again, err := ParseToken(text, "admin", AllScopes())
	if err != nil || again != token {
		t.Errorf("ParseToken = %v, %v", again, err)
	}
	for _, bad := range []string{"", "x", "sb_a", "sb_a_", "sb__b", "sb_a_short"} {
		_, err := ParseToken(bad, "admin", AllScopes())
		if err == nil {
			t.Errorf("ParseToken(%q) worked", bad)
		} else if strings.HasPrefix(bad, tokenPrefix) && strings.Contains(err.Error(), bad) {
			t.Errorf("the error %q holds the token", err)
		}
	}
}
