// Package units writes amounts for people: durations, money, tokens, bytes, and how long ago something was.
package units
