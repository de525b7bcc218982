package history

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const (
	slugWords  = 4  // words of the prompt in the name of a plan
	slugLength = 40 // and how long they may be together
)

// PlanPath returns the plan file of a session: the one it has, else a new name, which newer versions make from the first words of the prompt.
// The file is not created; its name is kept for the session from now on.
func (s *Store) PlanPath(id, prompt string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	st, err := s.session(id)
	if err != nil { // such a session is nowhere on disk, but it may have a plan
		st = new(session)
	}
	if st.slug == "" {
		st.slug = s.newSlug(prompt)
	}
	return filepath.Join(s.plans, st.slug+".md")
}

// newSlug makes up the name of a plan: from the prompt's words and two of our own, or three of our own on the oldest versions and where there
// is no prompt. It is the name of no plan yet.
func (s *Store) newSlug(prompt string) string {
	for {
		slug := promptSlug(prompt)
		if slug == "" || !s.at120 {
			slug = pick(qualities()) + "-" + pick(activities()) + "-" + pick(things())
		} else {
			slug += "-" + pick(qualities()) + "-" + pick(things())
		}
		if _, err := os.Lstat(filepath.Join(s.plans, slug+".md")); err != nil {
			return slug
		}
	}
}

// promptSlug returns the first words of a prompt as a part of a file name: ASCII letters and digits, in lower case.
func promptSlug(prompt string) string {
	words := strings.Fields(prompt)
	words = words[:min(len(words), slugWords)]
	parts := strings.FieldsFunc(strings.ToLower(strings.Join(words, " ")), func(r rune) bool {
		return (r < 'a' || 'z' < r) && (r < '0' || '9' < r)
	})
	slug := strings.Join(parts, "-")
	return strings.TrimSuffix(slug[:min(len(slug), slugLength)], "-")
}

// pick returns one of the words.
func pick(words []string) string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails, by its contract
	return words[binary.NativeEndian.Uint64(b[:])%uint64(len(words))]
}

func qualities() []string {
	return []string{
		"amber", "brisk", "calm", "dapper", "early", "frosty", "gentle", "hazel", "idle", "jolly", "keen", "lucid", "mellow", "nimble", "opal", "plain",
		"quiet", "rustic", "silver", "tidy", "upbeat", "vivid", "warm", "young",
	}
}

func activities() []string {
	return []string{
		"baking", "climbing", "drifting", "fishing", "gliding", "hiking", "juggling", "knitting", "leaping", "mending", "painting", "rowing", "sailing",
		"trading", "walking", "weaving",
	}
}

func things() []string {
	return []string{
		"anchor", "bridge", "canyon", "dune", "ember", "ferry", "garden", "harbor", "island", "jetty", "kettle", "ladder", "meadow", "needle", "orchard",
		"pebble", "quarry", "river", "saddle", "tunnel", "valley", "willow", "yard", "zephyr",
	}
}

// WritePlan writes a plan file. A path that is not one of a plan of this store is an error: nothing else is ever written for real.
func (s *Store) WritePlan(path, text string) error {
	if !s.IsPlan(path) {
		return fmt.Errorf("writing plan %s: expected a .md file in %s", path, s.planDir())
	}
	if err := writeFile(path, []byte(text)); err != nil {
		return fmt.Errorf("writing plan %s: %w", path, err)
	}
	return nil
}

// ReadPlan returns the content of a plan file, and whether there is one.
func (s *Store) ReadPlan(path string) (text string, ok bool, err error) {
	if !s.IsPlan(path) {
		return "", false, nil
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("reading plan %s: %w", path, err)
	}
	return string(data), true, nil
}

// IsPlan reports whether a path is one of a plan file of this store, which tools may write without asking.
func (s *Store) IsPlan(path string) bool {
	return filepath.Dir(path) == s.planDir() && filepath.Ext(path) == ".md"
}

// SetPlanDir puts plans into another folder than the usual one of the config folder.
func (s *Store) SetPlanDir(dir string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.plans = dir
}

func (s *Store) planDir() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.plans
}
