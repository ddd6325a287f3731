package crawler_test

import (
	"strings"
	"testing"

	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/crawllog"
)

// TestAnnotationsAreSaidInWords has an annotation of each kind, and what no version of the program writes.
func TestAnnotationsAreSaidInWords(t *testing.T) {
	t.Parallel()
	for annotation, want := range map[string]string{
		"chg:4.1": "4.1 changes a day are expected", "chg:0.033": "a change every 30d7h is expected", "miss:0.16": "about 16 % of versions are missed",
		"new:1": "about 1 version new since the last visit", "new:2.6": "about 3 versions new since the last visit", "spared:20480": "20.5 kB not transferred",
		"asked:120": "the server asked for no request during 2m", "dol:1": "1 link left out", "head:3": "3 lines of its header repaired",
		"feedNew:2": "2 entries new", "odds:0.37": "a change was expected with a probability of 37 %", "odds:2": "", "sitemapListed:1": "first reading, with 1 entry", "feedGap": "entries of the feed were probably missed",
		"challenge:cloudflare": "a challenge to prove that the visitor is human (cloudflare)", "err=connection_refused;_again": "connection refused; again",
		"permission:letter_of_the_publisher": "robots.txt forbids it; permitted by: letter of the publisher",
		"ip:192.0.2.7":                       "from 192.0.2.7", "content-size:12": "", "midFetchAbort": "stopped after the header, which showed no change",
		"duplicate:server-not-modified": "the server said that nothing changed (304)", "look:noisy": "fetched twice: only parts differ that a reader does not see",
		"chg:x": "", "miss:x": "", "new:x": "", "chg:-1": "", "somethingNew:7": "somethingNew:7", "": "",
	} {
		if got := crawler.Words(annotation); got != want {
			t.Errorf("%q is %q in words, want %q", annotation, got, want)
		}
	}
	for _, known := range []string{
		crawllog.Unchanged, crawllog.MidFetchAbort, crawllog.LengthTruncated, crawllog.TimeTruncated,
		crawllog.DuplicateDigest, crawllog.Unwritten, crawllog.Evidence, crawllog.OtherRequest, crawllog.AcceptedExpired,
		crawllog.Restless, crawllog.Noise,
		crawllog.Way + "x", crawllog.Permission + "x", crawllog.Spared + "1", crawllog.Asked + "1",
		crawllog.Look + "same", crawllog.Hit + "other",
	} {
		if got := crawler.Words(known); got == known || strings.ContainsAny(got, "_") {
			t.Errorf("%q has no words: %q", known, got)
		}
	}
}
