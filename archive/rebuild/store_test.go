package rebuild_test

import (
	"fmt"
	"maps"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/archive/rebuild"
	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/evaluators/rate"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/hosts"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
	"github.com/arcrawl/arcrawl/uri"
)

// contents has the URIs of a store, and what was learned of hosts.
type contents struct {
	entries map[uri.URI]frontier.Entry
	headers map[uri.Host]evaluators.Reputation
	similar map[uri.Host]map[rate.Kind]rate.Relatives
}

func contentsOf(t *testing.T, f *frontier.Frontier) contents {
	t.Helper()
	c := contents{
		map[uri.URI]frontier.Entry{}, map[uri.Host]evaluators.Reputation{}, map[uri.Host]map[rate.Kind]rate.Relatives{},
	}
	list, _, err := f.List(time.Now(), frontier.Selection{}, "", 1000)
	archivetest.Must(t, err)
	book, kinds := hosts.OpenReputation(f.DB()), hosts.OpenSimilar(f.DB())
	for _, e := range list {
		c.entries[e.URI] = e
		c.similar[e.URI.Host()] = map[rate.Kind]rate.Relatives{}
	}
	err = book.Each(func(h uri.Host, r evaluators.Reputation) error { c.headers[h] = r; return nil })
	archivetest.Must(t, err)
	for h := range c.similar {
		for k := range rate.Kind(98) {
			r, err := kinds.Get(h, k)
			archivetest.Must(t, err)
			if r != (rate.Relatives{}) {
				c.similar[h][k] = r
			}
		}
	}
	return c
}

// variedSite is a site with pages that change, lie about it, embed a picture, and link to pages that are never visited.
func variedSite(w *testcrawl.World) {
	w.Set("http://a.example/", testcrawl.Page{Links: []string{"/honest", "/false", "/quiet", "/often", "/daily", "/story", "/2.html", "http://b.example/late"}, Every: 9 * time.Hour})
	w.Set("http://a.example/", testcrawl.Page{From: 92 * time.Hour, Links: numbered(100)})
	w.Set("http://a.example/new/*", testcrawl.Page{})
	w.Set("http://a.example/honest", testcrawl.Page{ETag: "honest", Modified: "honest", Every: 30 * time.Hour})
	w.Set("http://a.example/false", testcrawl.Page{ETag: "x", Modified: "lie", Every: 20 * time.Hour})
	w.Set("http://a.example/quiet", testcrawl.Page{ETag: "honest", Size: 20000})
	w.Set("http://a.example/often", testcrawl.Page{Every: 5 * time.Hour})
	w.Set("http://a.example/daily", testcrawl.Page{Every: 24 * time.Hour, From: 9 * time.Hour})
	w.Set("http://a.example/story", testcrawl.Page{Body: `<html><head><meta property="og:type" content="article">` +
		`<meta property="article:published_time" content="` + time.Now().Add(-20*time.Hour).UTC().Format(time.RFC3339) + `"></head><a href="/found">x</a></html>`})
	w.Set("http://a.example/found", testcrawl.Page{})
	w.Set("http://a.example/2.html", testcrawl.Page{Links: []string{"/deep", "/deep/er"}})
	w.Set("http://b.example/late", testcrawl.Page{})
}

func numbered(n int) (links []string) {
	for i := range n {
		links = append(links, fmt.Sprintf("/new/%d", i))
	}
	return links
}

// troubledSite is a web with pages that move, are gone or are forbidden, and with a host that is down.
func troubledSite(w *testcrawl.World) {
	w.Set("http://a.example/", testcrawl.Page{Links: []string{"/etag", "/moved", "/gone", "/quiet", "/copy", "http://b.example/x"}, Every: 6 * time.Hour})
	w.Set("http://a.example/etag", testcrawl.Page{ETag: "honest", Modified: "honest", Every: 50 * time.Hour})
	w.Set("http://a.example/quiet", testcrawl.Page{Size: 5000})
	w.Set("http://a.example/copy", testcrawl.Page{Size: 5000})
	w.Set("http://b.example/robots.txt", testcrawl.Page{Body: "User-agent: *\nDisallow: /secret\n", Type: "text/plain"})
	w.Set("http://b.example/x", testcrawl.Page{ETag: "weak", Every: 90 * time.Hour})
	w.Set("http://a.example/moved", testcrawl.Page{Status: 301, Location: "/etag"})
	w.Set("http://down.example/", testcrawl.Page{Down: true})
}

// A store is lost, and rebuilt from log and archive. Each field of each URI that can come back does, also the URIs that
// were found but not visited, and what was learned of hosts. With a log without firstSeen, the times are as near as
// the pages say.
func TestARebuiltStoreHasWhatTheLostOneHad(t *testing.T) {
	t.Parallel()
	slow.Unraced(t, "it plays days of a crawl, and would take five times as long")
	for _, c := range []struct {
		name, settings string
		set            func(*testcrawl.World)
		days           time.Duration
	}{
		{"pages that change", `[scope]
max_hops = 2
[[wait]]
mime = ".*"
rule = "learned"
[politeness]
min_delay = "10m"
max_delay = "10m"
[seeds]
uris = ["http://a.example/"]
`, variedSite, 4},
		{"misfortunes", `[change]
mode = "scrubbed"
scrub = ['\d\d:\d\d']
[trouble]
gone_after = 3
[seeds]
uris = ["http://a.example/", "http://b.example/secret", "http://down.example/"]
`, troubledSite, 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				w := crawled(t, dir, c.settings, c.set, c.days*24*time.Hour, new(visits))
				archivetest.Must(t, w.Parts.Similar.Flush())
				lost := contentsOf(t, w.Parts.Frontier)
				waits := w.Parts.Config.Current().For(config.About{URI: uri.FromCanonical("http://a.example/")}).Wait
				w.Close()
				for _, older := range []bool{false, true} {
					if older {
						forget(t, w.Path("crawl.log"))
					}
					got := rebuilt(t, dir)
					compareEntries(t, lost, got, older)
					compareNext(t, waits, lost, got)
					compareLearned(t, lost, got)
				}
			})
		})
	}
}

// visits keeps the visits of a crawl.
type visits struct {
	mu  sync.Mutex // guards all
	all []crawler.Report
}

// Observe keeps a visit.
func (v *visits) Observe(r crawler.Report) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.all = append(v.all, r)
}

// Tick does nothing.
func (v *visits) Tick(time.Time) error { return nil }

// Handler shows nothing.
func (v *visits) Handler(access.Options) http.Handler { return http.NotFoundHandler() }

// of returns the visits of the URIs with a suffix.
func (v *visits) of(suffix string) (some []crawler.Report) {
	for _, r := range v.all {
		if strings.HasSuffix(r.URI.String(), suffix) {
			some = append(some, r)
		}
	}
	return some
}

// crawled returns a crawl in a folder that has run for some time. The caller closes it.
func crawled(
	t *testing.T, dir, settings string, set func(*testcrawl.World), d time.Duration, v *visits,
) *testcrawl.World {
	t.Helper()
	const operator = "[operator]\nname = \"Test Library\"\ncontact = \"https://library.example/crawler\"\n"
	w := testcrawl.NewWorld(t, dir, operator+settings+"[dedup]\nmin_size = \"0B\"\n")
	w.Window, w.Every = v, 12*time.Hour
	set(w)
	w.AddSeeds()
	w.Run(d)
	return w
}

// A rebuild names the lines and records that it cannot read, and does without them.
func TestARebuildNamesWhatItCouldNotRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := crawled(t, t.TempDir(), "[seeds]\nuris = [\"http://a.example/\"]\n", variedSite, 24*time.Hour, new(visits))
		w.Close()
		files, err := filepath.Glob(w.Path("warc/*.warc.gz"))
		archivetest.Must(t, err)
		for _, file := range files {
			archivetest.Must(t, os.Remove(file))
		}
		log, other, cfg := w.Path("crawl.log"), w.Path("other.log"), w.Parts.Config.Current()
		archivetest.Must(t, os.WriteFile(log, []byte(archivetest.Read(t, log)+"no line of a log\n"), 0o600))
		archivetest.Must(t, os.WriteFile(other, []byte("no line of a log\n"), 0o600))
		archivetest.Must(t, os.RemoveAll(cfg.Storage.State))
		f, err := frontier.Open(frontier.Options{Dir: cfg.Storage.State, Compactors: -1, Now: time.Now()})
		archivetest.Must(t, err)
		defer f.Close() //nolint:errcheck // the test is done
		r, err := rebuild.Store(t.Context(), f, cfg, []string{log, other}, time.Now())
		archivetest.Must(t, err)
		named := strings.Join(r.Unread.Named, "\n")
		for _, want := range []string{log + `: "no line of a log": `, other + ": no line of it", "the last payload of http://a.example/honest, archived at "} {
			if !strings.Contains(named, want) {
				t.Errorf("%q is not among what could not be read:\n%s", want, named)
			}
		}
		if n := int64(strings.Count(named, "the last payload of ")); n != r.Missing || n < 5 || r.BadLines != 1 {
			t.Errorf("%d payloads are named of %d, and %d lines are faulty", n, r.Missing, r.BadLines)
		}
	})
}

// compareNext compares how long each URI waits after its next visit, as the rule estimates it from what it has learned.
func compareNext(t *testing.T, waits evaluators.Stack, lost, rebuilt contents) {
	t.Helper()
	for u, want := range lost.entries {
		if !want.Born.IsZero() {
			continue // the memory of articles lacks their dates
		}
		for _, state := range []evaluators.State{evaluators.Unchanged, evaluators.Changed} {
			next := func(e frontier.Entry) time.Duration {
				return waits.Next(evaluators.WaitInput{
					MIME: e.ContentType, State: state, Previous: e.Wait,
					Evidence: evaluators.Evidence{At: want.Due, Memory: rate.Memory(e.Memory)},
				}).Interval
			}
			if is, was := next(rebuilt.entries[u]), next(want); is < was*9/10 || is > was*11/10 {
				t.Errorf("%s: %s at its next visit leads to a wait of %s in the rebuilt store, %s before", u, state, is, was)
			}
		}
	}
}

// rebuilt returns what a store has that is rebuilt from the log and the archive of a crawl.
func rebuilt(t *testing.T, dir string) contents {
	t.Helper()
	cfg, err := config.Load(filepath.Join(dir, "arcrawl.toml"))
	archivetest.Must(t, err)
	f, err := frontier.Open(frontier.Options{Dir: t.TempDir(), Compactors: -1, Now: time.Now()})
	archivetest.Must(t, err)
	defer f.Close()
	if _, err = rebuild.Store(t.Context(), f, cfg, []string{filepath.Join(dir, "crawl.log")}, time.Now()); err != nil {
		t.Fatal(err)
	}
	found, err := rebuild.Links(t.Context(), f, cfg, nil)
	if err != nil || found.Damaged > 0 || found.Refused > 0 {
		t.Fatalf("%+v, %v", found, err)
	}
	return contentsOf(t, f)
}

// forget removes from a log when URIs became known, and when articles were published.
func forget(t *testing.T, log string) {
	t.Helper()
	text, err := os.ReadFile(log)
	archivetest.Must(t, err)
	var out []byte
	for line := range strings.Lines(string(text)) {
		e, err := crawllog.Parse(strings.TrimSuffix(line, "\n"))
		archivetest.Must(t, err)
		if e.Extra != nil {
			e.Extra.FirstSeen, e.Extra.Born = time.Time{}, time.Time{}
		}
		out = append(e.AppendTo(out, true), '\n')
	}
	archivetest.Must(t, os.WriteFile(log, out, 0o600))
}

// compareEntries compares all URIs field by field. Only these fields cannot come back: digests of versions before the
// last one, what a reader saw of it (Sketch), how many visits in a row found a change (Look), the state of feeds,
// titles, and the priority of a page on a crowded host (Prompt). The memory of the rule is compared by its estimates.
func compareEntries(t *testing.T, lost, rebuilt contents, older bool) {
	t.Helper()
	never, visits, gone, down, forbidden := 0, 0, 0, 0, 0
	for u, want := range lost.entries {
		got, ok := rebuilt.entries[u]
		if seed := want.Via == "" && want.Visits == 0; seed && !ok {
			continue // the next start adds it
		} else if !ok {
			t.Errorf("%s is not in the rebuilt store", u)
			continue
		}
		if apart := want.FirstSeen.Sub(got.FirstSeen).Abs(); apart > time.Minute && want.Via != "" || !older && want.Visits > 0 && apart > time.Millisecond {
			t.Errorf("%s became known at %s, and at %s in the rebuilt store", u, want.FirstSeen, got.FirstSeen)
		}
		if want.Visits == 0 && want.LastStatus == 0 {
			never++
		}
		visits, gone, down = visits+want.Visits, gone+want.Gone, down+want.Failures
		if want.Forbidden {
			forbidden++
		}
		if apart := want.Born.Sub(got.Born).Abs(); apart > time.Millisecond && !older {
			t.Errorf("%s was published at %s, and at %s in the rebuilt store", u, want.Born, got.Born)
		}
		off := 0.01
		if older {
			off = 0.05 // a young article without its birth has other probes, from which one factor of all waits follows
		}
		if want.Wait > 0 && math.Abs(float64(got.Wait)/float64(want.Wait)-1) > off {
			t.Errorf("%s: the wait was %s and is %s", u, want.Wait, got.Wait)
		}
		if want.Visits == 0 {
			want.Due, got.Due = time.Time{}, time.Time{} // both are due
		}
		if early := want.Due.Sub(got.Due); early > 0 || early < -2*time.Millisecond {
			t.Errorf("%s is due %s too early", u, early)
		}
		if !want.Restless && !got.Restless {
			want.Look, got.Look = "", ""
		}
		want.Title, got.Title = "", ""
		want.Prompt, want.Wait, got.Wait, got.FirstSeen, got.Born = got.Prompt, 0, 0, time.Time{}, time.Time{}
		if diff := cmp.Diff(lossy(want), lossy(got), cmp.Comparer(func(a, b uri.URI) bool { return a == b })); diff != "" {
			t.Errorf("%s: -lost +rebuilt:\n%s", u, diff)
		}
	}
	for u := range rebuilt.entries {
		if _, ok := lost.entries[u]; !ok {
			t.Errorf("%s is in the rebuilt store only", u)
		}
	}
	story, varied := lost.entries[uri.FromCanonical("http://a.example/story")]
	if varied && (story.Born.IsZero() || never < 2 || len(lost.similar["a.example"]) < 2) || !varied && gone*down*forbidden == 0 || visits < 80 {
		t.Errorf("%d visits, %d URIs never visited, gone %d times, down %d times, %d forbidden, kinds %v, the story born %s: too little to compare",
			visits, never, gone, down, forbidden, lost.similar["a.example"], story.Born)
	}
}

// compareLearned compares what was learned of hosts. The headers come back exactly, the kinds almost.
func compareLearned(t *testing.T, lost, rebuilt contents) {
	t.Helper()
	if diff := cmp.Diff(lost.headers, rebuilt.headers); diff != "" || len(lost.headers) == 0 {
		t.Errorf("the worth of the headers: -lost +rebuilt:\n%s", diff)
	}
	for h, kinds := range lost.similar {
		if got := rebuilt.similar[h]; !slices.Equal(slices.Sorted(maps.Keys(kinds)), slices.Sorted(maps.Keys(got))) {
			t.Errorf("%s: the kinds were %v and are %v", h, kinds, got)
		}
		for k, want := range kinds {
			got := rebuilt.similar[h][k]
			if math.Abs(got.URIs-want.URIs) > 0.01*want.URIs {
				t.Errorf("%s, kind %d: %v URIs were known and %v are", h, k, want.URIs, got.URIs)
			}
			before, after := want.Rate[0]/want.Rate[1], got.Rate[0]/got.Rate[1]
			if math.Abs(before-after) > 0.2 {
				t.Errorf("%s, kind %d: the mean rate was %v and is %v", h, k, before, after)
			}
		}
	}
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
