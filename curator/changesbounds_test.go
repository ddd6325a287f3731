package curator

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/arcrawl/arcrawl/admin"
	"github.com/arcrawl/arcrawl/admin/access"
	"github.com/arcrawl/arcrawl/admin/api"
	"github.com/arcrawl/arcrawl/archive/captures"
	"github.com/arcrawl/arcrawl/archive/changes"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/internal/archivetest"
	"github.com/arcrawl/arcrawl/uri"
)

// TestWhatIsStoredOfAHostileChangeIsBounded stores changes of pages of strangers who mean no good.
func TestWhatIsStoredOfAHostileChangeIsBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("\u202eevil\xff\x00<script>", 100_000)
	hostile := captures.Change{
		Kinds: []changes.Kind{changes.Headline, changes.Text}, Headlines: [2]string{long, long}, To: long, Problem: long,
	}
	for range 1000 {
		hostile.First = append(hostile.First, changes.Part{Text: long, Added: true})
		hostile.Came = append(hostile.Came, changes.Link{URI: long, Text: long})
		hostile.Went = append(hostile.Went, changes.Link{URI: long, Text: long})
	}
	line, err := lineOf(api.Capture{URI: "http://a.example/", Change: changeOf(hostile)})
	if err != nil || len(line) > 200_000 || !utf8.Valid(line) || strings.ContainsAny(string(line), "\u202e\x00") {
		t.Errorf("a line of %d bytes, %v", len(line), err)
	}
	if c, ok := parseChange(line); !ok || len(c.Change.Came) != maxChangeLinks || len(c.Change.First) != maxChangeParts+1 {
		t.Errorf("%v: %d links, %d parts", ok, len(c.Change.Came), len(c.Change.First))
	}
}

// changeAt returns a change of a host.
func changeAt(host string, at time.Time, kinds ...string) api.Capture {
	return api.Capture{
		At: at, Host: host, URI: "http://" + host + "/", Kind: api.CaptureChanged, Type: "text/html", Versions: 2,
		Change: &api.Change{Kinds: kinds},
	}
}

// TestDayFilesAreBoundedAndSurviveACrash fills a day, cuts a line as a crash does, and lets old days be removed.
func TestDayFilesAreBoundedAndSurviveACrash(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	s, err := openChanges(state)
	must(t, err)
	day := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	for range 3 {
		if stored, err := s.Add(changeAt("a.example", day, "text"), day); !stored || err != nil {
			t.Fatal(stored, err)
		}
	}
	must(t, s.Close())
	path := filepath.Join(state, changesFolder, "2026-11-29.jsonl")
	text, err := os.ReadFile(path)
	must(t, err)
	must(t, os.WriteFile(path, text[:len(text)-20], 0o640))
	for i := range maxDays + 10 {
		old := day.AddDate(0, 0, -i-1).Format(time.DateOnly)
		must(t, os.WriteFile(filepath.Join(state, changesFolder, old+".jsonl"), []byte("x\n"), 0o640))
	}
	s, err = openChanges(state)
	must(t, err)
	if _, err := s.Add(changeAt("b.example", day, "withdrawn"), day); err != nil {
		t.Fatal(err)
	}
	list, more := s.Find(changeFilter{captureFilter: captureFilter{Limit: 10}}, time.Minute, time.Now)
	if len(list) != 3 || more != 0 || list[0].Host != "b.example" || !list[1].Change.Noted.After(list[2].Change.Noted) {
		t.Errorf("the changes are %+v", list)
	}
	if got := s.Away("http://b.example/"); got != "withdrawn" {
		t.Errorf("the page is %q", got)
	}
	if files, err := s.files(); err != nil || len(files) != maxDays {
		t.Errorf("%d files, %v", len(files), err)
	}
	s.size = maxDayBytes
	if stored, err := s.Add(changeAt("c.example", day, "text"), day); stored || err != nil {
		t.Errorf("a full day stored a change: %v, %v", stored, err)
	}
	must(t, s.Close())
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestChangesUnderAnEmbargoAreForCurators asks for changes in series with and without an embargo.
func TestChangesUnderAnEmbargoAreForCurators(t *testing.T) {
	t.Parallel()
	toml := everyHour + "[warc]\nseries_names = [\"vault\", \"open\", \"past\"]\n" +
		"about = [{ series = \"vault\", embargo = \"2999-01-01\" }, { series = \"past\", embargo = \"1999-01-01\" }]\n"
	w := newWorld(t, t.TempDir(), toml)
	defer w.Close()
	for series, readers := range map[string]bool{"vault": false, "open": true, "past": true, "": true} {
		c := changeAt("news.example", time.Now(), "headline")
		c.Change.Series = series
		w.curation.changes.store.ring = ring{}
		w.curation.changes.store.ring.put(c)
		for role, want := range map[access.Role]bool{access.Read: readers, access.Curate: true, access.Operate: true} {
			embargo := admin.EmbargoFor(role, w.Parts.Config.Current(), time.Now())
			f := changeFilter{captureFilter: captureFilter{Limit: 1, Embargo: embargo}}
			list := w.curation.changes.store.Join([]api.Capture{{URI: c.URI, At: c.At}}, f)
			if got := list[0].Change != nil; got != want || f.selects(c) != want {
				t.Errorf("the role %s sees a change in the series %q: %v, want %v", role, series, got, want)
			}
		}
	}
	must(t, w.curation.close(time.Now()))
}

// BenchmarkObserve measures what a visit pays: one that found nothing new, and one that archived a version.
func BenchmarkObserve(b *testing.B) {
	u, err := uri.Parse(story)
	if err != nil {
		b.Fatal(err)
	}
	store, err := openChanges("")
	if err != nil {
		b.Fatal(err)
	}
	for i := range maxAway { // a lookup finds many others
		store.away[fmt.Sprintf("http://news.example/%d", i)] = "withdrawn"
	}
	for name, v := range map[string]crawler.Report{
		"unchanged": {URI: u, Versions: 2, Type: "text/html", Verdict: evaluators.Verdict{State: evaluators.Unchanged}},
		"version":   {URI: u, Versions: 2, Type: "text/html", Archived: &crawler.Archived{}},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			c := &comparer{store: store, now: time.Now, working: true, full: func() {}}
			for b.Loop() {
				c.Observe(v)
				c.queue = c.queue[:0]
			}
		})
	}
}

// BenchmarkFindInAFullDay searches a day of 100,000 changes for one of a host.
func BenchmarkFindInAFullDay(b *testing.B) {
	dir := b.TempDir()
	s := &changeStore{dir: dir}
	var text []byte
	day := time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC)
	for i := range 100_000 {
		c := changeAt(fmt.Sprintf("host%d.example", i%1000), day.Add(time.Duration(i)*time.Millisecond), "headline", "text")
		c.Change.Noted = c.At
		c.Change.First = []api.ChangePart{{Text: second, Removed: true}}
		line, err := json.Marshal(c)
		if err != nil {
			b.Fatal(err)
		}
		text = append(append(text, line...), '\n')
	}
	if err := os.WriteFile(filepath.Join(dir, "2026-11-29.jsonl"), text, 0o640); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		f := changeFilter{captureFilter: captureFilter{Host: "host7.example", Limit: 500}, Since: day}
		if list, _ := s.Find(f, time.Minute, time.Now); len(list) != 100 {
			b.Fatal(len(list))
		}
	}
}

// BenchmarkComparison compares two archived versions of a page, from the archive to the stored change, and says how
// much of a core a hundred changes a minute take.
func BenchmarkComparison(b *testing.B) {
	sentence := func(n int) string {
		return fmt.Sprintf("On day %d the council heard %d people of street %d about the harbour, and voted again. ", n, n*7, n*3)
	}
	article := func(edit int) string { // 25 paragraphs, of which one changes, between 150 links
		var p strings.Builder
		for n := range 150 {
			fmt.Fprintf(&p, `<li class="nav-item item-%d"><a href="/topic/%d.html" data-track="nav:%d">Topic %d</a></li>`, n, n, n, n)
		}
		for n := range 25 {
			fmt.Fprintf(&p, "<p>%s</p>", strings.Repeat(sentence(n), 5))
		}
		return paper("What the council heard", p.String(), sentence(1000+edit)).Body
	}
	front := func(edit int) string { // 300 teasers, of which ten are new
		var p strings.Builder
		for n := range 300 {
			fmt.Fprintf(&p, `<article class="teaser"><a href="/s/%d.html"><img src="/p/%d.jpg" alt=""><h2>%s</h2></a><p>%s</p></article>`,
				n+edit*10, n+edit*10, sentence(n + edit*10)[:60], sentence(n+edit*10))
		}
		return "<title>The Courier</title><body><main>" + p.String() + "</main>"
	}
	for name, page := range map[string]func(int) string{"article": article, "front page": front} {
		b.Run(name, func(b *testing.B) { compareAgain(b, page) })
	}
}

// compareAgain compares two versions of a page again and again.
func compareAgain(b *testing.B, page func(edit int) string) {
	w := newWorld(b, b.TempDir(), everyHour)
	a := archivetest.New(b)
	u, err := uri.Parse(story)
	if err != nil {
		b.Fatal(err)
	}
	v := crawler.Report{URI: u, Versions: 2, Status: 200, Type: "text/html", Archived: &crawler.Archived{
		Before: a.Page(story, archivetest.HTMLHead, page(0)), After: a.Page(story, archivetest.HTMLHead, page(1)),
	}}
	a.Seal()
	conf := *w.Parts.Config.Current()
	conf.Storage.WARC = a.Dir
	b.SetBytes(int64(len(page(0)) + len(page(1))))
	used := cpuTime(b)
	for b.Loop() {
		if change := w.curation.compareVersions(v, &conf); change.Problem != "" || change.Is(changes.Nothing) {
			b.Fatal(change)
		}
	}
	each := (cpuTime(b) - used) / time.Duration(b.N)
	b.ReportMetric(float64(each.Microseconds())/1000, "cpu-ms/op")
	b.ReportMetric(each.Seconds()*100/60*100, "%core-at-100/min")
}
