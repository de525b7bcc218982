package since

import (
	"slices"

	"github.com/switchboard-dev/switchboard/wire"
)

// Tried holds the findings by version.
type Tried map[wire.Version]Findings

// A change is a place where one version has a feature and the next one that was tried has not, or the other way round.
type change struct {
	before, after int // indexes of the published versions
}

// Plan returns the published version that is best asked next, out of those that are sorted by age; false if nothing is left to find. First come
// the pinned versions, then versions between two that differ. The best is the one that halves most of what is open, so that features share
// versions: one that many features changed around is asked once for all.
func Plan(published, pinned []wire.Version, tried Tried) (next wire.Version, ok bool) {
	for _, v := range pinned {
		if slices.ContainsFunc(Features(), func(f Feature) bool { return tried[v][f.Key()] == "" }) {
			return v, true
		}
	}
	scores := make([]float64, len(published))
	for _, f := range Features() {
		for _, c := range changes(f, published, tried) {
			for i := c.before + 1; i < c.after; i++ {
				if tried[published[i]][f.Key()] == "" { // Unclear is not asked again
					scores[i] += float64(min(i-c.before, c.after-i)) / float64(c.after-c.before)
				}
			}
		}
	}
	best := 0
	for i, score := range scores {
		if score > scores[best] {
			best = i
		}
	}
	if len(scores) == 0 || scores[best] == 0 {
		return wire.Version{}, false
	}
	return published[best], true
}

// Needed returns which features are worth trying on a version: those that change around it, and those that cost nothing more, because the program is
// searched anyway or another request is sent to the same process. On a pinned version that is every feature.
func Needed(published, pinned []wire.Version, tried Tried, v wire.Version) func(Feature) bool {
	open := map[string]bool{}
	ways := map[Way]bool{ByName: true}
	for _, f := range Features() {
		for _, c := range changes(f, published, tried) {
			if v.Compare(published[c.before]) > 0 && v.Compare(published[c.after]) < 0 {
				open[f.Key()] = true
				ways[f.Way] = ways[f.Way] || f.Way == ByTurn || f.Way == ByAnswer && f.Name != managedObeyed
			}
		}
	}
	return func(f Feature) bool {
		return slices.Contains(pinned, v) || open[f.Key()] || ways[f.Way] && f.Name != managedObeyed
	}
}

// Open returns how many changes are not known to the version, and how many versions at most are in question.
func Open(published []wire.Version, tried Tried) (count, widest int) {
	for _, f := range Features() {
		for _, c := range changes(f, published, tried) {
			if width := c.after - c.before - 1; width > 0 {
				count++
				widest = max(widest, width)
			}
		}
	}
	return count, widest
}

// changes returns the changes of a feature, the oldest first.
func changes(f Feature, published []wire.Version, tried Tried) []change {
	var all []change
	last := -1
	for i, v := range published {
		found := tried[v][f.Key()]
		if found != Yes && found != No {
			continue
		}
		if last >= 0 && tried[published[last]][f.Key()] != found {
			all = append(all, change{last, i})
		}
		last = i
	}
	return all
}

// A Row is what is known of a feature. Of a feature that went and came back, it tells the last time only.
type Row struct {
	Feature
	Without wire.Version // the last version before Since that does not have it; zero if the oldest has it
	Since   wire.Version // the first version that has it; zero if none does
	Until   wire.Version // the last version that has it; zero if the newest does
	Gone    wire.Version // the first version after Until
}

// Rows sums the findings up, in the order of [Features]. It also returns the features that came more than once, which are worth a look.
func Rows(published []wire.Version, tried Tried) (rows []Row, returned []string) {
	for _, f := range Features() {
		row, spans := Row{Feature: f}, 0
		before := No
		var last wire.Version
		for _, v := range published {
			found := tried[v][f.Key()]
			if found != Yes && found != No {
				continue
			}
			switch {
			case found == Yes && before == No:
				row.Without, row.Since, row.Until, row.Gone = last, v, wire.Version{}, wire.Version{}
				spans++
			case found == No && before == Yes:
				row.Until, row.Gone = last, v
			case found == No && row.Since.IsZero():
				row.Without = v
			}
			before, last = found, v
		}
		if spans > 1 {
			returned = append(returned, f.Key())
		}
		rows = append(rows, row)
	}
	return rows, returned
}
