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
