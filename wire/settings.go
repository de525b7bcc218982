package wire

// BypassSetting returns the path of the member of a settings object, as the CLI
// reads it, that switches permission questions off or accepts the warning before
// that: the same as the flags --permission-mode=bypassPermissions and
// --dangerously-skip-permissions. It returns "" if there is none. The object is
// trusted to be valid JSON.
//
// Settings that only widen what runs unasked, such as permissions.allow,
// permissions.additionalDirectories or the mode acceptEdits, are not among them:
// they correspond to flags that need no consent to bypass permissions.
func BypassSetting(settings []byte) string {
	permissions := lookup(settings, "permissions")
	if lookupString(permissions, "defaultMode") == string(PermissionModeBypassPermissions) {
		return "permissions.defaultMode"
	}
	// The CLI has this member at the top; a version that reads it elsewhere would
	// do so beside the mode that it is about.
	const skip = "skipDangerousModePermissionPrompt"
	switch {
	case switchedOn(settings, skip):
		return skip
	case switchedOn(permissions, skip):
		return "permissions." + skip
	}
	return ""
}

// HooklessSetting returns the member of a settings object that keeps hooks from
// running, "" if there is none. A controller that judges calls by a hook would not
// be asked any more. The object is trusted to be valid JSON.
func HooklessSetting(settings []byte) string {
	for _, name := range [...]string{"disableAllHooks", "allowManagedHooksOnly"} {
		if switchedOn(settings, name) {
			return name
		}
	}
	return ""
}

// switchedOn reports whether a member is there and is anything but false or null.
func switchedOn(object []byte, name string) bool {
	value := lookup(object, name)
	return value != nil && string(value) != "false" && !isNull(value)
}
