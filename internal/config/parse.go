package config

import (
	"bytes"
	"encoding"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// A fileConfig is a [Config] as the decoder sees it. It asks a type for its own opinion on a text only where the type is a struct; strings and
// numbers it would set without a word.
type fileConfig struct {
	Server struct {
		Addr       value[Address, *Address]       `toml:"addr"`
		DataDir    value[Folder, *Folder]         `toml:"data_dir"`
		Durability value[Durability, *Durability] `toml:"durability"`

		URL              value[Site, *Site]     `toml:"url"`
		TLSCert          value[Folder, *Folder] `toml:"tls_cert"`
		TLSKey           value[Folder, *Folder] `toml:"tls_key"`
		TLSSelfSigned    *bool                  `toml:"tls_self_signed"`
		BehindProxy      *bool                  `toml:"behind_proxy"`
		InsecureLAN      *bool                  `toml:"insecure_lan"`
		OpenRelay        []string               `toml:"open_relay"`
		OpenRelayApprove *bool                  `toml:"open_relay_approve"`
		MaxConnections   *int                   `toml:"max_connections"`
		MaxPerAddress    *int                   `toml:"max_connections_per_address"`
		MaxUnknown       *int                   `toml:"max_unknown_connections"`
	} `toml:"server"`
	Claude struct {
		Path                       value[Folder, *Folder] `toml:"path"`
		Model                      *string                `toml:"model"`
		AllowedTools               []string               `toml:"allowed_tools"`
		PermissionMode             value[Mode, *Mode]     `toml:"permission_mode"`
		DangerouslySkipPermissions *bool                  `toml:"dangerously_skip_permissions"`
		UseAPIBilling              *bool                  `toml:"use_api_billing"`
	} `toml:"claude"`
	Rules struct {
		File value[Folder, *Folder] `toml:"file"`
	} `toml:"rules"`
	Questions struct {
		Deadline value[Duration, *Duration] `toml:"deadline"`
	} `toml:"questions"`
	Limits struct {
		ResumeAtReset *bool `toml:"resume_at_reset"`
	} `toml:"limits"`
	Budget []fileBudget `toml:"budget"`
	Notify struct {
		Link   value[Link, *Link] `toml:"link"`
		Target []fileTarget       `toml:"target"`
	} `toml:"notify"`
	Retention struct {
		MaxAge   value[Duration, *Duration] `toml:"max_age"`
		MaxBytes value[Size, *Size]         `toml:"max_bytes"`
	} `toml:"retention"`
	Shim struct {
		OrphanAfter     value[Duration, *Duration] `toml:"orphan_after"`
		IdleOrphanAfter value[Duration, *Duration] `toml:"idle_orphan_after"`
	} `toml:"shim"`
	Dial struct {
		Silence     value[Duration, *Duration] `toml:"silence"`
		Open        *bool                      `toml:"open"`
		MaxOpen     *int                       `toml:"max_open"`
		AutoApprove []string                   `toml:"auto_approve"`
	} `toml:"dial"`
	Direct struct {
		AllowBypass *bool    `toml:"allow_bypass"`
		Folders     []string `toml:"folders"`
	} `toml:"direct"`
	Agents struct {
		RawFlags *bool `toml:"raw_flags"`
	} `toml:"agents"`
	Sandbox struct {
		Mode       value[SandboxMode, *SandboxMode]         `toml:"mode"`
		Enforcer   value[SandboxEnforcer, *SandboxEnforcer] `toml:"enforcer"`
		Bubblewrap value[Folder, *Folder]                   `toml:"bubblewrap"`
		AutoAllow  *bool                                    `toml:"auto_allow"`
		Network    value[SandboxNetwork, *SandboxNetwork]   `toml:"network"`
		AllowHosts []string                                 `toml:"allow_hosts"`
		Writable   []string                                 `toml:"writable"`
		Sockets    []string                                 `toml:"sockets"`
	} `toml:"sandbox"`
	Node struct {
		DataDir     value[Folder, *Folder] `toml:"data_dir"`
		MaxSessions *int                   `toml:"max_sessions"`
	} `toml:"node"`
	Preset map[string]map[string]any `toml:"preset"`
}

// A value is a setting in a file, and what its type thinks of it.
type value[T any, P interface {
	*T
	encoding.TextUnmarshaler
}] struct {
	read *T
	err  error
}

// UnmarshalText asks the type.
func (v *value[T, P]) UnmarshalText(text []byte) error {
	parsed := new(T)
	if v.err = P(parsed).UnmarshalText(text); v.err == nil {
		v.read = parsed
	}
	return v.err
}

// put copies what was read, if anything was.
func put[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

// Parse reads the text of a file over the settings that c has. name is the file's, for errors; home what "~/" stands for. The error is one
// or, joined, several *[Error], and c is as it was then.
func (c *Config) Parse(name string, text []byte, home string) error {
	var file fileConfig
	if err := toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields().Decode(&file); err != nil {
		return explain(name, text, &file, err)
	}
	read := *c
	put(&read.Server.Addr, file.Server.Addr.read)
	put(&read.Server.DataDir, file.Server.DataDir.read)
	put(&read.Server.Durability, file.Server.Durability.read)
	put(&read.Server.URL, file.Server.URL.read)
	put(&read.Server.TLSCert, file.Server.TLSCert.read)
	put(&read.Server.TLSKey, file.Server.TLSKey.read)
	put(&read.Server.TLSSelfSigned, file.Server.TLSSelfSigned)
	put(&read.Server.BehindProxy, file.Server.BehindProxy)
	put(&read.Server.InsecureLAN, file.Server.InsecureLAN)
	if file.Server.OpenRelay != nil {
		read.Server.OpenRelay = file.Server.OpenRelay
	}
	put(&read.Server.OpenRelayApprove, file.Server.OpenRelayApprove)
	put(&read.Server.MaxConnections, file.Server.MaxConnections)
	put(&read.Server.MaxPerAddress, file.Server.MaxPerAddress)
	put(&read.Server.MaxUnknown, file.Server.MaxUnknown)
	put(&read.Claude.Path, file.Claude.Path.read)
	put(&read.Claude.Model, file.Claude.Model)
	if file.Claude.AllowedTools != nil {
		read.Claude.AllowedTools = file.Claude.AllowedTools
	}
	put(&read.Claude.PermissionMode, file.Claude.PermissionMode.read)
	put(&read.Claude.DangerouslySkipPermissions, file.Claude.DangerouslySkipPermissions)
	put(&read.Claude.UseAPIBilling, file.Claude.UseAPIBilling)
	put(&read.Rules.File, file.Rules.File.read)
	put(&read.Questions.Deadline, file.Questions.Deadline.read)
	put(&read.Limits.ResumeAtReset, file.Limits.ResumeAtReset)
	put(&read.Notify.Link, file.Notify.Link.read)
	put(&read.Retention.MaxAge, file.Retention.MaxAge.read)
	put(&read.Retention.MaxBytes, file.Retention.MaxBytes.read)
	put(&read.Shim.OrphanAfter, file.Shim.OrphanAfter.read)
	put(&read.Shim.IdleOrphanAfter, file.Shim.IdleOrphanAfter.read)
	put(&read.Dial.Silence, file.Dial.Silence.read)
	put(&read.Dial.Open, file.Dial.Open)
	put(&read.Dial.MaxOpen, file.Dial.MaxOpen)
	if file.Dial.AutoApprove != nil {
		read.Dial.AutoApprove = file.Dial.AutoApprove
	}
	put(&read.Direct.AllowBypass, file.Direct.AllowBypass)
	put(&read.Agents.RawFlags, file.Agents.RawFlags)
	put(&read.Sandbox.Mode, file.Sandbox.Mode.read)
	put(&read.Sandbox.Enforcer, file.Sandbox.Enforcer.read)
	put(&read.Sandbox.Bubblewrap, file.Sandbox.Bubblewrap.read)
	put(&read.Sandbox.AutoAllow, file.Sandbox.AutoAllow)
	put(&read.Sandbox.Network, file.Sandbox.Network.read)
	if file.Sandbox.AllowHosts != nil {
		read.Sandbox.AllowHosts = file.Sandbox.AllowHosts
	}
	put(&read.Node.DataDir, file.Node.DataDir.read)
	put(&read.Node.MaxSessions, file.Node.MaxSessions)
	lists := read.folderLists()
	for key, list := range map[string][]string{"direct.folders": file.Direct.Folders, "sandbox.writable": file.Sandbox.Writable, "sandbox.sockets": file.Sandbox.Sockets} {
		if list == nil {
			continue
		}
		folders, err := expandAll(list, home)
		if err != nil {
			return &Error{Source: name, Line: lineOf(text, key), Column: 1, Reason: key + ": " + err.Error()}
		}
		*lists[key] = folders
	}
	budgets, targets, err := file.lists(name, text, home)
	if err != nil {
		return err
	}
	if budgets != nil {
		read.Budgets = budgets
	}
	if targets != nil {
		read.Notify.Targets = targets
	}
	presets, err := file.presets(name, text, home)
	if err != nil {
		return err
	}
	if presets != nil {
		read.Presets = presets
	}
	for key, folder := range map[string]*Folder{
		"server.data_dir": &read.Server.DataDir, "server.tls_cert": &read.Server.TLSCert, "server.tls_key": &read.Server.TLSKey, "claude.path": &read.Claude.Path, "rules.file": &read.Rules.File,
		"sandbox.bubblewrap": &read.Sandbox.Bubblewrap, "node.data_dir": &read.Node.DataDir,
	} {
		if err := folder.expand(home); err != nil {
			return &Error{Source: name, Line: lineOf(text, key), Column: 1, Reason: key + ": " + err.Error()}
		}
	}
	*c = read
	return nil
}

// refused returns the setting whose type did not like its text, and the line in which it is set.
func (f *fileConfig) refused(text []byte) (key string, line int, err error) {
	key, err = first(
		"server.addr", f.Server.Addr.err,
		"server.data_dir", f.Server.DataDir.err,
		"server.durability", f.Server.Durability.err,
		"server.url", f.Server.URL.err,
		"server.tls_cert", f.Server.TLSCert.err,
		"server.tls_key", f.Server.TLSKey.err,
		"claude.path", f.Claude.Path.err,
		"claude.permission_mode", f.Claude.PermissionMode.err,
		"rules.file", f.Rules.File.err,
		"questions.deadline", f.Questions.Deadline.err,
		"notify.link", f.Notify.Link.err,
		"retention.max_age", f.Retention.MaxAge.err,
		"retention.max_bytes", f.Retention.MaxBytes.err,
		"shim.orphan_after", f.Shim.OrphanAfter.err,
		"shim.idle_orphan_after", f.Shim.IdleOrphanAfter.err,
		"dial.silence", f.Dial.Silence.err,
		"sandbox.mode", f.Sandbox.Mode.err,
		"sandbox.enforcer", f.Sandbox.Enforcer.err,
		"sandbox.bubblewrap", f.Sandbox.Bubblewrap.err,
		"sandbox.network", f.Sandbox.Network.err,
		"node.data_dir", f.Node.DataDir.err,
	)
	if err != nil {
		return key, lineOf(text, key), err
	}
	for i := range f.Budget {
		if member, err := f.Budget[i].refused(); err != nil {
			return "budget." + member, lineIn(text, "budget", i, member), err
		}
	}
	for i := range f.Notify.Target {
		if member, err := f.Notify.Target[i].refused(); err != nil {
			return "notify.target." + member, lineIn(text, "notify.target", i, member), err
		}
	}
	return "", 0, nil
}

// explain says what the decoder found, in our words where the user needs them.
func explain(name string, text []byte, file *fileConfig, err error) error {
	if unknown, ok := errors.AsType[*toml.StrictMissingError](err); ok {
		list := make([]error, 0, len(unknown.Errors))
		for i := range unknown.Errors {
			each := &unknown.Errors[i]
			line, column := each.Position()
			list = append(list, &Error{Source: name, Line: line, Column: max(column, 1), Reason: unknownKey(each.Key())})
		}
		return errors.Join(list...)
	}
	key, at, reason := file.refused(text)
	wrong, placed := errors.AsType[*toml.DecodeError](err)
	switch {
	case placed && reason != nil:
		line, column := wrong.Position()
		return &Error{Source: name, Line: line, Column: max(column, 1), Reason: key + ": " + reason.Error()}
	case placed:
		line, column := wrong.Position()
		return &Error{Source: name, Line: line, Column: max(column, 1), Reason: misfit(wrong)}
	case reason != nil:
		// The decoder keeps the place of texts only, not that of numbers and other values.
		return &Error{Source: name, Line: at, Column: 1, Reason: key + ": " + reason.Error()}
	default:
		return &Error{Source: name, Line: 1, Column: 1, Reason: strings.TrimPrefix(err.Error(), "toml: ")}
	}
}

// misfit says what the decoder could not do, and instead of the Go types that it names in the case of a value of another kind, what belongs there.
func misfit(wrong *toml.DecodeError) string {
	text := strings.TrimPrefix(wrong.Error(), "toml: ")
	got, mismatch := strings.CutPrefix(text, "cannot decode TOML ")
	if !mismatch {
		return text
	}
	got, _, _ = strings.Cut(got, " into ")
	key := strings.Join(wrong.Key(), ".")
	want := "a section, which begins with a line [" + key + "]"
	if slices.Contains(tables(), key) {
		want = "a table, which begins with a line [[" + key + "]]"
	}
	for _, m := range Members() {
		if m.Key == key {
			want = m.want
		}
	}
	for _, s := range Settings() {
		if s.Key != key {
			continue
		}
		switch s.of(new(Config)).(type) {
		case *bool:
			want = "true or false"
		case *[]string:
			want = "a list of texts: " + s.example()
		case *int:
			want = "a whole number"
		default:
			want = "a text in quotes"
		}
	}
	return fmt.Sprintf("%s: this is of the kind %s; it has to be %s", key, got, want)
}

// lineOf returns the line in which a key is set, from 1.
func lineOf(text []byte, key string) int {
	section, last, dotted := strings.Cut(key, ".")
	if !dotted {
		section, last = "", key
	}
	pattern := regexp.MustCompile(`(?mi)^[ \t]*["']?(` + section + `["']?[ \t]*\.[ \t]*["']?)?` + last + `["']?[ \t]*=`)
	if at := pattern.FindIndex(text); at != nil {
		return 1 + bytes.Count(text[:at[0]], []byte("\n"))
	}
	return 1
}

// lineIn returns the line in which a member of the n-th table of a name is set, from 1; that of the table if it is not, or has no line of its own.
func lineIn(text []byte, table string, n int, member string) int {
	lines := strings.Split(string(text), "\n")
	const quote = `["']?`
	name := `[ \t]*` + quote + strings.Join(strings.Split(table, "."), quote+`[ \t]*\.[ \t]*`+quote) + quote + `[ \t]*`
	begins := regexp.MustCompile(`^[ \t]*\[\[` + name + `\]\]`)
	sets := regexp.MustCompile(`^[ \t]*` + quote + regexp.QuoteMeta(member) + quote + `[ \t]*=`)
	found := 0
	for i, line := range lines {
		switch {
		case begins.MatchString(line):
			n--
			if n == -1 {
				found = i + 1
			}
		case found != 0 && strings.HasPrefix(strings.TrimLeft(line, " \t"), "["):
			return found // another table
		case n == -1 && member != "" && sets.MatchString(line):
			return i + 1
		}
		if n < -1 {
			break
		}
	}
	if found == 0 {
		return lineOf(text, table) // written in one line
	}
	return found
}

// tables returns the names of the tables of which there may be several.
func tables() []string {
	var names []string
	for _, m := range Members() {
		names = append(names, m.Key[:strings.LastIndexByte(m.Key, '.')])
	}
	return slices.Compact(names)
}

// unknownKey says that there is no such key, and which there are.
func unknownKey(key []string) string {
	name := strings.Join(key, ".")
	if table := strings.Join(key[:len(key)-1], "."); slices.Contains(tables(), table) {
		var names []string
		for _, m := range Members() {
			if member, found := strings.CutPrefix(m.Key, table+"."); found {
				names = append(names, member)
			}
		}
		return fmt.Sprintf("unknown key %s; table [[%s]] has %s", name, table, strings.Join(names, ", "))
	}
	var names []string
	for _, s := range Settings() {
		if section, rest, _ := strings.Cut(s.Key, "."); len(key) > 1 && section == key[0] {
			names = append(names, rest)
		}
	}
	if len(names) == 0 {
		return fmt.Sprintf("unknown key %s; the sections are %s", name, strings.Join(sections(), ", "))
	}
	return fmt.Sprintf("unknown key %s; section [%s] has %s", name, key[0], strings.Join(names, ", "))
}
