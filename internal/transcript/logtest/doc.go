// Package logtest has logs for the tests of what reads them: written by hand, and recorded from real CLIs.
package logtest
