package claudetest

import (
	"maps"
	"slices"
	"time"

	"github.com/switchboard-dev/switchboard/claude/claudetest/internal/history"
)

// usage are the tokens of a message, or of several.
type usage struct {
	InputTokens              int `json:"input_tokens"`
	CacheCreationInputTokens int `json:"cache_creation_input_tokens"`
	CacheReadInputTokens     int `json:"cache_read_input_tokens"`
	OutputTokens             int `json:"output_tokens"`
}

func (u usage) plus(other usage) usage {
	return usage{
		InputTokens:              u.InputTokens + other.InputTokens,
		CacheCreationInputTokens: u.CacheCreationInputTokens + other.CacheCreationInputTokens,
		CacheReadInputTokens:     u.CacheReadInputTokens + other.CacheReadInputTokens,
		OutputTokens:             u.OutputTokens + other.OutputTokens,
	}
}

// line is the usage in an assistant line.
func (u usage) line() members {
	return members{
		"input_tokens", u.InputTokens, "cache_creation_input_tokens", u.CacheCreationInputTokens, "cache_read_input_tokens", u.CacheReadInputTokens,
		"output_tokens", u.OutputTokens, "service_tier", "standard",
	}
}

// full is the usage in a result, and in a message that the CLI made up, whose tier is null.
func (u usage) full(q Quirks, tier any) members {
	line := members{
		"input_tokens", u.InputTokens, "cache_creation_input_tokens", u.CacheCreationInputTokens, "cache_read_input_tokens", u.CacheReadInputTokens,
		"output_tokens", u.OutputTokens,
	}
	place, repeats, speed, thoughts := any(""), any([]any{}), any("standard"), any(members{"thinking_tokens", 0})
	if tier == nil {
		place, repeats, speed, thoughts = nil, nil, nil, nil
	}
	line = line.when(q.ResultIndex, "output_tokens_details", thoughts).with(
		"server_tool_use", members{"web_search_requests", 0, "web_fetch_requests", 0}, "service_tier", tier,
		"cache_creation", members{"ephemeral_1h_input_tokens", 0, "ephemeral_5m_input_tokens", 0},
	)
	return line.when(q.ErrorDetails, "inference_geo", place, "iterations", repeats, "speed", speed).when(q.ResultIndex, "fallback_credit", nil)
}

// account is what one model has cost.
type account struct {
	usage usage
	cost  float64
}

// spending is what a process, or a conversation, has cost so far.
type spending struct {
	models  map[string]account
	told    map[string]account // models at the last result
	total   float64
	apiTime time.Duration
	before  time.Duration // how long processes before this one have run
}

func (s spending) clone() spending {
	s.models = maps.Clone(s.models)
	return s
}

// since returns what was spent after the last result.
func (s spending) since() spending {
	fresh := spending{models: map[string]account{}}
	for model, now := range s.models {
		then := s.told[model]
		if now != then {
			fresh.models[model] = account{
				cost: now.cost - then.cost,
				usage: usage{
					InputTokens:              now.usage.InputTokens - then.usage.InputTokens,
					CacheCreationInputTokens: now.usage.CacheCreationInputTokens - then.usage.CacheCreationInputTokens,
					CacheReadInputTokens:     now.usage.CacheReadInputTokens - then.usage.CacheReadInputTokens,
					OutputTokens:             now.usage.OutputTokens - then.usage.OutputTokens,
				},
			}
		}
	}
	return fresh
}

// byModel is modelUsage of a result.
func (s spending) byModel(q Quirks) members {
	lines, known := members{}, q.models()
	for _, model := range slices.Sorted(maps.Keys(s.models)) {
		spent, rate := s.models[model], known.rate(model)
		u := spent.usage
		line := members{
			"inputTokens", u.InputTokens, "outputTokens", u.OutputTokens, "cacheReadInputTokens", u.CacheReadInputTokens,
			"cacheCreationInputTokens", u.CacheCreationInputTokens, "webSearchRequests", 0, "costUSD", spent.cost,
			"contextWindow", rate.context, "maxOutputTokens", rate.output,
		}
		if q.ResultIndex {
			basis := "unknown"
			if rate.known {
				basis = "list"
			}
			line = line.with("thinkingTokens", 0, "cacheCreationEphemeral5mInputTokens", 0, "cacheCreationEphemeral1hInputTokens", 0,
				"canonicalModel", model, "provider", "firstParty", "costBasis", basis)
		}
		lines = lines.with(model, line)
	}
	return lines
}

// spend books a message.
func (e *engine) spend(t *turn, th *thread, model string, u usage) {
	cost := e.quirks.models().rate(model).cost(u)
	e.mu.Lock()
	if e.spending.models == nil {
		e.spending.models = map[string]account{}
	}
	spent := e.spending.models[model]
	e.spending.models[model] = account{usage: spent.usage.plus(u), cost: spent.cost + cost}
	e.spending.total += cost
	e.mu.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	if th.parent == "" {
		t.usage = t.usage.plus(u)
	} else if th.agent != nil {
		th.agent.count(u)
	}
}

// spent is what the conversation has cost so far.
func (e *engine) spent() float64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.spending.total
}

// addAPITime books time spent waiting for the model.
func (e *engine) addAPITime(d time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.spending.apiTime += max(d, time.Millisecond) // a simulation may take no time at all
}

// costs is the spending as a transcript keeps it.
func (s spending) costs(started time.Time) history.Costs {
	costs := history.Costs{
		TotalUSD: s.total, APIDuration: s.apiTime, APIDurationSuccess: s.apiTime, Duration: s.before + time.Since(started), Start: started,
		Models: map[string]history.ModelCosts{},
	}
	for model, spent := range s.models {
		u := spent.usage
		costs.Models[model] = history.ModelCosts{
			InputTokens: u.InputTokens, OutputTokens: u.OutputTokens, CacheReadInputTokens: u.CacheReadInputTokens,
			CacheCreationInputTokens: u.CacheCreationInputTokens, CostUSD: spent.cost,
		}
	}
	return costs
}

// spendingOf is what a transcript says about the spending.
func spendingOf(costs history.Costs) spending {
	s := spending{models: map[string]account{}, total: costs.TotalUSD, apiTime: costs.APIDuration, before: costs.Duration}
	for model, m := range costs.Models {
		s.models[model] = account{cost: m.CostUSD, usage: usage{
			InputTokens: m.InputTokens, OutputTokens: m.OutputTokens, CacheReadInputTokens: m.CacheReadInputTokens,
			CacheCreationInputTokens: m.CacheCreationInputTokens,
		}}
	}
	s.told = maps.Clone(s.models)
	return s
}
