package sim_test

import (
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/lab/sim"
)

// randomPage returns a page that changes at random, once in gap on average, for some days.
func randomPage(random *rand.Rand, gap time.Duration, days int) sim.History {
	h := sim.History{
		ID: "page" + strconv.Itoa(random.Int()), Host: "a.example", Kind: "front page", Start: time.Unix(1.7e9, 0).UTC(),
		Watched: time.Duration(days) * 24 * time.Hour,
	}
	for after := time.Duration(0); ; {
		if after += time.Duration(random.ExpFloat64() * float64(gap)); after > h.Watched {
			return h
		}
		h.Changes = append(h.Changes, after)
	}
}

// played returns the tallies of pages on hosts of their own at the default target.
func played(p sim.Policy, pages ...sim.History) sim.Tally {
	for i := range pages {
		pages[i].Host = strconv.Itoa(i) + ".example"
	}
	return sim.Sum(sim.Play(p, 0.46, pages))
}

const longest = 90 * 24 * time.Hour

func TestAPageThatDiffersAtEachFetchIsVisitedOnceADay(t *testing.T) {
	t.Parallel()
	clock := sim.History{
		ID: "clock", Kind: "front page", Start: time.Unix(1.7e9, 0).UTC(), Watched: 40 * 24 * time.Hour, Noise: true,
	}
	once, twice := played(sim.LearnedOnce(longest), clock), played(sim.Learned(longest), clock)
	if once.Requests < 5_000 || twice.Requests > 75 || twice.Looks < 4 || twice.Looks > 10 {
		t.Errorf("%d requests without second looks, %d with %d of them", once.Requests, twice.Requests, twice.Looks)
	}
}

func TestNoiseThatNoReaderSeesDoesNotHideVersions(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 1))
	var clean, noisy []sim.History
	for range 10 {
		h := randomPage(random, 6*time.Hour, 60)
		clean = append(clean, h)
		h.Noise, h.Unseen = true, true
		noisy = append(noisy, h)
	}
	want, got := played(sim.Learned(longest), clean...), played(sim.Learned(longest), noisy...)
	if got.Share() < want.Share()-.03 || float64(got.Requests) > 1.15*float64(want.Requests) {
		t.Errorf("captured %.3f in %d requests with noise, %.3f in %d without",
			got.Share(), got.Requests, want.Share(), want.Requests)
	}
}

// A ticker has new content at each visit, but not ten seconds later.
func TestTickersKeepTheirVersions(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(2, 2))
	for _, gap := range []time.Duration{time.Minute, 5 * time.Minute, 10 * time.Minute} {
		var pages []sim.History
		for range 6 {
			pages = append(pages, randomPage(random, gap, 3))
		}
		once, twice := played(sim.LearnedOnce(longest), pages...), played(sim.Learned(longest), pages...)
		if twice.Share() < once.Share()-.02 || float64(twice.Looks) > .005*float64(twice.Requests) {
			t.Errorf("a version each %s: captured %.3f, without second looks %.3f; %d of %d requests were second looks",
				gap, twice.Share(), once.Share(), twice.Looks, twice.Requests)
		}
	}
}
