package frontier_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// TestURIsOfLostPayloadsAreDueAtTheirPace has URIs with a payload in a lost file, in another file, and without one.
func TestURIsOfLostPayloadsAreDueAtTheirPace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	now := at(time.Hour)
	add := func(u, file string, due time.Time) {
		e := frontier.Entry{Record: frontier.Record{URI: parse(t, u)}}
		e.Due, e.Visits, e.FirstSeen = due, 1, at(0)
		e.Validators = evaluators.Validators{ETag: `"1"`, LastModified: "Sat, 01 Jan 2026 00:00:00 GMT"}
		if file != "" {
			e.Origin = digest.Origin{RecordID: "urn:uuid:1", URI: u, File: file, Payload: digest.Of([]byte(u))}
		}
		if _, err := w.Import(now, true, e); err != nil {
			t.Fatal(err)
		}
	}
	later := now.Add(1000 * time.Hour)
	for i := range 3 {
		add(fmt.Sprintf("http://a.example/%d", i), "lost.warc.gz", later)
	}
	add("http://b.example/lost", "lost.warc.gz", later)
	add("http://b.example/soon", "lost.warc.gz", now)
	add("http://b.example/never", "lost.warc.gz", time.Time{})
	add("http://b.example/robots.txt", "lost.warc.gz", time.Time{})
	add("http://b.example/kept", "other.warc.gz", later)
	add("http://b.example/none", "", later)
	claimed := w.claim(now, "http://b.example/soon")

	n := map[uri.Host]int{}
	due := func(h uri.Host) time.Time { n[h]++; return now.Add(time.Duration(n[h]) * time.Minute) }
	isLost := func(o digest.Origin) bool { return o.File == "lost.warc.gz" }
	recapture := func() (all frontier.Steered) {
		for from := frontier.Cursor(""); ; {
			done, next, err := w.Recapture(now, from, isLost, due)
			must(t, err)
			if all = all.Plus(done); next == "" {
				return all
			}
			from = next
		}
	}
	if got, want := recapture(), (frontier.Steered{Matched: 7, Changed: 6, InProgress: 1}); got != want {
		t.Fatalf("%+v, want %+v", got, want)
	}
	w.check()
	dues := map[time.Time]bool{}
	for i := range 3 {
		r := w.get(fmt.Sprintf("http://a.example/%d", i))
		dues[r.Due] = true
		if r.Validators != (evaluators.Validators{}) || !r.Origin.IsZero() {
			t.Errorf("%s keeps %+v and %+v", r.URI, r.Validators, r.Origin)
		}
	}
	for i := 1; i <= 3; i++ {
		if !dues[now.Add(time.Duration(i)*time.Minute)] {
			t.Errorf("the URIs of a host are due at %v, want one each minute", dues)
		}
	}
	for u, want := range map[string]bool{"lost": true, "never": true, "robots.txt": false, "kept": false, "none": false} {
		r := w.get("http://b.example/" + u)
		if soon := !r.Due.IsZero() && r.Due.Before(now.Add(time.Hour)); soon != want {
			t.Errorf("%s is due at %s, want soon: %t", u, r.Due, want)
		}
	}
	if r := w.get("http://b.example/kept"); r.Validators.ETag == "" || r.Origin.IsZero() {
		t.Errorf("a URI of another file changed: %+v", r)
	}
	if got, want := recapture(), (frontier.Steered{Matched: 1, InProgress: 1}); got != want {
		t.Errorf("again: %+v, want %+v", got, want)
	}
	_ = claimed
}
