package crawler_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/evaluators/rate"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/internal/testcrawl"
)

// setBusy adds a host with pages that change four times a day each, one after the other.
func (w *world) setBusy(pages int) {
	var links []string
	for i := range pages {
		links = append(links, fmt.Sprintf("/%d", i))
		w.set("http://busy.example"+links[i], testcrawl.Page{Every: 6 * time.Hour, From: -time.Duration(i) * 9 * time.Minute})
	}
	w.set("http://busy.example/", testcrawl.Page{Links: links})
}

// busyHost are settings with which a host has a visit in 340 seconds.
const busyHost = `[politeness]
min_delay = "340s"
max_delay = "340s"
[[wait]]
mime = ".*"
rule = "learned"
`

// Forty pages change four times a day each. A target of 90 % asks for three times the visits that politeness allows. No
// page is overdue by more than 9/8 of its interval and a rest of the host, and each page gets its share. After a
// restart the same holds as soon as a visit was late. If a feed has a wait of 15 minutes by the configuration, its
// visits come first, and the waits of the pages are stretched until they ask for one and a half times the remaining
// visits.
func TestWaitsOfABusyHostAreStretchedTogether(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	slow.Unraced(t, longPlay)
	const feed = "[feeds]\nuris = [\"http://busy.example/rss.xml\"]\nmin = \"15m\"\nmax = \"15m\"\n"
	for _, c := range []struct {
		name, feeds string
		possible    float64 // visits a day of the pages
	}{{"pages only", "", 86400 / 340.0}, {"a feed with a wait of its own", feed, 86400/340.0 - 96}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			settings := busyHost + "capture_target = 0.9\n" + c.feeds + "[seeds]\nuris = [\"http://busy.example/\"]\n"
			inTown(t, settings, func(t *testing.T, w *world) {
				w.setBusy(40)
				w.set("http://busy.example/rss.xml", page(t, 0, []string{"rss=http://elsewhere.example/1"}))
				w.run(4 * 24 * time.Hour)
				w.run(2 * 24 * time.Hour)
				checkStretched(t, w.reports, 40, c.possible, c.feeds == "")
			})
		})
	}
}

// checkStretched checks the visits of the pages of a busy host after three days. Only if the pages are alone on the
// host, they are visited in time.
func checkStretched(t *testing.T, reports []crawler.Report, pages int, possible float64, alone bool) {
	t.Helper()
	settled := testcrawl.Epoch.Add(3 * 24 * time.Hour)
	before, visits, asked := map[string]crawler.Report{}, map[string]int{}, map[string]float64{}
	sum, stretched := 0, 0
	for _, r := range reports {
		u := r.URI.RequestTarget()
		switch u {
		case "/", "/robots.txt":
			continue
		case "/rss.xml":
			if r.Wait.Stretch != 0 || r.Wait.Interval > 15*time.Minute {
				t.Fatalf("the wait of the feed is %s: %s", r.Wait.Interval, r.Wait.Reason)
			}
			continue
		}
		if l, known := before[u]; known && r.Finished.After(settled) {
			visits[u]++
			sum++
			if late := r.Finished.Sub(l.Due); late > l.Wait.Interval*9/8+340*time.Second && l.Wait.Stretch > 1 && alone {
				t.Errorf("%s was %s late at %s after a wait of %s", u, late, r.Finished.Sub(testcrawl.Epoch), l.Wait.Interval)
			}
			if strings.Contains(r.Wait.Reason, "stretched") {
				stretched++
			}
		}
		before[u], asked[u] = r, 24/r.Wait.Interval.Hours()
	}
	mean := float64(sum) / float64(pages)
	t.Logf("%d visits in three days, %.1f of each page, %d stretched", sum, mean, stretched)
	perDay := 0.0
	for u, n := range visits {
		if perDay += asked[u]; float64(n) < mean*0.6 || float64(n) > mean*1.5 {
			t.Errorf("%s was visited %d times, the mean is %.0f", u, n, mean)
		}
	}
	if len(visits) != pages || stretched < sum*9/10 || alone && float64(sum) < 0.85*3*possible {
		t.Errorf("%d visits of %d pages, %d of them stretched", sum, len(visits), stretched)
	}
	if perDay < 0.8*1.5*possible || perDay > 1.2*1.5*possible {
		t.Errorf("the stretched waits of the pages ask for %.0f visits a day, want some %.0f", perDay, 1.5*possible)
	}
}

// A host has a front page and two sections that change every two hours, and 200 pages that change four times a day. It
// carries a tenth of what they ask for. The front page and the sections are captured as on a host without the
// crowd, nearly; each of the other pages is still visited. No wait exceeds the longest one.
func TestFrontPagesAndSectionsOfABusyHostKeepTheirWaits(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	slow.Unraced(t, longPlay)
	inTown(t, busyHost+`max = "3d"
[seeds]
uris = ["http://busy.example/", "http://quiet.example/"]
`, func(t *testing.T, w *world) {
		const pages = 200
		w.setBusy(pages)
		links := []string{"/politics", "/local-news/"}
		quiet := testcrawl.Page{Links: links, Every: 2 * time.Hour}
		busy := quiet
		for i := range pages {
			busy.Links = append(busy.Links, fmt.Sprintf("/%d", i))
		}
		w.set("http://quiet.example/", quiet)
		w.set("http://busy.example/", busy)
		for _, section := range links {
			for _, host := range []string{"quiet", "busy"} {
				w.set("http://"+host+".example"+section, testcrawl.Page{Every: 2 * time.Hour})
			}
		}
		w.run(5 * 24 * time.Hour)
		w.run(2 * 24 * time.Hour)

		settled := testcrawl.Epoch.Add(3 * 24 * time.Hour)
		versions, others := map[string]int{}, map[string]int{}
		perDay, captured := map[string]float64{}, 0
		for _, r := range w.reports {
			if r.URI.Host() == "busy.example" && r.Wait.PerDay > 0 {
				perDay[r.URI.RequestTarget()] = r.Wait.PerDay
			}
			if r.Wait.Interval > 3*24*time.Hour {
				t.Fatalf("%s waits for %s, above the longest wait: %s", r.URI, r.Wait.Interval, r.Wait.Reason)
			}
			if !r.Finished.After(settled) {
				continue
			}
			switch target := r.URI.RequestTarget(); {
			case target == "/robots.txt":
			case target == "/" || target == "/politics" || target == "/local-news/":
				if r.Verdict.State == evaluators.Changed {
					versions[r.URI.String()]++
				}
				if r.Wait.Stretch > 1.5 {
					t.Errorf("the wait of %s is %s: %s", r.URI, r.Wait.Interval, r.Wait.Reason)
				}
			default:
				others[target]++
				if r.Verdict.State == evaluators.Changed {
					captured++
				}
			}
		}
		const appeared = 4 * 12
		for _, target := range append(links, "/") {
			alone, crowded := versions["http://quiet.example"+target], versions["http://busy.example"+target]
			t.Logf("%s: %d of %d versions without a crowd, %d with it", target, alone, appeared, crowded)
			if alone < appeared*6/10 || crowded < alone*8/10 {
				t.Errorf("%s: %d versions of %d without a crowd, %d with it", target, alone, appeared, crowded)
			}
		}
		if t.Logf("%d other pages were visited in four days", len(others)); len(others) != pages {
			t.Errorf("%d of %d other pages were visited in four days", len(others), pages)
		}
		for _, n := range []string{"/", "/politics", "/local-news/"} {
			captured += versions["http://busy.example"+n]
		}
		checkAssessment(t, perDay, float64(captured)/(3*appeared+pages*4*4))
	})
}

// checkAssessment checks that the share of the versions that the host of the test above captured is the one that
// [rate.Assess] computes from the rates at which the rule expects changes.
func checkAssessment(t *testing.T, perDay map[string]float64, captured float64) {
	t.Helper()
	var important, others rate.Rates
	for target, rate := range perDay {
		if target == "/" || target == "/politics" || target == "/local-news/" {
			important.Add(rate, 0)
		} else {
			others.Add(rate, 0)
		}
	}
	part := rate.Part{Target: 0.8, Min: 5 * time.Minute, Max: 3 * 24 * time.Hour, Slow: true}
	rest := part
	part.Rates, part.Leading, rest.Rates = &important, true, &others
	a := rate.Assess([]rate.Part{rest, part}, rate.Limits{Rest: 341 * time.Second})
	t.Logf("captured %.3f; %v", captured, a)
	// Leading varies from 0.70 to 0.80 with the moment of the last count of waits.
	if math.Abs(a.Share-captured) > 0.1 || a.Leading < 0.65 {
		t.Errorf("%.3f of the versions were captured, and %.3f expected: %v", captured, a.Share, a)
	}
}

// The waits of a busy host are stretched to a day and more. Then its operator allows a request each two seconds. The
// pages are due as their own waits say at once, not when the long waits end.
func TestDueTimesComeBackWhenAHostCarriesMore(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	slow.Unraced(t, longPlay)
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		const slowly = "min_delay = \"600s\"\nmax_delay = \"600s\"\n"
		w := newWorld(t, dir, "[politeness]\n"+slowly+`[[wait]]
mime = ".*"
rule = "learned"
max = "10d"
[seeds]
uris = ["http://busy.example/"]
`)
		const pages = 100
		w.setBusy(pages)
		w.run(4 * 24 * time.Hour)
		before := len(w.reports)
		w.edit(slowly, "")
		w.run(8 * time.Hour)
		visited := map[string]bool{}
		for _, r := range w.reports[before:] {
			if r.URI.RequestTarget() != "/robots.txt" {
				visited[r.URI.String()] = true
			}
		}
		if len(visited) < pages*9/10 { // a few wait longer by themselves
			t.Errorf("%d of %d pages were visited in the eight hours after the host carried more", len(visited), pages)
		}
	})
}
