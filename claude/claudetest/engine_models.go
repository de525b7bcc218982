package claudetest

import "strings"

// A catalogue is what a version of the CLI knows about models: the one it takes by itself, its short names, and what it charges.
type catalogue struct {
	standard string
	aliases  map[string]string
	rates    []rate // the first that fits counts; the last fits every model
}

// A rate is what a million tokens of a model cost, and how large the model is.
type rate struct {
	part            string // of the model's name
	in, out         float64
	read            float64 // of the input's price: what is read from the cache
	context, output int     // window and longest answer, in tokens
	longFrom        int     // input tokens of one request from which it costs long times as much; 0: never
	long            float64
	known           bool // the CLI has the price of this model and does not guess
}

// models returns the version's catalogue. Where a price looks wrong it is nevertheless what that version says.
func (q Quirks) models() catalogue {
	const usual, large = 200_000, 1_000_000
	switch {
	case q.Version.AtLeast(2, 1, 325):
		return catalogue{
			standard: "claude-opus-5-5",
			aliases:  map[string]string{"opus": "claude-opus-5-5", "sonnet": "claude-sonnet-5-5", "haiku": "claude-haiku-5-5", "fable": "claude-fable-5-2"},
			rates: []rate{
				{part: "haiku-5", in: 0.1, out: 0.5, read: 0.1, context: large, output: 128_000, longFrom: 100_000, long: 5, known: true},
				{part: "haiku", in: 1, out: 5, read: 0.1, context: usual, output: 32_000, known: true},
				{part: "sonnet-5", in: 2, out: 10, read: 0.05, context: large, output: 128_000, known: true},
				{part: "sonnet", in: 3, out: 15, read: 0.1, context: usual, output: 32_000, known: true},
				{part: "opus-5", in: 4, out: 20, read: 0.05, context: large, output: 128_000, known: true},
				{part: "opus", in: 5, out: 25, read: 0.1, context: usual, output: 32_000, known: true},
				{part: "fable", in: 8, out: 40, read: 0.05, context: large, output: 128_000, known: true},
				{in: 4, out: 20, read: 0.05, context: large, output: 32_000},
			},
		}
	case q.Version.AtLeast(2, 1, 120):
		return catalogue{
			standard: "claude-sonnet-4-6",
			aliases:  map[string]string{"opus": "claude-opus-4-7", "sonnet": "claude-sonnet-4-6", "haiku": "claude-haiku-4-5-20251001"},
			rates: []rate{
				{part: "haiku", in: 1, out: 5, read: 0.1, context: usual, output: 32_000, known: true},
				{part: "opus-4-7", in: 5, out: 25, read: 0.1, context: large, output: 64_000, known: true},
				{part: "opus", in: 5, out: 25, read: 0.1, context: usual, output: 32_000, known: true},
				{in: 3, out: 15, read: 0.1, context: usual, output: 32_000, known: true},
			},
		}
	}
	return catalogue{
		standard: "claude-sonnet-4-5-20250929",
		aliases:  map[string]string{"opus": "claude-opus-4-6", "sonnet": "claude-sonnet-4-5-20250929", "haiku": "claude-haiku-4-5-20251001"},
		rates: []rate{
			{part: "haiku", in: 1, out: 5, read: 0.1, context: usual, output: 64_000, known: true},
			{part: "opus", in: 5, out: 25, read: 0.1, context: usual, output: 32_000, known: true},
			{in: 5, out: 25, read: 0.1, context: usual, output: 64_000, known: true},
		},
	}
}

// resolve turns a short name into a model's name; none and "default" mean the standard one.
func (c catalogue) resolve(name string) string {
	if name == "" || name == "default" {
		return c.standard
	}
	if full, ok := c.aliases[name]; ok {
		return full
	}
	return name
}

// rate returns what a model costs.
func (c catalogue) rate(model string) rate {
	for _, r := range c.rates {
		if strings.Contains(model, r.part) {
			return r
		}
	}
	return rate{} // not reached: the last one fits
}

// cost is what one message costs.
func (r rate) cost(u usage) float64 {
	const million, writing = 1_000_000, 1.25
	in, out := r.in, r.out
	if r.longFrom > 0 && u.InputTokens+u.CacheReadInputTokens+u.CacheCreationInputTokens > r.longFrom {
		in, out = in*r.long, out*r.long
	}
	return float64(u.InputTokens)/million*in + float64(u.OutputTokens)/million*out +
		float64(u.CacheReadInputTokens)/million*in*r.read + float64(u.CacheCreationInputTokens)/million*in*writing
}

// listModels are the models that initialize and list_models offer.
func (e *engine) listModels() []members {
	known := e.quirks.models()
	offered := []members{}
	for _, name := range append([]string{"default"}, sortedKeys(known.aliases)...) {
		model := members{"value", name}
		model = model.when(e.quirks.InitializeTellsVersion, "resolvedModel", known.resolve(name)).
			with("displayName", strings.ToUpper(name[:1])+name[1:], "description", "The model "+known.resolve(name)+" of the simulation")
		if e.quirks.InitializeTellsAgents {
			model = model.with("supportsEffort", true, "supportedEffortLevels", []string{"low", "medium", "high", "max"}, "supportsAdaptiveThinking", true)
		}
		offered = append(offered, model)
	}
	return offered
}
