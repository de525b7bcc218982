package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/switchboard-dev/switchboard/api"
)

// Preferences lists what the client's person prefers in new sessions, and says what of
// it holds in a folder, an absolute path, which may be empty.
func (c *Client) Preferences(ctx context.Context, dir string) (*api.PreferenceList, error) {
	q := url.Values{}
	set(q, "dir", dir)
	return call[api.PreferenceList](ctx, c, http.MethodGet, "/v1/preferences", q, nil)
}

// SavePreferences replaces what the client's person prefers in a folder, or in all. It
// needs the right admin.
func (c *Client) SavePreferences(ctx context.Context, in api.SavePreferences) (*api.SavedPreferences, error) {
	return call[api.SavedPreferences](ctx, c, http.MethodPut, "/v1/preferences", nil, in)
}

// ForgetPreferences removes what the client's person prefers in a folder; with an empty
// dir, what it prefers in all folders. It needs the right admin.
func (c *Client) ForgetPreferences(ctx context.Context, dir string) (*api.ForgottenPreferences, error) {
	q := url.Values{}
	set(q, "dir", dir)
	return call[api.ForgottenPreferences](ctx, c, http.MethodDelete, "/v1/preferences", q, nil)
}

// ForgetAllPreferences removes all that the client's person prefers. It needs the right
// admin.
func (c *Client) ForgetAllPreferences(ctx context.Context) (*api.ForgottenPreferences, error) {
	return call[api.ForgottenPreferences](ctx, c, http.MethodDelete, "/v1/preferences", url.Values{"all": {"true"}}, nil)
}
