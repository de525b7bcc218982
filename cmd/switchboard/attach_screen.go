package main

import (
	"context"
	"errors"

	"github.com/switchboard-dev/switchboard/client"
	"github.com/switchboard-dev/switchboard/internal/terminal/compose"
	"github.com/switchboard-dev/switchboard/internal/terminal/paint"
	"github.com/switchboard-dev/switchboard/internal/terminal/screen"
)

// screen shows sessions on the whole screen.
func (v *attachVerb) screen(ctx context.Context, s *surroundings, c *client.Client, session string) error {
	if session == "" {
		if _, err := c.Info(ctx); err != nil { // before the screen is taken
			return err
		}
	}
	err := screen.Run(ctx, c, screen.Terminal{In: s.stdin, Out: s.stdout, Env: s.env}, screen.Options{
		Session: session, Styles: paint.Detect(s.stdout, s.getenv, s.color).Styles(), NoLive: v.noLive, Bell: v.bell,
		HistoryFile: historyFile(s), Editor: compose.Editor(s.getenv, ""),
	})
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return exitError(codeInterrupted)
	}
	return err
}
