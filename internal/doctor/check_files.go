package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/switchboard-dev/switchboard/internal/trust"
)

// maxLooked is how many files of a folder are looked at, maxInAll how many of all, maxNamed how many are named one by one.
const (
	maxLooked = 2000
	maxInAll  = 20000
	maxNamed  = 5
)

func (m *Machine) checkModes(context.Context) []Finding {
	if m.Stat == nil || m.OS == "windows" {
		return []Finding{{State: Skip, Found: "this system has no file permissions"}}
	}
	var found []Finding
	looked := 0
	look := func(path string, forbidden fs.FileMode) bool {
		if looked >= maxInAll {
			return false
		}
		info, err := m.Stat(path)
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				found = append(found, Finding{State: Fail, What: "permissions of " + path, Found: firstLine(err.Error())})
			}
			return false
		}
		looked++
		if f, bad := m.judgeMode(path, info, forbidden); bad {
			found = append(found, f)
		}
		return info.Mode.IsDir()
	}
	const private, unwritable = 0o077, 0o022
	if m.DataDir != "" {
		// It may be a link to another disk; what is in it is what counts.
		look(m.DataDir, private)
		m.walk(m.DataDir, 0, func(path string) bool { return look(path, private) })
	}
	if m.Socket != "" && !strings.HasPrefix(m.Socket, m.DataDir+string(filepath.Separator)) {
		look(filepath.Dir(m.Socket), private)
		look(m.Socket, private)
	}
	for _, file := range []string{m.ConfigFile, m.RulesFile} {
		if file != "" {
			look(filepath.Dir(file), unwritable)
			look(file, unwritable)
		}
	}
	for _, file := range m.SecretFiles {
		look(file, private)
	}
	found = append(found, m.distrusted()...)
	if looked == 0 && len(found) == 0 {
		return []Finding{{State: Skip, Found: "no files yet"}}
	}
	if len(found) == 0 {
		return []Finding{{State: OK, Found: fmt.Sprintf("%d files and folders, private to you", looked)}}
	}
	return summed(dedupe(found))
}

// distrusted says which of our folders another user could replace, by way of the folders above them.
func (m *Machine) distrusted() []Finding {
	if m.Trust == nil {
		return nil
	}
	var found []Finding
	for _, dir := range []string{m.DataDir, folderOf(m.Socket), folderOf(m.ConfigFile), folderOf(m.RulesFile)} {
		if dir == "" {
			continue
		}
		err := m.Trust(dir)
		if e, ok := errors.AsType[*trust.Error](err); ok {
			fix := e.Command
			if fix == "" && dir == m.DataDir {
				fix = m.elsewhere(lastingFolder)
			}
			found = append(found, Finding{
				State: Fail, What: "permissions of " + e.Path, Found: e.Reason, Why: "The hub refuses folders that another user could replace.", Fix: fix,
			})
		} else if err != nil {
			found = append(found, Finding{State: Fail, What: "permissions of " + dir, Found: firstLine(err.Error())})
		}
	}
	return found
}

// folderOf returns the folder of a file, "" for none.
func folderOf(file string) string {
	if file == "" {
		return ""
	}
	return filepath.Dir(file)
}

// hubFiles are files in the data folder that a hub refuses if they are links.
var hubFiles = []string{"admin.token", "journal.db", "journal.db-shm", "journal.db-wal", "lock", "relays.json", "search.db", "search.db-shm", "search.db-wal", "tokens.json"}

// judgeMode says what is wrong with the rights of a file.
func (m *Machine) judgeMode(path string, info File, forbidden fs.FileMode) (Finding, bool) {
	f := Finding{State: Fail, What: "permissions of " + path}
	mode := info.Mode
	switch {
	case info.UID >= 0 && info.UID != m.UID && (forbidden == 0o077 || info.UID != 0):
		f.Found = fmt.Sprintf("it belongs to user %d", info.UID)
		f.Why, f.Fix = "Its owner can change it.", fmt.Sprintf("sudo chown -h %d %s", m.UID, quote(path)) // another user's link may lead anywhere
		return f, true
	case mode&fs.ModeSymlink != 0 && filepath.Dir(path) == m.DataDir && slices.Contains(hubFiles, filepath.Base(path)):
		f.Found, f.Why = "it is a symbolic link", "The hub refuses it: the link could lead to another user's file."
		f.Fix = "cp -pL " + quote(path) + " " + quote(path+".copy") + " && mv " + quote(path+".copy") + " " + quote(path)
		return f, true
	case mode&fs.ModeSymlink != 0:
		return f, false // what it leads to has rights of its own
	case mode.Perm()&forbidden == 0:
		return f, false
	case mode&fs.ModeSticky != 0 && forbidden == 0o022:
		return f, false
	}
	f.Found = fmt.Sprintf("others can access it (%04o)", mode.Perm())
	want := "go-rwx" // and what the owner may stays as it is: a folder of other things may have been named by mistake
	if forbidden == 0o022 {
		want = "go-w"
	}
	f.Fix = "chmod " + want + " " + quote(path)
	return f, true
}

// walk calls look for what is in a folder, and in its folders as look wants it.
func (m *Machine) walk(dir string, depth int, look func(string) bool) {
	if m.List == nil || depth > 3 {
		return
	}
	names, err := m.List(dir)
	if err != nil {
		return // its rights say why
	}
	for i, name := range names {
		if i >= maxLooked {
			return
		}
		path := filepath.Join(dir, name)
		if look(path) && depth < 3 {
			m.walk(path, depth+1, look)
		}
	}
}

// dedupe removes what was found twice.
func dedupe(found []Finding) []Finding {
	seen := map[string]bool{}
	return slices.DeleteFunc(found, func(f Finding) bool {
		twice := seen[f.What]
		seen[f.What] = true
		return twice
	})
}

// summed makes one finding of the many that are alike: a thousand files are fixed with one command.
func summed(found []Finding) []Finding {
	if len(found) <= maxNamed {
		return found
	}
	rest := found[maxNamed:]
	var fixes []string
	for i := range rest {
		if rest[i].Fix != "" && len(fixes) < 100 {
			fixes = append(fixes, rest[i].Fix)
		}
	}
	return append(found[:maxNamed:maxNamed], Finding{
		State: Fail, What: "permissions of other files", Found: fmt.Sprintf("%d more files or folders are accessible to others", len(rest)), Fix: strings.Join(fixes, " && "),
	})
}

func (m *Machine) checkDisk(context.Context) []Finding {
	if m.Volume == nil || m.DataDir == "" {
		return nil
	}
	dir := m.DataDir
	v, err := m.Volume(dir)
	for err != nil && filepath.Dir(dir) != dir { // it need not be there yet
		dir = filepath.Dir(dir)
		v, err = m.Volume(dir)
	}
	if err != nil {
		return []Finding{{State: Skip, Found: firstLine(err.Error())}}
	}
	f := Finding{State: OK, Found: size(v.Free) + " free for " + m.DataDir, Data: map[string]any{"free": v.Free, "type": v.Type}}
	if v.Type != "" {
		f.Found += ", on " + v.Type
	}
	fix := "du -xh -d 1 " + quote(dir)
	switch {
	case v.Free < 100<<20:
		f.State, f.Fix = Fail, fix
	case v.Free < 1<<30:
		f.State, f.Fix = Warn, fix
	}
	found := []Finding{f}
	if v.Network {
		found = append(found, Finding{
			State: Warn, What: "file system", Found: m.DataDir + " is on another machine (" + v.Type + ")",
			Why: "A journal can be damaged there: it needs a local disk. Sessions in the old folder stay there. " + weeksOnly,
			Fix: m.elsewhere(lastingFolder),
		})
	}
	return found
}

// lastingFolder is a new folder on a disk of this machine, for want of one that is known to be the user's own.
const lastingFolder = `"$(mktemp -d /var/tmp/sb-XXXXXX)"`

// weeksOnly says what is wrong with it: many systems remove there what was not touched for a month.
const weeksOnly = "Better use your own folder on a local disk: many systems clear /var/tmp after some weeks."

// elsewhere is the command that starts a hub with another data folder, which the verbs of the same shell find. It must outlive a restart:
// what is in /tmp does not.
func (m *Machine) elsewhere(folder string) string {
	return "export SWITCHBOARD_DATA_DIR=" + folder + " && " + quote(m.program()) + " serve"
}

// size writes a number of bytes.
func size(n uint64) string {
	const unit = 1024
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	value, exponent := float64(n), 0
	for value >= unit && exponent < 5 {
		value /= unit
		exponent++
	}
	return fmt.Sprintf("%.1f %ciB", value, "KMGTP"[exponent-1])
}

// largeJournal is the size from which on it is worth a word.
const largeJournal = 8 << 30

func (m *Machine) checkJournal(ctx context.Context) []Finding {
	if m.Journal == nil || m.DataDir == "" {
		return nil
	}
	j, err := m.Journal(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		return []Finding{{State: Skip, Found: "none yet in " + m.DataDir}}
	}
	if err != nil {
		return []Finding{{State: Fail, Found: firstLine(err.Error())}}
	}
	f := Finding{
		State: OK, Found: fmt.Sprintf("%s, %d sessions, %d entries", size(uint64(max(j.Size, 0))), j.Sessions, j.Entries),
		Data: map[string]any{"bytes": j.Size, "sessions": j.Sessions, "entries": j.Entries, "checked": j.Checked},
	}
	switch {
	case len(j.Wrong) > 0:
		f.State, f.Found = Fail, "damaged: "+firstLine(j.Wrong[0])
		f.Why = "The hub refuses it. This sets it aside and starts a new one, removes nothing, and stops running agents. Restore a backup instead if you have one."
		f.Fix = m.verb("serve --journal new")
	case j.Checked:
		f.Found += ", sound"
	default:
		f.Found += "; not checked: " + j.Unchecked
	}
	found := []Finding{f}
	for _, lost := range j.Lost {
		found = append(found, Finding{
			State: Warn, What: "journal loss", Found: firstLine(lost),
			Why: "It can't be undone; restore a backup if you need it. With server.durability = \"full\" a power cut loses nothing.",
		})
	}
	if j.Size > largeJournal && f.State == OK {
		// No command that removes anything: only the user knows what is in it.
		f.State, f.Why = Warn, "Nothing is removed automatically: set max_age or max_bytes below [retention] to remove ended sessions."
		if m.ConfigFile != "" {
			f.Fix = "${EDITOR:-vi} " + quote(m.ConfigFile)
		}
		found[0] = f
	}
	return found
}
