package journal

import (
	"context"
	"crypto/sha256"
	"database/sql/driver"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
)

// Lines and data of more than maxInline bytes lie in files of their own, named by
// their hash, and the database holds a reference: "sha256:<hex>:<length>". So a
// line of 256 MiB neither fills the write-ahead log nor a page cache.
const maxInline = 1 << 20

// errDamaged means that a file does not hold what its name says.
var errDamaged = errors.New("the file does not hold what it should")

// A blobStore is the folder of these files.
type blobStore struct {
	dir string
	// mu is held for reading by a blobWriter, from before its first file is written
	// until the transaction that names the file has ended, and by Backup; sweep holds
	// it for writing while it removes files that no entry names.
	mu sync.RWMutex
}

// reference names a value in the store.
func reference(sum [sha256.Size]byte, size int) string {
	return "sha256:" + hex.EncodeToString(sum[:]) + ":" + strconv.Itoa(size)
}

// parseReference is the opposite of reference; the sum is in hex.
func parseReference(ref string) (sum string, size int64, err error) {
	kind, rest, _ := strings.Cut(ref, ":")
	sum, length, _ := strings.Cut(rest, ":")
	size, err = strconv.ParseInt(length, 10, 64)
	if kind != "sha256" || len(sum) != 2*sha256.Size || strings.Trim(sum, "0123456789abcdef") != "" || err != nil {
		return "", 0, fmt.Errorf("reference %q: %w", ref, errDamaged)
	}
	return sum, size, nil
}

// path is where the value with a sum in hex lies.
func (st *blobStore) path(sum string) string { return filepath.Join(st.dir, sum[:2], sum[2:]) }

// put writes a value to its file, unless that is there already, and waits for
// the disk: a checkpoint may make the row that names it durable at any time,
// whatever the durability.
func (st *blobStore) put(value []byte) (ref, sum string, err error) {
	hash := sha256.Sum256(value)
	sum = hex.EncodeToString(hash[:])
	ref = reference(hash, len(value))
	path := st.path(sum)
	if info, err := os.Stat(path); err == nil && info.Size() == int64(len(value)) {
		return ref, sum, nil
	}
	folder := filepath.Dir(path)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", "", err
	}
	file, err := os.CreateTemp(folder, ".part-")
	if err != nil {
		return "", "", err
	}
	_, err = file.Write(value)
	if err == nil {
		err = file.Sync()
	}
	if closing := file.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return "", "", errors.Join(err, os.Remove(file.Name()))
	}
	return ref, sum, errors.Join(syncDir(folder), syncDir(st.dir))
}

// get reads a value and checks that it is the one that was put.
func (st *blobStore) get(ref string) ([]byte, error) {
	sum, size, err := parseReference(ref)
	if err != nil {
		return nil, err
	}
	value, err := os.ReadFile(st.path(sum))
	if err != nil {
		return nil, err
	}
	hash := sha256.Sum256(value)
	if int64(len(value)) != size || hex.EncodeToString(hash[:]) != sum {
		return nil, &fs.PathError{Op: "read", Path: st.path(sum), Err: errDamaged}
	}
	return value, nil
}

// each calls the function with the sum of every file, and with the path of
// whatever else lies in the folder (sum is empty then).
func (st *blobStore) each(do func(sum, path string) error) error {
	err := filepath.WalkDir(st.dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		sum := filepath.Base(filepath.Dir(path)) + entry.Name()
		if len(sum) != 2*sha256.Size || strings.Trim(sum, "0123456789abcdef") != "" {
			sum = ""
		}
		return do(sum, path)
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// blob returns column i of a row, from its file if that is where it lies.
func (s *SQLite) blob(r row, i int) ([]byte, error) {
	ref, ok := r[i].(string)
	if !ok {
		return r.bytes(i), nil
	}
	value, err := s.blobs.get(ref)
	if err == nil {
		return value, nil
	}
	if !errors.Is(err, errDamaged) && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading a long line of the journal: %w", err) // the line may be fine
	}
	path := s.blobs.dir
	if sum, _, parsing := parseReference(ref); parsing == nil {
		path = s.blobs.path(sum)
	}
	return nil, &FileError{Path: path, Reason: "a long line of the journal is missing or damaged", Hint: s.damageHint(), Err: err}
}

// blobSize returns the length of column i of a row without reading its file.
func blobSize(r row, i int) int64 {
	switch v := r[i].(type) {
	case []byte:
		return int64(len(v))
	case string:
		_, size, _ := parseReference(v)
		return size
	}
	return 0
}

// sweep removes the files that no session needs. Without wait it gives up if
// any are being written or copied just now; the next sweep finds them again.
func (s *SQLite) sweep(ctx context.Context, wait bool) error {
	if wait {
		s.blobs.mu.Lock()
	} else if !s.blobs.mu.TryLock() {
		return nil
	}
	defer s.blobs.mu.Unlock()
	return s.readers.with(ctx, func(c *conn) error {
		return s.blobs.each(func(sum, path string) error {
			if sum != "" {
				_, needed, err := c.first("SELECT 1 FROM files WHERE sum = ? LIMIT 1", sum)
				if err != nil || needed {
					return err
				}
			}
			return os.Remove(path)
		})
	})
}

// unpack writes the files that a backup carries to where they belong.
func (s *SQLite) unpack(ctx context.Context, w *conn) error {
	var sums []string
	err := w.query(ctx, func(r row) error {
		sums = append(sums, r.text(0))
		return nil
	}, "SELECT sum FROM carried")
	if err != nil {
		return err
	}
	for _, sum := range sums {
		var body []byte
		err := w.query(ctx, func(r row) error {
			body = r.bytes(0)
			return errStop
		}, "SELECT body FROM carried WHERE sum = ?", sum)
		if err != nil {
			return err
		}
		if _, _, err := s.blobs.put(body); err != nil {
			return err
		}
		if err := w.exec("DELETE FROM carried WHERE sum = ?", sum); err != nil {
			return err
		}
	}
	return nil
}

// syncDir makes the names in a folder durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// A blobWriter writes the values of a batch that go into files.
type blobWriter struct {
	store *blobStore
	sums  []string
	err   error
}

// value returns what the database holds for a value: itself, or the reference of
// its file.
func (st *blobWriter) value(v []byte) driver.Value {
	if len(v) <= maxInline {
		return v
	}
	if st.err != nil {
		return nil
	}
	if st.sums == nil {
		st.store.mu.RLock()
	}
	ref, sum, err := st.store.put(v)
	if err != nil {
		st.err = err
	}
	st.sums = append(st.sums, sum)
	return ref
}

// done releases the store. The transaction has ended.
func (st *blobWriter) done() {
	if st.sums != nil {
		st.store.mu.RUnlock()
	}
}
