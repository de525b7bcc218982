package access

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/wire"
)

// Revoke ends a token, and with it the connections of its bearers. One that is kept in
// the file admin.token is removed there.
func (b *TokenStore) Revoke(ctx context.Context, id string) error {
	if _, e := Require(ctx, wire.ScopeAdmin); e != nil {
		return e
	}
	b.saving.Lock()
	defer b.saving.Unlock()
	b.mu.Lock()
	e := b.entries[id]
	b.mu.Unlock()
	if e != nil && e.kind == kindAdmin {
		if err := b.removeFile(); err != nil {
			return err
		}
	}
	if e == nil || len(b.endAll(func(other *entry) bool { return other == e })) == 0 {
		return &api.Error{
			Status: http.StatusNotFound, Code: api.CodeNotFound, Title: "There is no such token",
			Hint: "switchboard token list shows their ids; the id is the part between the underscores.",
		}
	}
	return b.saveEnded()
}

// RevokeDevices ends the tokens of all browsers and other devices but that of the one
// that asks, and returns their ids.
func (b *TokenStore) RevokeDevices(ctx context.Context) ([]string, error) {
	id, e := Require(ctx, wire.ScopeAdmin)
	if e != nil {
		return nil, e
	}
	b.saving.Lock()
	defer b.saving.Unlock()
	ids := b.endAll(func(e *entry) bool { return e.kind == kindDevice && !e.revoked && e != id.token })
	if len(ids) == 0 {
		return ids, nil
	}
	return ids, b.saveEnded()
}

// Logout ends the token of the device that asks, and returns the cookie that removes
// its half; nil if there is none. A token of another kind stays valid: it was pasted, and
// programs may use it, too.
func (b *TokenStore) Logout(ctx context.Context) (*http.Cookie, error) {
	id, known := From(ctx)
	if !known {
		return nil, unauthorized()
	}
	gone := cookiesOf(ctx).clear()
	if id.token == nil || id.token.kind != kindDevice {
		return gone, nil
	}
	b.saving.Lock()
	defer b.saving.Unlock()
	if len(b.endAll(func(e *entry) bool { return e == id.token })) == 0 {
		return gone, nil
	}
	return gone, b.saveEnded()
}

// endAll ends the tokens that a function picks, and returns their ids. One that was
// ended before and could not be written counts again.
func (b *TokenStore) endAll(pick func(*entry) bool) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	ids := []string{}
	for id, e := range b.entries {
		if !pick(e) {
			continue
		}
		e.revoked = true
		e.end()
		b.forgetCodes(e)
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// saveEnded writes down that tokens have ended. saving is held.
func (b *TokenStore) saveEnded() error {
	if err := b.save(); err != nil {
		b.mu.Lock()
		b.saveLater()
		b.mu.Unlock()
		return unwritten("The token stopped working, but would work again after a restart", err)
	}
	return nil
}

// removeFile removes the file of the token with all rights.
func (b *TokenStore) removeFile() error {
	if b.path == "" {
		return nil
	}
	err := os.Remove(filepath.Join(filepath.Dir(b.path), TokenFile))
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return &api.Error{
		Status: http.StatusServiceUnavailable, Code: api.CodeStorage, Title: "Can't remove the token's file: the token still works",
		Detail: err.Error(), Hint: "Remove the file " + TokenFile + " from the data folder, and try again.",
	}
}
