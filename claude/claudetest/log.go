package claudetest

import (
	"crypto/sha256"
	"hash"
	"io"
	"slices"
	"strconv"
)

// The bounds of what a model remembers; [Model.Requests] documents them.
const (
	maxRequests      = 10_000
	maxRequestsBytes = 512 << 20
)

// stepKey identifies a step of a conversation, whatever the CLI changes when it asks for it again (model, streaming, cache marks).
type stepKey [sha256.Size]byte

// A requestLog remembers requests, the newest ones at least. The zero value is ready to use.
type requestLog struct {
	requests []Request
	keys     []stepKey // of the requests, one each
	attempts map[stepKey]int
	bytes    int // of all bodies
	seq      int // of the last request
}

// add numbers a request and keeps it, and forgets the oldest ones that are too many.
func (l *requestLog) add(request *Request) {
	if l.attempts == nil {
		l.attempts = make(map[stepKey]int)
	}
	l.seq++
	request.Seq = l.seq
	key := request.step()
	l.attempts[key]++
	request.Attempt = l.attempts[key]
	l.requests = append(l.requests, *request)
	l.keys = append(l.keys, key)
	l.bytes += len(request.Body)
	for len(l.requests) > maxRequests || l.bytes > maxRequestsBytes && len(l.requests) > 1 {
		l.forget()
	}
}

// forget drops the oldest request. A step whose last request is forgotten begins anew.
func (l *requestLog) forget() {
	oldest := l.keys[0]
	if !slices.Contains(l.keys[1:], oldest) {
		delete(l.attempts, oldest)
	}
	l.bytes -= len(l.requests[0].Body)
	l.requests[0] = Request{} // the slice's memory lives on; what it held need not
	l.requests, l.keys = l.requests[1:], l.keys[1:]
}

// step returns what identifies the step of the conversation that is asked for.
func (r Request) step() stepKey {
	sum := sha256.New()
	write(sum, string(r.Kind), string(r.Metadata))
	if len(r.Messages) == 0 {
		write(sum, r.Path, string(r.Body))
	}
	for _, message := range r.Messages {
		write(sum, "message", message.Role, strconv.Itoa(len(message.Content)))
		for _, part := range message.Content {
			write(sum, part.Type, part.Text, part.ID, part.Name, string(part.Input), part.ToolUseID)
		}
	}
	return stepKey(sum.Sum(nil))
}

// write adds texts to a hash so that no two lists of texts look alike.
func write(sum hash.Hash, texts ...string) {
	for _, text := range texts {
		_, _ = io.WriteString(sum, strconv.Itoa(len(text))+":"+text) // a hash takes everything
	}
}
