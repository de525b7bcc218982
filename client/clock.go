package client

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Clock returns the time of the server's clock, to the second.
func (c *Client) Clock(ctx context.Context) (time.Time, error) {
	req, err := c.request(ctx, http.MethodGet, "/healthz", nil, nil)
	if err != nil {
		return time.Time{}, err
	}
	res, err := c.http.Do(req)
	if err != nil {
		return time.Time{}, transportError(ctx, err)
	}
	defer func() { _ = res.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, maxProblem)) // the connection is used again only if nothing is left on it
	at, err := http.ParseTime(res.Header.Get("Date"))
	if err != nil {
		return time.Time{}, fmt.Errorf("reading the server's clock: %w", err)
	}
	return at, nil
}
