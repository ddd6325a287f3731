package crawler_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
	"github.com/arcrawl/arcrawl/uri"
)

var missingDay = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const missingPage = "http://a.example/"

// missingSettings returns a configuration with the usual delays.
func missingSettings(t *testing.T) *config.Config {
	t.Helper()
	const operator = "[operator]\nname = \"Test Library\"\ncontact = \"https://library.example/crawler\"\n"
	return testcrawl.Load(t, t.TempDir(), operator+"[seeds]\nuris = [\"http://a.example/\"]\n")
}

// missingLine returns the line of a visit of the page. It began n seconds after missingDay and took a second.
func missingLine(n, visits int, status string, notes string) string {
	at := missingDay.Add(time.Duration(n) * time.Second)
	began := strings.Replace(at.Format("20060102150405.000"), ".", "", 1)
	return fmt.Sprintf("%s   %s         10 %s - - text/html #001 %s+1000 - - %swt:%s,%dvis,1ver,ov:0ms "+
		`{"contentState":"unknown","waitEvaluator":"retry","misfortune":"busy","due":"2026-03-02T12:00:00.000Z"}`+"\n",
		at.Add(time.Second).Format("2006-01-02T15:04:05.000Z"), status, missingPage, began, notes, crawllog.Duration(24*time.Hour), visits)
}

// storeKnowing returns a store that knows some visits of the missingPage, the last one n seconds after missingDay.
func storeKnowing(t *testing.T, n, visits int) *frontier.Frontier {
	t.Helper()
	f, err := frontier.Open(frontier.Options{Dir: t.TempDir(), Now: missingDay.Add(-time.Hour), Compactors: -1})
	archivetest.Must(t, err)
	t.Cleanup(func() { archivetest.Must(t, f.Close()) })
	e := frontier.Entry{Record: frontier.Record{URI: uri.FromCanonical(missingPage)}}
	e.Due, e.Visits, e.FirstSeen = missingDay, visits, missingDay
	e.LastVisit = missingDay.Add(time.Duration(n) * time.Second)
	if _, err := f.Import(missingDay, true, e); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestOnlyVisitsThatTheStoreDoesNotKnowAreMissing(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "crawl.log")
	older := missingLine(0, 1, "200", "") + missingLine(10, 2, "200", "")
	newer := missingLine(20, 3, "200", "") + missingLine(30, 4, "503", "asked:600,")
	for _, c := range []struct {
		name     string
		seconds  int // of the last visit that the store knows
		visits   int // that it knows
		maxBytes int64
		missing  int64
		since    int
		more     bool
	}{
		{name: "none", seconds: 30, visits: 4},
		{name: "the last one", seconds: 20, visits: 3, missing: 1, since: 31},
		{name: "some, in a rotated log too", seconds: 0, visits: 1, missing: 3, since: 11},
		{name: "the URI was visited again since", seconds: 40, visits: 1},
		{name: "not all was read", seconds: 0, visits: 1, maxBytes: 400, missing: 1, since: 31, more: true},
	} {
		archivetest.Must(t, os.WriteFile(log+".1", []byte(older), 0o600))
		archivetest.Must(t, os.WriteFile(log, []byte(newer), 0o600))
		f := storeKnowing(t, c.seconds, c.visits)
		m, err := crawler.FindMissing(t.Context(), f, missingSettings(t), log, c.maxBytes, missingDay.Add(32*time.Second))
		if err != nil || m.Visits != c.missing || m.More != c.more {
			t.Errorf("%s: found %+v (%v), want %d, more: %t", c.name, m, err, c.missing, c.more)
		}
		if want := missingDay.Add(time.Duration(c.since) * time.Second); c.missing > 0 && !m.Since.Equal(want) {
			t.Errorf("%s: missing since %s, want %s", c.name, m.Since, want)
		}
	}
}

// The store forgot the answer of the host, and therefore the rest that the answer asked for.
func TestAHostRestsAsItsLostAnswerAsked(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "crawl.log")
	archivetest.Must(t, os.WriteFile(log, []byte(missingLine(20, 3, "200", "")+missingLine(30, 4, "503", "asked:600,")), 0o600))
	f, now, c := storeKnowing(t, 20, 3), missingDay.Add(32*time.Second), missingSettings(t)
	if next, ok := f.NextReady(); !ok || next.After(now) {
		t.Fatalf("without the lost answer, the host is ready at %s (%t)", next, ok)
	}
	m, err := crawler.FindMissing(t.Context(), f, c, log, 0, now)
	archivetest.Must(t, err)
	archivetest.Must(t, m.Rest(f, c, now))
	if next, ok := f.NextReady(); !ok || !next.Equal(missingDay.Add(631*time.Second)) {
		t.Errorf("the host is ready at %s (%t), want ten minutes after the lost answer", next, ok)
	}
}
