// Package storetest tests implementations of [claude.SessionStore].
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t *testing.T) claude.SessionStore { return newStore(t) })
//	}
package storetest
