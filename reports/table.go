// This file writes summaries of crawl logs as tables for people, and as JSON.

package reports

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/arcrawl/arcrawl/crawllog"

	"github.com/arcrawl/arcrawl/internal/human"
)

// TableOptions say what to write.
type TableOptions struct {
	By       []Dimension // one table for each
	Top      int         // maximum number of rows of a table; 0 = all
	Statuses bool        // also write the number of visits by row and status
	JSON     bool

	Removed func(host string) bool // optional: reports whether the file of a host was removed
}

// encode writes a value as indented JSON.
func encode(out io.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// Write writes the summaries of a number of logs: totals, with one column for each period, and a table for each
// dimension.
func (o TableOptions) Write(out io.Writer, read *Outcome, logs int) error {
	if o.JSON {
		return o.writeJSON(out, read, logs)
	}
	main := read.Summaries[0]
	fmt.Fprintf(out, "%s, %s\n", human.Count(logs, "log"), human.Bytes(read.Bytes))
	if read.Skipped > 0 {
		fmt.Fprintf(out, "%s skipped: not in the format of a crawl log\n", human.Count(read.Skipped, "line"))
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	printTotals(table, read.Summaries)
	if err := table.Flush(); err != nil {
		return err
	}
	for _, d := range o.By {
		rows := main.Rows(d)
		var beside map[string]*Tally
		if len(read.Summaries) > 1 {
			beside = read.Summaries[1].By[d]
		}
		shown := o.heading(out, d, rows)
		table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		o.printRows(table, d, shown, beside)
		if err := table.Flush(); err != nil {
			return err
		}
		if o.Statuses {
			if err := o.printMatrix(out, d, shown); err != nil {
				return err
			}
		}
	}
	if o.Statuses && len(o.By) == 0 {
		return o.printMatrix(out, "all", []Row{{Key: "all", Tally: main.All}})
	}
	return nil
}

// first returns the rows to show.
func (o TableOptions) first(rows []Row) []Row {
	if o.Top > 0 && len(rows) > o.Top {
		return rows[:o.Top]
	}
	return rows
}

// heading writes the heading of the table of a dimension, and returns the rows to show.
func (o TableOptions) heading(out io.Writer, d Dimension, rows []Row) (shown []Row) {
	shown = o.first(rows)
	fmt.Fprintf(out, "\n%s", strings.ToUpper(string(d)))
	if len(shown) < len(rows) {
		fmt.Fprintf(out, " (%d of %d; --top 0 prints all)", len(shown), len(rows))
	}
	fmt.Fprintln(out)
	return shown
}

// printTotals prints one column for each period.
func printTotals(out io.Writer, sums []*Summary) {
	line := func(name string, of func(*Summary) string) {
		fmt.Fprint(out, name)
		for _, s := range sums {
			fmt.Fprint(out, "\t", of(s))
		}
		fmt.Fprintln(out)
	}
	count := func(name string, of func(*Tally) int64) {
		line(name, func(s *Summary) string { return countAndShare(of(&s.All), s.All.Visits) })
	}
	bytes := func(name string, of func(*Tally) int64) {
		line(name, func(s *Summary) string { return human.Bytes(of(&s.All)) })
	}
	line("from", func(s *Summary) string { return Stamp(s.First) })
	line("to", func(s *Summary) string { return Stamp(s.Last) })
	line("visits", func(s *Summary) string { return fmt.Sprint(s.All.Visits) })
	count("  answered", func(t *Tally) int64 { return t.Answered })
	count("  failed", func(t *Tally) int64 { return t.Failed })
	count("  not tried", func(t *Tally) int64 { return t.NotTried })
	count("versions", func(t *Tally) int64 { return t.Versions })
	line("  change rate", func(s *Summary) string { return changeRate(&s.All) })
	count("unchanged", func(t *Tally) int64 { return t.Unchanged })
	count("  answered 304", func(t *Tally) int64 { return t.NotModified })
	count("  cut short after the headers", func(t *Tally) int64 { return t.BrokenOff })
	count("duplicates", func(t *Tally) int64 { return t.Duplicates })
	bytes("received", func(t *Tally) int64 { return t.Received })
	line("spared", func(s *Summary) string {
		part := share(s.All.Spared, s.All.Spared+s.All.Received)
		return fmt.Sprintf("%s (%s of all bytes)", human.Bytes(s.All.Spared), part)
	})
	bytes("deduplicated", func(t *Tally) int64 { return t.Deduped })
	line("overdue", func(s *Summary) string { return lateness(s.All.Overdue) })
	line("wait set", func(s *Summary) string { return lateness(s.All.Wait) })
}

// label returns the key of a row as people read it.
func (o TableOptions) label(d Dimension, key string) string {
	switch d {
	case ByHost:
		if o.Removed != nil && o.Removed(key) {
			return human.Host(key) + ", removed"
		}
		return human.Host(key)
	case BySeed:
		return human.URI(key)
	}
	return key
}

// printRows prints the table of one dimension, with columns of the second period if there is one.
func (o TableOptions) printRows(out io.Writer, d Dimension, rows []Row, beside map[string]*Tally) {
	fmt.Fprintf(out, "%s\tvisits\tfailed\tversions\tchange rate\treceived\tspared\toverdue p50\tp90\tp99\tmax", d)
	if beside != nil {
		fmt.Fprint(out, "\tcompared: visits\tfailed\tversions\tchange rate\toverdue p50\tp99")
	}
	fmt.Fprintln(out)
	for _, r := range rows {
		late := r.Overdue
		fmt.Fprintf(out, "%s\t%d\t%d\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s", o.label(d, r.Key), r.Visits, r.Failed, r.Versions,
			changeRate(&r.Tally), human.Bytes(r.Received), human.Bytes(r.Spared),
			human.About(late.Quantile(0.5)), human.About(late.Quantile(0.9)), human.About(late.Quantile(0.99)),
			human.About(late.Max()))
		if beside != nil {
			was := beside[r.Key]
			if was == nil {
				was = new(Tally)
			}
			fmt.Fprintf(out, "\t%d\t%d\t%d\t%s\t%s\t%s", was.Visits, was.Failed, was.Versions, changeRate(was),
				human.About(was.Overdue.Quantile(0.5)), human.About(was.Overdue.Quantile(0.99)))
		}
		fmt.Fprintln(out)
	}
}

// matrixColumns is the number of statuses with a column of their own. The rarest share the last column.
const matrixColumns = 12

// printMatrix prints the number of visits by row and status.
func (o TableOptions) printMatrix(out io.Writer, d Dimension, rows []Row) error {
	sum := make(map[int]int64)
	for _, r := range rows {
		for status, n := range r.Status {
			sum[status] += n
		}
	}
	mostFirst := func(a, b int) int { return cmp.Or(cmp.Compare(sum[b], sum[a]), cmp.Compare(a, b)) }
	statuses := slices.SortedFunc(maps.Keys(sum), mostFirst)
	statuses = statuses[:min(len(statuses), matrixColumns)]
	slices.Sort(statuses)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(out, "\nstatuses by %s\n", d)
	for _, status := range statuses {
		fmt.Fprintf(table, "%d\t", status)
	}
	fmt.Fprintf(table, "others\t  %s\n", d)
	for _, r := range rows {
		rest := r.Visits
		for _, status := range statuses {
			rest -= r.Status[status]
			fmt.Fprintf(table, "%s\t", dashIfNone(r.Status[status]))
		}
		fmt.Fprintf(table, "%s\t  %s\n", dashIfNone(rest), o.label(d, r.Key))
	}
	return table.Flush()
}

// dashIfNone writes n, or "-" for 0.
func dashIfNone(n int64) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprint(n)
}

// statsJSON is the output of --json.
type statsJSON struct {
	Logs    int          `json:"logs"`
	Bytes   int64        `json:"bytes"`
	Strange int64        `json:"strange_lines"`
	Periods []periodJSON `json:"periods"`
}

// periodJSON is the summary of one period.
type periodJSON struct {
	First string              `json:"first,omitempty"`
	Last  string              `json:"last,omitempty"`
	All   Tally               `json:"all"`
	By    map[Dimension][]Row `json:"by,omitempty"`
}

// writeJSON writes the summaries as JSON.
func (o TableOptions) writeJSON(out io.Writer, read *Outcome, logs int) error {
	all := statsJSON{Logs: logs, Bytes: read.Bytes, Strange: read.Skipped}
	for _, sum := range read.Summaries {
		all.Periods = append(all.Periods, o.periodJSON(sum))
	}
	return encode(out, all)
}

// periodJSON returns the summary of one period for JSON.
func (o TableOptions) periodJSON(sum *Summary) periodJSON {
	p := periodJSON{All: sum.All}
	if sum.All.Visits > 0 {
		p.First, p.Last = Stamp(sum.First), Stamp(sum.Last)
	}
	for _, d := range o.By {
		if p.By == nil {
			p.By = make(map[Dimension][]Row)
		}
		p.By[d] = o.first(sum.Rows(d))
	}
	return p
}

// WriteAdded writes one line for the visits that were added to a log, and one for each row. A line without visits has
// the time now.
func (o TableOptions) WriteAdded(out io.Writer, sum *Summary, now time.Time) error {
	if o.JSON {
		return json.NewEncoder(out).Encode(o.periodJSON(sum))
	}
	line := func(name string, t *Tally) error {
		_, err := fmt.Fprintf(out, "%s  %s, %d failed, %s, %s received, %s spared, overdue %s\n",
			name, human.Count(t.Visits, "visit"), t.Failed, human.Count(t.Versions, "version"),
			human.Bytes(t.Received), human.Bytes(t.Spared), lateness(t.Overdue))
		return err
	}
	last := sum.Last
	if last.IsZero() {
		last = now
	}
	if err := line(Stamp(last), &sum.All); err != nil {
		return err
	}
	for _, d := range o.By {
		for _, r := range o.first(sum.Rows(d)) {
			if err := line("  "+o.label(d, r.Key), &r.Tally); err != nil {
				return err
			}
		}
	}
	return nil
}

// Stamp writes a time in ISO 8601, or "-" for none.
func Stamp(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format("2006-01-02T15:04:05Z")
}

// share writes n as a share of total.
func share(n, total int64) string {
	if total == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(n)/float64(total))
}

// countAndShare writes n and its share of total.
func countAndShare(n, total int64) string { return fmt.Sprintf("%d (%s)", n, share(n, total)) }

// changeRate writes the share of visits that found a new version.
func changeRate(t *Tally) string {
	rate, ok := t.ChangeRate()
	if !ok {
		return "–"
	}
	return fmt.Sprintf("%.1f %%", 100*rate)
}

// lateness writes the quantiles of a histogram of durations.
func lateness(h crawllog.Histogram) string {
	if h.Count() == 0 {
		return "–"
	}
	return fmt.Sprintf("p50 %s, p90 %s, p99 %s, max %s", human.About(h.Quantile(0.5)), human.About(h.Quantile(0.9)),
		human.About(h.Quantile(0.99)), human.About(h.Max()))
}

// duplicateRow is one row of a table in JSON.
type duplicateRow struct {
	Key string `json:"key"`
	Dedup
}

// WriteDedup writes how the payloads in a number of logs were deduplicated. bytes is the size of the logs.
func (o TableOptions) WriteDedup(out io.Writer, sum *Summary, logs int, bytes int64) error {
	if o.JSON {
		return encode(out, o.dedupJSON(sum))
	}
	return o.dedupTable(out, sum, logs, bytes)
}

// dedupJSON returns the report for JSON.
func (o TableOptions) dedupJSON(sum *Summary) any {
	report := struct {
		From string                       `json:"from"`
		To   string                       `json:"to"`
		All  Dedup                        `json:"all"`
		By   map[Dimension][]duplicateRow `json:"by"`
	}{Stamp(sum.First), Stamp(sum.Last), sum.All.Dedup, map[Dimension][]duplicateRow{}}
	for _, d := range o.By {
		report.By[d] = []duplicateRow{}
		for _, r := range o.first(sum.Rows(d)) {
			report.By[d] = append(report.By[d], duplicateRow{r.Key, r.Dedup})
		}
	}
	return report
}

// dedupTable writes the report as tables.
func (o TableOptions) dedupTable(out io.Writer, sum *Summary, logs int, bytes int64) error {
	d := sum.All.Dedup
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "%s with %s, from %s to %s\n\n",
		human.Count(logs, "log"), human.Bytes(bytes), Stamp(sum.First), Stamp(sum.Last))
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
	fmt.Fprintf(table, "discarded\t%s\t%s (%s of all)\n",
		countAndShare(d.Discarded, d.Handled), human.Bytes(d.DiscardedBytes), share(d.DiscardedBytes, d.Bytes))
	fmt.Fprintf(table, "  without a revisit\t%s\n", countAndShare(d.Unwritten, d.Handled))
	fmt.Fprintf(table, "not modified (304)\t%d\n", sum.All.NotModified)
	for _, dim := range o.By {
		shown := o.heading(table, dim, sum.Rows(dim))
		fmt.Fprintf(table, "%s\thandled\tduplicates\tbytes\tdiscarded\tnew\texact\tequivalent\tother\n", dim)
		for _, r := range shown {
			fmt.Fprintf(table, "%s\t%d\t%d\t%s\t%s\t%d\t%d\t%d\t%d\n", o.label(dim, r.Key),
				r.Dedup.Handled, r.Dedup.Duplicates, human.Bytes(r.Dedup.Bytes),
				human.Bytes(r.Dedup.DiscardedBytes), r.Dedup.New, r.Dedup.Exact, r.Dedup.Equivalent, r.Dedup.Other)
		}
	}
	return table.Flush()
}
