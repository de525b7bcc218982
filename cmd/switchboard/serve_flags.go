package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/internal/config"
)

// settingFlags adds the flags that say which clients may reach the hub, and how, and what holds its agents back. Each is a setting; the function that is returned sets those that were given.
func settingFlags(cmd *cobra.Command) func(*config.Config) error {
	f := cmd.Flags()
	var settings [][2]string // the name of a flag and its setting
	add := func(name, key string) string {
		settings = append(settings, [2]string{name, key})
		return name
	}
	f.String(add("url", "server.url"), "", "public `ADDRESS` of the hub, such as https://hub.example.com")
	f.String(add("tls-cert", "server.tls_cert"), "", "`FILE` with the TLS certificate")
	f.String(add("tls-key", "server.tls_key"), "", "`FILE` with the certificate's key")
	f.Bool(add("tls-self-signed", "server.tls_self_signed"), false, "TLS with a certificate that the hub makes and keeps; others pin its fingerprint")
	f.Bool(add("behind-proxy", "server.behind_proxy"), false, "a TLS proxy is in front of the port; needs --url")
	f.Bool(add("insecure-lan", "server.insecure_lan"), false, "serve other machines without TLS: anyone on the network can read tokens")
	f.StringSlice(add("open-relay", "server.open_relay"), nil, "`ORIGINS` of web pages that may use the raw relay without a token")
	f.Bool(add("open-relay-approve", "server.open_relay_approve"), false, "let those pages answer questions, too")
	f.Bool(add("open-dial-in", "dial.open"), false, "let Claude Code dial in without a token, from this machine alone")
	f.StringArray(add("dial-auto-approve", "dial.auto_approve"), nil, "`RULE`, set or * that agents which dial in may do without asking; repeatable")
	f.Int(add("max-connections", "server.max_connections"), 0, "maximum number of connections (default 4096)")
	f.Int(add("max-per-address", "server.max_connections_per_address"), 0, "maximum number of connections from one address (default 1024)")
	f.Int(add("max-unknown", "server.max_unknown_connections"), 0, "maximum number of connections without a valid token (default 256)")
	f.Bool(add("direct-allow-bypass", "direct.allow_bypass"), false, "let Direct Connect clients use bypassPermissions")
	f.StringSlice(add("direct-folders", "direct.folders"), nil, "`FOLDERS` that Direct Connect sessions may work in (default all)")
	f.Bool(add("raw-flags", "agents.raw_flags"), false, "let sessions pass unknown Claude Code flags")
	f.String(add("sandbox", "sandbox.mode"), "", "what the system enforces: `MODE` auto, off, deny-only or strict (default auto)")
	f.String(add("sandbox-enforcer", "sandbox.enforcer"), "", "`NAME` of what enforces it: bubblewrap, landlock or seatbelt (default the best)")
	f.Bool(add("sandbox-auto-allow", "sandbox.auto_allow"), false, "allow commands without asking in strict sandboxes")
	complete(cmd, "sandbox", append([]string{config.SandboxAuto}, sandboxModes()...)...)
	complete(cmd, "sandbox-enforcer", "auto", "bubblewrap", "landlock", "seatbelt")
	return func(c *config.Config) error {
		for _, each := range settings {
			name, key := each[0], each[1]
			if !f.Changed(name) {
				continue
			}
			value, err := settingText(cmd, name)
			if err == nil {
				err = c.Set(key, value, "")
			}
			if err != nil {
				return fmt.Errorf("--%s: %w", name, err)
			}
		}
		return nil
	}
}

// settingText returns the value of a flag as the text of a setting. Unlike in a file, a path may begin in the folder that we are in.
func settingText(cmd *cobra.Command, name string) (string, error) {
	value := cmd.Flags().Lookup(name).Value
	switch {
	case name == "tls-cert" || name == "tls-key":
		return filepath.Abs(value.String())
	case value.Type() == "stringArray":
		list, err := cmd.Flags().GetStringArray(name)
		if err != nil {
			return "", err
		}
		text, err := json.Marshal(list)
		return string(text), err
	case value.Type() != "stringSlice":
		return value.String(), nil
	}
	list, err := cmd.Flags().GetStringSlice(name)
	if err != nil {
		return "", err
	}
	if name == "direct-folders" {
		list = slices.Clone(list)
		for i, folder := range list {
			if list[i], err = filepath.Abs(folder); err != nil {
				return "", err
			}
		}
	}
	text, err := json.Marshal(list)
	return string(text), err
}
