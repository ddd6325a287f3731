package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler"
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
			read := time.Now()
			c, err := config.LoadKept(path, lastGood)
			if err != nil {
				return err
			}
			log := newLogger(cmd.ErrOrStderr())
			for _, w := range append(c.Warnings, c.Expired(time.Now())...) {
				log.Warn().Msg(w.String())
			}
			tellBroken(c, log)
			return crawl(cmd.Context(), c, read, log, nil)
		},
	}
	cmd.Flags().StringVarP(&path, "config", "c", defaultConfig, "the main configuration file")
	return cmd
}

// crawl opens the rooms, crawls until ctx ends, and shuts the rooms. The configuration was read at a given time.
func crawl(ctx context.Context, c *config.Config, read time.Time, log zerolog.Logger, observe func(crawler.Report)) error {
	hangup, stop := onHangup()
	defer stop()
	defer leanGarbage()()
	tellSystemd("STATUS=opening the store")
	rooms, shut, err := openRooms(config.NewLive(c), log)
	if err != nil {
		return err
	}
	rooms.Observe, rooms.Keep, rooms.Rest = observe, keepGood, resting()
	if err := keepGood(c); err != nil {
		log.Warn().Err(err).Msg("the host files could not be copied: one that is broken at the next start holds its host")
	}
	super := newSupervisor(&rooms)
	err = crawlIn(ctx, rooms, super, read, hangup, log)
	super.closing()
	return errors.Join(err, shut())
}

func crawlIn(ctx context.Context, rooms crawler.Rooms, super *supervisor, read time.Time, hangup <-chan os.Signal, log zerolog.Logger) error {
	var window *admin.Window
	watched := rooms.Observe
	rooms.Observe = func(r crawler.Report) {
		watched(r)
		window.Observe(r)
	}
	push, err := newPushed(rooms.Config.Current(), log)
	if err != nil {
		return err
	}
	rooms.Hub = push.offer
	cr := crawler.New(rooms)
	window, shut, err := openWindow(cr, rooms, log)
	if err != nil {
		return err
	}
	defer shut()
	stopPush, err := push.open(ctx, cr, rooms.Config.Current().WebSub.Listen)
	if err != nil {
		return err
	}
	defer stopPush()
	added, err := cr.AddSeeds(time.Now())
	if err != nil {
		return fmt.Errorf("add the seeds: %w", err)
	}
	counts := rooms.Frontier.Counts(time.Now())
	log.Info().Str("version", programVersion()).Str("config", rooms.Config.Current().Path).Int("new_seeds", added.New).
		Int64("uris", counts.URIs).Int64("hosts", counts.Hosts).Msg("started")
	stopReloading := reloadOnChange(cr, rooms, read, hangup, log)
	defer stopReloading()
	stopWatching := super.watch(ctx, rooms.Config.Current().Crawl.Grace, cr.Held)
	err = cr.Run(ctx)
	stopWatching()
	if err != nil {
		log.Error().Err(err).Msg("stopping because the store failed")
		return err
	}
	counts = rooms.Frontier.Counts(time.Now())
	log.Info().Int64("uris", counts.URIs).Int64("hosts", counts.Hosts).Msg("stopped")
	return nil
}

// newLogger writes for people on a terminal and in the journal, and JSON lines for machines.
func newLogger(w io.Writer) zerolog.Logger {
	if toJournal(w) {
		return zerolog.New(journalWriter{w})
	}
	if isTerminal(w) {
		w = zerolog.ConsoleWriter{Out: w, TimeFormat: time.TimeOnly}
	}
	return zerolog.New(w).With().Timestamp().Logger()
}
