package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/switchboard-dev/switchboard/api"
)

// call makes a request with an answer of type T.
func call[T any](ctx context.Context, c *Client, method, path string, query url.Values, body any) (*T, error) {
	out := new(T)
	if err := c.do(ctx, method, path, query, body, out); err != nil {
		return nil, err
	}
	return out, nil
}

func sessionPath(id, rest string) string { return "/v1/sessions/" + url.PathEscape(id) + rest }

// Info says what the server is and can do.
func (c *Client) Info(ctx context.Context) (*api.Info, error) {
	return call[api.Info](ctx, c, http.MethodGet, "/v1/info", nil, nil)
}

// Create starts an agent, or makes a place for one that dials in. With a client
// id it can be repeated without starting another.
func (c *Client) Create(ctx context.Context, in api.CreateSession) (*api.Created, error) {
	return call[api.Created](ctx, c, http.MethodPost, "/v1/sessions", nil, in)
}

// Presets lists the presets for new sessions, by name.
func (c *Client) Presets(ctx context.Context) (*api.Presets, error) {
	return call[api.Presets](ctx, c, http.MethodGet, "/v1/presets", nil, nil)
}

// List lists sessions, the most recently updated first.
func (c *Client) List(ctx context.Context, f api.SessionFilter) (*api.SessionList, error) {
	q := url.Values{}
	for i, state := range f.State {
		if i == 0 {
			q.Set("state", string(state))
			continue
		}
		q.Set("state", q.Get("state")+","+string(state))
	}
	set(q, "dir", f.Dir)
	set(q, "q", f.Text)
	set(q, "node", f.Node)
	set(q, "cursor", f.Cursor)
	setInt(q, "limit", f.Limit)
	if f.Archived {
		q.Set("archived", "true")
	}
	return call[api.SessionList](ctx, c, http.MethodGet, "/v1/sessions", q, nil)
}

// Session returns a session as it is now.
func (c *Client) Session(ctx context.Context, id string) (*api.Session, error) {
	return call[api.Session](ctx, c, http.MethodGet, sessionPath(id, ""), nil, nil)
}

// Update changes a session's title, model, permission mode or thinking.
func (c *Client) Update(ctx context.Context, id string, in api.UpdateSession) (*api.Session, error) {
	return call[api.Session](ctx, c, http.MethodPatch, sessionPath(id, ""), nil, in)
}

// Send sends a message to the agent. With a client id it can be repeated without
// being sent twice.
func (c *Client) Send(ctx context.Context, id string, m api.SendMessage) (*api.Message, error) {
	return call[api.Message](ctx, c, http.MethodPost, sessionPath(id, "/messages"), nil, m)
}

// EditMessage changes a message that is still queued. message is its client id.
func (c *Client) EditMessage(ctx context.Context, id, message string, m api.EditMessage) (*api.Message, error) {
	return call[api.Message](ctx, c, http.MethodPatch, sessionPath(id, "/messages/"+url.PathEscape(message)), nil, m)
}

// TakeBack takes a message back that is still queued. message is its client id.
func (c *Client) TakeBack(ctx context.Context, id, message string) (*api.Message, error) {
	return call[api.Message](ctx, c, http.MethodDelete, sessionPath(id, "/messages/"+url.PathEscape(message)), nil, nil)
}

// Interrupt stops the current turn and returns when it has ended.
func (c *Client) Interrupt(ctx context.Context, id string, in api.Interrupt) (*api.Interrupted, error) {
	return call[api.Interrupted](ctx, c, http.MethodPost, sessionPath(id, "/interrupt"), nil, in)
}

// Stop ends the agent's process. The session stays, and can be resumed.
func (c *Client) Stop(ctx context.Context, id string, in api.Stop) (*api.Session, error) {
	return call[api.Session](ctx, c, http.MethodPost, sessionPath(id, "/stop"), nil, in)
}

// Resume starts a new process for a session that has ended.
func (c *Client) Resume(ctx context.Context, id string, in api.Resume) (*api.Session, error) {
	return call[api.Session](ctx, c, http.MethodPost, sessionPath(id, "/resume"), nil, in)
}

// Retry sends the prompt of a session's failed turn again, as a new message.
func (c *Client) Retry(ctx context.Context, id string) (*api.Message, error) {
	return call[api.Message](ctx, c, http.MethodPost, sessionPath(id, "/retry"), nil, nil)
}

// Fork starts a new session with a copy of the conversation.
func (c *Client) Fork(ctx context.Context, id string, in api.Fork) (*api.Created, error) {
	return call[api.Created](ctx, c, http.MethodPost, sessionPath(id, "/fork"), nil, in)
}

// Questions lists what agents ask, the oldest first.
func (c *Client) Questions(ctx context.Context, f api.QuestionFilter) (*api.QuestionList, error) {
	q := url.Values{}
	set(q, "state", string(f.State))
	set(q, "session", f.Session)
	set(q, "kind", string(f.Kind))
	set(q, "prefix", f.Prefix)
	set(q, "cursor", f.Cursor)
	setInt(q, "limit", f.Limit)
	return call[api.QuestionList](ctx, c, http.MethodGet, "/v1/questions", q, nil)
}

// Question returns one question.
func (c *Client) Question(ctx context.Context, id string) (*api.Question, error) {
	return call[api.Question](ctx, c, http.MethodGet, "/v1/questions/"+url.PathEscape(id), nil, nil)
}

// Answer answers a question. Which members of the answer count depends on the
// question's kind; see [api.Answer]. If another client was faster, the error has the
// code [api.CodeAlreadySettled] and the question as it was settled. An answer
// that does not fit is refused with [api.CodeInvalid] or [api.CodeUnsupported],
// and the question stays open. With a client id it can be repeated: the same id
// gets the first answer again.
func (c *Client) Answer(ctx context.Context, id string, a api.Answer) (*api.Question, error) {
	return call[api.Question](ctx, c, http.MethodPost, "/v1/questions/"+url.PathEscape(id)+"/answer", nil, a)
}

// AddRule adds a rule to a session: to have calls denied, asked about or allowed
// from now on, for good or for a while. With a client id it can be repeated
// without adding another. A rule that allows needs the right admin.
func (c *Client) AddRule(ctx context.Context, id string, in api.AddRule) (*api.SessionRule, error) {
	return call[api.SessionRule](ctx, c, http.MethodPost, sessionPath(id, "/rules"), nil, in)
}

// RemoveRule removes a rule from a session and returns what it was. rule is its
// id. To remove one that denies or asks needs the right admin.
func (c *Client) RemoveRule(ctx context.Context, id, rule string) (*api.SessionRule, error) {
	return call[api.SessionRule](ctx, c, http.MethodDelete, sessionPath(id, "/rules/"+url.PathEscape(rule)), nil, nil)
}

// Policy returns the rules that are in force for all sessions, and a change of
// them that waits for confirmation. The rules of one session are in its snapshot.
func (c *Client) Policy(ctx context.Context) (*api.Policy, error) {
	return call[api.Policy](ctx, c, http.MethodGet, "/v1/policy", nil, nil)
}

// ConfirmPolicy confirms a change of the rules file that allows more than before,
// and returns the rules that are in force now. If the file has changed again, the
// error has the code [api.CodeConflict]: what it would allow is something else.
func (c *Client) ConfirmPolicy(ctx context.Context, in api.ConfirmPolicy) (*api.Policy, error) {
	return call[api.Policy](ctx, c, http.MethodPost, "/v1/policy/confirm", nil, in)
}

// Release lets a session go on that a budget or a rate limit holds back. With a
// client id it can be repeated without granting more.
func (c *Client) Release(ctx context.Context, id string, in api.Release) (*api.Session, error) {
	return call[api.Session](ctx, c, http.MethodPost, sessionPath(id, "/release"), nil, in)
}

// Events returns a page of a session's log: what comes after the event with this
// id, or from the beginning if it is empty. limit may be zero.
func (c *Client) Events(ctx context.Context, id, after string, limit int) (*api.EventPage, error) {
	q := url.Values{}
	set(q, "after", after)
	setInt(q, "limit", limit)
	return call[api.EventPage](ctx, c, http.MethodGet, sessionPath(id, "/events"), q, nil)
}

func set(q url.Values, name, value string) {
	if value != "" {
		q.Set(name, value)
	}
}

func setInt(q url.Values, name string, value int) {
	if value != 0 {
		q.Set(name, strconv.Itoa(value))
	}
}
