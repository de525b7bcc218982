package wire

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// An UnsupportedError reports something that a version of the CLI, or this
// platform, cannot do. Nothing has been sent or started.
type UnsupportedError struct {
	// Feature is what was asked for, such as "control request
	// get_context_usage".
	Feature string
	// Version is the CLI's version; zero if it is unknown, which counts as the
	// oldest, or plays no part.
	Version Version
	// Since is the first version known to have the feature; zero if it does not
	// depend on being new.
	Since Version
	// Until is the last version that has the feature; zero if it was never taken
	// away.
	Until Version
	// Hint says what would happen, or what to do instead. It may be empty.
	Hint string
}

// Error names the feature, the version, what would be needed and the hint.
func (e *UnsupportedError) Error() string {
	var b strings.Builder
	b.WriteString(e.Feature)
	switch {
	case e.Since.IsZero() && e.Until.IsZero() && e.Version.IsZero():
		b.WriteString(" is not supported")
	case e.Version.IsZero():
		b.WriteString(" is not supported by a CLI of unknown version")
	default:
		fmt.Fprintf(&b, " is not supported by CLI %s", e.Version)
	}
	if !e.Since.IsZero() {
		fmt.Fprintf(&b, ", only since %s", e.Since)
	}
	if !e.Until.IsZero() {
		fmt.Fprintf(&b, ", only up to %s", e.Until)
	}
	if e.Hint != "" {
		b.WriteString(": " + e.Hint)
	}
	return b.String()
}

// nodeLimit is the longest line for a CLI that runs on node, which reads long
// lines in quadratic time: 32 MB take ten seconds, 130 MB more than ninety.
const nodeLimit = 10_000_000

// Fit validates a line and adapts it to a CLI's version; the zero version is
// treated as the oldest. It returns the line to send and says in words what it
// changed, nothing in most cases. A line that the version cannot take is refused
// with an [*UnsupportedError], one that no version can with an [*InvalidError].
func Fit(line []byte, v Version) (out []byte, changes []string, err error) {
	return fit(line, fitter{told: v, v: v})
}

// FitLeast is [Fit] for a CLI whose version is not known, but that it is not older
// than least; [LeastVersion] may tell that. The line is fitted to least, with one
// exception: a control request that only newer versions have is sent, if least
// answers what it does not know with an error. Then the CLI says whether it has it.
func FitLeast(line []byte, least Version) (out []byte, changes []string, err error) {
	return fit(line, fitter{v: least, newer: true})
}

func fit(line []byte, f fitter) (out []byte, changes []string, err error) {
	if f.outgoing, err = validate(line, DefaultMaxLine); err != nil {
		return nil, nil, err
	}
	if f.v.IsZero() {
		f.v = oldest()
	}
	if err := f.fit(); err != nil {
		return nil, nil, err
	}
	return f.line, f.changes, nil
}

type fitter struct {
	*outgoing
	told    Version // as the caller said
	v       Version // never unknown
	newer   bool    // the CLI may be newer than v
	changes []string
}

func (f *fitter) needs(feature string, since Version, hint string) error {
	if f.v.Compare(since) >= 0 {
		return nil
	}
	return &UnsupportedError{Feature: feature, Version: f.told, Since: since, Hint: hint}
}

// has refuses what a version does not know and would not complain about, unless it
// is known to have it.
func (f *fitter) has(kind FeatureKind, name, words, hint string) error {
	feature := FeatureOf(kind, name)
	if feature.In(f.v) == Supported {
		return nil
	}
	return feature.Refusal(words, f.told, hint)
}

func (f *fitter) fit() error {
	// Native builds, which read long lines well, begin with 2.1.113.
	if !f.v.AtLeast(2, 1, 113) && len(f.line) > nodeLimit {
		return &UnsupportedError{
			Feature: fmt.Sprintf("a line of %d bytes", len(f.line)), Version: f.told, Since: Version{2, 1, 113},
			Hint: fmt.Sprintf("it reads lines over %d bytes so slowly that it seems to hang, and dies of large images", nodeLimit),
		}
	}
	switch f.typ {
	case "user":
		return f.fitUser()
	case "control_request":
		return f.fitRequest()
	case "control_response":
		return f.fitResponse()
	case "control_cancel_request":
		return f.has(FeatureLine, "control_cancel_request", "withdrawing a request (control_cancel_request)", "older ones end at once")
	case "update_environment_variables":
		return f.fitEnvironment()
	}
	return nil
}

func (f *fitter) fitUser() error {
	if string(f.get("shouldQuery")) == "false" {
		if err := f.needs("a message that starts no turn (shouldQuery)", Version{2, 1, 110}, "older ones would start one"); err != nil {
			return err
		}
	}
	if string(f.get("client_composed")) == "true" {
		return f.has(FeatureMember, "user.client_composed", "a message taken literally (client_composed)", "older ones would expand slash commands and file mentions in it")
	}
	return nil
}

func (f *fitter) fitRequest() error {
	body := f.get("request")
	r := decodeFrom(body, decodeRequest)
	if err := f.hasRequest(r.RequestSubtype()); err != nil {
		return err
	}
	switch r := r.(type) { //nolint:gochecksumtype // only some requests differ between versions
	case *SetPermissionModeRequest:
		switch r.Mode { //nolint:exhaustive // the others are the same everywhere
		case PermissionModeManual:
			f.replace("request", "mode", `"default"`)
			f.changes = append(f.changes, `mode "manual" is sent as "default", its older name`)
		case PermissionModeAuto:
			return f.needs(`permission mode "auto"`, Version{2, 1, 91}, "older ones take the word and act on none")
		}
	case *InterruptRequest:
		if r.CancelQueued && FeatureOf(FeatureMember, "interrupt.cancel_queued").In(f.v) != Supported {
			f.remove("request", "cancel_queued")
			f.changes = append(f.changes, "cancel_queued is left out, this version does not know it: queued messages will run")
		}
	case *InitializeRequest:
		f.fitInitialize(r)
	}
	return nil
}

// hasRequest refuses a request that the version is known not to have. Of one that was
// not tried the CLI itself says whether it knows it, if it is a version that
// answers what it does not know; others leave it without an answer for good.
func (f *fitter) hasRequest(subtype string) error {
	words, feature := "control request "+subtype, FeatureOf(FeatureRequest, subtype)
	answered := FeatureOf(FeatureBehavior, "unknown_request_answered")
	ask := answered.In(f.v) == Supported
	switch feature.In(f.v) {
	case Unsupported:
		if ask && f.newer && feature.Since.Compare(f.v) > 0 {
			return nil
		}
		return feature.Refusal(words, f.told, "")
	case Untold:
		if !ask {
			return answered.Refusal(words, f.told, "older ones never answer a request that they do not know")
		}
	case Supported:
	}
	return nil
}

func (f *fitter) fitResponse() error {
	body := f.get("response")
	answer := lookup(body, "response")
	behavior := lookupString(answer, "behavior")
	if behavior == "allow" && lookup(answer, "updatedInput") == nil {
		return f.needs("allowing a tool without updatedInput", Version{2, 1, 207}, "older ones take such an answer for a refusal")
	}
	if behavior != "" && lookup(answer, "toolUseID") != nil && !f.v.AtLeast(2, 1, 120) {
		list, err := members(bytes.Clone(answer))
		if err != nil {
			return invalid("response.response", "an object", answer)
		}
		list = slices.DeleteFunc(list, func(m member) bool { return m.name == "toolUseID" })
		f.replace("response", "response", string(appendObject(nil, list)))
		f.changes = append(f.changes, "toolUseID is left out: with it, 2.1.37 runs the tool a second time if the answer comes twice")
	}
	return nil
}

// tokenVariables are the variables that a version which no longer sets any still
// takes.
func tokenVariables() []string {
	return []string{"CLAUDE_CODE_SESSION_ACCESS_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_SESSIONS_OAUTH_TOKEN"}
}

func (f *fitter) fitEnvironment() error {
	feature := FeatureOf(FeatureLine, "update_environment_variables")
	if feature.In(f.v) == Supported {
		return nil
	}
	list, _ := members(f.get("variables")) // validated
	for _, m := range list {
		if !slices.Contains(tokenVariables(), m.name) {
			return feature.Refusal("changing the environment variable "+m.name, f.told, "newer versions take only their own tokens, and ignore the rest without a word")
		}
	}
	return nil
}

// replace writes another value for a member of an object of the line. All other
// bytes stay.
func (f *fitter) replace(outer, name, value string) {
	f.edit(outer, func(list []member) []member {
		for i := range list {
			if list[i].name == name {
				list[i].raw = []byte(value)
			}
		}
		return list
	})
}

// remove leaves a member of an object of the line out.
func (f *fitter) remove(outer, name string) {
	f.edit(outer, func(list []member) []member {
		return slices.DeleteFunc(list, func(m member) bool { return m.name == name })
	})
}

func (f *fitter) edit(outer string, change func([]member) []member) {
	inside, err := members(bytes.Clone(f.get(outer)))
	if err != nil {
		return // not an object; validate has seen to that
	}
	list := slices.Clone(f.members)
	for i := range list {
		if list[i].name == outer {
			list[i].raw = appendObject(nil, change(inside))
		}
	}
	f.members, f.line = list, appendObject(nil, list)
}

// fitInitialize adapts what the first request looks like on older versions: their
// system prompt is one text, and they ignore a list in silence.
func (f *fitter) fitInitialize(r *InitializeRequest) {
	parts, ok := elements(r.SystemPrompt)
	if !ok || FeatureOf(FeatureInitialize, "systemPrompt[]").In(f.v) == Supported {
		return
	}
	var whole []string
	for _, p := range parts {
		var s string
		if !setFrom(&s, p, setString[string]) {
			return
		}
		whole = append(whole, s)
	}
	f.replace("request", "systemPrompt", string(appendString(nil, strings.Join(whole, "\n\n"))))
	f.changes = append(f.changes, "systemPrompt is sent as one text, this version takes no list")
}
