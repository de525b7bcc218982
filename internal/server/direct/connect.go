package direct

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/server/access"
	"github.com/switchboard-dev/switchboard/wire"
)

const (
	// maxFirst is how long the first line of somebody unknown may be.
	maxFirst = 8 << 10
	// closeTime is how long a client may take to answer when it is told that it is
	// over. It need not: it has been told.
	closeTime = time.Second
)

// connect serves the WebSocket of a session.
func (s *Server) connect(w http.ResponseWriter, r *http.Request) {
	defer s.enter()()
	id, known := access.From(r.Context())
	session := ""
	if known {
		var err error
		if session, err = s.admit(r.Context(), id, r.PathValue("id")); err != nil {
			access.WriteProblem(w, s.problem(r.Context(), err))
			return
		}
	}
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{
		Subprotocols: []string{access.Subprotocol},
		// The guard has looked at Origin and knows more names of this server.
		InsecureSkipVerify: true,
		CompressionMode:    websocket.CompressionDisabled,
	})
	if err != nil {
		return // it has been answered
	}
	defer func() { _ = conn.CloseNow() }() // perhaps a second time
	c := newConnection(s, conn)
	if !known {
		if id, err = c.introduction(r.Context()); err == nil {
			session, err = s.admit(r.Context(), id, r.PathValue("id"))
		}
		if err != nil {
			c.turnAway(s.problem(r.Context(), err))
			return
		}
	}
	c.serve(r.Context(), id, session)
}

// admit returns the session that somebody may connect to.
func (s *Server) admit(ctx context.Context, id access.Identity, name string) (string, error) {
	if !id.Scopes.Has(wire.ScopeObserve) {
		return "", api.Errorf(http.StatusForbidden, api.CodeForbidden, "This needs the scope %q", wire.ScopeObserve)
	}
	return s.hub.Resolve(ctx, name)
}

// introduction reads the first line of somebody unknown, which must hold a token.
func (c *connection) introduction(ctx context.Context) (access.Identity, error) {
	ctx, cancel := context.WithTimeout(ctx, access.FirstLineTime)
	defer cancel()
	defer context.AfterFunc(c.server.closing, cancel)()
	c.conn.SetReadLimit(maxFirst)
	c.unknown = true
	defer func() { c.unknown = false }()
	line, err := c.nextLine(ctx)
	if err != nil {
		return access.Identity{}, api.Errorf(http.StatusUnauthorized, api.CodeUnauthorized, "The first line must hold a token")
	}
	token, ok := access.FirstLine(line)
	if !ok {
		return access.Identity{}, api.Errorf(http.StatusUnauthorized, api.CodeUnauthorized, "The first line must hold a token")
	}
	id, e := c.server.guard.Identify(ctx, token)
	if e != nil {
		return access.Identity{}, e
	}
	return id, nil
}

// turnAway closes a connection that was not let in.
func (c *connection) turnAway(why *api.Error) {
	code := websocket.StatusPolicyViolation
	if why.Status >= http.StatusInternalServerError {
		code = websocket.StatusInternalError
	}
	c.hangUp(code, why.Title)
}

// hangUp tells a client why it is over and ends the connection.
func (c *connection) hangUp(code websocket.StatusCode, reason string) {
	defer time.AfterFunc(closeTime, func() { _ = c.conn.CloseNow() }).Stop()
	_ = c.conn.Close(code, shorten(reason)) // it has gone already: nobody to tell
}

// shorten cuts a text to what fits into a close frame.
func shorten(text string) string {
	const most = 123
	if len(text) <= most {
		return text
	}
	text = text[:most-len("…")]
	for !utf8.ValidString(text) {
		text = text[:len(text)-1]
	}
	return text + "…"
}

// The causes of the end of a connection.
var (
	errGone   = errors.New("the client has gone")
	errStuck  = errors.New("the client does not read")
	errBinary = errors.New("only text is understood here")
	errOver   = errors.New("the agent has ended")
	errLong   = errors.New("the first line is too long")
)

// serve carries lines until one of the two sides ends.
func (c *connection) serve(ctx context.Context, id access.Identity, session string) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(c.server.closing, func() { cancel(context.Cause(c.server.closing)) })()
	watched, unwatch := access.Watch(ctx, id)
	defer unwatch()
	ctx = watched

	c.session, c.cancel = session, cancel
	c.by, c.may = actor(id, "Direct Connect "+nonce()), id.Scopes.Has
	c.conn.SetReadLimit(int64(c.server.maxLine) + 1)
	driver, err := c.server.hub.Join(ctx, session)
	if err != nil {
		c.turnAway(c.server.problem(ctx, err))
		return
	}
	c.driver = driver
	defer driver.Leave()
	c.view = newView(c.by.Name, driver.Registered)
	cursor, err := c.follow(ctx)
	if err != nil {
		c.turnAway(c.server.problem(ctx, err))
		return
	}
	defer cursor.Close()

	// A connection that is over is cut when the client does not take its leave.
	defer context.AfterFunc(ctx, func() {
		timer := time.AfterFunc(2*closeTime, func() { _ = c.conn.CloseNow() })
		<-c.done
		timer.Stop()
	})()
	// Reading ends with the connection, not with ctx: that would cut it before
	// the client was told why.
	reading, stopReading := context.WithCancel(context.WithoutCancel(ctx))
	defer stopReading()
	c.work.Go(func() { c.readLoop(reading, ctx) })
	c.work.Go(func() { c.laneLoop(ctx) })
	c.work.Go(func() { c.pingLoop(ctx) })

	err = c.writeLoop(ctx, cursor)
	if errors.Is(err, errOver) {
		c.over.Store(true)
		c.settle() // whoever waits for an answer is told that there will be none
	}
	cancel(err)
	driver.Leave() // at once: the CLI may wait for it
	c.end(context.Cause(ctx), err)
	close(c.done)
	stopReading()
	c.work.Wait()
}

// end tells the client why it is over.
func (c *connection) end(cause, err error) {
	var closed *closeReason
	var problem *api.Error
	switch {
	case errors.As(cause, &closed):
		c.hangUp(websocket.StatusServiceRestart, closed.text)
	case errors.Is(cause, access.ErrRevoked):
		c.hangUp(websocket.StatusPolicyViolation, "the token is not valid any more")
	case errors.Is(cause, errGone), errors.Is(cause, errStuck):
		_ = c.conn.CloseNow() // nobody is there
	case errors.Is(cause, errBinary):
		c.hangUp(websocket.StatusUnsupportedData, errBinary.Error())
	case errors.Is(err, errOver):
		code, reason := ending(c.view.ended)
		c.hangUp(code, reason)
	case errors.Is(err, hub.ErrClosed):
		c.hangUp(websocket.StatusServiceRestart, "the hub is shutting down")
	case errors.As(err, &problem):
		c.hangUp(websocket.StatusInternalError, problem.Title)
	default:
		c.server.log.Warn("a connection of Direct Connect ended", slog.String("session", c.session), slog.Any("error", err))
		c.hangUp(websocket.StatusInternalError, "something went wrong in the server")
	}
}

// ending returns the code and the words for the end of a process. One that ended
// in good order is no error to the client's program; another is.
func ending(ended *api.Ended) (websocket.StatusCode, string) {
	if ended.Signal == "" && (ended.Code == nil || *ended.Code == 0) {
		return websocket.StatusNormalClosure, "the agent has ended"
	}
	return websocket.StatusInternalError, "the agent has ended: " + strings.TrimSpace(ended.Reason)
}

// follow returns a cursor that begins where the client has to be told from, and
// shows it what is asked at that moment.
func (c *connection) follow(ctx context.Context) (Cursor, error) {
	after := c.server.claim(c.session)
	if after == "" {
		snapshot, err := c.server.hub.Snapshot(ctx, c.session)
		if err != nil {
			return nil, err
		}
		after = snapshot.LastEventID
		c.conversation.Store(&snapshot.Conversation)
		for i := range snapshot.Questions {
			if line := c.view.open(&snapshot.Questions[i]); line != nil {
				c.first = append(c.first, line)
			}
		}
	}
	cursor, err := c.server.hub.Follow(ctx, c.session, hub.FollowOptions{After: after})
	if err != nil {
		return nil, err
	}
	// A client may prompt at once, and must not miss the beginning of the answer: the
	// cursor gives no deltas before it has been at the live edge, which takes it two
	// calls. Nothing is waited for, and what is wrong a later call says too.
	now, cancel := context.WithCancel(ctx)
	cancel()
	for range 2 {
		if frames, err := cursor.Next(now); err == nil {
			c.first = c.view.lines(c.first, frames)
		}
	}
	return cursor, nil
}

// nonce returns a short text that no other connection has.
func nonce() string {
	var b [3]byte
	_, _ = rand.Read(b[:]) // it never fails
	return hex.EncodeToString(b[:])
}
