// Package queue has a queue whose worker is a goroutine only while there is work, for
// objects of which there are many, and most are idle.
package queue
