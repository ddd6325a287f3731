package crawler_test

import (
	"context"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
	"github.com/arcrawl/arcrawl/uri"
)

// knownAt is a connection that says where it leads to, as one over a network does.
type knownAt struct{ net.Conn }

func (knownAt) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(203, 0, 113, 117), Port: 80} }

// TestAnUnchangedVisitLeavesFewBytes compares what a visit that is answered 304 leaves on disk with bounds: its
// compressed records, its lines in crawl.log and in the index. The rows of the store are overwritten, so they do not
// grow. Most visits are of this kind, so a hundred bytes more are 10 GB for a hundred million visits a year. The goals
// are 900 bytes in the archive and 1,600 in all; the bounds are 1 % above the measured values.
func TestAnUnchangedVisitLeavesFewBytes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, settings string
		records        string
		archive, all   int64
	}{
		{"as by default", "", "revisit metadata", 900, 1550},
		{"with a record of each request", "[warc]\nusual_requests = true\n", "revisit request metadata", 1335, 1980},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			const page = "http://www.news.example/politics/2026/election-results-by-county.html"
			dir := inTown(t, c.settings+"[seeds]\nuris = [\"http://www.news.example/\"]\n", func(_ *testing.T, w *world) {
				w.set("http://www.news.example/", testcrawl.Page{ETag: "honest", Links: []string{page}})
				w.set(page, testcrawl.Page{ETag: "honest"})
				parts, shut := w.openWith(func(ctx context.Context, network, address string) (net.Conn, error) {
					conn, err := w.dial(ctx, network, address)
					return knownAt{conn}, err
				})
				defer shut()
				w.crawl(parts, 30*24*time.Hour)
			})
			records, archived, rest := lastVisit(t, dir, page)
			t.Logf("%d bytes in the archive, %d in all", archived, archived+rest)
			if records != c.records || archived > c.archive || archived+rest > c.all {
				t.Errorf("the records are %q, of %d bytes and %d in all; want %q, at most %d and %d",
					records, archived, archived+rest, c.records, c.archive, c.all)
			}
		})
	}
}

// lastVisit returns the types of the records of the last visit of a URI, their compressed bytes, and the bytes of its
// lines in crawl.log and in the index.
func lastVisit(t *testing.T, dir, page string) (records string, archived, rest int64) {
	t.Helper()
	var types []string
	last := index.Entry{
		Key: uri.ReplayKey(page), URL: page, MIME: index.RevisitMIME,
		Offset: 500_000_000, Filename: "arcrawl-20261121090000000-00001-vm.warc.gz",
	}
	for _, r := range testcrawl.CheckArchive(t, dir) {
		if !strings.HasSuffix(r.Target(), page) {
			continue
		}
		if r.Main() {
			types, archived, last.Length = nil, 0, r.Length
		}
		types, archived = append(types, r.Type()), archived+r.Length
		t.Logf("%d bytes: %s\n%s", r.Length, r.Type(), r.Block)
	}
	var line crawllog.Entry
	for _, e := range testcrawl.ReadLog(t, dir+"/crawl.log") {
		if e.URI == page {
			line = e
		}
	}
	if line.Status != http.StatusNotModified {
		t.Fatalf("the last visit brought the status %d", line.Status)
	}
	last.Timestamp, last.Digest = index.Stamp(line.Started, false), line.Digest.String()
	rest = int64(len(last.AppendTo(nil)) + len(line.AppendTo(nil, false)) + len("\n"))
	return strings.Join(types, " "), archived, rest
}
