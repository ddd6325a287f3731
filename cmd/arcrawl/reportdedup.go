package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/crawllog/stats"
	"github.com/arcrawl/arcrawl/internal/human"
)

func newReportDedup() *cobra.Command {
	s := &logStats{now: time.Now()}
	cmd := &cobra.Command{
		Use:   "dedup [FILE…]",
		Short: "Show what deduplication saved",
		Long: `dedup reads crawl logs, compressed (.gz) or not, and shows how many responses repeated an archived payload, and how much space
that saved. The figures are those of Heritrix's DeDuplicator and of Browsertrix. Without FILE it reads the log of the configuration and
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
	f := cmd.Flags()
	f.StringVarP(&s.config, "config", "c", defaultConfig, "the main configuration file, which names the log")
	f.StringVar(&s.since, "since", "", sinceHelp)
	f.StringVar(&s.until, "until", "", untilHelp)
	f.StringSliceVar(&s.by, "by", []string{"host", "mime"}, "group by host, seed, mime, day or hour; repeatable")
	f.IntVar(&s.top, "top", 20, "show N rows of each table, most visits first (0 = all)")
	f.BoolVar(&s.asJSON, "json", false, "print JSON")
	s.every = time.Minute // not used here; check wants a valid one
	return cmd
}

func (s *logStats) reportDedup(cmd *cobra.Command, files []string) error {
	out, files, err := s.read(cmd, files)
	if err != nil {
		return err
	}
	if s.asJSON {
		err = writeJSON(cmd.OutOrStdout(), s.dedupJSON(out.Summaries[0]))
	} else {
		err = s.printDedup(cmd.OutOrStdout(), out.Summaries[0], len(files), out.Bytes)
	}
	if err != nil {
		return err
	}
	return unread(out)
}

// dedupRow is one row of a table in JSON.
type dedupRow struct {
	Key string `json:"key"`
	stats.Dedup
}

// dedupJSON returns the answer for --json.
func (s *logStats) dedupJSON(sum *stats.Summary) any {
	report := struct {
		From string                         `json:"from"`
		To   string                         `json:"to"`
		All  stats.Dedup                    `json:"all"`
		By   map[stats.Dimension][]dedupRow `json:"by"`
	}{stamp(sum.First), stamp(sum.Last), sum.All.Dedup, map[stats.Dimension][]dedupRow{}}
	for _, d := range s.dimensions {
		report.By[d] = []dedupRow{}
		for _, r := range s.head(sum.Rows(d)) {
			report.By[d] = append(report.By[d], dedupRow{r.Key, r.Dedup})
		}
	}
	return report
}

func (s *logStats) printDedup(out io.Writer, sum *stats.Summary, files int, bytes int64) error {
	d := sum.All.Dedup
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "%d logs with %s, from %s to %s\n\n", files, human.Bytes(bytes), stamp(sum.First), stamp(sum.Last))
	fmt.Fprintf(table, "handled\t%d\t%s\n", d.Handled, human.Bytes(d.Bytes))
	fmt.Fprintf(table, "new\t%s\t%s\n", countAndShare(d.New, d.Handled), human.Bytes(d.Bytes-d.DuplicateBytes))
	fmt.Fprintf(table, "duplicates\t%s\t%s\n", countAndShare(d.Duplicates, d.Handled), human.Bytes(d.DuplicateBytes))
	for _, kind := range []struct {
		name string
		n    int64
	}{{"exact", d.Exact}, {"equivalent", d.Equivalent}, {"other URI", d.Other}, {"unknown", d.Unknown}} {
		if kind.n > 0 || kind.name != "unknown" {
			fmt.Fprintf(table, "  %s\t%s\n", kind.name, countAndShare(kind.n, d.Handled))
		}
	}
	fmt.Fprintf(table, "discarded\t%s\t%s (%s of all)\n", countAndShare(d.Discarded, d.Handled), human.Bytes(d.DiscardedBytes), share(d.DiscardedBytes, d.Bytes))
	fmt.Fprintf(table, "  without a revisit\t%s\n", countAndShare(d.Unwritten, d.Handled))
	fmt.Fprintf(table, "not modified (304)\t%d\n", sum.All.NotModified)
	for _, dim := range s.dimensions {
		rows := sum.Rows(dim)
		shown := s.head(rows)
		fmt.Fprintf(table, "\n%s", strings.ToUpper(string(dim)))
		if len(shown) < len(rows) {
			fmt.Fprintf(table, " (%d of %d; --top 0 prints all)", len(shown), len(rows))
		}
		fmt.Fprintf(table, "\n%s\thandled\tduplicates\tbytes\tdiscarded\tnew\texact\tequivalent\tother\n", dim)
		for _, r := range shown {
			fmt.Fprintf(table, "%s\t%d\t%d\t%s\t%s\t%d\t%d\t%d\t%d\n", r.Key, r.Dedup.Handled, r.Dedup.Duplicates, human.Bytes(r.Dedup.Bytes),
				human.Bytes(r.Dedup.DiscardedBytes), r.Dedup.New, r.Dedup.Exact, r.Dedup.Equivalent, r.Dedup.Other)
		}
	}
	return table.Flush()
}
