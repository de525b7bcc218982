// Package record holds what the entries of a session's log are made of: the data of those kinds that only the hub writes
// (the data of the others are types of package api), and how an entry is shown as an event. The hub folds these types and the
// reports read them; their JSON is what journals hold, so a member is never renamed.
package record
