//go:build linux || darwin

package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"
)

// An apiDocument is an OpenAPI document as a client reads it, who knows nothing
// else of the server.
type apiDocument struct {
	Paths map[string]map[string]struct {
		OperationID string
		Codes       []string          `json:"x-codes"`
		Security    *[]map[string]any // an empty list: none is needed
		Parameters  []struct{ Name, In string }
		RequestBody *struct{ Required bool }
		Responses   map[string]apiResponse
	}
	Components struct{ Schemas schemaBook }
}

// An apiResponse is what an operation answers with one status.
type apiResponse struct {
	Content map[string]struct {
		Schema any
		Events map[string]any `json:"x-events"`
	}
}

// An apiOperation is one of a document.
type apiOperation struct {
	id, method, path string
	open             bool // it needs no token
	body             bool // it takes one
	codes            []string
	query            []string // the names of its parameters
	responses        map[string]apiResponse
}

// response returns what the document says of a status.
func (o *apiOperation) response(status int) (apiResponse, bool) {
	r, ok := o.responses[fmt.Sprint(status)]
	if !ok && status >= 400 {
		r, ok = o.responses["default"]
	}
	return r, ok
}

// An apiCall is an example of an operation.
type apiCall struct {
	// path has the values of parameters in the path, query is the rest of the URL.
	path  map[string]string
	query string
	// body is JSON, or empty.
	body string
	// accept is what is wanted instead of JSON.
	accept string
	// status is what the server shall answer; 0 means the operation's only success.
	status int
	// until says whether an answer is the one that is waited for: the server may not
	// be so far yet. If nil, the first one is.
	until func(body []byte) bool
	// then looks at the answer, for the calls that follow.
	then func(body []byte)
	// frames is how many of a stream's are looked at; socket has them come by
	// WebSocket.
	frames int
	socket bool
}

// An apiTest tries all operations of a server.
type apiTest struct {
	t          *testing.T
	l          *lab
	token      string
	schemas    schemaBook
	operations map[string]*apiOperation
}

// TestOpenAPI tries every operation of the interface as somebody would who knows
// nothing but its document: each is sent an example, each answer is held against
// the document, and so are the answers to who has no token and who sends nonsense.
// An operation without an example is an error, as is an example without an
// operation.
func TestOpenAPI(t *testing.T) {
	t.Parallel()
	stage := newAPIStage(t)
	a := &apiTest{t: t, l: stage.lab}
	var err error
	if a.token, err = stage.lab.token(); err != nil {
		t.Fatal(err)
	}
	a.read()
	tried := map[string]bool{}
	for _, row := range stage.rows() {
		name := row.operation
		if row.name != "" {
			name += ": " + row.name
		}
		op := a.operations[row.operation]
		if op == nil {
			t.Errorf("the example %q is of no operation", name)
			continue
		}
		tried[row.operation] = true
		// Each needs what those before have made.
		if ok := t.Run(name, func(t *testing.T) {
			inner := *a
			inner.t = t
			inner.try(op, row.call(t))
		}); !ok {
			break
		}
	}
	if t.Failed() {
		return
	}
	for _, id := range slices.Sorted(maps.Keys(a.operations)) {
		if !tried[id] {
			t.Errorf("the operation %s has no example here: add a row", id)
		}
	}
	t.Run("without a token", func(t *testing.T) { a.everyOne(t, withoutToken) })
	t.Run("nonsense", func(t *testing.T) { a.everyOne(t, nonsense) })
}

// read reads the document as the server gives it, which is the one that is
// committed.
func (a *apiTest) read() {
	a.t.Helper()
	answer := a.send(http.MethodGet, "/v1/openapi.json", "", http.Header{"Authorization": {"Bearer " + a.token}})
	if answer.status != http.StatusOK {
		a.t.Fatalf("the document: %d %s", answer.status, answer.body)
	}
	committed, err := os.ReadFile(filepath.Join("..", "..", "api", "openapi.json"))
	if err != nil {
		a.t.Fatal(err)
	}
	if !bytes.Equal(compact(a.t, committed), compact(a.t, answer.body)) {
		a.t.Error("the server's document is not the one in api/openapi.json: run go generate ./api")
	}
	var document apiDocument
	decoder := json.NewDecoder(bytes.NewReader(answer.body))
	decoder.UseNumber()
	if err := decoder.Decode(&document); err != nil {
		a.t.Fatal(err)
	}
	a.schemas, a.operations = document.Components.Schemas, map[string]*apiOperation{}
	for path, methods := range document.Paths {
		for method, o := range methods {
			if o.OperationID == "" || a.operations[o.OperationID] != nil {
				a.t.Errorf("%s %s has no id of its own", method, path)
			}
			op := &apiOperation{
				id: o.OperationID, method: strings.ToUpper(method), path: path, codes: o.Codes, body: o.RequestBody != nil,
				open: o.Security != nil && len(*o.Security) == 0, responses: o.Responses,
			}
			for _, p := range o.Parameters {
				if p.In == "query" {
					op.query = append(op.query, p.Name)
				}
			}
			a.operations[o.OperationID] = op
		}
	}
}

func compact(t *testing.T, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, text); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// url returns the path and query of a call.
func (c *apiCall) url(op *apiOperation) string {
	path := op.path
	for name, value := range c.path {
		path = strings.ReplaceAll(path, "{"+name+"}", url.PathEscape(value))
	}
	if c.query != "" {
		path += "?" + c.query
	}
	return path
}

// try sends an example and looks at the answer.
func (a *apiTest) try(op *apiOperation, c apiCall) {
	a.t.Helper()
	target := c.url(op)
	if strings.Contains(target, "{") {
		a.t.Fatalf("%s lacks a parameter", target)
	}
	want := c.status
	for _, status := range slices.Sorted(maps.Keys(op.responses)) {
		if want == 0 && strings.HasPrefix(status, "2") {
			_, _ = fmt.Sscan(status, &want) // it stays 0 if it is no number
		}
	}
	if c.frames > 0 {
		a.stream(op, target, &c)
		return
	}
	header := http.Header{"Authorization": {"Bearer " + a.token}}
	if c.accept != "" {
		header.Set("Accept", c.accept)
	}
	var answer apiAnswer
	if err := eventually(patience, func() error {
		answer = a.send(op.method, target, c.body, header)
		if answer.status == want && c.until != nil && !c.until(answer.body) {
			return fmt.Errorf("the answer is %s", answer.body)
		}
		return nil
	}); err != nil {
		a.t.Fatal(err)
	}
	if answer.status != want {
		a.t.Fatalf("%s %s answered %d, want %d: %s", op.method, target, answer.status, want, answer.body)
	}
	a.hold(op, &answer)
	if c.then != nil && !a.t.Failed() {
		c.then(answer.body)
	}
}

// hold holds an answer against the document.
func (a *apiTest) hold(op *apiOperation, answer *apiAnswer) {
	a.t.Helper()
	response, ok := op.response(answer.status)
	if !ok {
		a.t.Errorf("%s: the document does not know the status %d", op.id, answer.status)
		return
	}
	if len(response.Content) == 0 {
		if len(answer.body) > 0 {
			a.t.Errorf("%s: an answer where none is described: %s", op.id, answer.body)
		}
		return
	}
	content, ok := response.Content[answer.kind]
	if !ok {
		a.t.Errorf("%s: the document does not know the type %q", op.id, answer.kind)
		return
	}
	if !strings.HasSuffix(answer.kind, "json") {
		if len(answer.body) == 0 {
			a.t.Errorf("%s: the answer is empty", op.id)
		}
		return
	}
	for _, wrong := range a.schemas.check(content.Schema, answer.body) {
		a.t.Errorf("%s: %d: %s", op.id, answer.status, wrong)
	}
	if answer.status < 400 {
		return
	}
	var problem struct {
		Status int
		Code   string
	}
	if err := json.Unmarshal(answer.body, &problem); err != nil || problem.Status != answer.status || !slices.Contains(op.codes, problem.Code) {
		a.t.Errorf("%s: an error with status %d and the code %q, of which the document does not speak: %v; %v", op.id, problem.Status, problem.Code, op.codes, err)
	}
}

// An apiAnswer is what came back.
type apiAnswer struct {
	status int
	kind   string
	body   []byte
}

// send sends a request. If it does not get through, that is an error of the test
// and the status is 0.
func (a *apiTest) send(method, target, body string, header http.Header) apiAnswer {
	a.t.Helper()
	answer, err := a.exchange(method, target, body, header)
	if err != nil {
		a.t.Errorf("%s %.200s: %v", method, target, err)
	}
	return answer
}

func (a *apiTest) exchange(method, target, body string, header http.Header) (apiAnswer, error) {
	ctx, cancel := context.WithTimeout(a.t.Context(), patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, "http://"+a.l.address+target, strings.NewReader(body))
	if err != nil {
		return apiAnswer{}, err
	}
	request.Header = header.Clone()
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	answer, err := a.l.http.Do(request)
	if err != nil {
		return apiAnswer{}, err
	}
	defer func() { _ = answer.Body.Close() }() // it was only read
	content, err := io.ReadAll(answer.Body)
	if err != nil {
		return apiAnswer{}, err
	}
	kind := ""
	if len(content) > 0 {
		kind, _, err = mime.ParseMediaType(answer.Header.Get("Content-Type"))
	}
	return apiAnswer{status: answer.StatusCode, kind: kind, body: content}, err
}

// stream looks at the first frames of a stream.
func (a *apiTest) stream(op *apiOperation, target string, c *apiCall) {
	a.t.Helper()
	ctx, cancel := context.WithTimeout(a.t.Context(), patience)
	defer cancel()
	header := http.Header{"Authorization": {"Bearer " + a.token}}
	if c.socket {
		a.socketStream(ctx, op, target, header, c.frames)
		return
	}
	request, err := http.NewRequestWithContext(ctx, op.method, "http://"+a.l.address+target, nil)
	if err != nil {
		a.t.Fatal(err)
	}
	header.Set("Accept", "text/event-stream")
	request.Header = header
	answer, err := a.l.http.Do(request)
	if err != nil {
		a.t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }() // it was only read
	if answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Type") != "text/event-stream" {
		a.t.Fatalf("%s answered %s with %s", target, answer.Status, answer.Header.Get("Content-Type"))
	}
	described := op.responses["200"].Content["text/event-stream"].Events
	lines := bufio.NewReader(answer.Body)
	name := ""
	for seen := 0; seen < c.frames; {
		line, err := lines.ReadString('\n')
		if err != nil {
			a.t.Fatalf("after %d frames: %v", seen, err)
		}
		field, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch field {
		case "event":
			name = value
		case "data":
			seen++
			schema, ok := described[name]
			if !ok {
				a.t.Errorf("%s: an event %q that the document does not know", op.id, name)
				continue
			}
			for _, wrong := range a.schemas.check(schema, []byte(value)) {
				a.t.Errorf("%s: event %s: %s", op.id, name, wrong)
			}
		}
	}
}

// socketStream is stream by WebSocket.
func (a *apiTest) socketStream(ctx context.Context, op *apiOperation, target string, header http.Header, frames int) {
	a.t.Helper()
	conn, answer, err := websocket.Dial(ctx, "ws://"+a.l.address+target, &websocket.DialOptions{HTTPHeader: header, HTTPClient: a.l.http})
	if err != nil {
		a.t.Fatal(err)
	}
	defer func() { _ = conn.CloseNow() }() // enough was seen
	if answer.Body != nil {
		defer func() { _ = answer.Body.Close() }() // the connection is conn's
	}
	conn.SetReadLimit(64 << 20)
	schema := op.responses["101"].Content["application/json"].Schema
	for range frames {
		kind, message, err := conn.Read(ctx)
		if err != nil || kind != websocket.MessageText {
			a.t.Fatalf("reading a frame: %v, %v", kind, err)
		}
		for _, wrong := range a.schemas.check(schema, message) {
			a.t.Errorf("%s: a frame: %s", op.id, wrong)
		}
	}
}

// everyOne does something with each operation, all at the same time: the server
// takes its time with who has no token.
func (a *apiTest) everyOne(t *testing.T, do func(*apiTest, *apiOperation)) {
	var all sync.WaitGroup
	defer all.Wait()
	inner := *a
	inner.t = t
	// No more than the server lets wait at once.
	slots := make(chan struct{}, 16)
	for _, op := range a.operations {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			do(&inner, op)
		})
	}
}

// example returns a URL of an operation that is about nothing.
func (o *apiOperation) example(value string) string {
	path := o.path
	for {
		from, to := strings.Index(path, "{"), strings.Index(path, "}")
		if from < 0 {
			return path
		}
		path = path[:from] + value + path[to+1:]
	}
}

// withoutToken sends an operation without a token, and with one that is none.
func withoutToken(a *apiTest, op *apiOperation) {
	if op.open {
		return
	}
	for _, header := range []http.Header{{}, {"Authorization": {"Bearer sb_nobody_nothing"}}} {
		answer := a.send(op.method, op.example("x"), "", header)
		if answer.status != http.StatusUnauthorized || answer.kind != "application/problem+json" || !bytes.Contains(answer.body, []byte(`"unauthorized"`)) {
			a.t.Errorf("%s without a token: %d %s %s", op.id, answer.status, answer.kind, answer.body)
			continue
		}
		a.hold(op, &answer)
	}
}

// nonsense sends an operation what makes no sense.
func nonsense(a *apiTest, op *apiOperation) {
	header := http.Header{"Authorization": {"Bearer " + a.token}}
	type garbage struct{ target, body string }
	attempts := []garbage{{op.example("x") + "?nonsense=1", ""}}
	if op.body {
		attempts = append(attempts, garbage{op.example("x"), `{"nonsense`}, garbage{op.example("x"), `{"nonsense":1}`}, garbage{op.example("x"), `7`})
	}
	if op.example("x") != op.path {
		attempts = append(attempts, garbage{op.example("no-such-thing"), ""}, garbage{op.example("%2e%2e%2f%00%ff"), ""})
	}
	for _, name := range op.query {
		attempts = append(attempts, garbage{op.example("x") + "?" + name + "=" + strings.Repeat("%ff%00", 4000), ""})
	}
	for _, g := range attempts {
		answer := a.send(op.method, g.target, g.body, header)
		if answer.status < 400 || answer.status > 499 || answer.kind != "application/problem+json" {
			a.t.Errorf("%s: %s %.80s with %q: %d %s %.300s", op.id, op.method, g.target, g.body, answer.status, answer.kind, answer.body)
			continue
		}
		a.hold(op, &answer)
	}
}
