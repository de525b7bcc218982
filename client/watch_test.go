package client_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/client"
)

// placed is an event in the stream of all sessions.
func placed(position, session string, seq int) string {
	return fmt.Sprintf("event: event\nid: %s\ndata: {\"id\":\"%s:%d\",\"session\":%q,\"seq\":%d,\"kind\":\"state\"}\n\n", position, session, seq, session, seq)
}

// The stream of all sessions goes on by positions: the ids of events are those of
// their sessions, and say nothing about it.
func TestWatch(t *testing.T) {
	const partial = "event: partial\ndata: {\"session\":\"b\",\"messages\":[],\"after\":1}\n\n"
	for _, test := range []struct {
		name    string
		options *client.FollowOptions
		streams []stream
		want    string
		asked   string
	}{
		{
			"two connections", nil,
			[]stream{
				{text: resume("ok", "g:3") + placed("g:1", "a", 1) + placed("g:2", "b", 1) + placed("g:3", "a", 2) + partial, cut: true},
				{text: resume("ok", "g:5") + placed("g:3", "a", 2) + placed("g:4", "b", 2) + placed("g:5", "c", 1)},
			},
			"ok a:1@g:1 b:1@g:2 a:2@g:3 partial ok b:2@g:4 c:1@g:5", "|g:3|g:5",
		},
		{
			"now", &client.FollowOptions{After: "now", NoLive: true},
			[]stream{{text: resume("ok", "g:7"), cut: true}, {text: resume("ok", "g:8") + placed("g:8", "a", 9)}},
			"ok ok a:9@g:8", "after=now&live=false|live=false g:7|live=false g:8",
		},
		{
			"another journal", &client.FollowOptions{After: "g:7"},
			[]stream{{text: resume("reset", "h:1") + placed("h:1", "a", 1)}},
			"reset a:1@h:1", "after=g%3A7|h:1",
		},
		{
			"filters", &client.FollowOptions{Kinds: []string{"state", "line"}, Types: []string{"result", "assistant"}, Messages: true},
			[]stream{{text: resume("ok", "g:1") + placed("g:1", "a", 1)}},
			"ok a:1@g:1", "kinds=state%2Cline&messages=true&types=result%2Cassistant|kinds=state%2Cline&messages=true&types=result%2Cassistant g:1",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c, asked := script(t, test.streams...)
			var got []string
			for frame, err := range c.Watch(t.Context(), test.options) {
				if err != nil {
					if e, ok := errors.AsType[*api.Error](err); !ok || e.Title != "It is over" {
						t.Errorf("the error is %v", err)
					}
					break
				}
				switch frame.Type {
				case api.FrameEvent:
					got = append(got, frame.Event.ID+"@"+frame.Position)
				case api.FrameResume:
					got = append(got, frame.Resume.Resume)
				default:
					got = append(got, string(frame.Type))
				}
			}
			if diff := cmp.Diff(test.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("frames (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.asked, strings.Join(*asked, "|")); diff != "" {
				t.Errorf("asked (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWatchAsksForAll(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/events" {
			t.Errorf("asked for %s", r.URL.Path)
		}
		w.WriteHeader(http.StatusForbidden)
	}, nil)
	for _, err := range c.Watch(t.Context(), nil) {
		if e, ok := errors.AsType[*api.Error](err); !ok || e.Code != api.CodeForbidden {
			t.Errorf("the error is %v", err)
		}
	}
}
