package v1

import (
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/switchboard-dev/switchboard/api"
)

// A bound limits an input. Of an array, length is that of its items; of an object
// with free names, that of its values.
type bound struct {
	length, items int     // 0: none
	most          float64 // 0: none
}

// apply puts a bound where the type itself has none.
func (b bound) apply(s *huma.Schema) {
	switch s.Type {
	case huma.TypeString:
		if b.length > 0 && s.MaxLength == nil && len(s.Enum) == 0 {
			s.MaxLength = &b.length
		}
	case huma.TypeArray:
		if b.items > 0 && s.MaxItems == nil {
			s.MaxItems = &b.items
		}
		if s.Items != nil {
			b.apply(s.Items)
		}
	case huma.TypeInteger, huma.TypeNumber:
		if b.most > 0 && s.Maximum == nil {
			s.Maximum = &b.most
		}
	case huma.TypeObject:
		if values, ok := s.AdditionalProperties.(*huma.Schema); ok {
			b.apply(values)
		}
	}
	s.PrecomputeMessages()
}

// tighten gives the inputs of requests limits where their types have none, so that
// the document states them and huma enforces them. It is called before anything is
// registered.
func tighten(registry huma.Registry) {
	const (
		path  = 4096
		short = 256
		text  = 1 << 20
		list  = 1000
		much  = 1e9
	)
	lists := bound{length: path, items: list}
	for t, members := range map[reflect.Type]map[string]bound{
		reflect.TypeFor[api.ConfirmPolicy]():   {"sum": {length: 128}},
		reflect.TypeFor[api.AddRule]():         {"for": {most: 315360000}},
		reflect.TypeFor[api.ExplainCall]():     {"tool": {length: short}, "dir": {length: path}, "session": {length: 64}},
		reflect.TypeFor[api.ReplaceRules]():    {"hash": {length: 128}},
		reflect.TypeFor[api.TestRules]():       {"sessions": {items: 100, length: 64}},
		reflect.TypeFor[api.SavePreferences](): {"allow": {length: path}, "deny": {length: path}},
		reflect.TypeFor[api.Adopt]():           {"dir": {length: path}, "prompt": {length: text}, "except": {items: 100, length: 64}},
		reflect.TypeFor[api.ChoiceAnswer]():    {"labels": {items: 100, length: path}, "text": {length: text}, "notes": {length: text}},
		reflect.TypeFor[api.Answer]():          {"plan": {length: text}},
		reflect.TypeFor[api.Always]():          {"suggestion": {most: 1000}},
		reflect.TypeFor[api.CreateSession]():   {"dir": {length: path}, "prompt": {length: text}, "resume": {length: 64}, "except": {items: 100, length: 64}, "node_labels": {length: short}},
		reflect.TypeFor[api.SessionOptions](): {
			"model": {length: short}, "fallback_model": {length: short}, "permission_mode": {length: 64}, "name": {length: 512},
			"system_prompt": {length: text}, "append_system_prompt": {length: text}, "plan_mode_instructions": {length: text},
			"tools": lists, "allowed_tools": lists, "disallowed_tools": lists, "add_dirs": lists, "setting_sources": {items: 16, length: short},
			"betas": {items: 64, length: short}, "skills": lists, "supported_dialog_kinds": {items: 64, length: short}, "plugin_dirs": lists,
			"max_turns": {most: 1e6}, "max_budget_usd": {most: 1e6}, "max_thinking_tokens": {most: 1e7}, "question_deadline": {most: 31536000},
			"task_budget": {most: much}, "agent": {length: short}, "env": {length: text}, "extra_args": {length: text}, "tool_aliases": {length: short},
		},
		reflect.TypeFor[api.UpdateSession](): {"model": {length: short}, "permission_mode": {length: 64}, "max_thinking_tokens": {most: 1e7}},
		reflect.TypeFor[api.Fork]():          {"prompt": {length: text}, "at": {length: 64}},
		reflect.TypeFor[api.Resume]():        {"prompt": {length: text}},
		reflect.TypeFor[api.SendMessage]():   {"text": {length: maxMessage}},
		reflect.TypeFor[api.EditMessage]():   {"text": {length: maxMessage}},
		reflect.TypeFor[api.Release]():       {"hold": {length: 64}, "usd": {most: 1e6}, "turns": {most: much}, "seconds": {most: much}},
		reflect.TypeFor[api.Rewind]():        {"user_message_id": {length: 64}},
		reflect.TypeFor[api.CreateToken]():   {"scopes": {items: 4}, "ttl": {most: 3153600000}},
		reflect.TypeFor[api.CreateCode]():    {"scopes": {items: 4}},
		reflect.TypeFor[api.InviteNode]():    {"labels": {length: 63}},
		reflect.TypeFor[api.Environment]():   {"variables": {length: text}},
	} {
		registry.Schema(t, true, t.Name())
		schema := registry.Map()[t.Name()]
		for name, b := range members {
			if member := schema.Properties[name]; member != nil {
				b.apply(member)
			}
		}
		schema.PrecomputeMessages()
	}
}
