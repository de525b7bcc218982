package notify

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// verify says what is wrong with a request. docs/notifications.md shows this
// very function.
func verify(secret []byte, signature string, body []byte, now time.Time) error {
	stamp, sum, ok := strings.Cut(strings.TrimPrefix(signature, "t="), ",v1=")
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if !ok || err != nil {
		return errors.New("the signature has another form")
	}
	if age := now.Sub(time.Unix(seconds, 0)); age.Abs() > 5*time.Minute {
		return errors.New("the request is too old")
	}
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(stamp + "."))
	mac.Write(body)
	if want, err := hex.DecodeString(sum); err != nil || !hmac.Equal(want, mac.Sum(nil)) {
		return errors.New("the signature is wrong")
	}
	return nil
}

func TestVerify(t *testing.T) {
	// By: printf '1700000000.{"kind":"done"}' | openssl dgst -sha256 -hmac a-key-that-nobody-knows
	const signature = "t=1700000000,v1=b46fc25e5ca50eb6dcc788c38dbda68b7698fcd01b0b640a2effc6d6ea78fe9c"
	at, body := time.Unix(1700000000, 0), []byte(`{"kind":"done"}`)
	if got := sign([]byte(testSecret), at, body); got != signature {
		t.Errorf("the signature is %s", got)
	}
	for _, test := range []struct {
		name, secret, signature, body string
		at                            time.Time
		want                          bool
	}{
		{"right", testSecret, signature, string(body), at, true},
		{"a little late", testSecret, signature, string(body), at.Add(4 * time.Minute), true},
		{"late", testSecret, signature, string(body), at.Add(6 * time.Minute), false},
		{"of the future", testSecret, signature, string(body), at.Add(-6 * time.Minute), false},
		{"another key", testSecret + "x", signature, string(body), at, false},
		{"another body", testSecret, signature, string(body) + " ", at, false},
		{"another time", testSecret, strings.Replace(signature, "t=1700000000", "t=1700000001", 1), string(body), at, false},
		{"nothing", testSecret, "", string(body), at, false},
		{"no sum", testSecret, "t=1700000000,v1=", string(body), at, false},
	} {
		if err := verify([]byte(test.secret), test.signature, []byte(test.body), test.at); (err == nil) != test.want {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

// TestDocument compares docs/notifications.md with what is sent.
func TestDocument(t *testing.T) {
	text, err := os.ReadFile("../../docs/notifications.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("verify_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, function, ok := strings.Cut(string(source), "\nfunc verify(")
	function, _, end := strings.Cut(function, "\n}\n")
	if !ok || !end || !strings.Contains(string(text), "\nfunc verify("+function+"\n}\n") {
		t.Error("docs/notifications.md does not show how this test verifies a signature")
	}
	for _, word := range append(Kinds(), signatureHeader, idHeader, "id", "session", "kind", "time", "link", "title", "dir", "question", "question_kind", "text",
		"secret_file", "token_file", "events", "detail", "Title", "Tags", "Priority", "Click", "X-Sequence-ID") {
		if !strings.Contains(string(text), "`"+word+"`") {
			t.Errorf("docs/notifications.md says nothing about %s", word)
		}
	}
}
