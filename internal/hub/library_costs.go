package hub

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// mostCosts is how many parts costs are shown in. The sums are of all.
const mostCosts = 1000

// Costs sums up what agents have cost, by session (which is the usual), folder,
// day of the server's clock or model. The dearest come first, of days the newest.
func (h *Hub) Costs(ctx context.Context, f api.CostFilter) (*api.Costs, error) {
	out := &api.Costs{Items: []api.CostItem{}}
	by := journal.SumBySession
	switch f.By {
	case "", "session", "dir":
	case "day":
		by = journal.SumByQuarter
	case "model":
		by = journal.SumByModel
	default:
		return nil, unfit("by: expected session, dir, day or model, got %q", f.By)
	}
	sums, err := h.journal.Sums(ctx, by, f.Since)
	if err != nil {
		return nil, h.problem(err, "")
	}
	parts := map[string]*costPart{}
	var total costPart
	for i := range sums {
		s := &sums[i]
		key, title := s.Key, s.Title
		switch f.By {
		case "dir":
			key, title = s.Dir, ""
		case "day":
			key = dayOf(s.Time.In(h.ledger.zone))
		}
		part := parts[key]
		if part == nil {
			part = &costPart{title: title}
			parts[key] = part
		}
		part.add(s)
		total.add(s)
	}
	for key, part := range parts {
		out.Items = append(out.Items, api.CostItem{Key: key, Title: part.title, USD: part.usd, Turns: part.turns, Millis: part.millis, Tokens: part.tokenCount()})
	}
	if by == journal.SumByModel {
		// A turn of several models counts for each of them, and once in the sum.
		spent, err := h.journal.Spent(ctx, f.Since)
		if err != nil {
			return nil, h.problem(err, "")
		}
		total.amount = amount{}
		for _, s := range spent {
			total.amount = total.plus(amount{usd: s.CostUSD, turns: s.Turns, millis: s.Millis})
		}
	}
	out.USD, out.Turns, out.Millis, out.Tokens = total.usd, total.turns, total.millis, total.tokenCount()
	slices.SortFunc(out.Items, func(a, b api.CostItem) int {
		if f.By == "day" {
			return strings.Compare(b.Key, a.Key)
		}
		return cmp.Or(cmp.Compare(b.USD, a.USD), cmp.Compare(b.Turns, a.Turns), strings.Compare(a.Key, b.Key))
	})
	out.Items = out.Items[:min(len(out.Items), mostCosts)]
	return out, nil
}

// A costPart is what a session, a folder, a day or a model has cost.
type costPart struct {
	amount

	title  string
	tokens fold.Tokens
}

// add adds what was spent.
func (p *costPart) add(s *journal.Sum) {
	p.amount = p.plus(amount{usd: s.CostUSD, turns: s.Turns, millis: s.Millis})
	t := &p.tokens
	t.Input, t.Output, t.CacheRead, t.CacheWrite = t.Input+s.Tokens.Input, t.Output+s.Tokens.Output, t.CacheRead+s.Tokens.CacheRead, t.CacheWrite+s.Tokens.CacheWrite
}

// tokenCount returns the tokens, or nil if nobody told of any.
func (p *costPart) tokenCount() *api.Tokens {
	if p.tokens.Sum() == 0 {
		return nil
	}
	return &api.Tokens{Input: p.tokens.Input, Output: p.tokens.Output, CacheRead: p.tokens.CacheRead, CacheWrite: p.tokens.CacheWrite}
}

// Budgets returns the limits that the server was given, a row for each unit.
// What is used of one per session or per folder is told of the session or folder
// that has used most of it.
func (h *Hub) Budgets(ctx context.Context) (*api.Budgets, error) {
	out := &api.Budgets{Budgets: []api.BudgetUse{}}
	led, now := h.ledger, h.now()
	var sessions []journal.Sum
	if slices.ContainsFunc(led.budgets, func(b Budget) bool { return b.Per == perSession }) {
		var err error
		if sessions, err = h.journal.Sums(ctx, journal.SumBySession, time.Time{}); err != nil {
			return nil, h.problem(err, "")
		}
	}
	for i := range led.budgets {
		b := &led.budgets[i]
		for _, unit := range []string{unitUSD, unitTurns, unitWall, unitIdle} {
			m := meter{budget: b, unit: unit, limit: b.limit(unit)}
			if m.limit == 0 {
				continue
			}
			scope := ""
			most := func(used float64, of string) {
				if used > m.used {
					m.used, scope = used, of
				}
			}
			if b.shared() {
				for _, dir := range led.scopes(i) {
					most(led.usedBy(i, dir, now).of(unit), dir)
				}
			} else {
				for _, s := range sessions {
					if b.concerns(cleaned(s.Dir)) {
						most(amount{usd: s.CostUSD, turns: s.Turns, millis: s.Millis}.of(unit), s.Key)
					}
				}
			}
			use := m.use()
			use.Scope = scope
			out.Budgets = append(out.Budgets, use)
		}
	}
	return out, nil
}

// scopes returns what a shared budget is counted by: the folders, or all at once.
func (l *ledger) scopes(i int) []string {
	b := &l.budgets[i]
	if b.Per != perFolder {
		return []string{""}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	dirs := map[string]bool{}
	for dir := range l.used[i] {
		dirs[dir] = true
	}
	for _, w := range l.working {
		if b.concerns(w.dir) {
			dirs[w.dir] = true
		}
	}
	return slices.Sorted(maps.Keys(dirs))
}

// mostDrifting is how many sessions are looked at for what is not known.
const mostDrifting = 1000

// Drift counts what is not known in the lines of CLIs, over the most recently
// updated sessions. What a session has counted is told under the version that its
// CLI had last.
func (h *Hub) Drift(ctx context.Context) (*api.Drift, error) {
	counts := map[api.DriftItem]int64{}
	left := mostDrifting
	for cursor := ""; left > 0; {
		page, err := h.journal.Sessions(ctx, journal.SessionQuery{Archived: true, Cursor: cursor, Limit: min(left, 200)})
		if err != nil {
			return nil, h.problem(err, "")
		}
		for i := range page.Sessions {
			if err := h.driftOf(ctx, page.Sessions[i].ID, counts); err != nil {
				return nil, err
			}
		}
		left -= len(page.Sessions)
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	out := &api.Drift{Items: make([]api.DriftItem, 0, len(counts))}
	for item, n := range counts {
		item.Count = n
		out.Items = append(out.Items, item)
	}
	slices.SortFunc(out.Items, func(a, b api.DriftItem) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Version, b.Version), strings.Compare(a.Kind, b.Kind), strings.Compare(a.Name, b.Name))
	})
	return out, nil
}

// A drifted is what is read of a stored book.
type drifted struct {
	Version string `json:"version"`
	State   struct {
		Version string     `json:"version"`
		Drift   fold.Drift `json:"drift"`
	} `json:"state"`
}

// driftOf adds what a session has counted: as it is in memory, or as it was
// stored last.
func (h *Hub) driftOf(ctx context.Context, id string, counts map[api.DriftItem]int64) error {
	var d drifted
	h.mu.Lock()
	s := h.sessions[id]
	h.mu.Unlock()
	if s != nil {
		err := s.look(ctx, func(*step) error {
			b := s.book
			d.Version, d.State.Version, d.State.Drift = b.Version, b.State.Version, b.State.Drift
			for _, counters := range []*map[string]int64{&d.State.Drift.Types, &d.State.Drift.Parts, &d.State.Drift.Fields} {
				*counters = maps.Clone(*counters)
			}
			return nil
		})
		if err == nil {
			countDrift(&d, counts)
			return nil
		}
		if !errors.Is(err, errPutAway) { // else it is stored by now
			return h.problem(err, id)
		}
	}
	raw, _, err := h.journal.Fold(ctx, id)
	if err != nil {
		return h.problem(err, id)
	}
	if raw != nil && json.Unmarshal(raw, &d) == nil { // else it has just begun, or it is a book of another version
		countDrift(&d, counts)
	}
	return nil
}

// countDrift adds the counters of one session.
func countDrift(d *drifted, counts map[api.DriftItem]int64) {
	version := d.State.Version
	if version == "" {
		version = d.Version
	}
	add := func(kind, name string, n int64) {
		if n > 0 {
			counts[api.DriftItem{Version: version, Kind: kind, Name: name}] += n
		}
	}
	for name, n := range d.State.Drift.Types {
		kind := "type"
		if strings.Contains(name, "/") {
			kind = "subtype"
		}
		add(kind, name, n)
	}
	for name, n := range d.State.Drift.Parts {
		if request, ok := strings.CutPrefix(name, "request "); ok {
			add("request", request, n)
			continue
		}
		add("type", name, n)
	}
	for name, n := range d.State.Drift.Fields {
		add("member", name, n)
	}
	add("invalid", "not a JSON object", d.State.Drift.Malformed)
	add("type", "others", d.State.Drift.More)
}
