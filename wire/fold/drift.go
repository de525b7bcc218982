package fold

import "github.com/switchboard-dev/switchboard/wire"

// Drift counts what a CLI says that the protocol table does not know, so that
// someone can look at it. It is never an error.
type Drift struct {
	// Types counts unknown lines by type, with the subtype after a slash.
	Types map[string]int64 `json:"types,omitempty"`
	// Parts counts unknown parts of known lines: "block x", "request x".
	Parts map[string]int64 `json:"parts,omitempty"`
	// Fields counts unknown members by the type of their line: "system/init.x".
	// A known member with a value of an unknown kind counts as well.
	Fields map[string]int64 `json:"fields,omitempty"`
	// Malformed counts lines that are not JSON objects.
	Malformed int64 `json:"malformed,omitempty"`
	// More counts what came when the other counters were full.
	More int64 `json:"more,omitempty"`
}

// maxDrift is how many different things each of Drift's maps counts.
const maxDrift = 256

// Of a long session's assistant lines only some are looked at: decoding each of them
// would take longer than everything else that is folded of it, and what a CLI says
// that is not known it says again and again. Which ones follows from their numbers
// alone, so that folding a log again counts the same. The step is a prime: a turn
// often has the same number of lines as the one before.
const (
	driftAll  = 500
	driftStep = 13
)

// IsZero reports whether nothing was counted.
func (d *Drift) IsZero() bool {
	return d.Malformed == 0 && d.More == 0 && len(d.Types) == 0 && len(d.Parts) == 0 && len(d.Fields) == 0
}

// Count counts a line that a CLI wrote. The line is decoded for that, which a caller
// that does not want to know can save. Of assistant lines with a Seq above 500 it
// looks at every 13th number, and at the others only to see whether they are JSON.
func (d *Drift) Count(l *Line) {
	if l.Seq > driftAll && l.Seq%driftStep != 0 && l.Header.Is("assistant", "") {
		if !l.Valid() {
			d.Malformed++
		}
		return
	}
	m, err := l.Message()
	if err != nil {
		d.Malformed++
		return
	}
	typ, subtype := m.MessageType()
	if subtype != "" {
		typ += "/" + subtype
	}
	if _, unknown := m.(*wire.Unknown); unknown {
		d.add(&d.Types, typ)
		return
	}
	if _, ok := m.(*wire.Result); ok {
		typ = "result" // its members do not depend on the subtype
	}
	d.fields(typ, m)
	switch m := m.(type) {
	case *wire.Assistant:
		d.fields(typ+".message", &m.Message)
		d.blocks(m.Message.Content)
	case *wire.User:
		d.blocks(m.Message.Content.Blocks)
	case *wire.ControlRequest:
		if m.Request == nil {
			return
		}
		part := "request " + m.Request.RequestSubtype()
		if _, unknown := m.Request.(*wire.UnknownRequest); unknown {
			d.add(&d.Parts, part)
			return
		}
		d.fields(part, m.Request)
	case *wire.ControlResponse:
		d.fields(typ+".response", &m.Response)
	case *wire.StreamEvent:
		d.event(m.Event)
	default:
	}
}

func (d *Drift) blocks(blocks []wire.Block) {
	for _, b := range blocks {
		if b == nil {
			continue
		}
		if _, unknown := b.(*wire.UnknownBlock); unknown {
			d.add(&d.Parts, "block "+b.BlockType())
			continue
		}
		d.fields("block "+b.BlockType(), b)
	}
}

func (d *Drift) event(e wire.Event) {
	switch e := e.(type) {
	case *wire.UnknownEvent:
		d.add(&d.Parts, "event "+e.EventType())
	case *wire.ContentBlockDeltaEvent:
		if u, ok := e.Delta.(*wire.UnknownDelta); ok {
			d.add(&d.Parts, "delta "+u.DeltaType())
		}
	default:
	}
}

// fields counts the unknown members of a value.
func (d *Drift) fields(of string, v interface{ ExtraNames() []string }) {
	for _, n := range v.ExtraNames() {
		d.add(&d.Fields, of+"."+n)
	}
}

func (d *Drift) add(counts *map[string]int64, key string) {
	key = name(key)
	if *counts == nil {
		*counts = map[string]int64{}
	}
	if _, there := (*counts)[key]; !there && len(*counts) >= maxDrift {
		d.More++
		return
	}
	(*counts)[key]++
}
