package report

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/budget"
	"github.com/switchboard-dev/switchboard/internal/journal"
	"github.com/switchboard-dev/switchboard/internal/record"
	"github.com/switchboard-dev/switchboard/wire/fold"
)

// maxCosts is how many parts costs are shown in. The sums are of all.
const maxCosts = 1000

// Costs sums up what agents have cost, by session (which is the usual), folder,
// day of the server's clock or model. The dearest come first, of days the newest.
func (p *Reports) Costs(ctx context.Context, f api.CostFilter) (*api.Costs, error) {
	out := &api.Costs{Items: []api.CostItem{}}
	by := journal.SumBySession
	switch f.By {
	case "", "session", "dir":
	case "day":
		by = journal.SumByQuarter
	case "model":
		by = journal.SumByModel
	default:
		return nil, record.Unfit("by: expected session, dir, day or model, got %q", f.By)
	}
	sums, err := p.journal.Sums(ctx, by, f.Since)
	if err != nil {
		return nil, p.problem(err, "")
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
			key = s.Time.In(p.zone).Format(time.DateOnly)
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
		spent, err := p.journal.Spent(ctx, f.Since)
		if err != nil {
			return nil, p.problem(err, "")
		}
		total.usd, total.turns, total.millis = 0, 0, 0
		for _, s := range spent {
			total.spend(s.CostUSD, s.Turns, s.Millis)
		}
	}
	out.USD, out.Turns, out.Millis, out.Tokens = total.usd, total.turns, total.millis, total.tokenCount()
	slices.SortFunc(out.Items, func(a, b api.CostItem) int {
		if f.By == "day" {
			return strings.Compare(b.Key, a.Key)
		}
		return cmp.Or(cmp.Compare(b.USD, a.USD), cmp.Compare(b.Turns, a.Turns), strings.Compare(a.Key, b.Key))
	})
	out.Items = out.Items[:min(len(out.Items), maxCosts)]
	return out, nil
}

// A costPart is what a session, a folder, a day or a model has cost.
type costPart struct {
	title  string
	usd    float64
	turns  int64
	millis int64
	tokens fold.Tokens
}

// spend adds money, turns and their time.
func (p *costPart) spend(usd float64, turns, millis int64) {
	p.usd, p.turns, p.millis = budget.Cents(p.usd+usd), p.turns+turns, p.millis+millis
}

// add adds what was spent.
func (p *costPart) add(s *journal.Sum) {
	p.spend(s.CostUSD, s.Turns, s.Millis)
	t := &p.tokens
	t.Input, t.Output, t.CacheRead, t.CacheWrite = t.Input+s.Tokens.Input, t.Output+s.Tokens.Output, t.CacheRead+s.Tokens.CacheRead, t.CacheWrite+s.Tokens.CacheWrite
}

// tokenCount returns the tokens, or nil if the CLI told of none.
func (p *costPart) tokenCount() *api.Tokens {
	if p.tokens.Sum() == 0 {
		return nil
	}
	return &api.Tokens{Input: p.tokens.Input, Output: p.tokens.Output, CacheRead: p.tokens.CacheRead, CacheWrite: p.tokens.CacheWrite}
}

// maxDrifting is how many sessions are looked at for what is not known.
const maxDrifting = 1000

// Drift counts what is not known in the lines of CLIs, over the most recently
// updated sessions. What a session has counted is told under the version that its
// CLI had last.
func (p *Reports) Drift(ctx context.Context) (*api.Drift, error) {
	counts := map[api.DriftItem]int64{}
	left := maxDrifting
	for cursor := ""; left > 0; {
		page, err := p.journal.Sessions(ctx, journal.SessionQuery{Archived: true, Cursor: cursor, Limit: min(left, 200)})
		if err != nil {
			return nil, p.problem(err, "")
		}
		for i := range page.Sessions {
			if err := p.driftOf(ctx, page.Sessions[i].ID, counts); err != nil {
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

// driftOf adds what a session has counted: as it is in memory, or as it was
// stored last.
func (p *Reports) driftOf(ctx context.Context, id string, counts map[api.DriftItem]int64) error {
	d, err := p.live(ctx, id)
	if err != nil {
		return p.problem(err, id)
	}
	if d != nil {
		countDrift(d, counts)
		return nil
	}
	raw, _, err := p.journal.Fold(ctx, id)
	if err != nil {
		return p.problem(err, id)
	}
	d = new(record.Unknown)
	if raw != nil && json.Unmarshal(raw, d) == nil { // else it has just begun, or it is a projection of another version
		countDrift(d, counts)
	}
	return nil
}

// countDrift adds the counters of one session.
func countDrift(d *record.Unknown, counts map[api.DriftItem]int64) {
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
