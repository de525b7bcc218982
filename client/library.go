package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/switchboard-dev/switchboard/api"
)

// The formats of [Client.Export].
const (
	// ExportJSONL is every line that the CLI wrote or was sent, as recorded, but for
	// values of variables, servers and settings that may be secrets.
	ExportJSONL = "jsonl"
	// ExportEvents is every entry of the log, an [api.Event] on each line.
	ExportEvents = "events"
	// ExportMarkdown is the conversation for people to read.
	ExportMarkdown = "markdown"
)

// Search looks for messages by their text, the newest first.
func (c *Client) Search(ctx context.Context, f api.SearchFilter) (*api.SearchResult, error) {
	q := url.Values{}
	set(q, "q", f.Text)
	set(q, "session", f.Session)
	set(q, "cursor", f.Cursor)
	setInt(q, "limit", f.Limit)
	return call[api.SearchResult](ctx, c, http.MethodGet, "/v1/search", q, nil)
}

// Timeline returns what happened in a session, in a line each: a page of what
// comes after the event with this id, or from the beginning if it is empty. limit
// may be zero.
func (c *Client) Timeline(ctx context.Context, id, after string, limit int) (*api.Timeline, error) {
	q := url.Values{}
	set(q, "after", after)
	setInt(q, "limit", limit)
	return call[api.Timeline](ctx, c, http.MethodGet, sessionPath(id, "/timeline"), q, nil)
}

// Audit lists what was decided about what agents wanted to do, the newest first.
func (c *Client) Audit(ctx context.Context, f api.AuditFilter) (*api.Audit, error) {
	q := url.Values{}
	set(q, "session", f.Session)
	if f.Automatic != nil {
		q.Set("automatic", strconv.FormatBool(*f.Automatic))
	}
	if f.Refused {
		q.Set("refused", "true")
	}
	setTime(q, "since", f.Since)
	set(q, "cursor", f.Cursor)
	setInt(q, "limit", f.Limit)
	return call[api.Audit](ctx, c, http.MethodGet, "/v1/audit", q, nil)
}

// Costs sums up what agents have cost.
func (c *Client) Costs(ctx context.Context, f api.CostFilter) (*api.Costs, error) {
	q := url.Values{}
	set(q, "by", f.By)
	setTime(q, "since", f.Since)
	return call[api.Costs](ctx, c, http.MethodGet, "/v1/costs", q, nil)
}

// Drift counts what the server does not know in the lines of CLIs.
func (c *Client) Drift(ctx context.Context) (*api.Drift, error) {
	return call[api.Drift](ctx, c, http.MethodGet, "/v1/drift", nil, nil)
}

// Budgets returns the limits of what agents may use, and how much of them is used.
func (c *Client) Budgets(ctx context.Context) (*api.Budgets, error) {
	return call[api.Budgets](ctx, c, http.MethodGet, "/v1/budgets", nil, nil)
}

// Export writes a session's log to w, in one of the Export formats. If it fails
// halfway, w has a part of it.
func (c *Client) Export(ctx context.Context, id, format string, w io.Writer) error {
	q := url.Values{}
	set(q, "format", format)
	return c.download(ctx, sessionPath(id, "/export"), q, w, "the log")
}

// Backup writes a copy of the server's journal to w: a file that, put in the place
// of journal.db, is a journal again. It needs the right admin: it holds everything
// that was said in all sessions. If it fails halfway, w has a part of it.
func (c *Client) Backup(ctx context.Context, w io.Writer) error {
	return c.download(ctx, "/v1/backup", nil, w, "the backup")
}

// download writes a file of the server's to w.
func (c *Client) download(ctx context.Context, path string, q url.Values, w io.Writer, what string) error {
	req, err := c.request(ctx, http.MethodGet, path, q, nil)
	if err != nil {
		return err
	}
	res, err := c.http.Do(req)
	if err != nil {
		return transportError(ctx, err)
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return problem(res)
	}
	// What the writer says is not the server's fault.
	in := &readError{in: res.Body}
	if _, err := io.Copy(w, in); err != nil {
		if errors.Is(err, in.err) {
			return transportError(ctx, fmt.Errorf("reading %s: %w", what, err))
		}
		return fmt.Errorf("writing %s: %w", what, err)
	}
	return nil
}

// A readError notes the error of a reader.
type readError struct {
	in  io.Reader
	err error
}

// Read reads and notes the error.
func (r *readError) Read(p []byte) (int, error) {
	n, err := r.in.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		r.err = err
	}
	return n, err
}

// Transcripts lists conversations that CLIs have written to the server's disk,
// the newest first. With a text those that it is said in: such a page may have less
// than was asked for, even nothing, and another one behind it.
func (c *Client) Transcripts(ctx context.Context, f api.TranscriptFilter) (*api.TranscriptList, error) {
	q := url.Values{}
	set(q, "dir", f.Dir)
	set(q, "conversation", f.Conversation)
	set(q, "q", f.Text)
	set(q, "node", f.Node)
	set(q, "cursor", f.Cursor)
	setInt(q, "limit", f.Limit)
	return call[api.TranscriptList](ctx, c, http.MethodGet, "/v1/transcripts", q, nil)
}

// Transcript reads a conversation on the server's disk, from the line with this
// number on. dir is the folder that it was held in, and may be empty; limit may be
// zero.
func (c *Client) Transcript(ctx context.Context, conversation, dir string, from, limit int) (*api.TranscriptPage, error) {
	return c.TranscriptOn(ctx, "", conversation, dir, from, limit)
}

// TranscriptOn is Transcript for a conversation on another machine of the server, by the
// machine's name or id.
func (c *Client) TranscriptOn(ctx context.Context, node, conversation, dir string, from, limit int) (*api.TranscriptPage, error) {
	q := url.Values{}
	set(q, "node", node)
	set(q, "dir", dir)
	setInt(q, "cursor", from)
	setInt(q, "limit", limit)
	return call[api.TranscriptPage](ctx, c, http.MethodGet, "/v1/transcripts/"+url.PathEscape(conversation), q, nil)
}

// Adopt makes a session that continues a conversation on the server's disk.
// With a client id it can be repeated without making another.
func (c *Client) Adopt(ctx context.Context, conversation string, in api.Adopt) (*api.Created, error) {
	return call[api.Created](ctx, c, http.MethodPost, "/v1/transcripts/"+url.PathEscape(conversation)+"/adopt", nil, in)
}

// Folders suggests folders to work in: those that begin with prefix, or, if it is
// empty, those that were used last. limit may be zero.
func (c *Client) Folders(ctx context.Context, prefix string, limit int) (*api.Folders, error) {
	return c.FoldersOn(ctx, "", prefix, limit)
}

// FoldersOn is Folders for another machine of the server, by its name or id.
func (c *Client) FoldersOn(ctx context.Context, node, prefix string, limit int) (*api.Folders, error) {
	q := url.Values{}
	set(q, "node", node)
	set(q, "prefix", prefix)
	setInt(q, "limit", limit)
	return call[api.Folders](ctx, c, http.MethodGet, "/v1/folders", q, nil)
}

// RulesFile returns the text of the rules file.
func (c *Client) RulesFile(ctx context.Context) (*api.RulesFile, error) {
	return call[api.RulesFile](ctx, c, http.MethodGet, "/v1/policy/file", nil, nil)
}

// ReplaceRules puts another text into the rules file, and returns the rules that
// are in force now. A text that allows more waits for [Client.ConfirmPolicy]. If
// the file has changed since it was read, the error has the code
// [api.CodeConflict].
func (c *Client) ReplaceRules(ctx context.Context, in api.ReplaceRules) (*api.Policy, error) {
	return call[api.Policy](ctx, c, http.MethodPut, "/v1/policy/file", nil, in)
}

// Explain says what the rules say about a call, and which of them says it.
func (c *Client) Explain(ctx context.Context, in api.ExplainCall) (*api.Decision, error) {
	return call[api.Decision](ctx, c, http.MethodPost, "/v1/policy/explain", nil, in)
}

// TestRules says what rules would decide about the calls that sessions have made.
func (c *Client) TestRules(ctx context.Context, in api.TestRules) (*api.RulesTested, error) {
	return call[api.RulesTested](ctx, c, http.MethodPost, "/v1/policy/test", nil, in)
}

// AllEvents returns a page of the log of all sessions: what comes after this
// position, or from the beginning if it is empty. limit may be zero.
func (c *Client) AllEvents(ctx context.Context, after string, limit int) (*api.EventPage, error) {
	q := url.Values{}
	set(q, "after", after)
	setInt(q, "limit", limit)
	return call[api.EventPage](ctx, c, http.MethodGet, "/v1/events", q, nil)
}

func setTime(q url.Values, name string, t time.Time) {
	if !t.IsZero() {
		q.Set(name, t.Format(time.RFC3339Nano))
	}
}
