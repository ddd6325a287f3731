package evaluators

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/internal/slow"
)

// sharePeriods are the hours after which the share of a site is reported.
var sharePeriods = []float64{1, 24, 240, 2400}

var sharesOf = flag.Int("shares", 40, "number of sites of each kind in TestTheShareLiesInItsBounds")

// sharesTold compares what is reported of sites with the truth.
type sharesTold struct {
	sites, told, inside int
	off, far            float64 // sums of the errors and of their sizes
}

func (s *sharesTold) add(of toldSite) {
	if of.day.Seen == 0 {
		return
	}
	s.sites++
	c := of.day.Captured()
	if !c.Known() {
		return
	}
	s.told++
	share := float64(of.day.Seen) / float64(of.truth)
	if low, high := c.Range(); low <= share && share <= high {
		s.inside++
	}
	s.off += c.Share() - share
	s.far += math.Abs(c.Share() - share)
}

func (s *sharesTold) row(kind string, hours float64) string {
	n := float64(max(s.told, 1))
	return fmt.Sprintf("%-16s %5.0f h: %3d sites, %3d told, %3.0f %% inside, mean error %+5.1f, mean size %4.1f points",
		kind, hours, s.sites, s.told, 100*float64(s.inside)/n, 100*s.off/n, 100*s.far/n)
}

// TestTheShareLiesInItsBounds crawls sites of one page and of a hundred, of several kinds, for up to a hundred days.
// The bounds must hold on 85 to 95 of a hundred sites at each time, and the mean error must be small from the tenth
// day on. With -v it prints a table; -shares sets its size.
func TestTheShareLiesInItsBounds(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	random := rand.New(rand.NewPCG(1, 2))
	all := make([]sharesTold, len(sharePeriods))
	for _, kind := range []string{"random", "regular", "bursty", "by day", "100 random", "100 bursty", "100 mixed", "97 still, 3 mixed"} {
		sites := *sharesOf
		if kind[0] == '1' || kind[0] == '9' {
			sites = max(sites/5, 1)
		}
		of := make([]sharesTold, len(sharePeriods))
		for range sites {
			for i, s := range toldSiteOf(random, kind) {
				of[i].add(s)
				all[i].add(s)
			}
		}
		for i, s := range of {
			t.Log(s.row(kind, sharePeriods[i]))
		}
	}
	for i, s := range all {
		t.Log(s.row("all", sharePeriods[i]))
		if inside := float64(s.inside) / float64(max(s.told, 1)); s.told >= 20 && (inside < 0.85 || inside > 0.95) {
			t.Errorf("after %g hours the share is inside its bounds at %d of %d sites", sharePeriods[i], s.inside, s.told)
		}
		if off := 100 * s.off / float64(max(s.told, 1)); sharePeriods[i] >= 240 && math.Abs(off) > 5 {
			t.Errorf("after %g hours the mean error is %.1f points", sharePeriods[i], off)
		}
	}
}

// A page that changes at each visit bounds nothing.
func TestAPageThatAlwaysChangesHasNoShare(t *testing.T) {
	t.Parallel()
	everyMinute := make([]float64, 24*60)
	for i := range everyMinute {
		everyMinute[i] = float64(i) / 60
	}
	c := crawledUntil(everyMinute, []float64{24})[0].day.Plus(crawledUntil(nil, []float64{24})[0].day).Captured()
	if want := fmt.Sprintf("not known yet: every visit found a change; at least %d changes", c.Seen); c.Unknown() != want {
		t.Errorf("%q, want %q: %s", c.Unknown(), want, c)
	}
}

// toldSite holds the counts of a site, and how many versions there were until the last visit of each page.
type toldSite struct {
	day   Day
	truth int
}

// toldSiteOf crawls a site, and returns what is counted after each period.
func toldSiteOf(random *rand.Rand, kind string) []toldSite {
	site := make([]toldSite, len(sharePeriods))
	add := func(kind string) {
		perDay := 0.05 * math.Pow(1000, random.Float64())
		for i, s := range crawledUntil(changesOf(random, kind, perDay), sharePeriods) {
			site[i].day, site[i].truth = site[i].day.Plus(s.day), site[i].truth+s.truth
		}
	}
	mixed := []string{"random", "regular", "bursty", "by day"}
	switch kind {
	case "100 random", "100 bursty":
		for range 100 {
			add(kind[4:])
		}
	case "100 mixed":
		for i := range 100 {
			add(mixed[i%len(mixed)])
		}
	case "97 still, 3 mixed":
		for range 97 {
			add("still")
		}
		for range 3 {
			add(mixed[random.IntN(len(mixed))])
		}
	default:
		add(kind)
	}
	return site
}

// changesOf returns the hours at which a page of a kind changes, about perDay times a day: at random, at regular
// intervals, in bursts of 2 to 16, or by day only.
func changesOf(random *rand.Rand, kind string, perDay float64) (all []float64) {
	const shareOfDay = 10.0 / 24
	size := 2 * math.Pow(8, random.Float64())
	hours, mean := sharePeriods[len(sharePeriods)-1], 24/perDay
	switch kind {
	case "random":
		for at := random.ExpFloat64() * mean; at < hours; at += random.ExpFloat64() * mean {
			all = append(all, at)
		}
	case "regular":
		for at := random.Float64() * mean; at < hours; at += mean {
			all = append(all, at+0.2*mean*random.Float64())
		}
	case "bursty":
		for at := random.ExpFloat64() * mean * size; at < hours; at += random.ExpFloat64() * mean * size {
			for soon := at; ; soon += random.ExpFloat64() * min(1, mean/4) {
				all = append(all, soon)
				if random.Float64() < 1/size {
					break
				}
			}
		}
	case "by day":
		begins := random.Float64() * 24
		for at := 0.0; at < hours; at += random.ExpFloat64() * mean * shareOfDay {
			if math.Mod(at+begins, 24) < 24*shareOfDay {
				all = append(all, at)
			}
		}
	}
	slices.Sort(all)
	return all
}

// crawledUntil visits a page by the learned rule, and returns what was counted at each time.
func crawledUntil(changes, times []float64) (told []toldSite) {
	rule := Learned{}.withDefaults()
	in := WaitInput{MIME: "text/html", State: Changed, First: true}
	in.At = january
	w := rule.Next(in)
	versions, visits, site := 1, 1, toldSite{}
	for at := w.Interval.Hours(); ; at += w.Interval.Hours() {
		for at > times[len(told)] {
			if told = append(told, site); len(told) == len(times) {
				return told
			}
		}
		in = WaitInput{MIME: "text/html", State: Unchanged, Previous: w.Interval}
		in.At, in.Memory = january.Add(time.Duration(at*float64(time.Hour))), w.Memory
		n, _ := slices.BinarySearch(changes, at)
		changes, site.truth, visits = changes[n:], site.truth+n, visits+1
		d := Day{Requests: 1}
		if n > 0 {
			in.State = Changed
			versions++
		}
		if w = rule.Next(in); n > 0 {
			d = Found(w.Versions-1, versions-1, BlindIf(visits, versions))
		}
		site.day = site.day.Plus(d)
	}
}
