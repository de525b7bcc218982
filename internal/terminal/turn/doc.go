// Package turn follows a session to the end of a turn, for scripts: it prints what came of the turn as text, as JSON or as it goes on, and says on
// standard error what keeps the turn from ending.
package turn
