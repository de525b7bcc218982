package wire

import "testing"

func TestFeatureIn(t *testing.T) {
	v := func(patch int) Version { return Version{2, 1, patch} }
	always := Feature{Since: v(37)}
	came := Feature{Without: v(51), Since: v(52)}
	between := Feature{Without: v(60), Since: v(90)}
	went := Feature{Since: v(37), Until: v(60), Gone: v(62)}
	passed := Feature{Without: v(99), Since: v(100), Until: v(200), Gone: v(201)}
	never := Feature{Without: v(325)}
	declared := Feature{Since: v(300)} // by its request, not tried
	tests := []struct {
		name string
		f    Feature
		v    Version
		want Support
	}{
		{"never tried", Feature{}, v(325), Untold},
		{"always", always, v(37), Supported},
		{"always, unknown version", always, Version{}, Supported},
		{"always, older than all", always, Version{2, 0, 1}, Supported},
		{"always, newer than all", always, Version{2, 2, 0}, Supported},
		{"came, before", came, v(51), Unsupported},
		{"came, unknown version", came, Version{}, Unsupported},
		{"came, with", came, v(52), Supported},
		{"came, after", came, v(325), Supported},
		{"between, before", between, v(60), Unsupported},
		{"between, in the interval", between, v(61), Untold},
		{"between, at its end", between, v(90), Supported},
		{"went, before", went, v(60), Supported},
		{"went, in the interval", went, v(61), Untold},
		{"went, after", went, v(62), Unsupported},
		{"went, newer than all", went, v(326), Untold},
		{"passed, before", passed, v(99), Unsupported},
		{"passed, with", passed, v(150), Supported},
		{"passed, after", passed, v(201), Unsupported},
		{"never", never, v(200), Unsupported},
		{"never, newer than all", never, v(326), Untold},
		{"declared, before", declared, v(299), Untold},
		{"declared, with", declared, v(300), Supported},
	}
	for _, tt := range tests {
		if got := tt.f.In(tt.v); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}

func TestRefusal(t *testing.T) {
	v := func(patch int) Version { return Version{2, 1, patch} }
	for _, tt := range []struct {
		f    Feature
		v    Version
		hint string
		want string
	}{
		{Feature{Without: v(51), Since: v(52)}, v(40), "", "x is not supported by CLI 2.1.40, only since 2.1.52"},
		{Feature{Without: v(51), Since: v(52)}, Version{}, "do y", "x is not supported by a CLI of unknown version, only since 2.1.52: do y"},
		{Feature{Since: v(37), Until: v(60), Gone: v(62)}, v(70), "", "x is not supported by CLI 2.1.70, only up to 2.1.60"},
		{Feature{Without: v(325)}, v(325), "", "x is not supported by CLI 2.1.325: no version up to 2.1.325 takes it"},
	} {
		if got := tt.f.Refusal("x", tt.v, tt.hint).Error(); got != tt.want {
			t.Errorf("got %q\nwant %q", got, tt.want)
		}
	}
}

// TestFeatureTable holds what the pinned versions show against the table.
func TestFeatureTable(t *testing.T) {
	for _, tt := range []struct {
		kind           FeatureKind
		name           string
		v37, v120, new Support
	}{
		{FeatureFlag, "model", Supported, Supported, Supported},
		{FeatureFlag, "effort", Unsupported, Supported, Supported},
		{FeatureFlag, "permission-prompts", Unsupported, Unsupported, Supported},
		{FeatureMode, "delegate", Supported, Unsupported, Unsupported},
		{FeatureRequest, "interrupt", Supported, Supported, Supported},
		{FeatureRequest, "read_file", Unsupported, Supported, Supported},
		{FeatureRequest, "list_models", Unsupported, Unsupported, Supported},
		{FeatureRequest, "set_color", Unsupported, Unsupported, Unsupported},
		{FeatureInitialize, "skills", Unsupported, Supported, Supported},
		{FeatureHook, "PostToolBatch", Unsupported, Supported, Supported},
		{FeatureHook, "MessageDisplay", Unsupported, Unsupported, Supported},
		{FeatureLine, "update_environment_variables", Supported, Supported, Unsupported},
		{FeatureBehavior, "unknown_request_answered", Unsupported, Supported, Supported},
		{FeatureBehavior, "managed_settings_obeyed", Unsupported, Unsupported, Supported},
	} {
		f := FeatureOf(tt.kind, tt.name)
		for v, want := range map[Version]Support{{2, 1, 37}: tt.v37, {2, 1, 120}: tt.v120, NewestTried(): tt.new} {
			if got := f.In(v); got != want {
				t.Errorf("%s %s in %s: %d, want %d", tt.kind, tt.name, v, got, want)
			}
		}
	}
}

func TestUnsupportedAnswer(t *testing.T) {
	for _, tt := range []struct {
		answer ControlAnswer
		want   bool
	}{
		{ControlAnswer{Subtype: "success"}, false},
		{ControlAnswer{Subtype: "error", Error: "Server not found: nobody"}, false},
		{ControlAnswer{Subtype: "error", Error: "Unsupported control request subtype: brand_new"}, true},
		{ControlAnswer{Subtype: "error", Error: "No.", ErrorCode: "unsupported_request"}, true},
		{ControlAnswer{Subtype: "error", Error: "No.", ErrorCode: "invalid_mode"}, false},
	} {
		if got := tt.answer.Unsupported(); got != tt.want {
			t.Errorf("%+v: %t", tt.answer, got)
		}
	}
}
