// Package killpoint names the places at which the kill tests stop the program in
// order to kill it there. In a normal build a place is an empty function; with
// the build tag killpoints the environment says where to stop.
package killpoint
