package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/archive"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawllog/stats"
	"github.com/arcrawl/arcrawl/internal/human"
)

func newLog() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "log",
		Short: "Read crawl logs",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newLogStats())
	return cmd
}

// logStats is the command line of arcrawl log stats.
type logStats struct {
	config               string
	since, until, beside string
	by                   []string
	top                  int
	status, asJSON       bool
	follow               bool
	every                time.Duration
	place                string

	dimensions []stats.Dimension
	now        time.Time
}

func newLogStats() *cobra.Command {
	s := &logStats{now: time.Now()}
	cmd := &cobra.Command{
		Use:   "stats [FILE…]",
		Short: "Sum up crawl logs: visits, versions, what was saved, how late visits were",
		Long: `stats reads crawl logs, of arcrawl or of Heritrix, compressed (.gz) or not, on all processors, and sums up the visits of a period. Without
FILE it reads the log of the configuration and what was rotated away beside it.

  failed      no answer, 401, 403, 407, 408, 425, 429, 5xx, or a page that stood in for the one that was asked for
  versions    visits that found a new version; their share of the visits that could be judged is the change rate
  spared      bytes that were not transferred, because the headers vouched for the page
  overdue     how late visits came: half of them no later than p50, 99 of 100 no later than p99, to six percent

With --follow it prints one line each --every for what was added meanwhile, across rotation. With --offset it reads only what was
added since the last time that the same file was named, and remembers in it how far it came; for a job that runs now and then.`,
		Example: `  arcrawl log stats --since 24h --by host
  arcrawl log stats --since 2026-10 --until 2026-10 --beside 2026-11     two months side by side
  arcrawl log stats --by seed --status                                   the statuses of each seed
  arcrawl log stats --follow --every 1m
  arcrawl log stats --offset /var/lib/arcrawl/stats.offset --json`,
		RunE: func(cmd *cobra.Command, args []string) error { return s.run(cmd, args) },
	}
	f := cmd.Flags()
	f.StringVarP(&s.config, "config", "c", defaultConfig, "the main configuration file, to find the log")
	f.StringVar(&s.since, "since", "", "visits from this time on: 24h or 7d ago, or 2026, 2026-11, 2026-11-21, 2026-11-21T09:00:00Z")
	f.StringVar(&s.until, "until", "", "visits up to the end of this date, or so long ago")
	f.StringVar(&s.beside, "beside", "", "a second period to compare with: a date, or two with .. between them")
	f.StringSliceVar(&s.by, "by", nil, "tell apart by host, seed, mime, day or hour; may be repeated")
	f.IntVar(&s.top, "top", 20, "rows of each table, the most visits first; 0 = all")
	f.BoolVar(&s.status, "status", false, "print how many visits of each row had which status")
	f.BoolVar(&s.asJSON, "json", false, "print JSON")
	f.BoolVar(&s.follow, "follow", false, "go on, with a line for what was added")
	f.DurationVar(&s.every, "every", 10*time.Second, "how often --follow prints a line")
	f.StringVar(&s.place, "offset", "", "a file that remembers how far the log was read")
	return cmd
}

func (s *logStats) run(cmd *cobra.Command, files []string) error {
	if s.follow || s.place != "" {
		if _, err := s.check(files); err != nil {
			return err
		}
		path, err := s.live(files)
		if err != nil {
			return err
		}
		return s.added(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr(), path)
	}
	out, files, err := s.read(cmd, files)
	if err != nil {
		return err
	}
	if err := s.print(cmd.OutOrStdout(), out, len(files)); err != nil {
		return err
	}
	return unread(out)
}

// read sums up the logs that are named, or those of the configuration, and tells which they are.
func (s *logStats) read(cmd *cobra.Command, files []string) (*stats.Outcome, []string, error) {
	periods, err := s.check(files)
	if err == nil && len(files) == 0 {
		files, err = s.rotated()
	}
	if err != nil {
		return nil, nil, err
	}
	var read atomic.Int64
	stop := watchBytes(cmd.ErrOrStderr(), &read, sizeOf(files))
	out, err := stats.Read(cmd.Context(), files, stats.Options{Periods: periods, By: s.dimensions, Progress: &read})
	stop()
	return out, files, err
}

// unread says what could not be read.
func unread(out *stats.Outcome) error {
	if len(out.Faults) == 0 {
		return nil
	}
	return fmt.Errorf("some logs were not read, or not to their end; the rest is counted above:\n%w", errors.Join(out.Faults...))
}

// check reads what the flags say. The first period is the one that is asked for, the second the one to compare with.
func (s *logStats) check(files []string) ([]stats.Period, error) {
	for _, name := range s.by {
		d, err := stats.ParseDimension(name)
		if err != nil {
			return nil, usageError{fmt.Errorf("--by: %w", err)}
		}
		s.dimensions = append(s.dimensions, d)
	}
	var p stats.Period
	var err error
	if p.From, _, err = s.moment(s.since); err != nil {
		return nil, usageError{fmt.Errorf("--since: %w", err)}
	}
	if _, p.To, err = s.moment(s.until); err != nil {
		return nil, usageError{fmt.Errorf("--until: %w", err)}
	}
	periods := []stats.Period{p}
	if s.beside != "" {
		var other stats.Period
		from, to, isRange := strings.Cut(s.beside, "..")
		if !isRange {
			to = from
		}
		if other.From, _, err = s.moment(from); err == nil {
			_, other.To, err = s.moment(to)
		}
		if err != nil {
			return nil, usageError{fmt.Errorf("--beside: %w", err)}
		}
		periods = append(periods, other)
	}
	switch {
	case (s.follow || s.place != "") && len(files) > 1:
		return nil, usageError{errors.New("--follow and --offset read one log: name one FILE, or none for that of the configuration")}
	case (s.follow || s.place != "") && (s.since != "" || s.until != "" || s.beside != ""):
		return nil, usageError{errors.New("--follow and --offset read what is added; --since, --until and --beside have no meaning there")}
	case s.every < time.Second:
		return nil, usageError{fmt.Errorf("--every %v is less than a second", s.every)}
	}
	return periods, nil
}

// moment is the beginning and the end of a date, or a time so long ago.
func (s *logStats) moment(text string) (from, to time.Time, err error) {
	if text == "" {
		return from, to, nil
	}
	if ago, err := human.ParseDuration(text); err == nil {
		at := s.now.Add(-ago)
		return at, at, nil
	}
	return archive.ParsePeriod(text)
}

// live is the log that is being written.
func (s *logStats) live(files []string) (string, error) {
	if len(files) == 1 {
		return files[0], nil
	}
	c, err := config.Load(s.config)
	if err != nil {
		return "", err
	}
	return c.Storage.Log, nil
}

// rotated is the log of the configuration, and its older files.
func (s *logStats) rotated() ([]string, error) {
	path, err := s.live(nil)
	if err != nil {
		return nil, err
	}
	files, err := filepath.Glob(escapeGlob(path) + "*")
	if err == nil && len(files) == 0 {
		err = folderError{fmt.Errorf("there is no crawl log at %s yet", path)}
	}
	return files, err
}

func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

func sizeOf(files []string) (sum int64) {
	for _, f := range files {
		if stat, err := os.Stat(f); err == nil {
			sum += stat.Size()
		}
	}
	return sum
}

// added sums up what was added to a log since the last time, once or again and again.
func (s *logStats) added(ctx context.Context, out, errs io.Writer, path string) error {
	f, err := s.resume(path)
	if err != nil {
		return err
	}
	tick := time.NewTicker(s.every)
	defer tick.Stop()
	for {
		sum := stats.NewSummary(s.dimensions...)
		err := f.Poll(ctx, sum.Add)
		if errors.Is(err, stats.ErrGap) {
			complain(errs, fmt.Sprintf("arcrawl: %v\n", err))
		} else if err != nil && ctx.Err() == nil {
			return err
		}
		if err := s.printAdded(out, sum); err != nil {
			return err
		}
		if err := s.remember(f.Place()); err != nil {
			return err
		}
		if !s.follow {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// resume begins where --offset says, or at the end of what is there. A job that runs for the first time begins with all there is.
func (s *logStats) resume(path string) (*stats.Follower, error) {
	var from stats.Place
	if s.place == "" {
		f := stats.Follow(path, from)
		return f, f.SkipToEnd()
	}
	text, err := os.ReadFile(s.place)
	if err == nil {
		err = json.Unmarshal(text, &from)
	} else if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the offset %s: %w; remove the file to begin anew", s.place, err)
	}
	return stats.Follow(path, from), nil
}

// remember writes --offset, whole or not at all.
func (s *logStats) remember(at stats.Place) error {
	if s.place == "" {
		return nil
	}
	text, err := json.Marshal(at)
	if err == nil {
		err = os.WriteFile(s.place+".tmp", append(text, '\n'), 0o644)
	}
	if err == nil {
		err = os.Rename(s.place+".tmp", s.place)
	}
	if err != nil {
		return fmt.Errorf("remember the offset in %s: %w", s.place, err)
	}
	return nil
}
