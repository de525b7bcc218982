// Code generated from schema/*.wire by wire/internal/gen. DO NOT EDIT.

package wire

import "encoding/json"

// AddRules adds rules to the ones in force.
type AddRules struct {
	Source
	// The rules to add.
	Rules []PermissionRule `json:"rules"`

	// What the rules do.
	Behavior RuleBehavior `json:"behavior"`

	// Where they are kept.
	Destination UpdateDestination `json:"destination"`
}

func (v *AddRules) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "rules":
		return setList(d, &v.Rules, raw, setStruct[PermissionRule])
	case "behavior":
		return setString[RuleBehavior](d, &v.Behavior, raw)
	case "destination":
		return setString[UpdateDestination](d, &v.Destination, raw)
	}
	return false
}

func (v *AddRules) appendMembers(e *encoder) {
	e.raw("type", []byte(`"addRules"`))
	put(e, "rules", v.Rules, v.Rules == nil, always, encList(encStruct[PermissionRule]))
	put(e, "behavior", v.Behavior, v.Behavior == "", always, encString[RuleBehavior])
	put(e, "destination", v.Destination, v.Destination == "", always, encString[UpdateDestination])
}

func (*AddRules) fresh() object { return new(AddRules) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *AddRules) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v AddRules) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*AddRules) update() {}

// UpdateType returns "addRules".
func (*AddRules) UpdateType() string { return "addRules" }

// ReplaceRules replaces all rules of one behaviour at one destination.
type ReplaceRules struct {
	Source
	// The rules that remain.
	Rules []PermissionRule `json:"rules"`

	// The behaviour whose rules are replaced.
	Behavior RuleBehavior `json:"behavior"`

	// Where they are replaced.
	Destination UpdateDestination `json:"destination"`
}

func (v *ReplaceRules) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "rules":
		return setList(d, &v.Rules, raw, setStruct[PermissionRule])
	case "behavior":
		return setString[RuleBehavior](d, &v.Behavior, raw)
	case "destination":
		return setString[UpdateDestination](d, &v.Destination, raw)
	}
	return false
}

func (v *ReplaceRules) appendMembers(e *encoder) {
	e.raw("type", []byte(`"replaceRules"`))
	put(e, "rules", v.Rules, v.Rules == nil, always, encList(encStruct[PermissionRule]))
	put(e, "behavior", v.Behavior, v.Behavior == "", always, encString[RuleBehavior])
	put(e, "destination", v.Destination, v.Destination == "", always, encString[UpdateDestination])
}

func (*ReplaceRules) fresh() object { return new(ReplaceRules) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *ReplaceRules) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v ReplaceRules) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*ReplaceRules) update() {}

// UpdateType returns "replaceRules".
func (*ReplaceRules) UpdateType() string { return "replaceRules" }

// RemoveRules takes rules back.
type RemoveRules struct {
	Source
	// The rules to remove.
	Rules []PermissionRule `json:"rules"`

	// What the rules did.
	Behavior RuleBehavior `json:"behavior"`

	// Where they were kept.
	Destination UpdateDestination `json:"destination"`
}

func (v *RemoveRules) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "rules":
		return setList(d, &v.Rules, raw, setStruct[PermissionRule])
	case "behavior":
		return setString[RuleBehavior](d, &v.Behavior, raw)
	case "destination":
		return setString[UpdateDestination](d, &v.Destination, raw)
	}
	return false
}

func (v *RemoveRules) appendMembers(e *encoder) {
	e.raw("type", []byte(`"removeRules"`))
	put(e, "rules", v.Rules, v.Rules == nil, always, encList(encStruct[PermissionRule]))
	put(e, "behavior", v.Behavior, v.Behavior == "", always, encString[RuleBehavior])
	put(e, "destination", v.Destination, v.Destination == "", always, encString[UpdateDestination])
}

func (*RemoveRules) fresh() object { return new(RemoveRules) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *RemoveRules) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v RemoveRules) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*RemoveRules) update() {}

// UpdateType returns "removeRules".
func (*RemoveRules) UpdateType() string { return "removeRules" }

// SetMode changes the permission mode.
type SetMode struct {
	Source
	// The new mode. Versions up to 2.1.62 obey bypassPermissions even if they
	// were not launched with it.
	Mode PermissionMode `json:"mode"`

	// Where the mode is kept; only session makes sense over the wire.
	Destination UpdateDestination `json:"destination"`
}

func (v *SetMode) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "mode":
		return setString[PermissionMode](d, &v.Mode, raw)
	case "destination":
		return setString[UpdateDestination](d, &v.Destination, raw)
	}
	return false
}

func (v *SetMode) appendMembers(e *encoder) {
	e.raw("type", []byte(`"setMode"`))
	put(e, "mode", v.Mode, v.Mode == "", always, encString[PermissionMode])
	put(e, "destination", v.Destination, v.Destination == "", always, encString[UpdateDestination])
}

func (*SetMode) fresh() object { return new(SetMode) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *SetMode) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v SetMode) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*SetMode) update() {}

// UpdateType returns "setMode".
func (*SetMode) UpdateType() string { return "setMode" }

// AddDirectories adds working directories.
type AddDirectories struct {
	Source
	// The directories to add.
	Directories []string `json:"directories"`

	// Where they are kept.
	Destination UpdateDestination `json:"destination"`
}

func (v *AddDirectories) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "directories":
		return setList(d, &v.Directories, raw, setString[string])
	case "destination":
		return setString[UpdateDestination](d, &v.Destination, raw)
	}
	return false
}

func (v *AddDirectories) appendMembers(e *encoder) {
	e.raw("type", []byte(`"addDirectories"`))
	put(e, "directories", v.Directories, v.Directories == nil, always, encList(encString[string]))
	put(e, "destination", v.Destination, v.Destination == "", always, encString[UpdateDestination])
}

func (*AddDirectories) fresh() object { return new(AddDirectories) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *AddDirectories) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v AddDirectories) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*AddDirectories) update() {}

// UpdateType returns "addDirectories".
func (*AddDirectories) UpdateType() string { return "addDirectories" }

// RemoveDirectories takes working directories back.
type RemoveDirectories struct {
	Source
	// The directories to remove.
	Directories []string `json:"directories"`

	// Where they were kept.
	Destination UpdateDestination `json:"destination"`
}

func (v *RemoveDirectories) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "type":
		return true
	case "directories":
		return setList(d, &v.Directories, raw, setString[string])
	case "destination":
		return setString[UpdateDestination](d, &v.Destination, raw)
	}
	return false
}

func (v *RemoveDirectories) appendMembers(e *encoder) {
	e.raw("type", []byte(`"removeDirectories"`))
	put(e, "directories", v.Directories, v.Directories == nil, always, encList(encString[string]))
	put(e, "destination", v.Destination, v.Destination == "", always, encString[UpdateDestination])
}

func (*RemoveDirectories) fresh() object { return new(RemoveDirectories) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *RemoveDirectories) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v RemoveDirectories) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*RemoveDirectories) update() {}

// UpdateType returns "removeDirectories".
func (*RemoveDirectories) UpdateType() string { return "removeDirectories" }

// Allow lets a tool run.
type Allow struct {
	Source
	// The input to run with. Versions up to 2.1.206 refuse an answer without it,
	// so always send it: the question's own input where nothing was edited.
	UpdatedInput json.RawMessage `json:"updatedInput,omitempty"`

	// Updates to apply along with the answer. 2.1.37 refuses the whole answer if
	// one is of an unknown type.
	UpdatedPermissions []PermissionUpdate `json:"updatedPermissions,omitempty"`

	// The tool call that is answered. The CLI ignores a wrong one.
	ToolUseID string `json:"toolUseID,omitempty"`

	// What kind of decision it was.
	DecisionClassification DecisionClassification `json:"decisionClassification,omitempty"`
}

func (v *Allow) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "behavior":
		return true
	case "updatedInput":
		return setRaw(d, &v.UpdatedInput, raw)
	case "updatedPermissions":
		return setList(d, &v.UpdatedPermissions, raw, func(d *decoder, dst *PermissionUpdate, raw value) bool {
			return setUnion(d, dst, raw, decodePermissionUpdate)
		})
	case "toolUseID":
		return setString[string](d, &v.ToolUseID, raw)
	case "decisionClassification":
		return setString[DecisionClassification](d, &v.DecisionClassification, raw)
	}
	return false
}

func (v *Allow) appendMembers(e *encoder) {
	e.raw("behavior", []byte(`"allow"`))
	put(e, "updatedInput", v.UpdatedInput, v.UpdatedInput == nil, optional, encRaw)
	put(e, "updatedPermissions", v.UpdatedPermissions, v.UpdatedPermissions == nil, optional, encList(encUnion[PermissionUpdate]))
	put(e, "toolUseID", v.ToolUseID, v.ToolUseID == "", optional, encString[string])
	put(e, "decisionClassification", v.DecisionClassification, v.DecisionClassification == "", optional, encString[DecisionClassification])
}

func (*Allow) fresh() object { return new(Allow) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *Allow) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v Allow) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*Allow) result() {}

// Behavior returns "allow".
func (*Allow) Behavior() string { return "allow" }

// Deny refuses a tool call.
type Deny struct {
	Source
	// What the model is told. It is required.
	Message string `json:"message"`

	// Also ends the turn, and with it every other pending call.
	Interrupt bool `json:"interrupt,omitempty"`

	// The tool call that is answered. The CLI ignores a wrong one.
	ToolUseID string `json:"toolUseID,omitempty"`

	// What kind of decision it was.
	DecisionClassification DecisionClassification `json:"decisionClassification,omitempty"`
}

func (v *Deny) setMember(d *decoder, name []byte, raw value) bool {
	switch string(name) {
	case "behavior":
		return true
	case "message":
		return setString[string](d, &v.Message, raw)
	case "interrupt":
		return setBool(d, &v.Interrupt, raw)
	case "toolUseID":
		return setString[string](d, &v.ToolUseID, raw)
	case "decisionClassification":
		return setString[DecisionClassification](d, &v.DecisionClassification, raw)
	}
	return false
}

func (v *Deny) appendMembers(e *encoder) {
	e.raw("behavior", []byte(`"deny"`))
	put(e, "message", v.Message, v.Message == "", always, encString[string])
	put(e, "interrupt", v.Interrupt, !v.Interrupt, optional, encBool)
	put(e, "toolUseID", v.ToolUseID, v.ToolUseID == "", optional, encString[string])
	put(e, "decisionClassification", v.DecisionClassification, v.DecisionClassification == "", optional, encString[DecisionClassification])
}

func (*Deny) fresh() object { return new(Deny) }

// UnmarshalJSON decodes the value and keeps what no field holds.
func (v *Deny) UnmarshalJSON(data []byte) error { return unmarshal(v, data) }

// MarshalJSON encodes the value, with what was kept at decoding.
func (v Deny) MarshalJSON() ([]byte, error) { return encodeObject(&v) }

func (*Deny) result() {}

// Behavior returns "deny".
func (*Deny) Behavior() string { return "deny" }
