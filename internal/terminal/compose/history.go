package compose

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	// maxHistory is how many texts the history keeps.
	maxHistory = 1000
	// maxHistoryText is how long a text may be to be kept, in bytes: what is longer was pasted, and is found elsewhere.
	maxHistoryText = 16 << 10
	// maxHistoryFile is how long the file may become before it is written anew, in bytes, and how much of it is read.
	maxHistoryFile = 4 << 20
)

// LoadHistory reads what was written before, the oldest first, at most 1000 texts. A file that does not exist is an empty history. Lines
// that are not understood are left out.
func LoadHistory(path string) ([]string, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the history: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("reading the history: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("reading the history: %s is no ordinary file; move it away", path)
	}
	if over := info.Size() - 2*maxHistoryFile; over > 0 { // another program wrote it
		if _, err := file.Seek(over, 0); err != nil {
			return nil, fmt.Errorf("reading the history: %w", err)
		}
	}
	var list []string
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 8*maxHistoryText)
	for lines.Scan() {
		var text string
		if json.Unmarshal(lines.Bytes(), &text) != nil || text == "" || len(list) > 0 && list[len(list)-1] == text {
			continue
		}
		if list = append(list, text); len(list) >= 2*maxHistory { // now and then, or each line would move all others
			list = append([]string(nil), list[len(list)-maxHistory:]...)
		}
	}
	list = list[max(0, len(list)-maxHistory):]
	if err := lines.Err(); err != nil && !errors.Is(err, bufio.ErrTooLong) {
		return nil, fmt.Errorf("reading the history: %w", err)
	}
	return list, nil
}

// remember appends a text to a history, unless it is the last one already.
func remember(list []string, text string) []string {
	if n := len(list); n > 0 && list[n-1] == text {
		return list
	}
	from := max(0, len(list)-maxHistory+1)
	return append(list[from:len(list):len(list)], text)
}

// AppendHistory adds a text to the history, in a file that only its owner can read (its folder is made where it is missing). What is very
// long is left out. From time to time the file is written anew with the last 1000 texts.
func AppendHistory(path, text string) error {
	if strings.TrimSpace(text) == "" || len(text) > maxHistoryText {
		return nil
	}
	line, err := json.Marshal(text)
	if err != nil {
		return fmt.Errorf("writing the history: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("writing the history: %w", err)
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("writing the history: %w", err)
	}
	info, err := file.Stat()
	if err == nil && info.Mode().Perm()&0o077 != 0 {
		err = file.Chmod(0o600) // before anything is in it that others must not read
	}
	if err == nil {
		// One write: two programs that append at once do not mix their lines.
		_, err = file.Write(append(line, '\n'))
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("writing the history: %w", err)
	}
	if info.Size() < maxHistoryFile {
		return nil
	}
	return shrink(path)
}

// shrink writes the history anew with what it keeps.
func shrink(path string) error {
	list, err := LoadHistory(path)
	if err != nil {
		return err
	}
	// Half of the room at most, so that it is not done again with the next text.
	var lines []byte
	for i, text := range slices.Backward(list) {
		line, err := json.Marshal(text)
		if err != nil {
			return fmt.Errorf("writing the history: %w", err)
		}
		if len(lines)+len(line) > maxHistoryFile/2 {
			list = list[i+1:]
			break
		}
		lines = append(lines, line...)
	}
	lines = lines[:0]
	for _, text := range list {
		line, err := json.Marshal(text)
		if err != nil {
			return fmt.Errorf("writing the history: %w", err)
		}
		lines = append(append(lines, line...), '\n')
	}
	file, err := os.CreateTemp(filepath.Dir(path), ".history-*") // 0600
	if err != nil {
		return fmt.Errorf("writing the history: %w", err)
	}
	_, err = file.Write(lines)
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("writing the history: %w", errors.Join(err, os.Remove(file.Name())))
	}
	return nil
}
