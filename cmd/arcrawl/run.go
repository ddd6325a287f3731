package main

import (
	"io"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/cmd/arcrawl/cli"
	"github.com/arcrawl/arcrawl/daemon"
)

func newRun() *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Run the daemon: crawl until stopped",
		Long: `run is the daemon. It puts the configured seeds into its store and visits each URI when it is due. It archives new
content and writes one line of crawl.log for each visit. A daemon that is started again resumes where it stopped.

Signals:
  SIGTERM, SIGINT   finish the visits in progress within crawl.grace, then stop; nothing is lost
  SIGINT again      stop at once
  SIGHUP            reopen crawl.log (for logrotate) and read the configuration again

The configuration is also read again when one of its files changes (reload.watch). A new configuration comes into force
completely or not at all: while a file is broken, the last good configuration stays in force. At the start, a broken main
file is an error. A broken host file is replaced by its last good copy from the state folder; if there is no copy, its
host is held.

When the disk is nearly full or the archive cannot be written, the crawl pauses and logs why. It resumes automatically.

Under systemd (Type=notify), the daemon reports when it is ready, what it does, and that it stops. It sends the watchdog
a sign of life as long as its workers look for URIs that are due.`,
		Example: "  arcrawl run --config /etc/arcrawl/arcrawl.toml",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			read, log := time.Now(), newLogger(cmd.ErrOrStderr())
			c, err := daemon.LoadConfig(path, log)
			if err != nil {
				return err
			}
			return daemon.Run(cmd.Context(), c, daemon.Options{
				Version: cli.Version(), ConfigRead: read, Log: log, Wings: daemonWings(),
			})
		},
	}
	cli.ConfigFlag(cmd, &path)
	return cmd
}

// newLogger returns the logger of the daemon.
func newLogger(w io.Writer) zerolog.Logger {
	return cli.NewLogger(cli.Unescaped(w), cli.IsTerminal(w))
}
