package reports_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/reports"

	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/crawllog"
)

func TestDeduplicationIsCounted(t *testing.T) {
	t.Parallel()
	line := func(minute int, status int, size int64, annotations ...string) crawllog.Entry {
		return visit(time.Duration(minute)*time.Minute, "http://news.example/", status, size, annotations...)
	}
	file := write(t, filepath.Join(t.TempDir(), "crawl.log"),
		line(0, 200, 1, "hit:none"),
		line(1, 200, 10, "hit:exact", crawllog.DuplicateDigest),
		line(2, 200, 100, "hit:equivalent", crawllog.DuplicateDigest),
		line(3, 200, 1000, "hit:other", crawllog.DuplicateDigest),
		line(4, 200, 10_000, "hit:exact"),                           // force-new
		line(5, 200, 100_000, "hit:exact", crawllog.Unwritten),      // thinned
		line(6, 200, 1_000_000, crawllog.DuplicateDigest),           // an older log
		line(7, 200, 10_000_000),                                    // not looked up
		line(8, 304, 0, crawllog.DuplicateNotModified, "unchanged"), // no payload
		line(9, 304, 0, crawllog.Unwritten, "unchanged"),            // no payload, thinned
	)
	out, err := reports.Read(t.Context(), []string{file, file}, reports.Options{By: []reports.Dimension{reports.ByHost}})
	must(t, err)
	want := reports.Dedup{
		Handled: 14, Bytes: 2 * 1_111_111, New: 2, Duplicates: 12, Exact: 6, Equivalent: 2, Other: 2, Unknown: 2,
		DuplicateBytes: 2 * 1_111_110, Discarded: 10, DiscardedBytes: 2 * 1_101_110, Unwritten: 2,
	}
	if diff := cmp.Diff(want, out.Summaries[0].All.Dedup); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if diff := cmp.Diff(want, out.Summaries[0].Rows(reports.ByHost)[0].Dedup); diff != "" {
		t.Errorf("of the host: -want +got:\n%s", diff)
	}
}
