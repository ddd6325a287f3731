package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/daemon"
)

// stagedTexts reads a staged configuration, or staged host files. A faulty configuration is an error.
func stagedTexts(main string, hostFiles []string) (api.Staged, error) {
	switch {
	case main == "":
		return stagedHosts(hostFiles)
	case len(hostFiles) > 0:
		return api.Staged{}, cli.Usage(errors.New("--staged names a whole configuration; name no host files with it"))
	}
	if info, err := os.Stat(main); err == nil && info.IsDir() {
		main = filepath.Join(main, "arcrawl.toml")
	}
	c, err := config.LoadToRead(main)
	if err != nil {
		return api.Staged{}, err
	}
	text, err := os.ReadFile(main)
	if err != nil {
		return api.Staged{}, daemon.FolderError{Err: err}
	}
	s := api.Staged{Main: string(text)}
	next := filepath.Join(filepath.Dir(c.Path), "hosts.d")
	if info, err := os.Stat(next); err == nil && info.IsDir() && c.HostsDir != next { // storage.hosts is absolute
		files, err := filepath.Glob(filepath.Join(next, "*.toml"))
		if err != nil {
			return s, err
		}
		staged, err := stagedHosts(files)
		s.Hosts = staged.Hosts
		return s, err
	}
	for _, f := range c.HostFiles() {
		s.Hosts = append(s.Hosts, api.StagedHost{Name: f.Name, Text: string(f.Data)})
	}
	return s, nil
}

// stagedHosts reads staged host files.
func stagedHosts(files []string) (api.Staged, error) {
	s := api.Staged{Only: true}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return s, daemon.FolderError{Err: err}
		}
		name := filepath.Base(file)
		if !strings.HasSuffix(name, ".toml") {
			return s, cli.Usage(fmt.Errorf("%s is no host file: its name must be a host followed by .toml", file))
		}
		s.Hosts = append(s.Hosts, api.StagedHost{Name: name, Text: string(text)})
	}
	return s, nil
}
