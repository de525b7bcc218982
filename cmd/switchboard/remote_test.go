package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/config"
)

// homeWithHubs returns a home folder in which there are some hubs, of which one is current.
func homeWithHubs(t *testing.T, current string) string {
	t.Helper()
	home := t.TempDir()
	err := config.ChangeHubs(filepath.Join(home, ".config", "switchboard", "hubs.json"), func(h *config.Hubs) error {
		h.Hubs["work"] = config.Hub{URL: "https://work.example", Token: "sb_work_1", Pin: "sha256:" + strings.Repeat("A", 43)}
		h.Hubs["home"] = config.Hub{URL: "https://home.example:8765", Token: "sb_home_1"}
		h.Current = current
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return home
}

func TestRemote(t *testing.T) {
	for name, test := range map[string]struct {
		flags      hubFlags
		env        []string
		current    string
		want       string // name, address and token; empty for this machine
		err        string // a part
		code       int
		flag       string
		pinned     bool
		withoutHub bool // no hubs are known
	}{
		"nothing":                    {},
		"no file":                    {withoutHub: true},
		"current":                    {current: "work", want: "work https://work.example sb_work_1", pinned: true},
		"flag before current":        {current: "work", flags: hubFlags{hub: "home"}, want: "home https://home.example:8765 sb_home_1", flag: " --hub home"},
		"local before current":       {current: "work", flags: hubFlags{hub: "local"}},
		"variable before current":    {current: "work", env: []string{"SWITCHBOARD_HUB=home"}, want: "home https://home.example:8765 sb_home_1"},
		"local by variable":          {current: "work", env: []string{"SWITCHBOARD_HUB=local"}},
		"flag before variable":       {env: []string{"SWITCHBOARD_HUB=home"}, flags: hubFlags{hub: "work"}, want: "work https://work.example sb_work_1", flag: " --hub work", pinned: true},
		"data folder before all":     {current: "work", env: []string{"SWITCHBOARD_HUB=home"}, flags: hubFlags{dataDir: "d"}},
		"data folder and local":      {current: "work", flags: hubFlags{dataDir: "d", hub: "local"}},
		"data folder and hub":        {flags: hubFlags{dataDir: "d", hub: "work"}, err: "not both", code: codeUsage},
		"address of a known hub":     {flags: hubFlags{hub: "https://work.example/"}, want: "https://work.example https://work.example sb_work_1", flag: " --hub https://work.example", pinned: true},
		"address, upper case":        {flags: hubFlags{hub: "https://WORK.example"}, want: "https://work.example https://work.example sb_work_1", flag: " --hub https://work.example", pinned: true},
		"unknown address":            {flags: hubFlags{hub: "https://new.example"}, err: "there is no token for https://new.example", code: codeUsage},
		"unknown address and token":  {env: []string{"SWITCHBOARD_HUB=https://new.example", "SWITCHBOARD_TOKEN= sb_env_1\n"}, want: "https://new.example https://new.example sb_env_1"},
		"token of the environment":   {current: "work", env: []string{"SWITCHBOARD_TOKEN=sb_env_1"}, want: "work https://work.example sb_env_1", pinned: true},
		"token alone":                {env: []string{"SWITCHBOARD_TOKEN=sb_env_1"}},
		"unknown name":               {flags: hubFlags{hub: "other"}, err: `--hub: no hub is named "other"`, code: codeNotFound},
		"unknown name, by variable":  {env: []string{"SWITCHBOARD_HUB=other"}, err: `SWITCHBOARD_HUB: no hub is named "other"`, code: codeNotFound},
		"unknown name, without file": {withoutHub: true, flags: hubFlags{hub: "work"}, err: `no hub is named "work"`, code: codeNotFound},
		"http elsewhere":             {flags: hubFlags{hub: "http://new.example"}, env: []string{"SWITCHBOARD_TOKEN=sb_env_1"}, err: "only https is safe", code: codeUsage},
		"http on this machine":       {flags: hubFlags{hub: "http://127.0.0.1:1"}, env: []string{"SWITCHBOARD_TOKEN=sb_env_1"}, want: "http://127.0.0.1:1 http://127.0.0.1:1 sb_env_1", flag: " --hub http://127.0.0.1:1"},
		"an address with a code":     {flags: hubFlags{hub: "https://work.example/#code=sbc_secret"}, err: "switchboard login", code: codeUsage},
		"an address with a password": {flags: hubFlags{hub: "https://me:secret@work.example"}, err: "tokens have a place of their own", code: codeUsage},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			if !test.withoutHub {
				home = homeWithHubs(t, test.current)
			}
			got, err := test.flags.remote(&env{env: append([]string{"HOME=" + home}, test.env...)})
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) || exitCode(err) != test.code || strings.Contains(err.Error(), "secret") {
					t.Errorf("got %v, code %d, want %q, code %d", err, exitCode(err), test.err, test.code)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			text := ""
			if got != nil {
				text = got.name + " " + got.hub.URL + " " + got.hub.Token
			}
			if text != test.want || got.flag() != test.flag {
				t.Errorf("got %q, flag %q, want %q, flag %q", text, got.flag(), test.want, test.flag)
			}
			if got != nil && (got.hub.Pin != "") != test.pinned {
				t.Errorf("the pin is %q", got.hub.Pin)
			}
		})
	}
}

func TestHubAddress(t *testing.T) {
	for text, want := range map[string]string{
		"https://hub.example.com":                    "https://hub.example.com",
		"https://Hub.Example.com:8765/":              "https://hub.example.com:8765",
		"https://hub.example.com/below/":             "https://hub.example.com/below",
		"http://127.0.0.1:8765":                      "http://127.0.0.1:8765",
		"https://hub.example/#code=sbc_1&to=%2Fs%2F": "https://hub.example sbc_1",
		"https://hub.example/#other":                 "",
		"hub.example.com":                            "",
		"ssh://hub.example.com":                      "",
		"https://":                                   "",
		"http://hub.example.com":                     "",
		"https://hub.example.com/?token=sb_x":        "",
	} {
		base, code, err := hubAddress(text)
		if got := strings.TrimSpace(base + " " + code); got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v, want %q", text, got, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "sb_x") {
			t.Errorf("the error %q has a secret", err)
		}
	}
}

func TestExplain(t *testing.T) {
	at := &remote{name: "work", hub: config.Hub{URL: "https://work.example", Token: "sb_id_secret"}}
	plain := errors.New("something else")
	for name, test := range map[string]struct {
		err  error
		want []string // parts; none for the error itself
		code int
	}{
		"a wrong pin": {
			fmt.Errorf("talking to the server: %w", &client.PinError{Want: "sha256:old", Got: "sha256:new"}),
			[]string{"the hub work (https://work.example)", "sent nothing", "now:      sha256:new", "login: sha256:old", "switchboard status", "switchboard login https://work.example --name work"},
			codeFailed,
		},
		"not trusted": {
			&tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}},
			[]string{"doesn't trust", "sent nothing", "switchboard login https://work.example --name work"},
			codeFailed,
		},
		"a wrong token": {&api.Error{Status: 401, Code: api.CodeUnauthorized}, []string{"does not accept the token", "switchboard login"}, codeFailed},
		"refused":       {&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, []string{"can't be reached", "refused"}, codeNoServer},
		"no such host":  {&net.DNSError{Err: "no such host", Name: "work.example", IsNotFound: true}, []string{"can't be reached", "no such host"}, codeNoServer},
		"cut off":       {fmt.Errorf("talking to the server: %w", io.ErrUnexpectedEOF), []string{"can't be reached"}, codeNoServer},
		"no scope":      {&api.Error{Status: 403, Code: api.CodeForbidden, Title: "no"}, nil, codeFailed},
		"not found":     {&api.Error{Status: 404, Code: api.CodeNotFound, Title: "no"}, nil, codeNotFound},
		"another":       {plain, nil, codeFailed},
	} {
		t.Run(name, func(t *testing.T) {
			got := at.explain(test.err)
			if len(test.want) == 0 && !errors.Is(got, test.err) {
				t.Errorf("got %v", got)
			}
			for _, part := range test.want {
				if !strings.Contains(got.Error(), part) {
					t.Errorf("%q lacks %q", got, part)
				}
			}
			if exitCode(got) != test.code || !errors.Is(got, test.err) || strings.Contains(got.Error(), "secret") {
				t.Errorf("%v ends with code %d, want %d", got, exitCode(got), test.code)
			}
			if again := at.explain(got); again.Error() != got.Error() {
				t.Errorf("said twice: %v", again)
			}
		})
	}
	if at.explain(nil) != nil || !errors.Is((*remote)(nil).explain(plain), plain) {
		t.Error("what needs no words is given some")
	}
}

func TestHubName(t *testing.T) {
	home := homeWithHubs(t, "")
	file := filepath.Join(home, ".config", "switchboard", "hubs.json")
	err := config.ChangeHubs(file, func(h *config.Hubs) error {
		h.Hubs["hub.example"] = config.Hub{URL: "https://hub.example"}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ given, url, want string }{
		"by its host":          {"", "https://new.example:8765", "new.example"},
		"the name it has":      {"", "https://work.example", "work"},
		"a port beside a host": {"", "https://hub.example:8766", "hub.example-8766"},
		"six":                  {"", "https://[::1]:8765", "1"},
		"given":                {"lab", "https://new.example", "lab"},
		"given again":          {"work", "https://work.example", "work"},
		"taken":                {"work", "https://new.example", ""},
		"reserved":             {"local", "https://new.example", ""},
		"nonsense":             {"a b", "https://new.example", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := (&loginCmd{name: test.given}).nameFor(file, test.url)
			if got != test.want || (err == nil) != (test.want != "") {
				t.Errorf("got %q, %v, want %q", got, err, test.want)
			}
		})
	}
}
