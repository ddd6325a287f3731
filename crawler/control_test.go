package crawler_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/crawler/whatif"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
	"github.com/arcrawl/arcrawl/uri"
)

// The list of visits in progress is read while the network is slow.
func TestInProgressListsVisits(t *testing.T) {
	inTown(t, everyHour, func(t *testing.T, w *world) {
		w.set("http://news.example/", testcrawl.Page{Every: time.Minute})
		slow := func(ctx context.Context, network, address string) (net.Conn, error) {
			<-time.After(10 * time.Second)
			return w.town.Dial(ctx, network, address)
		}
		parts, shut := w.openWith(slow)
		defer shut()
		c := crawler.New(parts)
		looked := make(chan []crawler.Visiting, 1)
		defer time.AfterFunc(5*time.Second, func() { looked <- c.InProgress() }).Stop()
		w.crawlWith(c, time.Minute)
		seen := <-looked
		if len(seen) != 1 || seen[0].URI.String() != "http://news.example/" || seen[0].Claimed.IsZero() {
			t.Errorf("in progress after five seconds: %v; want the URI that was claimed, although its robots.txt is fetched first", seen)
		}
		if left := c.InProgress(); len(left) != 0 {
			t.Errorf("in progress after the end: %v", left)
		}
	})
}

// TestAStoreWithoutSpaceKeepsNoClaim holds a host because of its file, while the store has no space to note that. The
// crawl waits, and visits the host when there is space and the file is correct again.
func TestAStoreWithoutSpaceKeepsNoClaim(t *testing.T) {
	story(t, onceADay, func(w *world) {
		parts, shut := w.openOptions(w.town.Dial, func(o *frontier.Options) { o.AwaitSpace = func() {} })
		defer shut()
		w.duringWith(parts, 28*time.Hour, func(c *crawler.Crawler) {
			time.Sleep(time.Hour)
			w.host("www.news.example.toml", "[politeness\n")
			w.reload(c)
			w.noSpace(parts.Frontier, func() {
				time.Sleep(24 * time.Hour)
				if held := c.Held(); held == "" {
					t.Error("the crawl is not paused although the store has no space")
				}
			})
			time.Sleep(time.Hour)
			w.host("www.news.example.toml", "")
			w.reload(c)
			time.Sleep(time.Hour)
		})
		if n := len(w.visits("www.news.example/")); n != 2 {
			t.Errorf("%d visits, want one before the disk was full and one when everything is well again", n)
		}
	})
}

// noSpace calls do while the store has no space: its manifest has another name, and the reserve must be filled.
func (w *world) noSpace(f *frontier.Frontier, do func()) {
	w.t.Helper()
	must(w.t, os.Rename(w.path("state/MANIFEST"), w.path("state/MANIFEST.away")))
	f.DB().Opts().Logger.Debugf("[%d] LOG Compact. Added", "test")
	do()
	must(w.t, os.Rename(w.path("state/MANIFEST.away"), w.path("state/MANIFEST")))
	f.DB().Opts().Logger.Debugf("[Compactor: %d] Compaction for", "test")
}

// A URI returns to the scope while the store has no space to note that. The crawl waits, and then visits it.
func TestAScopeThatReturnsWaitsForSpace(t *testing.T) {
	story(t, onceADay, func(w *world) {
		w.set("http://www.news.example/", testcrawl.Page{Links: []string{"/old"}})
		w.set("http://www.news.example/old", testcrawl.Page{})
		parts, shut := w.openOptions(w.town.Dial, func(o *frontier.Options) { o.AwaitSpace = func() {} })
		defer shut()
		w.duringWith(parts, 28*time.Hour, func(c *crawler.Crawler) {
			time.Sleep(time.Hour)
			w.host("www.news.example.toml", "[scope]\nrules = ['reject /old$']\n")
			w.reload(c)
			time.Sleep(24 * time.Hour)
			w.noSpace(parts.Frontier, func() {
				w.host("www.news.example.toml", "")
				w.reload(c)
				held := 0 // in the world of this test, a pause ends when there is nothing to visit, and begins again
				for range 3600 {
					time.Sleep(time.Second)
					if c.Held() != "" {
						held++
					}
				}
				if held == 0 {
					t.Error("the crawl is never paused although the store has no space")
				}
			})
			time.Sleep(time.Hour)
		})
		if n := len(w.visits("/old")); n != 3 {
			t.Errorf("%d visits, want the first, the one that was out of scope, and one when there is space", n)
		}
	})
}

// TestAConfigurationThatIsNotAcceptedChangesNothing refuses a valid configuration, as the node of a cluster does. A
// plan and a staged configuration are refused too.
func TestAConfigurationThatIsNotAcceptedChangesNothing(t *testing.T) {
	story(t, onceADay, func(w *world) {
		parts, shut := w.open()
		defer shut()
		parts.Accept = func(c *config.Config) error {
			if c.ForHost("www.news.example", time.Now()).Politeness.Group == "" {
				return nil
			}
			return config.Faults{{Key: "politeness.group"}}
		}
		c := crawler.New(parts)
		w.reload(c)
		const grouped = "[politeness]\ngroup = \"g\"\n"
		w.host("www.news.example.toml", grouped)
		_, planned := c.Reload(true, time.Now())
		_, reloaded := c.Reload(false, time.Now())
		staged := whatif.Staged{Only: true, Hosts: map[string][]byte{"www.news.example.toml": []byte(grouped)}}
		_, looked := c.Plan(staged, time.Now())
		for _, err := range []error{planned, reloaded, looked} {
			if faults, ok := errors.AsType[config.Faults](err); !ok || faults[0].Key != "politeness.group" {
				t.Errorf("the configuration was refused with %v", err)
			}
		}
		if l := c.ConfigStatus(); len(l.Faults) != 1 || parts.Config.Current().ForHost("www.news.example", time.Now()).Politeness.Group != "" {
			t.Errorf("ConfigStatus = %+v, want the fault, and the configuration of before in force", l)
		}
	})
}

// Two workers claim URIs of a host with two slots, whose robots.txt is not known. One worker fetches it, the other
// waits.
func TestOnlyOneSlotFetchesRobots(t *testing.T) {
	inTown(t, everyHour, func(t *testing.T, w *world) {
		w.set("http://news.example/", testcrawl.Page{})
		parts, shut := w.openOptions(w.town.Dial, func(o *frontier.Options) { o.Valence = func(uri.Host) int { return 2 } })
		defer shut()
		c := crawler.New(parts)
		now := time.Now()
		var claims []frontier.Claim
		for _, path := range []string{"a", "b"} {
			u, err := uri.Parse("http://news.example/" + path)
			must(t, err)
			_, err = parts.Frontier.Add(now, frontier.Candidate{URI: u, Seed: "http://news.example/", Due: now})
			must(t, err)
		}
		for range 2 {
			claim, ok, err := parts.Frontier.Claim(now)
			if !ok || err != nil {
				t.Fatal(ok, err)
			}
			claims = append(claims, claim)
		}
		robots, err := parts.Frontier.Divert(claims[0], claims[0].Record.URI.Robots(), now)
		must(t, err)
		must(t, c.Walk(context.Background(), claims[1]))
		if _, ok, _ := parts.Frontier.Claim(now.Add(time.Minute)); ok {
			t.Error("a URI is handed out while robots.txt is being fetched")
		}
		must(t, c.Walk(context.Background(), robots))
		if got := w.visits(""); len(got) != 1 || got[0].URI.String() != "http://news.example/robots.txt" {
			t.Errorf("visits: %v; want only robots.txt", got)
		}
		time.Sleep(time.Minute)
		for range 2 {
			if _, ok, err := parts.Frontier.Claim(time.Now()); !ok || err != nil {
				t.Error("a URI is not handed out once robots.txt is known", err)
			}
		}
	})
}

// The host has answered, but the answer cannot be stored. That is a local fault, and the host must rest nevertheless.
func TestHostRestsAfterALocalFault(t *testing.T) {
	inTown(t, "[politeness]\nmin_delay = \"10m\"\nmax_delay = \"10m\"\n"+everyHour, func(t *testing.T, w *world) {
		w.set("http://news.example/", testcrawl.Page{})
		parts, shut := w.open()
		defer shut()
		c := crawler.New(parts)
		_, err := c.AddSeeds(time.Now())
		must(t, err)
		full := false
		c.OnStep(func(step string) {
			if step == "fetched" && full {
				_ = parts.Archive.Close(time.Now())
			}
		})
		claim, _, err := parts.Frontier.Claim(time.Now())
		must(t, err)
		if err := c.Walk(context.Background(), claim); err != nil { // the visit of robots.txt
			t.Fatal(err)
		}
		time.Sleep(11 * time.Minute)
		if claim, _, err = parts.Frontier.Claim(time.Now()); err != nil {
			t.Fatal(err)
		}
		full = true
		if err := c.Walk(context.Background(), claim); err == nil {
			t.Fatal("a visit that cannot be archived returns no error")
		}
		if next, ok := parts.Frontier.NextReady(); !ok || time.Until(next) < 9*time.Minute {
			t.Errorf("the host is ready again in %s, want 10 minutes", time.Until(next))
		}
	})
}

// A stop interrupts a visit whose page is being read. What was found until then is not all, so the page is visited
// again.
func TestAPageThatAStopInterruptsIsReadAgain(t *testing.T) {
	inTown(t, everyHour, func(t *testing.T, w *world) {
		w.set("http://news.example/", testcrawl.Page{Body: "<a href=/article>"})
		parts, shut := w.open()
		defer shut()
		c := crawler.New(parts)
		_, err := c.AddSeeds(time.Now())
		must(t, err)
		walk := func(ctx context.Context) {
			claim, ok, err := parts.Frontier.Claim(time.Now())
			if !ok || err != nil {
				t.Fatal("the page is not due", err)
			}
			must(t, c.Walk(ctx, claim))
			time.Sleep(time.Minute)
		}
		isKnown := func(want bool) {
			if _, known, err := parts.Frontier.Get(uri.FromCanonical("http://news.example/article")); known != want || err != nil {
				t.Errorf("the article is known: %t, %v; want %t", known, err, want)
			}
		}
		ctx, stop := context.WithCancel(context.Background())
		walk(ctx) // robots.txt
		c.OnStep(func(step string) {
			if step == "discovering" {
				stop()
			}
		})
		walk(ctx)
		isKnown(false)
		walk(context.Background())
		isKnown(true)
	})
}

// While nothing can be logged, only one visit at a time checks whether it is possible again.
func TestOneVisitAtATimeChecksWhetherAFaultIsGone(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		const hosts, workers = 40, 20
		var seeds strings.Builder
		for n := range hosts {
			fmt.Fprintf(&seeds, "%q, ", fmt.Sprintf("http://h%d.example/", n))
		}
		w := newWorld(t, dir, fmt.Sprintf("[crawl]\nworkers = %d\n[seeds]\nuris = [%s]\n", workers, &seeds))
		for n := range hosts {
			w.set(fmt.Sprintf("http://h%d.example/", n), testcrawl.Page{})
		}
		parts, shut := w.open()
		defer shut()
		c := crawler.New(parts)
		var asked atomic.Int64
		c.OnStep(func(step string) {
			if step == "fetched" {
				asked.Add(1)
			}
		})
		log := w.path("crawl.log")
		must(t, errors.Join(os.Remove(log), os.Mkdir(log, 0o750)))
		mended := time.AfterFunc(5*time.Minute, func() {
			if n := asked.Load(); n < workers || n > workers+40 {
				t.Errorf("%d requests in five minutes in which nothing could be logged; want a few at the beginning, and then one every 10 seconds", n)
			}
			if err := os.Remove(log); err != nil {
				t.Error(err)
			}
		})
		defer mended.Stop()
		w.crawlWith(c, 7*time.Minute)
		if n := len(w.visits("example/")); n != hosts || c.Held() != "" {
			t.Errorf("%d of %d pages were visited after the log was fixed; held: %q", n, hosts, c.Held())
		}
	})
}

// For a week of virtual time no URI in the store is due. The memory in use must not grow, and the waiting worker must
// sleep as long as possible.
func TestIdleCrawlTakesNoMemoryAndSleeps(t *testing.T) {
	slow.Test(t)
	inTown(t, "[storage]\nmin_free = \"0B\"\n", func(t *testing.T, w *world) {
		parts, shut := w.open()
		defer shut()
		const uris = 5_000
		addPagesLater(t, parts.Frontier, "http://news.example", uris, 30*24*time.Hour)
		var rounds atomic.Int64
		parts.Beat = func(time.Time) { rounds.Add(1) }
		var resting, rests atomic.Int64
		parts.NotifyRest = func(rest bool) {
			if rest == (resting.Load() == 1) {
				t.Error("NotifyRest is called twice with the same value")
			}
			resting.Store(map[bool]int64{true: 1}[rest])
			rests.Add(1)
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		c := crawler.New(parts)
		go func() { done <- c.Run(ctx) }()
		time.Sleep(time.Hour)
		synctest.Wait()
		before, roundsBefore := inUse(), rounds.Load()
		time.Sleep(7 * 24 * time.Hour)
		synctest.Wait()
		after, week := inUse(), int(rounds.Load()-roundsBefore)
		if resting.Load() != 1 {
			t.Error("the crawl is not idle after a week in which nothing was due")
		}
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if resting.Load() != 0 || rests.Load() < 2 {
			t.Errorf("the crawl is idle at its end, or NotifyRest was called only %d times", rests.Load())
		}
		t.Logf("in use: %d KB, after the week %d KB; %d looks for something to claim", before>>10, after>>10, week)
		const slack = 512 << 10 // for tests that run at the same time, and for the runtime
		if after > before+slack {
			t.Errorf("%d KB are in use after a week without visits, %d KB before it", after>>10, before>>10)
		}
		if minutes := 7 * 24 * 60; week < minutes || week > minutes+10 {
			t.Errorf("workers looked for something to claim %d times in %d minutes, want once a minute", week, minutes)
		}
	})
}

// inUse returns the number of bytes in use after a garbage collection.
func inUse() int64 {
	var m runtime.MemStats
	for range 2 { // the second collection empties the pools
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Damage on disk is found within one round of verification, even if nothing else reads the data. It stops the crawl, so
// that the damage does not reach the backups.
func TestDamagedStoreStopsTheCrawl(t *testing.T) {
	t.Parallel()
	inTown(t, "[seeds]\nuris = [\"http://a.example/\"]\n", func(t *testing.T, w *world) {
		w.set("http://a.example/", testcrawl.Page{Every: time.Hour})
		w.run(24 * time.Hour) // its tables are written when it ends
		parts, _ := w.open()
		tables, err := filepath.Glob(w.path("state/*.sst"))
		if err != nil || len(tables) == 0 {
			t.Fatal(tables, err)
		}
		spoil(t, tables[0])
		ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
		defer cancel()
		err = crawler.New(parts).Run(ctx)
		if !errors.Is(err, frontier.ErrCorrupt) || !strings.Contains(err.Error(), filepath.Base(tables[0])) {
			t.Errorf("Run returned %v, want an error that the table is damaged", err)
		}
		// The store is not checked: it is damaged on purpose.
		_ = errors.Join(parts.Fetch.Close(), parts.Archive.Close(time.Now()), parts.CrawlLog.Close(), parts.Frontier.Close())
	})
}

// spoil flips one bit in the middle of a file.
func spoil(t *testing.T, name string) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	must(t, err)
	defer f.Close()
	info, err := f.Stat()
	must(t, err)
	b := make([]byte, 1)
	_, err = f.ReadAt(b, info.Size()/3)
	must(t, err)
	b[0] ^= 1
	_, err = f.WriteAt(b, info.Size()/3)
	must(t, err)
}

// The clock was ten years ahead for a while: a page was visited then, and a robots.txt closes its host until 2099. A
// crawl corrects both when it starts.
func TestURIsOfAWrongClockComeBack(t *testing.T) {
	inTown(t, "[seeds]\nuris = [\"http://page.example/\", \"http://closed.example/\"]\n", func(t *testing.T, w *world) {
		w.set("http://page.example/", testcrawl.Page{})
		w.set("http://closed.example/", testcrawl.Page{})
		parts, shut := w.open()
		c := parts.Frontier
		began := time.Now()
		ahead := began.AddDate(10, 0, 0)
		for _, u := range []string{"http://page.example/", "http://closed.example/"} {
			_, err := c.Add(began, frontier.Candidate{URI: uri.FromCanonical(u), Seed: u})
			must(t, err)
			claim, ok, err := c.Claim(ahead)
			if err != nil || !ok {
				t.Fatal(ok, err)
			}
			settlement := frontier.Settlement{Record: claim.Record, Finished: ahead}
			settlement.Record.LastVisit, settlement.Record.Visits = ahead, 1
			settlement.Record.Due = ahead.Add(48 * time.Hour)
			if claim.Record.URI.Host() == "closed.example" {
				if claim, err = c.Divert(claim, claim.Record.URI.Robots(), ahead); err != nil {
					t.Fatal(err)
				}
				settlement.Record = claim.Record
				settlement.Robots = &frontier.RobotsCopy{
					Fetched: began, Expires: time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC), Status: 503, Unreachable: true,
				}
			}
			_, err = c.Settle(claim, settlement)
			must(t, err)
		}
		shut()
		parts, shut = w.open()
		w.crawl(parts, 3*24*time.Hour)
		shut()
		page, closed := w.visits("page.example/"), w.visits("closed.example/")
		if len(page) == 0 || len(closed) == 0 {
			t.Fatalf("%d visits of the page and %d of the other site within three days; want some of each", len(page), len(closed))
		}
		if wait := page[0].Finished.Sub(began); wait < 48*time.Hour || wait > 49*time.Hour {
			t.Errorf("the page was visited after %s, want after the two days that it had to wait", wait)
		}
		if wait := closed[0].Finished.Sub(began); wait > 2*time.Minute {
			t.Errorf("the closed site was visited after %s, want after the rest of its host: its robots.txt is asked for again", wait)
		}
	})
}
