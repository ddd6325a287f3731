package sim_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/lab/sim"
)

// indexedSite returns thirty pages of one host that change every other day for half a year.
func indexedSite() (site []sim.History) {
	random := rand.New(rand.NewPCG(3, 3))
	for range 30 {
		site = append(site, randomPage(random, 48*time.Hour, 180))
	}
	return site
}

func TestWhatIndexesAreWorth(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	slow.Unraced(t, slow.OneGoroutine)
	const requests = 5000
	site := indexedSite()
	spend := func(p sim.Policy) sim.Tally {
		_, tallies := sim.Spend(p, requests, site)
		return sim.Sum(tallies)
	}
	none := spend(sim.Learned(longest))
	for _, c := range []struct {
		word    sim.Word
		gain    float64 // at least
		maxRead int
	}{
		{sim.TrueIndex, 0.1, requests},
		{sim.LateIndex, 0.05, requests},
		{sim.PartialIndex, 0.01, requests},
		{sim.LyingIndex, -0.02, 40},
		{sim.SilentIndex, -0.02, 40},
		{sim.TurningIndex, 0.04, requests},
	} {
		got := spend(sim.Learned(longest).Indexed(c.word, false))
		t.Logf("%s index: %.3f with %d requests, %d of them readings; without: %.3f with %d",
			c.word, got.Share(), got.Requests, got.Readings, none.Share(), none.Requests)
		if got.Share() < none.Share()+c.gain || got.Readings > c.maxRead {
			t.Errorf("%s index: %.3f with %d readings, want at least %.3f and at most %d", c.word, got.Share(), got.Readings,
				none.Share()+c.gain, c.maxRead)
		}
	}
}

func TestAHostOfTwoPagesHasNoIndex(t *testing.T) {
	t.Parallel()
	got := sim.Sum(sim.Play(sim.Learned(longest).Indexed(sim.TrueIndex, false), 0.46, indexedSite()[:2]))
	if got.Readings > 0 {
		t.Errorf("%d readings", got.Readings)
	}
}

// The last visits of a host may be after the last reading of its index.
func TestAnIndexThatIsReadNoMoreIsNotReadAgain(t *testing.T) {
	t.Parallel()
	for _, w := range []sim.Word{sim.TrueIndex, sim.LyingIndex} {
		if sim.Sum(sim.Play(sim.Learned(longest).Indexed(w, false), 2, corpus(t))).Readings == 0 {
			t.Errorf("%s index: no readings", w)
		}
	}
}
