package wire

import "strings"

// A FeatureKind says what kind of thing a [Feature] is. The kinds are those of
// the table in schema/features.tsv, which `make since` finds.
type FeatureKind string

// The kinds of features.
const (
	// FeatureFlag is a flag of the command line, named without its dashes.
	FeatureFlag FeatureKind = "flag"
	// FeatureMode is a permission mode that can be set by a flag.
	FeatureMode FeatureKind = "mode"
	// FeatureRequest is a control request that a client makes, named by its subtype.
	FeatureRequest FeatureKind = "request"
	// FeatureInitialize is a member of the initialize request, or "systemPrompt[]"
	// for a system prompt that is a list and "hooks.onFailure" for that member of
	// hooks.
	FeatureInitialize FeatureKind = "initialize"
	// FeatureAnswer is a member of the answer to initialize.
	FeatureAnswer FeatureKind = "answer"
	// FeatureHook is a hook event.
	FeatureHook FeatureKind = "hook"
	// FeatureMember is a member of another line, such as "user.client_composed".
	FeatureMember FeatureKind = "member"
	// FeatureEnv is a variable of the environment.
	FeatureEnv FeatureKind = "env"
	// FeatureLine is a type of lines that a CLI reads.
	FeatureLine FeatureKind = "line"
	// FeatureBehavior is something that a CLI does.
	FeatureBehavior FeatureKind = "behavior"
)

// A Feature is what trying published versions of the CLI has shown of one thing
// that some of them have and others do not. The zero Feature is one that was
// never tried.
type Feature struct {
	// Without is the last version before Since that was seen without it; zero if
	// the oldest that was tried has it.
	Without Version
	// Since is the first version that was seen with it; zero if none was.
	Since Version
	// Until is the last version that was seen with it, and Gone the first one after
	// that was not. Both are zero if the newest that was tried has it.
	Until, Gone Version
}

// Support says whether a version of the CLI has a feature.
type Support int

// The values of Support.
const (
	// Untold means that no version around this one was tried: only the CLI itself
	// can tell.
	Untold Support = iota
	// Supported means that the version has it.
	Supported
	// Unsupported means that it has not.
	Unsupported
)

// FeatureOf returns what is known of a feature, the zero value if it was never
// tried.
func FeatureOf(kind FeatureKind, name string) Feature { return featureOf(kind, name) }

// NewestTried returns the newest version of the CLI that features were tried on.
func NewestTried() Version { _, newest := triedVersions(); return newest }

// In returns whether a version has the feature. The zero version, and one that is
// older than all that were tried, is treated as the oldest of those. A newer one
// than those is taken to have what the newest has, and only the CLI can tell what
// else it has.
func (f Feature) In(v Version) Support {
	first, newest := triedVersions()
	if v.Compare(first) < 0 {
		v = first
	}
	switch {
	case f == (Feature{}):
		return Untold
	case v.Compare(newest) > 0:
		if f.Since.IsZero() || !f.Until.IsZero() {
			return Untold
		}
		return Supported
	case f.Since.IsZero():
		return Unsupported
	case !f.Until.IsZero() && v.Compare(f.Gone) >= 0:
		return Unsupported
	case !f.Until.IsZero() && v.Compare(f.Until) > 0:
		return Untold
	case v.Compare(f.Since) >= 0:
		return Supported
	case v.Compare(f.Without) > 0:
		return Untold
	}
	return Unsupported
}

// Refusal returns the error for a version that does not have the feature. The
// words say what it is, and hint what to do instead; it may be empty.
func (f Feature) Refusal(words string, v Version, hint string) *UnsupportedError {
	e := &UnsupportedError{Feature: words, Version: v, Since: f.Since, Until: f.Until, Hint: hint}
	if f.Since.Compare(oldest()) <= 0 {
		e.Since = Version{} // being newer would not help
	}
	if e.Hint == "" && f != (Feature{}) && f.Since.IsZero() {
		e.Hint = "no version up to " + NewestTried().String() + " takes it"
	}
	return e
}

// LeastVersion returns the version that a CLI has at least, going by the members of
// its answer to initialize; zero if it tells nothing that not every version does.
func LeastVersion(a *InitializeAnswer) Version {
	var least Version
	for _, member := range []struct {
		name string
		told bool
	}{{"pid", a.PID != 0}, {"agents", a.Agents != nil}} {
		if f := FeatureOf(FeatureAnswer, member.name); member.told && f.Since.Compare(least) > 0 {
			least = f.Since
		}
	}
	return least
}

// Unsupported reports whether an answer says that the CLI does not know the request.
// Newer versions say so by a code, older ones in words alone.
func (v *ControlAnswer) Unsupported() bool {
	return v.Subtype == "error" && (v.ErrorCode == ErrorCodeUnsupported || strings.HasPrefix(v.Error, "Unsupported control request subtype"))
}
