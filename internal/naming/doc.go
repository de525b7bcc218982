// Package naming finds the session or the question that a person means: by its id, by the beginning of it, by a title, or by "-" for the one
// that comes to mind first. It never guesses: where several could be meant it says which.
package naming
