package lines

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/server/access"
	"github.com/switchboard-dev/switchboard/wire"
)

// A wish is what a client asks for. Members that are not known are not looked at:
// a newer client may send more, has no way to ask first, and none of them could
// widen what it gets.
type wish struct {
	cwd, sessionKey, mode string
}

// A created says which session a client has.
type created struct {
	SessionID  string `json:"session_id"`
	WebSocket  string `json:"ws_url"`
	WorkDir    string `json:"work_dir"`
	SessionKey string `json:"session_key,omitempty"`
}

const (
	// maxKey is how long a session_key may be.
	maxKey = 512
	// maxPath is how long a path may be, on every system that we know.
	maxPath = 4096
)

// create makes a session, or finds the one that the client's key names.
func (s *Server) create(r *http.Request, id access.Identity) (int, any, error) {
	w, err := readWish(r.Body)
	if err != nil {
		return 0, nil, err
	}
	// Once more, as the body may take its time, and the token be revoked meanwhile.
	if _, e := access.Require(r.Context(), wire.ScopeAdmin); e != nil {
		return 0, nil, e
	}
	if err := s.checkMode(w.mode); err != nil {
		return 0, nil, err
	}
	dir, err := s.folder(w.cwd)
	if err != nil {
		return 0, nil, err
	}
	in := api.CreateSession{Dir: dir, Options: api.SessionOptions{PermissionMode: w.mode}}
	by := actor(id, "Direct Connect")
	status := http.StatusCreated
	var made *api.Session
	if w.sessionKey == "" {
		session, err := s.hub.CreateDirect(r.Context(), by, in)
		if err != nil {
			return 0, nil, err
		}
		made = &session.Session
		s.begin(made)
	} else {
		session, again, err := s.keyed(r.Context(), by, ownerOf(id), w.sessionKey, in)
		if err != nil {
			return 0, nil, err
		}
		if made = session; again {
			status = http.StatusOK
		} else {
			s.begin(made)
		}
	}
	return status, created{
		SessionID: made.ID, WebSocket: strings.TrimSuffix(s.options.Direct.URL, "/") + "/sessions/" + made.ID + "/ws", WorkDir: made.Dir, SessionKey: w.sessionKey,
	}, nil
}

// readWish reads the body of a request.
func readWish(body io.Reader) (wish, error) {
	raw, err := io.ReadAll(body)
	if err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return wish{}, api.Errorf(http.StatusRequestEntityTooLarge, api.CodeTooLarge, "The request is too large")
		}
		return wish{}, api.Errorf(http.StatusBadRequest, api.CodeInvalid, "The request did not arrive whole")
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(raw, &object); err != nil || object == nil {
		return wish{}, api.Errorf(http.StatusBadRequest, api.CodeInvalid, "The request is not a JSON object")
	}
	var w wish
	for name, field := range map[string]*string{"cwd": &w.cwd, "session_key": &w.sessionKey, "permission_mode": &w.mode} {
		// Names count as they are written, which encoding/json sees otherwise.
		value, there := wire.Lookup(raw, name)
		if !there || string(value) == "null" {
			continue
		}
		text, ok := wire.LookupString(raw, name)
		if !ok {
			return wish{}, invalid("%s: expected a string", name)
		}
		*field = text
	}
	if len(w.sessionKey) > maxKey {
		return wish{}, invalid("session_key: at most %d bytes", maxKey)
	}
	return w, nil
}

func invalid(format string, args ...any) *api.Error {
	return api.Errorf(http.StatusUnprocessableEntity, api.CodeInvalid, format, args...)
}

// checkMode refuses modes that a client may not begin in. Which other modes there
// are the hub knows.
func (s *Server) checkMode(mode string) error {
	if mode != string(wire.PermissionModeBypassPermissions) || s.options.Direct.AllowBypass {
		return nil
	}
	e := api.Errorf(http.StatusForbidden, api.CodeForbidden, "The mode bypassPermissions is not allowed here")
	e.Hint = "Take another permission mode, or allow it in the server's configuration: allow_bypass = true in [direct]."
	return e
}

// ownerOf returns what the keys of an identity are kept under.
func ownerOf(id access.Identity) string {
	if id.Token != "" {
		return "token " + id.Token
	}
	return id.Source + " " + id.Name
}

// keys remembers how many sessions each key has had. That is for speed alone: the
// hub knows them by their client ids, also after a restart.
type keys struct {
	mu   sync.Mutex
	seen map[string]*keyState
}

type keyState struct {
	turn  chan struct{} // holds one element while no goroutine works on the key
	count int           // of sessions that have ended; owned by the goroutine that has the turn
	users int           // guarded by keys.mu
}

func newKeys() *keys { return &keys{seen: map[string]*keyState{}} }

// maxKeys is how many keys are remembered.
const maxKeys = 4096

// take waits for the turn to work on a key.
func (k *keys) take(ctx context.Context, name string) (*keyState, func(), error) {
	k.mu.Lock()
	state := k.seen[name]
	if state == nil {
		for old, other := range k.seen { // any one that is not in use
			if len(k.seen) < maxKeys {
				break
			}
			if other.users == 0 {
				delete(k.seen, old)
			}
		}
		state = &keyState{turn: make(chan struct{}, 1)}
		state.turn <- struct{}{}
		k.seen[name] = state
	}
	state.users++
	k.mu.Unlock()
	leave := func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		state.users--
	}
	select {
	case <-state.turn:
		return state, func() {
			state.turn <- struct{}{}
			leave()
		}, nil
	case <-ctx.Done():
		leave()
		return nil, nil, ctx.Err()
	}
}

// keyed returns the live session of a key, and makes one if there is none. again
// says that there was one.
func (s *Server) keyed(ctx context.Context, by hub.Actor, owner, key string, in api.CreateSession) (session *api.Session, again bool, err error) {
	sum := sha256.Sum256([]byte(owner + "\x00" + key))
	name := hex.EncodeToString(sum[:16])
	state, done, err := s.keys.take(ctx, name)
	if err != nil {
		return nil, false, err
	}
	defer done()
	for ; state.count < maxFormer; state.count++ {
		in.ClientID = fmt.Sprintf("direct-%s-%d", name, state.count)
		// What comes back may have been made before.
		made, err := s.hub.CreateDirect(ctx, by, in)
		problem, refused := errors.AsType[*api.Error](err)
		switch {
		case refused && problem.Code == api.CodeNotFound: // it was removed since
		case refused && problem.Code == api.CodeClientIDReused:
			// Another folder or mode. A session that has ended does not stand in the way.
			former, err := s.former(ctx, problem)
			if err != nil {
				return nil, false, err
			}
			if former != nil && !over(former) {
				return nil, false, taken(former)
			}
		case err != nil:
			return nil, false, err
		case over(&made.Session):
		default:
			// One that has no process yet waits for its first client.
			return &made.Session, made.Run > 0, nil
		}
	}
	return nil, false, fmt.Errorf("the key %s has had %d sessions", name, state.count)
}

// maxFormer is how many sessions a key may have had: a hub that finds none of
// them would be asked for ever.
const maxFormer = 1 << 20

// over reports whether a session has ended. One that has had no process has not
// begun.
func over(s *api.Session) bool { return s.State == api.StateEnded && s.Run > 0 }

// taken says that a key belongs to a session that was made otherwise.
func taken(session *api.Session) *api.Error {
	e := api.Errorf(http.StatusConflict, api.CodeConflict, "This session_key belongs to a session that was made with another folder or mode")
	e.Detail, e.Session = "It works in "+session.Dir+".", session.ID
	e.Hint = "Ask with the same cwd and permission_mode, take another key, or end that session."
	return e
}

// former returns the session that stands in the way of another with the same
// client id, nil if that is not told or it is gone.
func (s *Server) former(ctx context.Context, problem *api.Error) (*api.Session, error) {
	if problem.Session == "" {
		return nil, problem
	}
	session, err := s.hub.Snapshot(ctx, problem.Session)
	if missing, ok := errors.AsType[*api.Error](err); ok && missing.Code == api.CodeNotFound {
		return nil, nil //nolint:nilnil // it says so
	}
	return session, err
}

// begin notes where the first client of a new session begins to read: nothing
// that comes between may be missing.
func (s *Server) begin(session *api.Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.begins) >= maxBegins {
		clear(s.begins) // no client came for them
	}
	s.begins[session.ID] = session.LastEventID
}

// maxBegins is how many sessions may wait for their first client.
const maxBegins = 4096

// claim returns where the first client of a session begins, "" for all others.
func (s *Server) claim(session string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	after := s.begins[session]
	delete(s.begins, session)
	return after
}

// remove ends a session's process. The session stays in the log.
func (s *Server) remove(r *http.Request, id access.Identity) (int, any, error) {
	session, err := s.hub.Resolve(r.Context(), r.PathValue("id"))
	if err != nil {
		return 0, nil, err
	}
	by := actor(id, "Direct Connect")
	_, err = s.hub.Stop(r.Context(), by, session, api.Stop{})
	if problem, ok := errors.AsType[*api.Error](err); ok && problem.Code == api.CodeOffline {
		// No client comes back to try it again.
		_, err = s.hub.Stop(r.Context(), by, session, api.Stop{Force: true})
	}
	if problem, ok := errors.AsType[*api.Error](err); ok && problem.Code == api.CodeEnded {
		err = nil
	}
	if err != nil {
		return 0, nil, err
	}
	return http.StatusNoContent, nil, nil
}
