package claudetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestAttempts(t *testing.T) {
	const (
		first   = `{"model":"a","stream":true,"metadata":{"user_id":"s1"},"messages":[{"role":"user","content":[{"type":"text","text":"go","cache_control":{}}]}]}`
		retried = `{"model":"b","metadata":{"user_id":"s1"},"messages":[{"role":"user","content":"go"}]}`
		other   = `{"model":"a","metadata":{"user_id":"s2"},"messages":[{"role":"user","content":"go"}]}`
		next    = `{"model":"a","metadata":{"user_id":"s1"},"messages":[{"role":"user","content":"go"},` + toolUse + `,` + toolResult + `]}`
	)
	m := newModel(t, &ModelOptions{Script: func(r Request) Reply { return Say(Text(fmt.Sprint("attempt ", r.Attempt))) }})
	var attempts []int
	for _, body := range []string{first, retried, other, next, first, next} {
		post(t, m, "/v1/messages", body)
	}
	for _, request := range m.Requests() {
		attempts = append(attempts, request.Attempt)
	}
	if want := []int{1, 2, 1, 1, 3, 2}; !slices.Equal(attempts, want) {
		t.Errorf("attempts %v, want %v", attempts, want)
	}
	if _, answer := post(t, m, "/v1/messages", other); !strings.Contains(answer, "attempt 2") {
		t.Errorf("the script saw %s", answer)
	}
	if got := string(m.Requests()[0].Metadata); got != `{"user_id":"s1"}` {
		t.Errorf("metadata %s", got)
	}
}

func TestTheLogIsBounded(t *testing.T) {
	t.Run("number", func(t *testing.T) {
		var log requestLog
		for i := range maxRequests + 5 {
			log.add(&Request{Path: fmt.Sprint(i % (maxRequests + 1))})
		}
		if len(log.requests) != maxRequests || len(log.keys) != maxRequests || log.requests[0].Seq != 6 || log.requests[maxRequests-1].Seq != maxRequests+5 {
			t.Errorf("kept %d requests, from %d on", len(log.requests), log.requests[0].Seq)
		}
		if len(log.attempts) > maxRequests {
			t.Errorf("counts the attempts of %d steps", len(log.attempts))
		}
	})
	t.Run("size", func(t *testing.T) {
		var log requestLog
		// The messages keep the bodies from being hashed; one memory serves for all.
		body, messages := make([]byte, maxRequestsBytes/2+1), []TurnMessage{{Role: "user"}}
		for range 3 {
			log.add(&Request{Body: body, Messages: messages})
		}
		if len(log.requests) != 1 || log.requests[0].Seq != 3 || log.bytes != len(body) || log.requests[0].Attempt != 3 {
			t.Errorf("kept %d requests of %d bytes", len(log.requests), log.bytes)
		}
		log.add(&Request{Body: make([]byte, 1), Messages: []TurnMessage{{Role: "other"}}})
		log.add(&Request{Body: body, Messages: []TurnMessage{{Role: "other"}}})
		if len(log.requests) != 2 || len(log.attempts) != 1 {
			t.Errorf("kept %d requests and %d steps", len(log.requests), len(log.attempts))
		}
	})
}
