// Package metrics counts what a hub does and tells it to Prometheus.
//
// Its registry is its own: nothing that a library registers for itself is told,
// and two hubs in one process, as tests have them, do not meet.
//
// No label takes values from outside: what a label can be is fixed here or in
// the routes of the server, and whatever else comes is counted as "other".
// Ids, folders, titles and addresses are never labels.
package metrics
