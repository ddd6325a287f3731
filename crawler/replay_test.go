package crawler_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler/history"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/evaluators/rate"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/internal/town"
	"github.com/arcrawl/arcrawl/uri"
)

// A small web with many kinds of pages is crawled for ten days. Then the log and the archive are replayed without the
// store.
func TestReplayedLogGivesTheSameHistoryAsTheVisits(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	inTown(t, `
[change]
mode = "scrubbed"
scrub = ['\d\d:\d\d']
[trouble]
gone_after = 3
[seeds]
uris = ["http://a.example/", "http://b.example/secret", "http://down.example/"]
`, func(t *testing.T, w *world) {
		w.set("http://a.example/", town.Page{Links: []string{"/etag", "/moved", "/gone", "/quiet", "/copy", "http://b.example/x"}, Every: 6 * time.Hour})
		w.set("http://a.example/etag", town.Page{ETag: "honest", Modified: "honest", Every: 50 * time.Hour})
		w.set("http://a.example/quiet", town.Page{Size: 5000})
		w.set("http://a.example/copy", town.Page{Size: 5000})
		w.set("http://b.example/robots.txt", town.Page{Body: "User-agent: *\nDisallow: /secret\n", Type: "text/plain"})
		w.set("http://b.example/x", town.Page{ETag: "weak", Every: 90 * time.Hour})
		w.set("http://a.example/moved", town.Page{Status: 301, Location: "/etag"})
		w.set("http://down.example/", town.Page{Down: true})
		w.run(10 * 24 * time.Hour)

		want := map[uri.URI]frontier.Entry{}
		parts, shut := w.open()
		list, _, err := parts.Frontier.List(time.Now(), frontier.Selection{}, "", 1000)
		must(t, err)
		for _, e := range list {
			want[e.URI] = e
		}
		shut()
		got := map[uri.URI]frontier.Entry{}
		for _, l := range w.logLines() {
			u := uri.FromCanonical(l.URI)
			e := got[u]
			e.URI = u
			got[u], _ = history.Replay(e, l, history.Facts{Waits: evaluators.Default()})
		}
		library, err := index.OpenLibrary(t.Context(), w.path("warc"), index.Options{}, func(f warc.Finding) error { return fmt.Errorf("%+v", f) })
		must(t, err)
		defer library.Close()
		visits, gone, origins, down := 0, 0, 0, 0
		for u, e := range got {
			e.History = history.Recaptured(e.History, recordOf(library.On(u.String(), e.LastRead)), payloadOf(library, e))
			if diff := cmp.Diff(lossy(want[u]), lossy(e), cmp.Comparer(func(a, b uri.URI) bool { return a == b })); diff != "" {
				t.Errorf("%s: -remembered +replayed:\n%s", u, diff)
			}
			if early := want[u].Due.Sub(e.Due); early > 0 || early < -2*time.Millisecond {
				t.Errorf("%s is due %s too early", u, early)
			}
			delete(want, u)
			visits, gone, down = visits+e.Visits, gone+e.Gone, down+e.Failures
			if e.Origin.RecordID != "" && e.Origin.Length > 0 {
				origins++
			}
		}
		if len(got) < 10 || visits < 100 || gone == 0 || down == 0 || origins < 6 {
			t.Errorf("%d URIs, %d visits, gone %d times, down %d times, %d origins: too few to check", len(got), visits, gone, down, origins)
		}
		for u, e := range want {
			if e.Visits > 0 {
				t.Errorf("%s was visited, but is not in the log", u)
			}
		}
	})
}

// Pages change each day at nine, at random or never. From the log alone the learned rule estimates almost the same
// rates as from the visits. Each page has a host of its own, because the log lacks what similar URIs add to a new one.
func TestReplayedLogTeachesTheLearnedRule(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		const daily, often, quiet = "http://daily.example/", "http://often.example/", "http://quiet.example/"
		w := newWorld(t, dir, fmt.Sprintf("[[wait]]\nmime = \".*\"\nrule = \"learned\"\n[seeds]\nuris = [%q, %q, %q]\n", daily, often, quiet))
		w.set(daily, town.Page{Every: 24 * time.Hour, From: 9 * time.Hour})
		w.set(often, town.Page{Every: 5 * time.Hour})
		w.set(quiet, town.Page{})
		parts, shut := w.open()
		defer shut()
		w.crawl(parts, 10*24*time.Hour)
		waits := parts.Config.Current().For(config.About{URI: uri.FromCanonical(daily)}).Wait
		got := map[uri.URI]frontier.Entry{}
		for _, l := range w.logLines() {
			u := uri.FromCanonical(l.URI)
			e := got[u]
			e.URI = u
			got[u], _ = history.Replay(e, l, history.Facts{Waits: waits})
		}
		for _, page := range []string{daily, often, quiet} {
			u := uri.FromCanonical(page)
			want, _, err := parts.Frontier.Get(u)
			must(t, err)
			for _, state := range []evaluators.State{evaluators.Unchanged, evaluators.Changed} {
				next := func(h frontier.History) time.Duration {
					return waits.Next(evaluators.WaitInput{
						State: state, Previous: h.Wait, Evidence: evaluators.Evidence{At: h.Due, Memory: rate.Memory(h.Memory)},
					}).Interval
				}
				if is, was := next(got[u].History), next(want.History); is < was*9/10 || is > was*11/10 {
					t.Errorf("%s: %s at its next visit leads to a wait of %s after the replay, %s before", page, state, is, was)
				}
			}
		}
	})
}

func payloadOf(l *index.Library, e frontier.Entry) *history.Record {
	if e.Origin.File != "" {
		return recordOf(l.At(e.Origin.URI, e.Origin.File, e.Origin.Offset))
	}
	return recordOf(l.On(e.Origin.URI, e.Origin.Date))
}

func recordOf(c index.Capture, header http.Header, err error) *history.Record {
	if err != nil {
		return nil
	}
	payload, err := digest.Parse(c.Digest)
	if err != nil {
		return nil
	}
	r := &history.Record{Header: header, Metadata: map[string]string{}, Origin: digest.Origin{
		RecordID: c.RecordID, URI: c.URL, Date: c.Date, Payload: payload, File: c.Filename, Offset: c.Offset,
		Length: c.Length, Size: c.Size,
	}}
	for _, f := range c.Why {
		r.Metadata[f.Name] = f.Value
	}
	return r
}

// lossy returns an entry without the fields that neither log nor archive holds.
func lossy(e frontier.Entry) frontier.Entry {
	e.Chain = ""
	e.Memory, e.Recent, e.Comparison.Sketch = "", evaluators.Ring{}, 0
	e.FirstSeen, e.Born, e.Source, e.Title = time.Time{}, time.Time{}, "", ""
	if strings.Contains(e.Why, "young article") {
		e.Wait = 0 // the log has the wait that depends on age
	}
	if e.Why = e.Why[:min(len(e.Why), frontier.MaxWhy)]; strings.HasSuffix(e.URI.String(), "/robots.txt") {
		e.Why = "" // the log has the meaning of the answer
	}
	ms := func(t time.Time) time.Time { return t.Truncate(time.Millisecond) }
	e.LastVisit, e.LastCapture = ms(e.LastVisit), ms(e.LastCapture)
	e.LastRead, e.LastChange = ms(e.LastRead), ms(e.LastChange)
	e.Rate, _ = strconv.ParseFloat(strconv.FormatFloat(e.Rate, 'g', 4, 64), 64) // the log has four digits
	e.Wait, e.Due = e.Wait.Truncate(time.Second), time.Time{}                   // checked separately
	if strings.HasPrefix(e.URI.String(), "http://down.") {
		e.LastVisit = time.Time{} // the log has only the time of the line
	}
	return e
}
