//go:build linux || darwin

package e2e

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/switchboard-dev/switchboard/api"
)

// TestBudget holds the queue back when a budget is spent, over a kill of the
// hub, until somebody releases it.
func TestBudget(t *testing.T) {
	t.Parallel()
	l := newLab(t, &labOptions{config: "[[budget]]\nname = \"two turns\"\nturns = 2\naction = \"ask\"\n"})
	l.start()
	k := l.talk(t, nil)
	k.step("within the budget")
	for range 2 {
		k.prompt("@say Within.")
		k.over()
	}
	k.step("held")
	k.prompt("@say Beyond.")
	held := func() *api.Session {
		t.Helper()
		s := k.shot()
		if len(s.Holds) != 1 || s.Holds[0].Budget != "two turns" || s.Holds[0].Kind != "budget" || s.Holds[0].Reason == "" {
			k.fail("the holds are %+v; want the budget's", s.Holds)
		}
		if len(s.Messages) != 1 || s.Messages[0].State != api.MessageQueued {
			k.fail("the messages are %+v; want one that is queued", s.Messages)
		}
		return s
	}
	held()
	k.restart()
	if _, err := k.awaitState(l.ctx(), api.StateIdle); err != nil {
		t.Fatal(err)
	}
	s := held()
	k.step("released")
	_, err := k.c.Release(l.ctx(), k.id, api.Release{ClientID: k.next(), Hold: s.Holds[0].ID, Turns: 1})
	k.check(err)
	k.over()
	k.step("held again")
	k.prompt("@say Beyond.")
	held()
	_, err = k.c.TakeBack(l.ctx(), k.id, k.message.ID)
	k.check(err)
	l.verdict(k.session)
}

// A hook is a webhook's target. It is safe for concurrent use.
type hook struct {
	key []byte

	mu      sync.Mutex
	letters []letter
	wrong   []string
}

// A letter is a notification as it comes.
type letter struct {
	id   string
	Kind string `json:"kind"`
	body string
}

// ServeHTTP takes a notification, if it is signed with our key.
func (h *hook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	got := letter{id: r.Header.Get("Switchboard-Id"), body: string(body)}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case err != nil || r.Method != http.MethodPost || json.Unmarshal(body, &got) != nil:
		h.wrong = append(h.wrong, fmt.Sprintf("%s %q: %v", r.Method, body, err))
	case !h.signed(r.Header.Get("Switchboard-Signature"), body):
		h.wrong = append(h.wrong, fmt.Sprintf("the signature %q of %s is wrong", r.Header.Get("Switchboard-Signature"), body))
	case slices.ContainsFunc(h.letters, func(l letter) bool { return l.id == got.id && l.body == got.body }):
		// Sent again because the first one was answered too late.
	default:
		h.letters = append(h.letters, got)
	}
}

// signed says whether a signature is right: t=…,v1=….
func (h *hook) signed(signature string, body []byte) bool {
	fields := map[string]string{}
	for field := range strings.SplitSeq(signature, ",") {
		name, value, _ := strings.Cut(field, "=")
		fields[name] = value
	}
	mac := hmac.New(sha256.New, h.key)
	_, _ = fmt.Fprintf(mac, "%s.%s", fields["t"], body) // a hash does not fail
	return fields["t"] != "" && hmac.Equal([]byte(hex.EncodeToString(mac.Sum(nil))), []byte(fields["v1"]))
}

// all returns what has come.
func (h *hook) all() []letter {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.letters)
}

// TestNotifications holds that somebody is told of a question that nobody but a
// person answers, once, and of none that a rule answers.
func TestNotifications(t *testing.T) {
	t.Parallel()
	h := &hook{key: []byte("a key that only the two of us know")}
	target := httptest.NewServer(h)
	t.Cleanup(target.Close)
	l := newLab(t, nil)
	secret := filepath.Join(l.root, "secret")
	if err := os.WriteFile(secret, h.key, 0o600); err != nil {
		t.Fatal(err)
	}
	rules := filepath.Join(l.root, "rules.toml")
	if err := os.WriteFile(rules, []byte(`deny = ["Bash(touch denied.txt)"]`), 0o600); err != nil {
		t.Fatal(err)
	}
	l.options.config = fmt.Sprintf("[rules]\nfile = %q\n[[notify.target]]\nkind = \"webhook\"\nurl = %q\nsecret_file = %q\nevents = [\"needs_input\"]\n", rules, target.URL, secret)
	l.start()
	k := l.talk(t, nil)
	var questions []string
	for range 2 {
		k.step("answered by a rule")
		k.prompt(bash("sh -c 'touch denied.txt'"), "@say Over.")
		k.asked(1)
		if q := k.look(k.question(1)); q.From != "hub" || q.Rule == nil {
			k.fail("the question was answered from %q; want the rule", q.From)
		}
		k.step("answered by a person")
		k.prompt(asking("two"))
		q := k.question(1)
		questions = append(questions, q.ID)
		// They come in order, so that those of the questions before are there.
		if err := eventually(patience, func() error {
			if got := len(h.all()); got < len(questions) {
				return fmt.Errorf("%d notifications have come; want %d", got, len(questions))
			}
			return nil
		}); err != nil {
			k.fail("%v", err)
		}
		k.settle(q, api.Answer{Decision: "allow"})
		k.asked(1)
	}
	l.verdict(k.session)
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.letters) != len(questions) || len(h.wrong) > 0 {
		t.Fatalf("the notifications are %+v, and %q; want one for each of %q", h.letters, h.wrong, questions)
	}
	ids := map[string]bool{}
	for _, got := range h.letters {
		ids[got.id] = true
		if got.Kind != "needs_input" || !strings.Contains(got.body, k.id) || strings.Contains(got.body, "touch") || strings.Contains(got.body, k.dir) {
			t.Errorf("the notification is %s; want the session and the kind, and nothing of what it is about", got.body)
		}
	}
	if len(ids) != len(questions) || ids[""] {
		t.Errorf("the notifications have the ids %v; want one for each", ids)
	}
}
