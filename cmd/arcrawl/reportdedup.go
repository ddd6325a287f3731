package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/arcrawl/arcrawl/crawllog/stats"
)

func newReportDedup() *cobra.Command {
	s := &logStats{now: time.Now()}
	cmd := &cobra.Command{
		Use:   "dedup [FILE…]",
		Short: "Tell what deduplication saved",
		Long: `dedup reads crawl logs, compressed (.gz) or not, and tells how many answers repeated a payload that was in the archive already, and
what was saved by not storing it again: the report of Heritrix's DeDuplicator and the counters of Browsertrix. Without FILE it reads
the log of the configuration and what was rotated away beside it; the daemon may go on meanwhile.

  handled      answers whose payload was looked for; what [dedup] leaves out is not among them, nor are answers 304
  new          the payload was not in the archive
  exact        it was, under the same URI
  equivalent   it was, under a URI with the same key in an index
  other        it was, under another URI
  discarded    duplicates that were not stored again; their size is what was conserved

A line is written only after its record is safe, so that what is counted is there, whatever crashed.`,
		Example: `  arcrawl report dedup --since 30d --by mime
  arcrawl report dedup --since 2026-10 --until 2026-10 --by host --json`,
		RunE: func(cmd *cobra.Command, args []string) error { return s.reportDedup(cmd, args) },
	}
	f := cmd.Flags()
	f.StringVarP(&s.config, "config", "c", defaultConfig, "the main configuration file, to find the log")
	f.StringVar(&s.since, "since", "", "visits from this time on: 24h or 7d ago, or 2026, 2026-11, 2026-11-21, 2026-11-21T09:00:00Z")
	f.StringVar(&s.until, "until", "", "visits up to the end of this date, or so long ago")
	f.StringSliceVar(&s.by, "by", []string{"host", "mime"}, "tell apart by host, seed, mime, day or hour; may be repeated")
	f.IntVar(&s.top, "top", 20, "rows of each table, the most visits first; 0 = all")
	f.BoolVar(&s.asJSON, "json", false, "print JSON")
	s.every = time.Minute // has no meaning here
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

// dedupRow is one line of a table, as JSON.
type dedupRow struct {
	Key string `json:"key"`
	stats.Dedup
}

// dedupJSON is what --json prints.
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
	fmt.Fprintf(table, "%d logs with %s, from %s to %s\n\n", files, size(bytes), stamp(sum.First), stamp(sum.Last))
	fmt.Fprintf(table, "handled\t%d\t%s\n", d.Handled, size(d.Bytes))
	fmt.Fprintf(table, "new\t%s\t%s\n", countAndShare(d.New, d.Handled), size(d.Bytes-d.DuplicateBytes))
	fmt.Fprintf(table, "duplicates\t%s\t%s\n", countAndShare(d.Duplicates, d.Handled), size(d.DuplicateBytes))
	for _, kind := range []struct {
		name string
		n    int64
	}{{"exact", d.Exact}, {"equivalent", d.Equivalent}, {"other URI", d.Other}, {"not told", d.Unknown}} {
		if kind.n > 0 || kind.name != "not told" {
			fmt.Fprintf(table, "  %s\t%s\n", kind.name, countAndShare(kind.n, d.Handled))
		}
	}
	fmt.Fprintf(table, "discarded\t%s\t%s (%s of all)\n", countAndShare(d.Discarded, d.Handled), size(d.DiscardedBytes), share(d.DiscardedBytes, d.Bytes))
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
			fmt.Fprintf(table, "%s\t%d\t%d\t%s\t%s\t%d\t%d\t%d\t%d\n", r.Key, r.Dedup.Handled, r.Dedup.Duplicates, size(r.Dedup.Bytes),
				size(r.Dedup.DiscardedBytes), r.Dedup.New, r.Dedup.Exact, r.Dedup.Equivalent, r.Dedup.Other)
		}
	}
	return table.Flush()
}
