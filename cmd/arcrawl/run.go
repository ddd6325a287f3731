package main

import (
	"io"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/daemon"
)

func newRun() *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Crawl until told to stop",
		Long: `run is the daemon. It puts the configured seeds into its store, visits each URI when it is due, archives what is new, writes
one line of crawl.log for each visit, and goes on until it is stopped. Started again it goes on where it was.

Signals:
  SIGTERM, SIGINT   finish the visits in progress within crawl.grace, then stop; nothing is lost
  SIGINT again      stop at once
  SIGHUP            reopen crawl.log (for logrotate), and read the configuration again

The configuration is also read again as soon as one of its files changes (reload.watch), and taken whole or not at all: while a
file is broken, the last good configuration stays in force. At the start a broken main file is refused; a broken host file is
replaced by its last good copy, which is kept in the state folder, and where there is none its host is held.

When the disk is nearly full or the archive cannot be written, the crawl pauses, says so, and goes on by itself.

Under systemd (Type=notify) it says when it is ready, what it does and that it stops, and gives the watchdog a sign of life as
long as it looks for what is due.`,
		Example: "  arcrawl run --config /etc/arcrawl/arcrawl.toml",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			read, log := time.Now(), newLogger(cmd.ErrOrStderr())
			c, err := daemon.LoadConfig(path, log)
			if err != nil {
				return err
			}
			return daemon.Run(cmd.Context(), c, daemon.Options{Version: programVersion(), ConfigRead: read, Log: log})
		},
	}
	cmd.Flags().StringVarP(&path, "config", "c", defaultConfig, "the main configuration file")
	return cmd
}

// newLogger returns the logger of the daemon.
func newLogger(w io.Writer) zerolog.Logger { return daemon.NewLogger(w, isTerminal(w)) }
