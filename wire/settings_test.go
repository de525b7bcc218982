package wire

import "testing"

func TestBypassSetting(t *testing.T) {
	for _, test := range []struct{ settings, want string }{
		{``, ""},
		{`{}`, ""},
		{`[]`, ""},
		{`"bypassPermissions"`, ""},
		{`{"permissions":{"defaultMode":"bypassPermissions"}}`, "permissions.defaultMode"},
		{`{ "permissions" : { "allow":["Bash"], "defaultMode" : "bypassPermissions" } }`, "permissions.defaultMode"},
		{`{"permissions":{"default\u004dode":"bypass\u0050ermissions"}}`, "permissions.defaultMode"},
		{`{"permissions":{"defaultMode":"plan","defaultMode":"bypassPermissions"}}`, "permissions.defaultMode"},
		{`{"permissions":{},"permissions":{"defaultMode":"bypassPermissions"}}`, "permissions.defaultMode"},
		{`{"skipDangerousModePermissionPrompt":true}`, "skipDangerousModePermissionPrompt"},
		{`{"skipDangerousModePermissionPrompt":1}`, "skipDangerousModePermissionPrompt"},
		{`{"permissions":{"skipDangerousModePermissionPrompt":true}}`, "permissions.skipDangerousModePermissionPrompt"},
		// What the CLI would not read so.
		{`{"permissions":{"defaultMode":"bypassPermissions","defaultMode":"plan"}}`, ""},
		{`{"Permissions":{"defaultMode":"bypassPermissions"}}`, ""},
		{`{"permissions":{"DefaultMode":"bypassPermissions"}}`, ""},
		{`{"defaultMode":"bypassPermissions"}`, ""},
		{`{"permissions":{"defaultMode":["bypassPermissions"]}}`, ""},
		// What needs no such consent.
		{`{"permissions":{"defaultMode":"acceptEdits","allow":["Bash"],"additionalDirectories":["/"]}}`, ""},
		{`{"permissions":{"defaultMode":"dontAsk","disableBypassPermissionsMode":"disable"}}`, ""},
		{`{"skipDangerousModePermissionPrompt":false}`, ""},
		{`{"skipDangerousModePermissionPrompt":null}`, ""},
		{`{"hooks":{},"apiKeyHelper":"/bin/key","env":{"A":"b"}}`, ""},
	} {
		if got := BypassSetting([]byte(test.settings)); got != test.want {
			t.Errorf("BypassSetting(%s) = %q, want %q", test.settings, got, test.want)
		}
	}
}

func TestHooklessSetting(t *testing.T) {
	for settings, want := range map[string]string{
		`{}`:                             "",
		`{"hooks":{}}`:                   "",
		`{"disableAllHooks":false}`:      "",
		`{"disableAllHooks":true}`:       "disableAllHooks",
		`{"disable\u0041llHooks":true}`:  "disableAllHooks",
		`{"allowManagedHooksOnly":true}`: "allowManagedHooksOnly",
	} {
		if got := HooklessSetting([]byte(settings)); got != want {
			t.Errorf("HooklessSetting(%s) = %q, want %q", settings, got, want)
		}
	}
}
