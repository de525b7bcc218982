package claude

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"
)

// A MemoryStore is a [SessionStore] in memory, for tests and as an example of one.
// The zero value is empty. It must not be copied.
type MemoryStore struct {
	mu   sync.Mutex
	kept map[StoreKey]*memoryEntries
}

type memoryEntries struct {
	entries  []json.RawMessage
	uuids    map[string]bool
	modified time.Time
}

// Append implements [SessionStore].
func (s *MemoryStore) Append(_ context.Context, key StoreKey, entries []json.RawMessage) error {
	for _, entry := range entries {
		if _, err := entryLine(entry); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept == nil {
		s.kept = make(map[StoreKey]*memoryEntries)
	}
	k := s.kept[key]
	if k == nil {
		k = &memoryEntries{uuids: make(map[string]bool)}
		s.kept[key] = k
	}
	for _, entry := range entries {
		if uuid := textIn(entry, "uuid"); uuid != "" {
			if k.uuids[uuid] {
				continue
			}
			k.uuids[uuid] = true
		}
		k.entries = append(k.entries, bytes.Clone(entry))
	}
	k.modified = time.Now()
	return nil
}

// Load implements [SessionStore].
func (s *MemoryStore) Load(_ context.Context, key StoreKey) iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		s.mu.Lock()
		k, ok := s.kept[key]
		var entries []json.RawMessage
		if ok {
			entries = slices.Clip(k.entries)
		}
		s.mu.Unlock()
		if !ok {
			yield(nil, fmt.Errorf("there is nothing at %s: %w", key, fs.ErrNotExist))
			return
		}
		for _, entry := range entries {
			if !yield(bytes.Clone(entry), nil) {
				return
			}
		}
	}
}

// List implements [StoreLister].
func (s *MemoryStore) List(_ context.Context, project string) ([]StoredConversation, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []StoredConversation
	for key, k := range s.kept {
		if key.Project == project && key.Subpath == "" {
			all = append(all, StoredConversation{key.Conversation, k.modified})
		}
	}
	slices.SortFunc(all, func(a, b StoredConversation) int { return strings.Compare(a.Conversation, b.Conversation) })
	return all, nil
}

// Delete implements [StoreDeleter].
func (s *MemoryStore) Delete(_ context.Context, key StoreKey) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for each := range s.kept {
		if each == key || key.Subpath == "" && each.Project == key.Project && each.Conversation == key.Conversation {
			delete(s.kept, each)
		}
	}
	return nil
}

// Subkeys implements [StoreSubkeys].
func (s *MemoryStore) Subkeys(_ context.Context, project, conversation string) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for key := range s.kept {
		if key.Project == project && key.Conversation == conversation && key.Subpath != "" {
			all = append(all, key.Subpath)
		}
	}
	slices.Sort(all)
	return all, nil
}
