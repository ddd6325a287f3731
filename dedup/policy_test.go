package dedup_test

import (
	"crypto/sha256"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/dedup"
	"github.com/arcrawl/arcrawl/digest"
)

func TestRevisitsAreThinnedByPeriod(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	at := func(d time.Duration) time.Time { return day.Add(d) }
	for _, row := range []struct {
		name        string
		revisits    dedup.Revisits
		before, now time.Duration
		want        bool
	}{
		{"each visit", dedup.Revisits{}, 0, time.Second, true},
		{"none", dedup.Revisits{None: true}, 0, 999 * time.Hour, false},
		{"the second of a day", dedup.Revisits{Once: 24 * time.Hour}, time.Hour, 23 * time.Hour, false},
		{"the first of a day, though the last was an hour ago", dedup.Revisits{Once: 24 * time.Hour}, 23*time.Hour + 30*time.Minute, 24*time.Hour + 30*time.Minute, true},
		{"the first in a week", dedup.Revisits{Once: 7 * 24 * time.Hour}, -7 * 24 * time.Hour, 0, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if got := row.revisits.Wants(at(row.now), at(row.before)); got != row.want {
				t.Errorf("Wants = %v, want %v", got, row.want)
			}
		})
	}
}

// Entries of imported archives have no SHA-256. They count until a better one is there.
func TestEntriesWithoutSHA256StillCount(t *testing.T) {
	t.Parallel()
	i := openIndex(t, openStore(t, t.TempDir()))
	old := dedup.Key{Payload: digest.Of([]byte("p")), Status: 200, MIME: "image/png"}
	strong, other := old, old
	strong.Strong, other.Strong = digest.SHA256(sha256.Sum256([]byte("p"))).Half(), digest.SHA256(sha256.Sum256([]byte("q"))).Half()
	find := func(k dedup.Key, uri string, by dedup.By) dedup.Match {
		m, err := i.Find(dedup.Query{Key: k, URI: uri, By: by})
		must(t, err)
		return m
	}
	must(t, i.Put(old, at("http://old.example/", "p", 1)))
	for _, k := range []dedup.Key{strong, other} {
		if m := find(k, "http://new.example/", dedup.Digest); m.Origin.URI != "http://old.example/" || !m.Origin.Strong.IsZero() {
			t.Errorf("the old entry is not found: %+v", m)
		}
	}
	must(t, i.Put(strong, at("http://new.example/", "p", 2)))
	if m := find(strong, "http://x.example/", dedup.Digest); m.Origin.URI != "http://new.example/" || m.Origin.Strong != strong.Strong {
		t.Errorf("the entry with the SHA-256 is not preferred: %+v", m)
	}
	if m := find(strong, "http://old.example/", dedup.URIFirst); m.Origin.URI != "http://old.example/" || m.Hit != dedup.Exact {
		t.Errorf("the old entry of the same URI is not preferred to another URI: %+v", m)
	}
	if m := find(strong, "http://x.example/", dedup.URI); m != (dedup.Match{}) {
		t.Errorf("an entry of another URI is found: %+v", m)
	}
}

// at returns origin n of a payload, captured under the given URI.
func at(uri, payload string, n int) digest.Origin {
	o := origin(payload, n)
	o.URI = uri
	return o
}

func TestFindChoosesTheRecordForACapture(t *testing.T) {
	t.Parallel()
	i := openIndex(t, openStore(t, t.TempDir()))
	k := dedup.Key{Payload: digest.Of([]byte("p")), Status: 200, MIME: "image/png"}
	for n, uri := range []string{"http://first.example/", "http://second.example/", "http://www.third.example/", "http://second.example/"} {
		must(t, i.Put(k, at(uri, "p", n)))
	}
	const none = -1
	for _, c := range []struct {
		name       string
		uri        string
		by         dedup.By
		equivalent bool
		want       int // number of the origin
		hit        dedup.Hit
	}{
		{"any record: the first, also for another URI", "http://second.example/", dedup.Digest, false, 0, dedup.Other},
		{"any record, and the first is of the URI", "http://first.example/", dedup.Digest, false, 0, dedup.Exact},
		{"the same URI first", "http://second.example/", dedup.URIFirst, false, 1, dedup.Exact},
		{"the same URI first, and there is none", "http://fourth.example/", dedup.URIFirst, false, 0, dedup.Other},
		{"only the same URI", "http://second.example/", dedup.URI, false, 1, dedup.Exact},
		{"only the same URI, and there is none", "http://fourth.example/", dedup.URI, false, none, dedup.Miss},
		{"an equivalent URI is another one", "http://third.example/", dedup.URI, false, none, dedup.Miss},
		{"an equivalent URI is the same where that is allowed", "http://third.example/", dedup.URI, true, 2, dedup.Equivalent},
		{"the first record is of an equivalent URI", "http://www.first.example/", dedup.URI, true, 0, dedup.Equivalent},
		{"an equivalent URI comes before any", "http://third.example/", dedup.URIFirst, true, 2, dedup.Equivalent},
		{"the very same URI comes before an equivalent one", "http://www.third.example/", dedup.URIFirst, true, 2, dedup.Exact},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := i.Find(dedup.Query{Key: k, URI: c.uri, By: c.by, Equivalent: c.equivalent})
			if err != nil || m.Hit != c.hit {
				t.Fatalf("Find = %v, %v; want %v", m.Hit, err, c.hit)
			}
			if c.want != none && m.Origin.Offset != int64(c.want) {
				t.Errorf("Find = record %d, want %d", m.Origin.Offset, c.want)
			}
		})
	}
}

func TestForgetRemovesTheEntriesOfALostFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db := openStore(t, dir)
	i := openIndex(t, db)
	put := func(payload string, offset int64) (dedup.Key, digest.Origin) {
		o := origin(payload, 1)
		o.Offset, o.Length = offset, 50
		k := dedup.Key{Payload: digest.Of([]byte(payload)), Status: 200}
		must(t, i.Put(k, o))
		return k, o
	}
	before, kept := put("before", 0)
	across, _ := put("across", 60)
	behind, _ := put("behind", 120)
	must(t, i.Forget("a-\xff.warc.gz", 500))
	must(t, i.Forget("a-\xff.warc.gz", 100))
	must(t, i.Forget("a-\xff.warc.gz", 300)) // forgetting less of the file changes nothing
	check := func() {
		t.Helper()
		want(t, i, before, kept)
		want(t, i, across, digest.Origin{})
		want(t, i, behind, digest.Origin{})
		if i.Lost(digest.Origin{}) || i.Lost(kept) {
			t.Error("an existing record counts as lost")
		}
	}
	check()
	must(t, db.Close())
	i = openIndex(t, openStore(t, dir))
	check()
	again := origin("behind", 9)
	again.File = "b.warc.gz"
	must(t, i.Put(behind, again))
	want(t, i, behind, again)
}
