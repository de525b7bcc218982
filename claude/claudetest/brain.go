package claudetest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// A brain asks a model as the CLI does: over the Messages API, with its retries.
type brain struct {
	client  *http.Client
	base    string
	key     string
	plan    bool // there is a subscription instead of a key; its token is never sent
	retries int
}

// maxRetries is how often a failing request is repeated.
const maxRetries = 10

// An apiFailure is an answer that is no message, or none at all.
type apiFailure struct {
	status     int    // 0: the connection failed
	kind       string // the API's error type
	message    string // of the API's error, or what went wrong
	body       string // the whole answer
	retryAfter string
	midway     bool   // the stream had begun
	text       string // what is said about it instead of the usual; empty: the usual
	cut        bool   // and then the connection was closed
	header     http.Header
	limited    bool // by the plan of a subscription, and not for a moment
	cause      error
}

// Error says what came instead of a message.
func (f *apiFailure) Error() string {
	if f.text != "" {
		return f.text
	}
	if f.status == 0 {
		return "Connection error."
	}
	return fmt.Sprintf("API Error: %d %s", f.status, f.message)
}

// failureText is what the CLI says about a failure.
func (q Quirks) failureText(f *apiFailure) string {
	if f.text != "" {
		return f.text
	}
	said := f.body
	if q.ErrorWords {
		said = f.message
	}
	text := fmt.Sprintf("API Error: %d %s", f.status, said)
	switch {
	case f.status == 0:
		return "API Error: Connection error."
	case f.status == http.StatusUnauthorized:
		return "Invalid API key · Fix external API key"
	case f.status == http.StatusForbidden:
		return "Failed to authenticate. " + text
	case f.status == http.StatusTooManyRequests && q.ErrorWords:
		return "API Error: Request rejected (429) · " + f.message
	case f.status == http.StatusRequestEntityTooLarge:
		return "Request too large. Try with a smaller file."
	}
	return text
}

// Unwrap returns what went wrong on the way.
func (f *apiFailure) Unwrap() error { return f.cause }

// retryable reports whether the CLI tries again.
func (f *apiFailure) retryable() bool {
	if f.limited {
		return false
	}
	switch f.status {
	case 0, http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests, http.StatusUnauthorized:
		return true
	}
	return f.status >= http.StatusInternalServerError
}

// delay is how long the CLI waits before the n-th retry, from 1.
func (q Quirks) delay(f *apiFailure, n int) time.Duration {
	if seconds, err := strconv.ParseFloat(f.retryAfter, 64); err == nil && seconds >= 0 && (seconds > 0 || !q.RetryLines) {
		return time.Duration(seconds * float64(time.Second))
	}
	base := min(500*time.Millisecond<<(n-1), 32*time.Second)
	return base + time.Duration(rand.Float64()*0.25*float64(base)) //nolint:gosec // spreads retries, guards nothing
}

// A modelEvent is one event of the API's stream.
type modelEvent struct {
	kind string
	data json.RawMessage
}

// stream asks for a message and hands every event on, and at the end the headers. An error is an *apiFailure, or the context's.
func (b *brain) stream(ctx context.Context, body members, on func(modelEvent) error, headers func(http.Header)) error {
	response, err := b.post(ctx, body.with("stream", true))
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }() // read to its end, or not wanted any more
	lines := bufio.NewReaderSize(response.Body, 64<<10)
	stopped := false
	for {
		line, err := lines.ReadBytes('\n')
		if data, found := bytes.CutPrefix(line, []byte("data:")); found && err == nil {
			event, bad := parseEvent(bytes.TrimSpace(data))
			if bad != nil {
				return bad
			}
			if event.kind == "error" {
				return eventFailure(event)
			}
			stopped = stopped || event.kind == "message_stop"
			if err := on(event); err != nil {
				return err
			}
		}
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, io.EOF) && stopped:
			headers(response.Header)
			return nil
		default:
			return &apiFailure{midway: true, cut: true, message: "the stream was cut", cause: err}
		}
	}
}

// whole asks for a message in one piece.
func (b *brain) whole(ctx context.Context, body members) (json.RawMessage, error) {
	response, err := b.post(ctx, body)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }() // read to its end
	data, err := io.ReadAll(response.Body)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, &apiFailure{midway: true, message: "the answer was cut", cause: err}
	case !json.Valid(data):
		return nil, &apiFailure{midway: true, message: "the answer is not JSON"}
	}
	return data, nil
}

// post sends a request and returns the answer if it is a message.
func (b *brain) post(ctx context.Context, body members) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, b.base+"/v1/messages", bytes.NewReader(plainJSON(body)))
	if err != nil {
		return nil, &apiFailure{message: "making the request", cause: err}
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Anthropic-Version", "2023-06-01")
	request.Header.Set("X-Api-Key", b.key)
	response, err := b.client.Do(request)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, &apiFailure{cause: err}
	case response.StatusCode == http.StatusOK:
		return response, nil
	}
	defer func() { _ = response.Body.Close() }() // an error is short
	text, _ := io.ReadAll(io.LimitReader(response.Body, 64<<10))
	failure := &apiFailure{status: response.StatusCode, retryAfter: response.Header.Get("Retry-After"), message: string(text), body: string(text), header: response.Header}
	failure.limited = b.plan && response.Header.Get("Anthropic-Ratelimit-Unified-Status") == "rejected"
	var parsed struct {
		Error struct{ Type, Message string }
	}
	if json.Unmarshal(text, &parsed) == nil {
		failure.kind = parsed.Error.Type
		if parsed.Error.Message != "" {
			failure.message = parsed.Error.Message
		}
	}
	return nil, failure
}

func parseEvent(data []byte) (modelEvent, error) {
	var header struct{ Type string }
	if err := json.Unmarshal(data, &header); err != nil {
		return modelEvent{}, &apiFailure{midway: true, message: "the stream is malformed", cause: err}
	}
	return modelEvent{kind: header.Type, data: bytes.Clone(data)}, nil
}

// eventFailure reads an error event of the stream.
func eventFailure(event modelEvent) error {
	var parsed struct {
		Error struct{ Type, Message string }
	}
	_ = json.Unmarshal(event.data, &parsed) // it was JSON before
	return &apiFailure{midway: true, kind: parsed.Error.Type, message: parsed.Error.Message}
}

// errorName is how the CLI names a failure in an assistant line.
func (q Quirks) errorName(f *apiFailure) string {
	switch {
	case f.status == http.StatusUnauthorized || f.status == http.StatusForbidden:
		return "authentication_failed"
	case f.status == http.StatusPaymentRequired || strings.Contains(f.kind, "billing"):
		return "billing_error"
	case f.status == http.StatusNotFound && q.ErrorWords:
		return "model_not_found"
	case f.status == http.StatusNotFound || f.status == http.StatusRequestEntityTooLarge:
		return "invalid_request"
	case f.status == http.StatusTooManyRequests && q.ErrorNames:
		return "rate_limit"
	case f.status >= http.StatusInternalServerError && q.ErrorNames, f.status == 0 && q.ErrorWords:
		return "server_error"
	}
	return "unknown"
}

// retryName is how the CLI names a failure in api_retry.
func (q Quirks) retryName(f *apiFailure) string {
	const overloaded = 529
	switch {
	case f.status == overloaded && q.RetryOverloadedAsLimit, f.status == http.StatusTooManyRequests:
		return "rate_limit"
	case f.status == overloaded:
		return "overloaded"
	case f.status == http.StatusUnauthorized:
		return "authentication_failed"
	case f.status >= http.StatusInternalServerError:
		return "server_error"
	}
	return "unknown"
}

// handlerTransport lets a client talk to a handler in the same process, without a network.
type handlerTransport struct{ handler http.Handler }

// RoundTrip runs the handler. The body of the response is what it writes, while it writes it.
func (t handlerTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	reader, writer := io.Pipe()
	w := &pipeWriter{header: http.Header{}, pipe: writer, begun: make(chan int, 1)}
	go func() { // ends with the handler, which ends with the request's context or when the reader is closed
		defer func() {
			var err error
			if cause := recover(); cause != nil {
				err = io.ErrUnexpectedEOF // http.ErrAbortHandler: the connection is cut
			}
			w.WriteHeader(http.StatusOK)
			_ = writer.CloseWithError(err) // always nil
		}()
		t.handler.ServeHTTP(w, request)
	}()
	select {
	case status := <-w.begun:
		return &http.Response{
			StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
			Header: w.header.Clone(), Body: reader, ContentLength: -1, Request: request,
		}, nil
	case <-request.Context().Done():
		_ = reader.Close() // lets the handler's writes fail
		return nil, request.Context().Err()
	}
}

// pipeWriter is the response of a handlerTransport.
type pipeWriter struct {
	header http.Header
	pipe   *io.PipeWriter
	begun  chan int // the status, once
	wrote  bool
}

func (w *pipeWriter) Header() http.Header { return w.header }

func (w *pipeWriter) WriteHeader(status int) {
	if !w.wrote {
		w.wrote = true
		w.begun <- status
	}
}

func (w *pipeWriter) Write(data []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.pipe.Write(data)
}

// Flush does nothing: the reader gets what is written at once.
func (w *pipeWriter) Flush() {}
