package config

import (
	"errors"
	"fmt"
	"path/filepath"
)

// MaxSocket is how long the path of a Unix socket may be, in bytes. Systems differ, between 104 and 108; the rest is for a name beside it
// while it is made.
const MaxSocket = 99

// socketName is the name of the hub's Unix socket.
const socketName = "hub.sock"

// Paths say where things lie.
type Paths struct {
	// DataDir is the folder of the journal and everything else that is kept.
	DataDir string
	// Socket is the hub's Unix socket.
	Socket string
}

// File returns where the configuration is looked for unless the user names a file: $XDG_CONFIG_HOME/switchboard/config.toml. It is "" if
// neither that variable nor HOME is set.
func File(getenv func(string) string) string {
	return base(getenv, "XDG_CONFIG_HOME", ".config", "config.toml")
}

// RulesFile returns where the rules are unless the user names a file: rules.toml beside where [File] is. It is "" if that is.
func RulesFile(getenv func(string) string) string {
	return base(getenv, "XDG_CONFIG_HOME", ".config", "rules.toml")
}

// NodeDir returns where a node keeps its identity and its agents' files unless the user names a folder: the folder node in the data folder. It is "" if
// neither XDG_DATA_HOME nor HOME is set.
func NodeDir(getenv func(string) string) string {
	return base(getenv, "XDG_DATA_HOME", filepath.Join(".local", "share"), "node")
}

// base returns a path in one of the user's base folders. The specification has it that one which is not absolute is ignored.
func base(getenv func(string) string, variable, fallback, name string) string {
	if folder := getenv(variable); filepath.IsAbs(folder) {
		return filepath.Join(folder, "switchboard", name)
	}
	if home := getenv("HOME"); filepath.IsAbs(home) && fallback != "" {
		return filepath.Join(home, fallback, "switchboard", name)
	}
	return ""
}

// FindPaths returns where things lie with these settings: the data in server.data_dir, else $XDG_DATA_HOME/switchboard; the socket in
// $XDG_RUNTIME_DIR/switchboard, or in the folder run of the data if there is no such folder or the user chose the data's. It is an error if
// the socket's path is too long for the system.
func (c *Config) FindPaths(getenv func(string) string) (Paths, error) {
	p := Paths{DataDir: filepath.Clean(string(c.Server.DataDir))}
	if c.Server.DataDir == "" {
		p.DataDir = base(getenv, "XDG_DATA_HOME", filepath.Join(".local", "share"), "")
		if p.DataDir == "" {
			return Paths{}, errors.New("there is no place for data: neither HOME nor XDG_DATA_HOME is set; name a folder with --data-dir")
		}
		p.Socket = base(getenv, "XDG_RUNTIME_DIR", "", socketName)
	}
	if p.Socket == "" {
		p.Socket = filepath.Join(p.DataDir, "run", socketName)
	}
	if len(p.Socket) > MaxSocket {
		return Paths{}, fmt.Errorf("the path of the socket, %s, has %d bytes, more than the %d that every system takes; choose a folder with a shorter path by --data-dir",
			p.Socket, len(p.Socket), MaxSocket)
	}
	return p, nil
}
