// Package trust says whether files and folders are safe from the other users of
// the machine: whether another user could change a file, or put something else in
// its place.
package trust
