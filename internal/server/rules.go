package server

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/switchboard-dev/switchboard/api"
	"github.com/switchboard-dev/switchboard/internal/hub"
	"github.com/switchboard-dev/switchboard/internal/launch"
	"github.com/switchboard-dev/switchboard/internal/notify"
	"github.com/switchboard-dev/switchboard/internal/policy"
	"github.com/switchboard-dev/switchboard/internal/rulefile"
	"github.com/switchboard-dev/switchboard/internal/server/access"
	"github.com/switchboard-dev/switchboard/internal/server/nodes"
)

// Rules say where the rules are, and what is denied to every agent whatever they say.
type Rules struct {
	// File is the rules file. It need not exist. If empty, there is none.
	File string
	// Home is what "~/" stands for in it.
	Home string
	// AutoApprove is what CLIs that dial in may do without a question, see [policy.Options].
	AutoApprove []string
	// Own are folders and files of ours beside the rules, the data and the socket: they hold settings and secrets.
	Own []string
}

// confirmedRules is the file in the data folder that holds the rules as they were confirmed last.
const confirmedRules = "rules.confirmed"

// openRules reads the rules, and goes on looking at them.
func (s *Server) openRules(ctx context.Context) error {
	o := &s.options
	for _, text := range o.Rules.AutoApprove {
		if err := policy.CheckAutoApprove(text); err != nil {
			return fmt.Errorf("dial.auto_approve (--dial-auto-approve): %q: %w", text, err)
		}
	}
	own, err := s.own()
	if err != nil {
		return err
	}
	s.rules, err = rulefile.Open(ctx, rulefile.Options{
		File: o.Rules.File, Store: filepath.Join(o.DataDir, confirmedRules), Logger: s.log, Policy: policy.Options{Home: o.Rules.Home, Own: own, AutoApprove: o.Rules.AutoApprove},
	})
	if err != nil {
		return err
	}
	s.undo = append(s.undo, s.rules.Close)
	return nil
}

// dataFiles are the names of what is in the data folder, whether it is there yet or not.
var dataFiles = [...]string{
	"admin.token", "blobs", access.HubCertificateFile, nodes.File, "journal.db", "journal.db-shm", "journal.db-wal", "lock", relaysFile, confirmedRules, confirmedRules + "-pending", "run", "search.db", "search.db-shm", "search.db-wal",
	"serve.log", "serve.log.old", "shims", "simulated", "spool", "start.lock", access.TokensFile, access.CertificateFile,
}

// simulatorFolder is the folder in the data folder that belongs to the simulated agent, as ~/.claude does to the real one.
const simulatorFolder = "sim"

// own returns the folders and files that no agent may touch.
func (s *Server) own() ([]string, error) {
	o := &s.options
	own := slices.Clone(o.Rules.Own)
	if o.Rules.File != "" {
		own = append(own, o.Rules.File)
	}
	if o.Agent != launch.Simulator {
		own = append(own, o.DataDir)
	} else {
		for _, name := range dataFiles {
			own = append(own, filepath.Join(o.DataDir, name))
		}
		// Older journals, copies and whatever else is there.
		entries, err := os.ReadDir(o.DataDir)
		if err != nil {
			return nil, err
		}
		for _, entry := range entries {
			if entry.Name() != simulatorFolder {
				own = append(own, filepath.Join(o.DataDir, entry.Name()))
			}
		}
	}
	return outermost(append(own, s.socketPlace())), nil
}

// socketPlace returns the folder of the socket; the socket itself if a service manager has put it into a folder that is not ours alone.
func (s *Server) socketPlace() string {
	o := &s.options
	if folder := filepath.Dir(o.Socket); filepath.Base(folder) == "switchboard" || below(folder, o.DataDir) {
		return folder
	}
	return o.Socket
}

// outermost returns paths without those that are in another of them, each once: every one is two rules for the CLI. A link that leads out of the
// other stays, since what it leads to is ours, too.
func outermost(paths []string) []string {
	paths = slices.Clone(paths)
	slices.Sort(paths)
	paths = slices.Compact(paths)
	return slices.DeleteFunc(slices.Clone(paths), func(path string) bool {
		return slices.ContainsFunc(paths, func(other string) bool { return below(path, other) && below(followed(path), followed(other)) })
	})
}

// followed returns where a path leads; itself if that is not known.
func followed(path string) string {
	if leads, err := policy.Real(path); err == nil {
		return leads
	}
	return path
}

// below reports whether a path is inside of a folder.
func below(path, folder string) bool {
	return strings.HasPrefix(path, strings.TrimSuffix(folder, string(filepath.Separator))+string(filepath.Separator)) && path != folder
}

// notifyTime is how long the end of a server waits for the last notifications.
const notifyTime = 2 * time.Second

// openNotify returns what sends notifications; nil if no target is configured.
func (s *Server) openNotify() (func(hub.Notification), error) {
	o := &s.options
	if len(o.Notify) == 0 {
		return nil, nil
	}
	sender, err := notify.New(notify.Options{Targets: o.Notify, Link: o.Link, Logger: s.log, UserAgent: "switchboard/" + o.Version})
	if err != nil {
		return nil, err
	}
	s.undo = append(s.undo, func() {
		ctx, cancel := context.WithTimeout(context.Background(), notifyTime)
		defer cancel()
		s.warn("sending the last notifications", sender.Close(ctx))
	})
	return func(n hub.Notification) {
		sender.Notify(notify.Notification{
			Kind: n.Kind, Session: n.Session, Title: n.Title, Dir: n.Dir, Text: n.Text, Question: n.Question, QuestionKind: n.QuestionKind, Time: n.Time,
		})
	}, nil
}

// Policy says which rules are in force, and what waits for confirmation.
func (s *Server) Policy() api.Policy { return s.rules.Status() }
