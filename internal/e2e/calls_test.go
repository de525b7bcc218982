//go:build linux || darwin

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/switchboard-dev/switchboard/api"
)

// call asks the hub. It is plain HTTP on purpose: what the program's own client
// would smooth over is to be seen. A refusal is an *api.Error; anything else
// means that the hub could not be reached or died meanwhile.
func (l *lab) call(ctx context.Context, method, path string, in, out any) error {
	var body io.Reader
	if in != nil {
		encoded, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(encoded)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	request, err := l.request(ctx, method, path, body)
	if err != nil {
		return err
	}
	if in != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	answer, err := l.http.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }() // it was only read
	content, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if answer.StatusCode >= http.StatusBadRequest {
		refusal := &api.Error{}
		if err := json.Unmarshal(content, refusal); err != nil || refusal.Code == "" {
			return fmt.Errorf("%s %s: %s: %s", method, path, answer.Status, content)
		}
		return refusal
	}
	if out == nil || len(content) == 0 {
		return nil
	}
	if err := json.Unmarshal(content, out); err != nil {
		return fmt.Errorf("%s %s answered %.200q: %w", method, path, content, err)
	}
	return nil
}

// insist makes a call until it gets an answer: the hub may be killed meanwhile
// and started again by somebody else. A refusal is an answer, unless it says
// that the hub is going away or cannot write.
func (l *lab) insist(ctx context.Context, method, path string, in, out any) error {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for {
		err := l.call(ctx, method, path, in, out)
		if err == nil {
			return nil
		}
		if refusal, refused := errors.AsType[*api.Error](err); refused && refusal.Code != api.CodeClosing && refusal.Code != api.CodeStorage {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s %s: %w, %w", method, path, ctx.Err(), err)
		case <-ticker.C:
		}
	}
}
