package rulefile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/switchboard-dev/switchboard/internal/config"
)

// readStore reads what was confirmed last. Only the user may be able to write it, not even the group: write access is the right to confirm.
func readStore(name string) ([]byte, error) {
	info, err := os.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no file of its own", name)
	}
	if info.Mode().Perm()&0o022 != 0 {
		return nil, fmt.Errorf("%s may be written by others", name)
	}
	return config.ReadFile(name)
}

// writeStore writes what was confirmed: all of it or nothing.
func writeStore(name, text string) (err error) {
	file, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*") // for us alone
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(file.Name()) // it is of no use; the error that matters is the first
		}
	}()
	_, err = file.WriteString(text)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), name)
}
