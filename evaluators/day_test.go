package evaluators

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/internal/slow"
)

// TestTheShareLiesInItsBounds crawls sites of one to four pages of many kinds for a day or a week. The true share must
// lie inside the bounds at 85 % of the sites of each period whose share is stated.
func TestTheShareLiesInItsBounds(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	random := rand.New(rand.NewPCG(1, 2))
	type count struct{ sites, stated, inside int }
	counts := map[string]count{}
	for range 10_000 {
		period := []string{"a day", "a day", "a day", "a week"}[random.IntN(4)]
		hours := map[string]float64{"a day": 24, "a week": 168}[period]
		site, truth := Day{}, 0
		for range []int{1, 1, 2, 4}[random.IntN(4)] {
			kind := random.IntN(10)
			seen, versions := crawled(changesOf(random, kind, hours), hours, kind == feedPage)
			site, truth = site.Plus(seen), truth+versions
		}
		if site.Seen == 0 {
			continue
		}
		c, n := site.Captured(), counts[period]
		n.sites++
		if share := float64(site.Seen) / float64(truth); c.Known() {
			n.stated++
			if low, high := c.Range(); low <= share && share <= high {
				n.inside++
			}
		}
		counts[period] = n
	}
	for period, n := range counts {
		t.Logf("%s: %d sites, %d with a share, %d inside", period, n.sites, n.stated, n.inside)
		if float64(n.inside) < 0.85*float64(n.stated) || n.stated < n.sites/2 {
			t.Errorf("after %s the share is inside its bounds at %d of %d sites (%d in all)", period, n.inside, n.stated, n.sites)
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
	day, _ := crawled(everyMinute, 24, false)
	still, _ := crawled(nil, 24, false)
	c := day.Plus(still).Captured()
	if want := fmt.Sprintf("not known yet: every visit found a change; at least %d changes", c.Seen); c.Unknown() != want {
		t.Errorf("%q, want %q: %s", c.Unknown(), want, c)
	}
}

const feedPage = 8

// changesOf returns the hours at which a page of a kind changes.
func changesOf(random *rand.Rand, kind int, hours float64) (all []float64) {
	between := func(low, high float64) float64 { return low * math.Pow(high/low, random.Float64()) }
	mean, clock := 24/between(0.05, 50), random.Float64()*24
	switch kind {
	case 0: // always still
		return nil
	case 1, 2: // at even times
		for at := random.Float64() * 10 * mean; at < hours; at += 10 * mean {
			all = append(all, at+mean*random.Float64()/2)
		}
	case 3: // in bursts
		for at, rest := 0.0, 24/between(0.1, 4); at < hours; {
			at += random.ExpFloat64() * rest
			for soon := at; ; soon += random.ExpFloat64() {
				all = append(all, soon)
				if random.Float64() < 0.3 {
					break
				}
			}
		}
	default: // at random; by hours of the day
		for at := random.ExpFloat64() * mean; at < hours; at += random.ExpFloat64() * mean {
			if kind < 6 || kind == feedPage || math.Mod(at+clock, 24) < 10 {
				all = append(all, at)
			}
		}
	}
	slices.Sort(all)
	return all
}

// crawled visits a page by the learned rule, and returns the counts and the number of versions until the last visit.
// If counts is set, the page says how often it changed.
func crawled(changes []float64, hours float64, counts bool) (sum Day, truth int) {
	rule := Learned{}.withDefaults()
	in := WaitInput{MIME: "text/html", State: Changed, First: true}
	in.At = january
	w := rule.Next(in)
	versions, visits := 1, 1
	for at := w.Interval.Hours(); at < hours; at += w.Interval.Hours() {
		in = WaitInput{MIME: "text/html", State: Unchanged, Previous: w.Interval}
		in.At, in.Memory = january.Add(time.Duration(at*float64(time.Hour))), w.Memory
		n, _ := slices.BinarySearch(changes, at)
		changes, truth, visits = changes[n:], truth+n, visits+1
		if counts {
			in.Changes = n
		}
		if n > 0 {
			in.State = Changed
			versions++
		}
		w = rule.Next(in)
		d := Day{Requests: 1, Versions: w.Versions, Odds: OddsOf(w.Odds, n > 0, w.Again && versions > 2)}
		if n > 0 {
			d.Seen, d.Versions, d.Blind = 1, max(w.Versions, 1), BlindIf(visits, versions, counts)
		}
		sum = sum.Plus(d)
	}
	return sum, truth
}
