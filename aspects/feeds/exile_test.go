package feeds

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/uri"
)

// rssWith returns a feed with one entry and these elements of its channel.
func rssWith(elements string) string {
	return `<rss version="2.0" xmlns:sy="http://purl.org/rss/1.0/modules/syndication/"><channel><title>t</title>` + elements +
		`<item><link>/a</link><guid>1</guid></item></channel></rss>`
}

// Nothing that a source says, by number or date, puts its next visit off beyond the settings.
func TestNoNumberOfASourceExilesIt(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	allHours := "<skipHours>"
	for n := range 25 {
		allHours += fmt.Sprintf("<hour>%d</hour>", n)
	}
	allHours += "</skipHours>"
	allDays := "<skipDays>"
	for d := time.Sunday; d <= time.Saturday; d++ {
		allDays += "<day>" + d.String() + "</day>"
	}
	allDays += "</skipDays>"
	for _, c := range []struct{ name, text, cacheControl string }{
		{"ttl of a year", rssWith("<ttl>525600</ttl>"), ""},
		{"ttl of 8,000 years", rssWith("<ttl>4294967295</ttl>"), ""},
		{"ttl beyond every number", rssWith("<ttl>99999999999999999999999</ttl>"), ""},
		{"ttl below zero", rssWith("<ttl>-9223372036854775808</ttl>"), ""},
		{"every hour is skipped", rssWith(allHours), ""},
		{"every day is skipped", rssWith(allDays), ""},
		{"all of that", rssWith("<ttl>4294967295</ttl>" + allHours + allDays), "max-age=4294967295"},
		{"updated once a year", rssWith("<sy:updatePeriod>yearly</sy:updatePeriod><sy:updateFrequency>1</sy:updateFrequency>"), ""},
		{"updated never", rssWith("<sy:updatePeriod>yearly</sy:updatePeriod><sy:updateFrequency>-1</sy:updateFrequency>"), ""},
		{"fresh for 136 years", rssWith(""), "max-age=4294967295"},
		{"fresh forever", rssWith(""), "public, max-age=99999999999999999999, immutable"},
		{"entries of the future", rssWith("<pubDate>Thu, 01 Jan 2099 00:00:00 GMT</pubDate><lastBuildDate>Fri, 31 Dec 9999 23:59:59 GMT</lastBuildDate>"), ""},
		{"a sitemap of the future", `<urlset><url><loc>/a</loc><lastmod>2099-01-01</lastmod><changefreq>never</changefreq></url></urlset>`, ""},
		{"a sitemap of the last day", `<urlset><url><loc>/a</loc><lastmod>9999-12-31T23:59:59Z</lastmod><changefreq>yearly</changefreq></url></urlset>`, "max-age=4294967295"},
		{"a sitemap of the first day", `<urlset><url><loc>/a</loc><lastmod>0001-01-01T00:00:00Z</lastmod></url></urlset>`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			doc, err := Read(uri.FromCanonical("http://news.example/feed"), "text/xml", true, strings.NewReader(c.text), Bounds{})
			if err != nil || doc.Fault != nil {
				t.Fatal(err, doc.Fault)
			}
			cached := CacheHint(http.Header{"Cache-Control": {c.cacheControl}})
			for _, hintsUpTo := range []time.Duration{0, time.Hour, 48 * time.Hour} {
				p := DefaultPolicy()
				p.HintsUpTo = hintsUpTo
				state := State{}.After(now, doc, Reading{First: true, Listed: len(doc.Items)}, 0, 0)
				stored, err := OpenState(state.Bytes())
				if err != nil {
					t.Fatal(err)
				}
				bounds, _ := p.waits(doc.Kind)
				for range 50 { // visits that find nothing new, until the source is on the slow lane
					w := p.Next(stored, now, cached)
					longest := max(bounds.Max, p.SilentWait) + 2*hintsUpTo
					if w.Interval < p.MinWait || w.Interval > longest {
						t.Fatalf("the next visit is in %s, want at most %s: %s", w.Interval, longest, w.Reason)
					}
					now := stored.Read.Add(w.Interval)
					stored = stored.Unchanged(now)
				}
			}
			for _, i := range doc.Items {
				if at, ok := doc.PageDates(now, 0).Changed(i); ok && at.After(now) {
					t.Errorf("the page of an entry changed at %s, in the future", at)
				}
			}
		})
	}
}
