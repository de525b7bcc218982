package budget

import "strings"

// A Place is the folder that sessions work in, on one machine: what a budget per folder
// is counted by. On the hub's own machine it is the folder's path.
type Place string

// PlaceOf returns the place of a session in a folder on a node, "" for the hub's own
// machine.
func PlaceOf(node, dir string) Place {
	if node == "" {
		return Place(Folder(dir))
	}
	return Place(node + "\x00" + Folder(dir))
}

// split returns the node and the folder.
func (p Place) split() (node, dir string) {
	if node, dir, elsewhere := strings.Cut(string(p), "\x00"); elsewhere {
		return node, dir
	}
	return "", string(p)
}

// folder returns the folder's path.
func (p Place) folder() string {
	_, dir := p.split()
	return dir
}

// shown returns the place as people are told it: the folder, with the name of its
// machine in front unless that is the hub's own.
func (l *Ledger) shown(p Place) string {
	node, dir := p.split()
	if node == "" {
		return dir
	}
	return l.nodeName(node) + ":" + dir
}
