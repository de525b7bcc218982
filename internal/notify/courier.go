package notify

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"
)

// The headers of a webhook's request. docs/notifications.md describes them.
const (
	signatureHeader = "Switchboard-Signature"
	idHeader        = "Switchboard-Id"
)

// An outcome says what became of an attempt.
type outcome struct {
	err error // nil: delivered
	// retry says whether another attempt may succeed, after for how long the
	// target wants none.
	retry bool
	after time.Duration
}

// A courier knows how to reach one target. It is static after construction.
type courier struct {
	kind, host string
	target     Target
	url        string
	link       string
	agent      string
	client     *http.Client
}

func newCourier(t *Target, client *http.Client, link, agent string) (*courier, error) {
	u, err := t.check()
	if err != nil {
		return nil, err
	}
	c := &courier{kind: t.Kind, host: u.Host, target: *t, url: u.String(), link: link, agent: agent, client: client}
	c.target.Events = slices.Clone(t.Events)
	return c, nil
}

// wants reports whether the target is to be told of such notifications.
func (c *courier) wants(kind string) bool {
	return len(c.target.Events) == 0 || slices.Contains(c.target.Events, kind)
}

// deliver makes one attempt.
func (c *courier) deliver(ctx context.Context, l *letter) outcome {
	request, err := c.request(ctx, l)
	if err != nil { // a file that cannot be read now may be there later
		return outcome{err: err, retry: true}
	}
	answer, err := c.client.Do(request)
	if err != nil {
		// The error's text begins with the address, which may be a secret.
		if wrapped, ok := errors.AsType[*url.Error](err); ok {
			err = wrapped.Err
		}
		return outcome{err: fmt.Errorf("sending it: %w", err), retry: true}
	}
	defer func() { _ = answer.Body.Close() }() // its content is of no interest
	// A target that is cut off may take the notification for not delivered.
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 64<<10))
	return judge(answer)
}

// judge says what an answer means.
func judge(answer *http.Response) outcome {
	code := answer.StatusCode
	refused := outcome{err: fmt.Errorf("the target answered %d %s", code, http.StatusText(code))}
	switch {
	case code >= 200 && code < 300:
		return outcome{}
	case code >= 300 && code < 400:
		return outcome{err: fmt.Errorf("the target answered %d, a redirect, which is not followed; configure the address that it leads to", code)}
	case code == http.StatusTooManyRequests, code == http.StatusServiceUnavailable:
		refused.after = retryAfter(answer.Header.Get("Retry-After"), time.Now())
		refused.retry = true
	case code == http.StatusRequestTimeout, code >= 500:
		refused.retry = true
	}
	return refused
}

// retryAfter reads the header of that name, 0 if it says nothing.
func retryAfter(value string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if date, err := http.ParseTime(value); err == nil {
		return max(0, date.Sub(now))
	}
	return 0
}

// request builds the request of one attempt.
func (c *courier) request(ctx context.Context, l *letter) (*http.Request, error) {
	var body []byte
	header := make(http.Header)
	header.Set("User-Agent", c.agent)
	if c.target.TokenFile != "" {
		token, err := readToken(c.target.TokenFile)
		if err != nil {
			return nil, err
		}
		header.Set("Authorization", "Bearer "+token)
	}
	switch c.kind {
	case Webhook:
		secret, err := readSecret(c.target.SecretFile)
		if err != nil {
			return nil, err
		}
		if body, err = json.Marshal(c.payload(l)); err != nil {
			return nil, fmt.Errorf("writing the notification: %w", err)
		}
		header.Set("Content-Type", "application/json")
		header.Set(idHeader, l.id)
		// With the time of the attempt, so that the receiver can refuse what
		// an attacker has kept and sends again.
		header.Set(signatureHeader, sign(secret, time.Now(), body))
	case Ntfy:
		body = c.ntfy(l, header)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("the address cannot be used") // checked before
	}
	request.Header = header
	return request, nil
}

// sign returns the value of the header that proves who has sent a body, and
// when.
func sign(secret []byte, at time.Time, body []byte) string {
	stamp := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(stamp + "."))
	mac.Write(body)
	return "t=" + stamp + ",v1=" + hex.EncodeToString(mac.Sum(nil))
}
