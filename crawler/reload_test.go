package crawler_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/config"
	"github.com/arcrawl/arcrawl/crawler"
	"github.com/arcrawl/arcrawl/crawler/whatif"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/internal/town"
	"github.com/arcrawl/arcrawl/uri"
)

// onceADay is a configuration with one seed that is visited once a day.
const onceADay = `[[wait]]
mime = ".*"
rule = "fixed"
every = "1d"
[seeds]
uris = ["http://www.news.example/"]
`

// during crawls for some days and calls do in the meantime. Files that do writes have a time of the real clock.
func (w *world) during(d time.Duration, do func(c *crawler.Crawler)) {
	w.t.Helper()
	parts, shut := w.open()
	defer shut()
	w.duringWith(parts, d, do)
}

// duringWith is during with parts that are open.
func (w *world) duringWith(parts crawler.Parts, d time.Duration, do func(c *crawler.Crawler)) {
	w.t.Helper()
	c := crawler.New(parts)
	if _, err := c.AddSeeds(time.Now()); err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	ended := make(chan error)
	go func() { ended <- c.Run(ctx) }()
	do(c)
	if err := <-ended; err != nil {
		w.t.Error(err)
	}
}

// host writes the configuration file of a host.
func (w *world) host(name, text string) {
	w.t.Helper()
	path := w.path(filepath.Join("hosts.d", name))
	must(w.t, os.MkdirAll(filepath.Dir(path), 0o750))
	must(w.t, os.WriteFile(path, []byte(text), 0o600))
}

// reload loads the configuration again, which must succeed.
func (w *world) reload(c *crawler.Crawler) whatif.Plan {
	w.t.Helper()
	p, err := c.Reload(false, time.Now())
	must(w.t, err)
	return p
}

// story plays a crawl of www.news.example in virtual time.
func story(t *testing.T, toml string, play func(w *world)) {
	t.Helper()
	inTown(t, toml, func(_ *testing.T, w *world) {
		w.set("http://www.news.example/", town.Page{Every: time.Hour})
		play(w)
	})
}

func TestReloadsCauseNoVisit(t *testing.T) {
	slow.Test(t)
	times := func(reloads int) (all []time.Duration) {
		story(t, onceADay, func(w *world) {
			began := time.Now()
			w.during(5*24*time.Hour, func(c *crawler.Crawler) {
				for i := range reloads {
					time.Sleep(time.Hour)
					w.host("www.news.example.toml", "[politeness]\nmin_delay = \""+[]string{"3s", "4s"}[i%2]+"\"\n[seeds]\nuris = [\"http://www.news.example/\"]\n")
					if p := w.reload(c); p.DueNow != 0 {
						t.Errorf("reload %d makes %d URIs due", i, p.DueNow)
					}
				}
			})
			for _, v := range w.visits("/") {
				all = append(all, v.Finished.Sub(began).Round(time.Minute))
			}
		})
		return all
	}
	if diff := cmp.Diff(times(0), times(100)); diff != "" {
		t.Errorf("visits without and with a hundred reloads:\n%s", diff)
	}
}

// A URI that leaves the scope is not requested again. It is not lost, because the next edit may bring it back.
func TestURIOutOfScopeIsNotVisitedUntilItIsBack(t *testing.T) {
	slow.Test(t)
	story(t, onceADay, func(w *world) {
		w.set("http://www.news.example/", town.Page{Every: time.Hour, Links: []string{"http://www.news.example/old"}})
		w.set("http://www.news.example/old", town.Page{Every: time.Hour})
		const seeds = "[seeds]\nuris = [\"http://www.news.example/\"]\n"
		const without = "[scope]\nrules = ['reject /old$']\n"
		began := time.Now()
		w.during(12*24*time.Hour, func(c *crawler.Crawler) {
			time.Sleep(2*24*time.Hour + time.Hour)
			w.host("www.news.example.toml", without+seeds)
			w.reload(c)
			time.Sleep(5 * 24 * time.Hour)
			w.host("www.news.example.toml", seeds)
			w.reload(c)
		})
		var days []int
		for _, v := range w.visits("/old") {
			if v.Status == 200 {
				days = append(days, int(v.Finished.Sub(began)/(24*time.Hour)))
			}
		}
		if diff := cmp.Diff([]int{0, 1, 2, 7, 8, 9, 10, 11}, days); diff != "" {
			t.Errorf("the days on which it was visited, out of scope from the third to the seventh (-want +got):\n%s", diff)
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

func TestBrokenFileLeavesTheLastValidConfigurationInForce(t *testing.T) {
	story(t, onceADay, func(w *world) {
		w.set("http://other.example/", town.Page{Every: time.Hour})
		w.host("www.news.example.toml", "[politeness]\nmin_delay = \"3s\"\n")
		w.during(3*24*time.Hour, func(c *crawler.Crawler) {
			time.Sleep(time.Hour)
			w.host("www.news.example.toml", "[politeness]\nmin_dealy = \"5s\"\n")
			w.host("other.example.toml", "[seeds]\nuris = [\"http://other.example/\"]\n")
			_, err := c.Reload(false, time.Now())
			var faults config.Faults
			if !errors.As(err, &faults) || len(faults) != 1 || faults[0].Line != 2 || !strings.Contains(faults[0].Remedy, "min_delay") {
				t.Errorf("Reload = %v, want the misspelled key with its line", err)
			}
			l := c.ConfigStatus()
			if len(l.Faults) != 1 || l.Tried.IsZero() {
				t.Errorf("ConfigStatus = %+v, want the fault and the time at which it was found", l)
			}
			time.Sleep(36 * time.Hour)
			if n := len(w.visits("other.example/")); n != 0 {
				t.Errorf("%d visits to a seed of the refused configuration, want none", n)
			}
			w.host("www.news.example.toml", "[politeness]\nmin_delay = \"5s\"\n")
			p := w.reload(c)
			want := []config.KeyChange{{Host: "www.news.example", Key: "politeness.min_delay", Before: `"3s"`, After: `"5s"`}}
			for i := range p.Changes {
				p.Changes[i].Origin = ""
			}
			if diff := cmp.Diff(want, p.Changes); diff != "" || p.DueNow != 1 || len(c.ConfigStatus().Faults) != 0 {
				t.Errorf("after the fix: %d due now, faults %v, changes (-want +got):\n%s", p.DueNow, c.ConfigStatus().Faults, diff)
			}
		})
		if n := len(w.visits("www.news.example/")); n != 3 {
			t.Errorf("%d visits in three days, want 3 although a file is broken", n)
		}
		if n := len(w.visits("other.example/")); n != 2 {
			t.Errorf("%d visits to the new seed, want one at once and one a day later", n)
		}
	})
}

func TestHostWhoseFileWasNeverValidIsHeld(t *testing.T) {
	story(t, strings.Replace(onceADay, `"http://www.news.example/"`, `"http://www.news.example/", "http://other.example/"`, 1), func(w *world) {
		w.set("http://other.example/", town.Page{Every: time.Hour})
		w.during(4*24*time.Hour-time.Hour, func(c *crawler.Crawler) {
			time.Sleep(time.Hour)
			w.host("www.news.example.toml", "[politeness\n")
			if p := w.reload(c); len(p.Held) != 1 || p.Held[0] != "www.news.example" || len(c.ConfigStatus().Faults) != 1 {
				t.Errorf("held %v, faults %v; want the host of the new broken file", p.Held, c.ConfigStatus().Faults)
			}
			time.Sleep(2*24*time.Hour - time.Hour)
			if n, m := len(w.visits("www.news.example/")), len(w.visits("other.example/")); n != 1 || m != 2 {
				t.Errorf("%d visits to the held host, %d to the other; want 1, 2", n, m)
			}
			w.host("www.news.example.toml", "")
			if p := w.reload(c); len(p.Released) != 1 {
				t.Errorf("released %v, want the host", p.Released)
			}
		})
		if n := len(w.visits("www.news.example/")); n != 3 {
			t.Errorf("%d visits to the host, want one more at once when it is released and one a day later", n)
		}
	})
}

func TestDryRunReturnsThePlanAndChangesNothing(t *testing.T) {
	story(t, onceADay, func(w *world) {
		w.during(24*time.Hour-time.Minute, func(c *crawler.Crawler) {
			time.Sleep(time.Hour)
			w.edit(`uris = ["http://www.news.example/"]`, `uris = ["http://www.news.example/", "http://new.example/"]`+"\n[crawl]\nworkers = 7")
			w.host("www.news.example.toml", "[[wait]]\nmime = \".*\"\nrule = \"classic\"\nmin = \"1ms\"\nmax = \"1s\"\n[politeness]\nmin_delay = \"8s\"\n")
			p, err := c.Reload(true, time.Now())
			must(t, err)
			if len(p.SeedsAdded) != 1 || p.DueNow != 1 || len(p.AtRestart) != 1 || p.AtRestart[0].Key != "crawl.workers" || len(p.Changes) < 3 {
				t.Errorf("plan %+v", p)
			}
			if len(p.Load) != 1 || !p.Load[0].TooMuch() || p.Load[0].Shorter != 1 || p.Load[0].Capacity != 10_800 ||
				p.Load[0].CapacityBefore != 43_200 {
				t.Errorf("load %+v, want one URI that asks for 86,400 visits a day of a host that allows 10,800", p.Load)
			}
		})
		if n := len(w.visits("")) - len(w.visits("robots.txt")); n != 1 {
			t.Errorf("%d visits after a dry run, want the one of the first day", n)
		}
	})
}

// A shorter maximum wait applies from the next visit on: nothing is visited sooner because a file has changed.
func TestNewBoundsApplyFromTheNextVisitOn(t *testing.T) {
	story(t, onceADay, func(w *world) {
		w.during(26*time.Hour, func(c *crawler.Crawler) {
			time.Sleep(time.Hour)
			w.host("www.news.example.toml", "[[wait]]\nmime = \".*\"\nrule = \"classic\"\nmin = \"30m\"\nmax = \"30m\"\n")
			w.reload(c)
		})
		var last time.Time
		visits := w.visits("www.news.example/")
		for i, v := range visits {
			if gap := v.Finished.Sub(last); i == 1 && gap < 23*time.Hour || i > 1 && gap > 31*time.Minute {
				t.Errorf("visit %d is %s after the visit before", i, gap)
			}
			last = v.Finished
		}
		if len(visits) != 5 {
			t.Errorf("%d visits, want two a day apart and then one each half hour", len(visits))
		}
	})
}

// The plan names the known URIs that new naming rules merge. For the reverse change it names the URIs that are split.
func TestPlanNamesMergedAndSplitURIs(t *testing.T) {
	story(t, onceADay, func(w *world) {
		const page = "http://www.news.example/a"
		w.set("http://www.news.example/", town.Page{Links: []string{page, page + "?utm_source=feed", "http://www.news.example/b"}})
		w.set(page, town.Page{})
		drop, plain := "[names]\ndrop = [\"utm_*\"]\n", "[politeness]\nmin_delay = \"3s\"\n"
		seeds := "[seeds]\nuris = [\"http://www.news.example/\"]\n"
		want := whatif.NameChange{A: uri.FromCanonical(page), B: uri.FromCanonical(page + "?utm_source=feed"), Name: page}
		swap := func(c whatif.NameChange) whatif.NameChange {
			if c.A.String() > c.B.String() {
				c.A, c.B = c.B, c.A
			}
			return c
		}
		w.during(24*time.Hour, func(c *crawler.Crawler) {
			time.Sleep(time.Hour)
			w.host("www.news.example.toml", plain+seeds)
			if p := w.reload(c); p.Names != nil {
				t.Errorf("the plan has %s, want nothing because no naming rule changed", p.Names)
			}
			w.host("www.news.example.toml", drop+seeds)
			p, err := c.Reload(true, time.Now())
			if err != nil || p.Names == nil || p.Names.Hosts != 1 || p.Names.Merged != 1 || p.Names.Parted != 0 ||
				!p.Names.Complete || len(p.Names.Merges) != 1 || swap(p.Names.Merges[0]) != want {
				t.Fatalf("a dry run: %+v, %v; want %+v to be merged", p.Names, err, want)
			}
			w.reload(c)
			w.host("www.news.example.toml", plain+seeds)
			if p := w.reload(c); p.Names == nil || p.Names.Parted != 1 || p.Names.Merged != 0 ||
				len(p.Names.Splits) != 1 || swap(p.Names.Splits[0]) != want {
				t.Errorf("a dry run of the reverse change: %+v; want %+v to be split", p.Names, want)
			}
		})
	})
}
