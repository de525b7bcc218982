package link

// A Gap is a range of durable lines that are missing.
type Gap struct {
	From, To int64
}

// Missing reports whether anything is.
func (g Gap) Missing() bool { return g.From > 0 && g.To >= g.From }

// A Verdict says what the hub does with a record.
type Verdict struct {
	// Fresh says that the record is new; any other is to be dropped.
	Fresh bool
	// Gap is what is missing before the record, if anything.
	Gap Gap
}

// An Incoming is the hub's record of what has come from a run: it says what is
// new. It is made for each connection anew from what is journaled, or kept for
// the next connection of the run, which then also knows the live lines.
type Incoming struct {
	have         int64 // the highest durable line
	liveN, liveK int64 // the place of the last live line
}

// NewIncoming returns one that has all durable lines up to have.
func NewIncoming(have int64) *Incoming { return &Incoming{have: have} }

// Have returns the number of the last durable line that was accepted. It may
// only be acknowledged when it is journaled.
func (in *Incoming) Have() int64 { return in.have }

// Hello looks at what a shim says it has. The gap is what was journaled once
// and is no more; the lines go on after it. It returns [ErrAhead] if the hub has
// more than the shim ever had, which makes it another life of the run: gone.
func (in *Incoming) Hello(next, oldest int64) (Gap, error) {
	if in.have >= next {
		return Gap{}, ErrAhead
	}
	return in.skip(oldest), nil
}

// skip goes on before number and returns what is missing up to there.
func (in *Incoming) skip(number int64) Gap {
	if number <= in.have+1 {
		return Gap{}
	}
	gap := Gap{in.have + 1, number - 1}
	in.have = number - 1
	return gap
}

// Accept judges a record of the shim. Records come in order, so one that jumps
// tells of a gap, and what is not above all before it is a duplicate.
func (in *Incoming) Accept(r *Record) Verdict {
	if r.Kind == Live {
		if r.Number < in.liveN || r.Number == in.liveN && r.K <= in.liveK {
			return Verdict{}
		}
		gap := in.skip(r.Number + 1)
		in.liveN, in.liveK = r.Number, r.K
		return Verdict{Fresh: true, Gap: gap}
	}
	if r.Number <= in.have {
		return Verdict{}
	}
	gap := in.skip(r.Number)
	in.have = r.Number
	return Verdict{Fresh: true, Gap: gap}
}
