package journaltest

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/switchboard-dev/switchboard/internal/journal"
)

// testPreferences writes, replaces and removes what people prefer.
func testPreferences(t *testing.T, j Journal) {
	ctx := t.Context()
	save := func(person, dir, data string, most int) error {
		return j.SavePreference(ctx, &journal.Preference{Person: person, Dir: dir, Data: []byte(data), Updated: start.Add(time.Hour)}, most)
	}
	for _, p := range [][3]string{{"ada", "/b", "1"}, {"ada", "", "2"}, {"bo", "/b", "3"}, {"ada", "/b", "4"}} {
		if err := save(p[0], p[1], p[2], 2); err != nil {
			t.Fatal(err)
		}
	}
	if err := save("ada", "/c", "5", 2); !errors.Is(err, journal.ErrTooMany) {
		t.Errorf("a third one: %v", err)
	}
	check := func(person string, want ...journal.Preference) {
		t.Helper()
		got, err := j.Preferences(ctx, person)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("preferences of %s (-want +got), %v:\n%s", person, err, diff)
		}
	}
	of := func(person, dir, data string) journal.Preference {
		return journal.Preference{Person: person, Dir: dir, Data: []byte(data), Updated: start.Add(time.Hour)}
	}
	check("ada", of("ada", "", "2"), of("ada", "/b", "4"))
	check("bo", of("bo", "/b", "3"))
	check("cy")
	for range 2 { // the second time there is none
		if err := j.ForgetPreference(ctx, "ada", "/b"); err != nil {
			t.Error(err)
		}
	}
	check("ada", of("ada", "", "2"))
	check("bo", of("bo", "/b", "3"))
}
