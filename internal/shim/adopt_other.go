//go:build !linux

package shim

import "log/slog"

// An adopter does nothing here: only on Linux can a process be made the parent
// of orphans.
type adopter struct{}

func adopt(*slog.Logger) *adopter { return &adopter{} }

func (*adopter) started(int) {}

func (*adopter) stop() {}
