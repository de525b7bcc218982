//go:build race

package v1

const raceEnabled = true
