// Package rulefile keeps the rules that are in force: it reads the rules file, looks now and then whether it has changed, and sees to it that a
// change which allows more takes effect only after a user has confirmed it.
//
// What was confirmed last is kept in a file of our own. A version of the rules file that only narrows it is confirmed by itself; one that widens
// it waits, and meanwhile what was confirmed holds as far as the new version allows it too, with whatever that denies or asks for besides. A file that cannot be read, is
// wrong, or could have been written by another user changes nothing, and the status says so. A file that is not there has no rules in it, and
// taking away rules that deny is a change like any other.
package rulefile
