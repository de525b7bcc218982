// Package broadcast wakes all goroutines that wait for a change.
package broadcast
