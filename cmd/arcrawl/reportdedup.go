package main

import (
	"time"

	"github.com/spf13/cobra"
)

func newReportDedup() *cobra.Command {
	s := &logStats{now: time.Now()}
	cmd := &cobra.Command{
		Use:   "dedup [FILE…]",
		Short: "Show what deduplication saved",
		Long: `dedup reads crawl logs, compressed (.gz) or not, and shows how many responses repeated an archived payload, and how much space
that saved. The figures are the same as in Heritrix's DeDuplicator and in Browsertrix. Without FILE it reads the log of the configuration and
its rotated files; the daemon may run meanwhile.

  handled      responses whose payload was looked up; without 304 and without what [dedup] excludes
  new          the payload was not in the archive
  exact        it was in the archive under the same URI
  equivalent   it was in the archive under a URI with the same index key
  other        it was in the archive under another URI
  discarded    duplicates that were not stored again; their size is the space saved

A log line is written only after its record is on disk, so every counted record exists.`,
		Example: `  arcrawl report dedup --since 30d --by mime
  arcrawl report dedup --since 2026-10 --until 2026-10 --by host --json`,
		RunE: func(cmd *cobra.Command, args []string) error { return s.reportDedup(cmd, args) },
	}
	s.flags(cmd, []string{"host", "mime"})
	s.every = time.Minute // not used here; check wants a valid one
	return cmd
}

func (s *logStats) reportDedup(cmd *cobra.Command, files []string) error {
	out, files, err := s.read(cmd, files)
	if err != nil {
		return err
	}
	if err := s.format().WriteDedup(cmd.OutOrStdout(), out.Summaries[0], len(files), out.Bytes); err != nil {
		return err
	}
	return unread(out)
}
