package stats

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/arcrawl/arcrawl/internal/human"
)

// dedupRow is one row of a table in JSON.
type dedupRow struct {
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
		From string                   `json:"from"`
		To   string                   `json:"to"`
		All  Dedup                    `json:"all"`
		By   map[Dimension][]dedupRow `json:"by"`
	}{Stamp(sum.First), Stamp(sum.Last), sum.All.Dedup, map[Dimension][]dedupRow{}}
	for _, d := range o.By {
		report.By[d] = []dedupRow{}
		for _, r := range o.first(sum.Rows(d)) {
			report.By[d] = append(report.By[d], dedupRow{r.Key, r.Dedup})
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
		rows := sum.Rows(dim)
		shown := o.first(rows)
		fmt.Fprintf(table, "\n%s", strings.ToUpper(string(dim)))
		if len(shown) < len(rows) {
			fmt.Fprintf(table, " (%d of %d; --top 0 prints all)", len(shown), len(rows))
		}
		fmt.Fprintf(table, "\n%s\thandled\tduplicates\tbytes\tdiscarded\tnew\texact\tequivalent\tother\n", dim)
		for _, r := range shown {
			fmt.Fprintf(table, "%s\t%d\t%d\t%s\t%s\t%d\t%d\t%d\t%d\n", o.label(dim, r.Key),
				r.Dedup.Handled, r.Dedup.Duplicates, human.Bytes(r.Dedup.Bytes),
				human.Bytes(r.Dedup.DiscardedBytes), r.Dedup.New, r.Dedup.Exact, r.Dedup.Equivalent, r.Dedup.Other)
		}
	}
	return table.Flush()
}
