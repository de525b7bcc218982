package metrics

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
)

const (
	// scrapeTime bounds what a scrape asks of the hub.
	scrapeTime = 5 * time.Second
	// driftTime is how long an answer about drift is good for: finding it out
	// reads the journal.
	driftTime = time.Minute
)

// Sources are asked at each scrape. Each may be nil.
type Sources struct {
	// Stats is to be quick.
	Stats func(context.Context) (hub.Stats, error)
	// Drift is asked once a minute at most.
	Drift func(context.Context) (*api.Drift, error)
	// Nodes counts nodes by their states. It is to be quick.
	Nodes func() map[api.NodeState]int
}

// Watch has a hub asked at each scrape. It is to be called once, before Handler
// serves anything.
func (m *Metrics) Watch(s Sources) { m.registry.MustRegister(&scraper{sources: s, now: time.Now}) }

// A scraper asks a hub for what is not counted as it happens.
type scraper struct {
	sources Sources
	now     func() time.Time

	mu      sync.Mutex
	drift   map[string]int64 // guarded by mu; by kind
	counted time.Time        // guarded by mu; when drift was found out
}

// descriptions of what a scraper tells.
func descriptions() (sessions, questions, followers, loaded, sandboxed, drift, nodes *prometheus.Desc) {
	describe := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, labels, nil)
	}
	return describe("switchboard_sessions", "Sessions by state.", "state"),
		describe("switchboard_questions_open", "Questions that wait for an answer, by kind.", "kind"),
		describe("switchboard_followers", "Streams and front ends that follow sessions."),
		describe("switchboard_sessions_loaded", "Sessions in memory."),
		describe("switchboard_sandboxes", "Agents that run and that the hub started, by the mode of their sandbox; none if it could not be enforced.", "mode"),
		describe("switchboard_drift", "What agents have written that this version does not know, by kind: how often it was seen in the sessions that are kept.", "kind"),
		describe("switchboard_nodes", "Other machines that agents can run on, by state.", "state")
}

// Describe tells what there is.
func (s *scraper) Describe(out chan<- *prometheus.Desc) {
	sessions, questions, followers, loaded, sandboxed, drift, nodes := descriptions()
	for _, d := range []*prometheus.Desc{sessions, questions, followers, loaded, sandboxed, drift, nodes} {
		out <- d
	}
}

// Collect asks the hub.
func (s *scraper) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTime)
	defer cancel()
	sessions, questions, followers, loaded, sandboxed, drift, nodes := descriptions()
	tell := func(d *prometheus.Desc, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	if s.sources.Stats != nil {
		stats, err := s.sources.Stats(ctx)
		if err != nil {
			out <- prometheus.NewInvalidMetric(sessions, err)
		} else {
			for _, state := range states() {
				tell(sessions, float64(stats.Sessions[state]), string(state))
			}
			for kind, n := range fit(stats.OpenQuestions, questionKinds()) {
				tell(questions, float64(n), kind)
			}
			tell(followers, float64(stats.Followers))
			tell(loaded, float64(stats.Loaded))
			for mode, n := range fit(stats.Sandboxes, sandboxes()) {
				tell(sandboxed, float64(n), mode)
			}
		}
	}
	if s.sources.Nodes != nil {
		for state, n := range fit(s.sources.Nodes(), nodeStates()) {
			tell(nodes, float64(n), state)
		}
	}
	if s.sources.Drift != nil {
		counts, err := s.driftCounts(ctx)
		if err != nil {
			out <- prometheus.NewInvalidMetric(drift, err)
		}
		for kind, n := range counts {
			tell(drift, float64(n), kind)
		}
	}
}

// nodeStates returns the states of a node.
func nodeStates() []string {
	return []string{string(api.NodeOnline), string(api.NodeOffline), string(api.NodeDraining), string(api.NodeRevoked), other}
}

// driftKinds returns the kinds of drift.
func driftKinds() []string {
	return []string{"type", "subtype", "request", "member", "invalid", other}
}

// fit returns counts for the allowed names only, each of them, and what has
// another name under other.
func fit[K ~string, N int | int64](counts map[K]N, allowed []string) map[string]N {
	fitted := map[string]N{}
	for _, name := range allowed {
		fitted[name] = 0
	}
	for name, n := range counts {
		fitted[known(fitted, string(name))] += n
	}
	return fitted
}

// driftCounts returns how much drift there is, by kind.
func (s *scraper) driftCounts(ctx context.Context) (map[string]int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.drift != nil && s.now().Sub(s.counted) < driftTime {
		return s.drift, nil
	}
	found, err := s.sources.Drift(ctx)
	if err != nil {
		return nil, err
	}
	counts := map[string]int64{}
	for _, item := range found.Items {
		counts[item.Kind] += item.Count
	}
	s.drift, s.counted = fit(counts, driftKinds()), s.now()
	return s.drift, nil
}
