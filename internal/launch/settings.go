package launch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/switchboard-dev/switchboard/wire"
)

// checkSettings refuses what a session may not have by its settings because it may
// not have it by a flag or a variable either. Whether it may bypass permissions is
// for [Launcher.permissionMode] to say.
func checkSettings(agent *agent, settings json.RawMessage) error {
	if len(settings) == 0 {
		return nil
	}
	refuse := func(reason, hint string) error {
		return &StartError{Code: BadOption, Reason: "option Settings: " + reason, Hint: hint}
	}
	if trimmed := bytes.TrimSpace(settings); !json.Valid(settings) || trimmed[0] != '{' {
		return refuse("it is not a JSON object", "")
	}
	if name := wire.HooklessSetting(settings); name != "" {
		return refuse(name+" is refused: "+forRules, "")
	}
	raw, found := wire.Lookup(settings, "env")
	if !found {
		return nil
	}
	var variables map[string]json.RawMessage
	if err := json.Unmarshal(raw, &variables); err != nil {
		return refuse("env is not an object of variables", "")
	}
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		if reserved(agent, name) {
			return refuse(fmt.Sprintf("env: %.60q is not for a session to set", name), "docs/environment.md says why")
		}
	}
	return nil
}

// withRules adds permission rules to a settings object, behind its own. Whatever
// else is in it is kept as it was written. With no rules it is returned as it
// is; with rules and no object a new one is made.
//
// A CLI that finds a list of rules which is none leaves the whole object aside,
// our rules with it, so that such an object is refused. An old one does so for a
// single rule that it cannot read: strict refuses such a rule in the object,
// and the caller must not add any.
func withRules(settings json.RawMessage, deny, ask []string, strict bool) (json.RawMessage, error) {
	if len(deny) == 0 && len(ask) == 0 {
		return settings, nil
	}
	refuse := func(reason string, err error) error {
		return &StartError{Code: BadOption, Reason: "option Settings: " + reason, Err: err}
	}
	if len(settings) == 0 {
		settings = json.RawMessage("{}")
	}
	if err := json.Unmarshal(settings, new(any)); err != nil {
		return nil, refuse("it is not JSON: "+err.Error(), err)
	}
	object := bytes.TrimSpace(settings)
	if object[0] != '{' {
		return nil, refuse("it is not a JSON object", nil)
	}
	permissions, err := lastMember(object, "permissions")
	if err != nil {
		return nil, refuse(err.Error(), err)
	}
	switch {
	case permissions == nil:
		permissions = []byte("{}")
	case permissions[0] != '{':
		return nil, refuse("permissions is not an object, so that the hub's own rules have no place in it", nil)
	}
	for _, list := range []struct {
		name  string
		added []string
	}{{"allow", nil}, {"deny", deny}, {"ask", ask}} {
		rules, err := lastMember(permissions, list.name)
		if err != nil {
			return nil, refuse(err.Error(), err)
		}
		longer, err := appendRules(rules, list.added, strict)
		if err != nil {
			return nil, refuse(fmt.Sprintf("permissions.%s is not a list of rules: %v", list.name, err), err)
		}
		if len(list.added) == 0 {
			continue // only checked
		}
		if permissions, err = setMember(permissions, list.name, longer); err != nil {
			return nil, refuse(err.Error(), err)
		}
	}
	if object, err = setMember(object, "permissions", permissions); err != nil {
		return nil, refuse(err.Error(), err)
	}
	return object, nil
}

// appendRules adds to a list those rules that it does not have. list may be nil.
func appendRules(list []byte, rules []string, strict bool) ([]byte, error) {
	if list == nil {
		list = []byte("[]")
	}
	if list[0] != '[' { // null would pass as an empty list
		return nil, errors.New("it is not a list")
	}
	var entries []*string // pointers, since null would pass as an empty rule
	if err := json.Unmarshal(list, &entries); err != nil {
		return nil, err
	}
	had := make(map[string]bool, len(entries)+len(rules))
	for _, entry := range entries {
		switch {
		case entry == nil:
			return nil, errors.New("an entry is null")
		case strict && !readable(*entry):
			return nil, fmt.Errorf("this version of claude cannot read %q, and would leave all rules aside for it", *entry)
		}
		had[*entry] = true
	}
	longer := bytes.Clone(list[:len(list)-1])
	n := len(entries)
	for _, rule := range rules {
		if had[rule] {
			continue
		}
		had[rule] = true
		text, err := json.Marshal(rule)
		if err != nil {
			return nil, err
		}
		if n > 0 {
			longer = append(longer, ',')
		}
		longer = append(longer, text...)
		n++
	}
	return append(longer, ']'), nil
}

// A byteRange is where a member's value is in the text of an object.
type byteRange struct{ start, end int }

// findMember looks a member up as the CLI does: its name is case-sensitive and
// may be written with escapes, and of several with this name the last one
// counts. members is how many members the object has.
func findMember(object []byte, name string) (at byteRange, found bool, members int, err error) {
	d := json.NewDecoder(bytes.NewReader(object))
	if _, err = d.Token(); err != nil { // the brace
		return byteRange{}, false, 0, fmt.Errorf("reading an object: %w", err)
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return byteRange{}, false, 0, fmt.Errorf("reading an object: %w", err)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return byteRange{}, false, 0, fmt.Errorf("reading an object: %w", err)
		}
		members++
		if key == name {
			end := int(d.InputOffset())
			at, found = byteRange{end - len(value), end}, true
		}
	}
	return at, found, members, nil
}

// lastMember returns the value of a member, nil if there is none.
func lastMember(object []byte, name string) ([]byte, error) {
	at, found, _, err := findMember(object, name)
	if err != nil || !found {
		return nil, err
	}
	return object[at.start:at.end], nil
}

// setMember returns the object with another value for a member, which is added
// at the end if there is none.
func setMember(object []byte, name string, value []byte) ([]byte, error) {
	at, found, members, err := findMember(object, name)
	if err != nil {
		return nil, err
	}
	if found {
		return slices.Concat(object[:at.start], value, object[at.end:]), nil
	}
	key, err := json.Marshal(name)
	if err != nil {
		return nil, err
	}
	if members > 0 {
		key = append([]byte(","), key...)
	}
	return slices.Concat(object[:len(object)-1], key, []byte(":"), value, []byte("}")), nil
}
