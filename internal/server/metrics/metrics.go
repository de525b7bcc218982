package metrics

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
)

// other is the value of a label for what is not known.
const other = "other"

// Options are the options of [New]. All of them may be left out.
type Options struct {
	// Version is that of the program.
	Version string
	// Logger is told when a part of what there is to tell could not be found out.
	Logger *slog.Logger
}

// Metrics are the counters of one hub, for [hub.Options]. They are safe for concurrent
// use, and none of the methods blocks.
type Metrics struct {
	// Static after construction; the maps are only read.
	log      *slog.Logger
	registry *prometheus.Registry
	lines    map[string]lineCounters
	lag      prometheus.Histogram
	behind   prometheus.Histogram
	commit   prometheus.Histogram
	entries  prometheus.Histogram
	settled  map[string]map[string]prometheus.Counter // by kind and outcome
	waited   map[string]prometheus.Observer
	requests *prometheus.CounterVec
	took     *prometheus.HistogramVec
	streams  *prometheus.GaugeVec
	refused  *prometheus.CounterVec
	judged   prometheus.Counter
	boxed    map[string]prometheus.Counter // what sandboxes refused, by kind
}

var _ hub.Metrics = (*Metrics)(nil)

// lineCounters are the counters of one kind of entries.
type lineCounters struct{ lines, bytes prometheus.Counter }

// lineKinds returns the kinds of entries that there are.
func lineKinds() []string {
	return []string{
		api.KindLine, api.KindSent, api.KindLive, api.KindHistory, api.KindCreated, api.KindRunStarted, api.KindRunLaunched, api.KindRunEnded,
		api.KindLinkUp, api.KindLinkLost, api.KindState, api.KindQuestionOpened, api.KindQuestionSettled, api.KindMessage, api.KindCommand,
		api.KindGap, api.KindOversize, api.KindUpdated, api.KindNotice, api.KindQuestionChanged, api.KindRuleAdded, api.KindRuleRemoved,
		api.KindDecision, api.KindMode, api.KindHold, api.KindHoldOver, api.KindBudget, api.KindTurn, api.KindSandboxRefused, "event", other,
	}
}

// questionKinds and outcomes return what a question can be and become.
func questionKinds() []string {
	return []string{
		string(api.QuestionPermission), string(api.QuestionChoice), string(api.QuestionPlan), string(api.QuestionForm), string(api.QuestionDialog), other,
	}
}

func outcomes() []string {
	return []string{string(api.QuestionAnswered), string(api.QuestionAnsweredTooLate), string(api.QuestionCancelled), other}
}

// refusalKinds and sandboxes return what a sandbox can refuse, and what it can be.
func refusalKinds() []string { return []string{"network", "file", other} }

func sandboxes() []string { return []string{"off", "deny-only", "strict", "none", other} }

// states returns the states of a session.
func states() []api.State {
	return []api.State{
		api.StateStarting, api.StateIdle, api.StateRunning, api.StateRequiresAction, api.StateBackground, api.StateOffline, api.StateEnded,
	}
}

// New returns metrics that nothing has been counted in.
func New(o *Options) *Metrics {
	if o == nil {
		o = &Options{}
	}
	m := &Metrics{log: o.Logger, registry: prometheus.NewPedanticRegistry()}
	if m.log == nil {
		m.log = slog.New(slog.DiscardHandler)
	}
	m.registry.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	m.gauge("switchboard_build_info", "Always 1; the label is the version of the program.", "version").WithLabelValues(o.Version).Set(1)
	m.makeLines()
	m.makeQuestions()
	m.lag = m.histogram("switchboard_show_lag_seconds", "Time from the receipt of a line to its being shown to followers.", fast())
	m.behind = m.histogram("switchboard_follower_catchup_entries", "How many entries behind a follower was that had to read the journal; the count is how often that happened.", sizes())
	m.commit = m.histogram("switchboard_commit_seconds", "Time that a commit of the journal took.", fast())
	m.entries = m.histogram("switchboard_commit_entries", "How many entries a commit of the journal had.", sizes())
	m.judged = m.counter("switchboard_policy_evaluations_total", "Rules that were held against calls to explain a decision or to test rules.").WithLabelValues()
	boxed := m.counter("switchboard_sandbox_refused_total", "What the sandboxes of agents have refused, by kind.", "kind")
	m.boxed = map[string]prometheus.Counter{}
	for _, kind := range refusalKinds() {
		m.boxed[kind] = boxed.WithLabelValues(kind)
	}
	m.makeHTTP()
	return m
}

// fast are the bounds of what takes from microseconds to seconds.
func fast() []float64 {
	return []float64{0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10}
}

// patient are the bounds of what waits for people.
func patient() []float64 {
	return []float64{0.01, 0.1, 1, 5, 15, 60, 300, 900, 3600, 4 * 3600, 24 * 3600}
}

// sizes are the bounds of numbers of entries.
func sizes() []float64 { return []float64{1, 2, 5, 10, 25, 50, 100, 250, 1000, 10_000, 100_000} }

func (m *Metrics) counter(name, help string, labels ...string) *prometheus.CounterVec {
	v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	m.registry.MustRegister(v)
	return v
}

func (m *Metrics) gauge(name, help string, labels ...string) *prometheus.GaugeVec {
	v := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
	m.registry.MustRegister(v)
	return v
}

func (m *Metrics) histogramVec(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	v := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	m.registry.MustRegister(v)
	return v
}

func (m *Metrics) histogram(name, help string, buckets []float64) prometheus.Histogram {
	h := prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets})
	m.registry.MustRegister(h)
	return h
}

func (m *Metrics) makeLines() {
	lines := m.counter("switchboard_lines_total", "Entries journaled, and live lines shown, by kind.", "kind")
	bytes := m.counter("switchboard_line_bytes_total", "Their bytes, by kind.", "kind")
	m.lines = map[string]lineCounters{}
	for _, kind := range lineKinds() {
		m.lines[kind] = lineCounters{lines.WithLabelValues(kind), bytes.WithLabelValues(kind)}
	}
}

func (m *Metrics) makeQuestions() {
	settled := m.counter("switchboard_questions_settled_total", "Questions that were settled, by kind and by what became of them.", "kind", "outcome")
	waited := m.histogramVec("switchboard_question_wait_seconds", "How long questions were open, by kind.", patient(), "kind")
	m.settled, m.waited = map[string]map[string]prometheus.Counter{}, map[string]prometheus.Observer{}
	for _, kind := range questionKinds() {
		m.settled[kind], m.waited[kind] = map[string]prometheus.Counter{}, waited.WithLabelValues(kind)
		for _, outcome := range outcomes() {
			m.settled[kind][outcome] = settled.WithLabelValues(kind, outcome)
		}
	}
}

// known returns the value of a label: key, or other if m has none of that name.
func known[V any](m map[string]V, key string) string {
	if _, found := m[key]; found {
		return key
	}
	return other
}

// Lines counts entries of a kind that were journaled, or live lines that were
// shown.
func (m *Metrics) Lines(kind string, n, bytes int) {
	c := m.lines[known(m.lines, kind)]
	c.lines.Add(float64(max(n, 0)))
	c.bytes.Add(float64(max(bytes, 0)))
}

// Commit counts one commit of the journal.
func (m *Metrics) Commit(entries int, took time.Duration) {
	m.entries.Observe(float64(entries))
	m.commit.Observe(took.Seconds())
}

// Shown counts a line that followers are shown, and how long that took from its
// receipt on.
func (m *Metrics) Shown(lag time.Duration) { m.lag.Observe(lag.Seconds()) }

// Question counts a question that was settled.
func (m *Metrics) Question(kind, outcome string, waited time.Duration) {
	kind = known(m.settled, kind)
	m.settled[kind][known(m.settled[kind], outcome)].Inc()
	m.waited[kind].Observe(waited.Seconds())
}

// Behind counts a follower that had to read the journal, being so many entries
// behind.
func (m *Metrics) Behind(entries int64) { m.behind.Observe(float64(entries)) }

// Evaluated counts rules that were held against calls because a client asked for it.
func (m *Metrics) Evaluated(evaluations int) { m.judged.Add(float64(max(evaluations, 0))) }

// SandboxRefused counts what a sandbox has refused.
func (m *Metrics) SandboxRefused(kind string, n int) {
	m.boxed[known(m.boxed, kind)].Add(float64(max(n, 0)))
}

// Handler serves what was counted, in the form that the client wants. The server that
// serves it restricts access.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		ErrorLog: errorLog{m.log},
		// The rest is worth more than nothing.
		ErrorHandling:       promhttp.ContinueOnError,
		MaxRequestsInFlight: 4,
		Timeout:             scrapeTime + time.Second,
		EnableOpenMetrics:   true,
	})
}

// errorLog tells the log what promhttp complains about.
type errorLog struct{ log *slog.Logger }

// Println logs what could not be told.
func (l errorLog) Println(v ...any) {
	for _, each := range v {
		if err, is := each.(error); is {
			l.log.Warn("some metrics could not be told", "err", err)
		}
	}
}
