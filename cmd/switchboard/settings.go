package main

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/switchboard-dev/switchboard/internal/config"
)

// envConfig names the configuration file, as --config does.
const envConfig = "SWITCHBOARD_CONFIG"

// A place is the flags by which verbs find a server's files.
type place struct {
	config, dataDir string
}

// flags adds them to a verb.
func (p *place) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.config, "config", "", "`FILE` with settings (default $XDG_CONFIG_HOME/switchboard/config.toml)")
	cmd.Flags().StringVar(&p.dataDir, "data-dir", "", "data `FOLDER` with journal, token and socket (default $XDG_DATA_HOME/switchboard)")
}

// file returns the configuration file, and whether somebody named it.
func (p *place) file(s *surroundings) (name string, must bool) {
	if p.config != "" {
		return p.config, true
	}
	if named := s.getenv(envConfig); named != "" {
		return named, true
	}
	return config.File(s.getenv), false
}

// load reads the settings: the file, the environment over it, and the flags over both. change sets those of the verb itself.
func (p *place) load(s *surroundings, change func(*config.Config) error) (*config.Config, config.Paths, error) {
	file, must := p.file(s)
	c, err := config.Load(file, must, s.getenv)
	if err != nil {
		return nil, config.Paths{}, err
	}
	if p.dataDir != "" {
		folder, err := filepath.Abs(p.dataDir)
		if err != nil {
			return nil, config.Paths{}, fmt.Errorf("--data-dir: %w", err)
		}
		c.Server.DataDir = config.Folder(folder)
	}
	if change != nil {
		if err := change(c); err != nil {
			return nil, config.Paths{}, err
		}
	}
	paths, err := c.FindPaths(s.getenv)
	return c, paths, errors.Join(err, c.Check())
}
