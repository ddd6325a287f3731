package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/daemon"
)

func newPlan() *cobra.Command {
	var d cli.Daemon
	var staged string
	cmd := &cobra.Command{
		Use:   "plan [HOSTFILE…]",
		Short: "Show what a staged configuration would change",
		Long: `plan asks the running daemon what would change if a configuration that is not in force replaced its own: changed keys, added and
removed seeds, URIs that become due, the load of each affected host compared with what its politeness allows. Nothing is changed.

With --config the whole configuration is compared: a copy of arcrawl.toml and of hosts.d in another folder. With HOSTFILE only these
host files are compared, as if they were copied into the folder of host files. Each needs its final name, for example
drafts/www.news.example.toml.

The daemon is the one of --running, or of --socket.

Exit code 78: the staged configuration has faults.`,
		Example: `  cp -r /etc/arcrawl staged && editor staged/hosts.d/www.news.example.toml
  arcrawl plan --config staged/ --running /etc/arcrawl/arcrawl.toml
  arcrawl plan drafts/www.news.example.toml`,
		RunE: func(cmd *cobra.Command, args []string) error {
			texts, err := stagedTexts(staged, args)
			if err != nil {
				return err
			}
			c, err := d.Client()
			if err != nil {
				return err
			}
			r, err := c.Plan(cmd.Context(), texts)
			return printReloaded(&d, cmd.OutOrStdout(), r, err)
		},
	}
	cmd.Flags().StringVarP(&staged, "config", "c", "", "the staged main file, or a folder with arcrawl.toml and hosts.d")
	cli.FindFlag(cmd, &d.Config, "running", "", "the main configuration file of the daemon, which names its socket")
	cmd.Flags().StringVar(&d.Socket, "socket", "", "use this socket (default: the one in the configuration)")
	cmd.Flags().BoolVar(&d.JSON, "json", false, "print the daemon's answer as JSON")
	return cmd
}

// stagedTexts reads a staged configuration, or staged host files. A faulty configuration is an error.
func stagedTexts(main string, hostFiles []string) (api.Staged, error) {
	switch {
	case main == "" && len(hostFiles) == 0:
		return api.Staged{}, cli.Usage(errors.New("name the staged configuration with --config, or staged host files"))
	case main == "":
		return stagedHosts(hostFiles)
	case len(hostFiles) > 0:
		return api.Staged{}, cli.Usage(errors.New("--config names a whole configuration; name no host files with it"))
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

// printReloaded prints the plan of a configuration. The error lists its faults.
func printReloaded(d *cli.Daemon, out io.Writer, r api.Reloaded, err error) error {
	if err := cli.Print(d, out, r, err, showReloaded); err != nil {
		return err
	}
	if len(r.Faults) == 0 {
		return nil
	}
	faults := make(config.Faults, len(r.Faults))
	for i, f := range r.Faults {
		faults[i] = config.Fault(f)
	}
	return faults
}
