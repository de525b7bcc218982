package claude

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/switchboard-dev/switchboard/wire"
)

// What did not fit is counted while the worker looks whether there is anything to
// do: each entry is told of once.
func TestMirrorCountsWhatIsLost(t *testing.T) {
	store := &slowStore{before: func(context.Context, int) error { return nil }}
	f := newLineFeed()
	m := newMirror(f, store, &StoreOptions{MaxPending: 1, Eager: true, ResultWait: -1}, func() error { return nil })
	const lines = 2000
	for range lines {
		m.intercept([]byte(mirrorLine("", `{"n":1}`, `{"n":2}`)))
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	told := 0
	for _, line := range m.notices {
		var e wire.MirrorError
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		n, err := strconv.Atoi(strings.Fields(e.Error)[0])
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		told += n
	}
	kept := 0
	for _, err := range store.Load(t.Context(), mainKey) {
		if err != nil {
			t.Fatal(err)
		}
		kept++
	}
	if kept+told != 2*lines && len(m.notices) < 1000 { // more are not kept
		t.Errorf("%d entries were stored and %d told of, of %d", kept, told, 2*lines)
	}
}
