package claude

import (
	"slices"
	"strings"

	"github.com/switchboard-dev/switchboard/wire"
)

// A transcriptChain is what the lines of a transcript say about each other: each
// names the one before it, so that a conversation that was rewound is a tree.
// The zero value is empty.
type transcriptChain struct {
	side  bool             // it is a sub-agent's: its lines are those aside
	ids   map[string]int32 // ids of all kinds, numbered from 1; 0 is none
	nodes []transcriptNode
	lines map[int32]int32 // the first node of each uuid
	// queued are the nodes of prompts by the uuids that they were sent with.
	queued map[int32]int32
}

// A transcriptNode is a line that is part of the tree.
type transcriptNode struct {
	line    int // its number in the file
	uuid    int32
	parent  int32
	answer  int32   // the API's message that it is a part of
	calls   []int32 // the tool calls that it makes
	results []int32 // the tool calls that it has results of
	kind    nodeKind
}

type nodeKind uint8

const (
	nodeShown nodeKind = iota
	nodeHidden
	// nodeNotice lines are the CLI's own notices, for callers that ask for them.
	nodeNotice
	// nodeCompacted lines begin the conversation anew for the model.
	nodeCompacted
	// nodeLate lines come late and hang anywhere, so that a conversation never
	// ends with one.
	nodeLate
	// nodeLost lines cannot be read: what they are called is not known.
	nodeLost
)

// add notes a line. It returns false if the line cannot be read.
func (c *transcriptChain) add(number int, line []byte) bool {
	header, err := wire.Peek(line)
	if err != nil {
		return false
	}
	node := transcriptNode{line: number}
	switch string(header.Type) {
	case "user", "assistant", "system", "attachment":
	case "progress":
		node.kind = nodeLate
	default:
		return true // a note that is no part of the tree
	}
	k, ok := readKept(line)
	if !ok {
		return false
	}
	uuid := k.text("uuid")
	if uuid == "" || k.is("isSidechain") != c.side {
		return true
	}
	parent := k.text("parentUuid")
	if parent == "" {
		// At a compaction the conversation begins anew for the model alone.
		parent = k.text("logicalParentUuid")
	}
	node.uuid, node.parent = c.id(uuid), c.id(parent)
	switch {
	case node.kind != nodeShown:
	case k.kind == "system" && k.text("subtype") == "compact_boundary":
		node.kind = nodeCompacted
	case !k.isShown() && k.kind == "system":
		node.kind = nodeNotice
	case !k.isShown():
		node.kind = nodeHidden
	}
	if k.kind == "assistant" {
		node.answer = c.id(textOf(k.message["id"]))
	}
	for _, block := range k.blocks {
		switch textOf(block["type"]) {
		case "tool_use":
			node.calls = append(node.calls, c.id(textOf(block["id"])))
		case "tool_result":
			node.results = append(node.results, c.id(textOf(block["tool_use_id"])))
		}
	}
	if c.lines == nil {
		c.lines = make(map[int32]int32)
	}
	if _, twice := c.lines[node.uuid]; twice {
		return true // some CLIs write lines again; the first stands where it belongs
	}
	at := int32(len(c.nodes))
	c.lines[node.uuid] = at
	if k.kind == "attachment" && node.kind == nodeShown {
		if _, sent, ok := k.queuedPrompt(); ok && sent != uuid {
			if c.queued == nil {
				c.queued = make(map[int32]int32)
			}
			c.queued[c.id(sent)] = at
		}
	}
	c.nodes = append(c.nodes, node)
	return true
}

// addDamaged notes a line that cannot be read. One that is worth telling of is
// part of the conversation if the lines around it are.
func (c *transcriptChain) addDamaged(number int, tell bool) {
	if tell {
		c.nodes = append(c.nodes, transcriptNode{line: number, kind: nodeLost})
	}
}

// id returns the number of an id.
func (c *transcriptChain) id(id string) int32 {
	if id == "" {
		return 0
	}
	if n, ok := c.ids[id]; ok {
		return n
	}
	if c.ids == nil {
		c.ids = make(map[string]int32)
	}
	n := int32(len(c.ids) + 1)
	c.ids[strings.Clone(id)] = n
	return n
}

// follow returns the numbers of the lines that lead to the end of the
// conversation and are of a kind that is wanted.
func (c *transcriptChain) follow(wanted func(nodeKind) bool) []int {
	var lines []int
	for i, in := range c.way(c.end()) {
		if in && wanted(c.nodes[i].kind) {
			lines = append(lines, c.nodes[i].line)
		}
	}
	return lines
}

// way tells which nodes lead to one, that one included.
func (c *transcriptChain) way(end int) []bool {
	in := make([]bool, len(c.nodes))
	for i := end; i >= 0 && !in[i]; i = c.before(i) {
		in[i] = true
	}
	c.addSiblings(in)
	return in
}

// find returns the node of a uuid, its own or that of the prompt in it, or -1.
func (c *transcriptChain) find(uuid string) int {
	id, ok := c.ids[uuid]
	if !ok {
		return -1
	}
	if at, ok := c.lines[id]; ok {
		return int(at)
	}
	if at, ok := c.queued[id]; ok {
		return int(at)
	}
	return -1
}

// has reports whether there is a line of a uuid.
func (c *transcriptChain) has(uuid string) bool {
	_, ok := c.lines[c.ids[uuid]]
	return ok
}

// end returns the node at which the conversation ends, or -1.
func (c *transcriptChain) end() int {
	for i, node := range slices.Backward(c.nodes) {
		if node.kind != nodeLate {
			return i
		}
	}
	return -1
}

// before returns the node that comes before one, or -1. If it is not there, or
// the line is one of which nothing is known, the one that stands before it in
// the file is the best guess.
func (c *transcriptChain) before(i int) int {
	node := &c.nodes[i]
	if node.kind != nodeLost {
		if node.parent == 0 {
			return -1
		}
		if parent, ok := c.lines[node.parent]; ok {
			return int(parent)
		}
	}
	return i - 1
}

// addSiblings adds what belongs to an answer of which a part is in: its other
// blocks, and the results of all its calls. Each result hangs at its own call,
// so that the way back leads through only one of them.
func (c *transcriptChain) addSiblings(in []bool) {
	answers, calls := make(map[int32]bool), make(map[int32]bool)
	for i, node := range c.nodes {
		if in[i] && node.answer != 0 {
			answers[node.answer] = true
		}
	}
	for i, node := range c.nodes {
		in[i] = in[i] || answers[node.answer]
		if in[i] {
			for _, call := range node.calls {
				calls[call] = true
			}
		}
	}
	for i, node := range c.nodes {
		in[i] = in[i] || slices.ContainsFunc(node.results, func(call int32) bool { return calls[call] })
	}
}
