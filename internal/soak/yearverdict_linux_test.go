package soak_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/digest"
)

// TestEachVerdictOfAYearCanFail judges an invented year, in which everything is well, and then one thing is not.
func TestEachVerdictOfAYearCanFail(t *testing.T) {
	t.Parallel()
	for fault, spoil := range map[string]func(y *year, visits map[uint64][]stay, kept map[uint64]struct{}){
		"": func(*year, map[uint64][]stay, map[uint64]struct{}) {},
		"not so: memory (live heap)": func(y *year, _ map[uint64][]stay, _ map[uint64]struct{}) {
			y.months[11].heap *= 2
		},
		"not so: number of descriptors": func(y *year, _ map[uint64][]stay, _ map[uint64]struct{}) {
			y.months[10].descriptors += 7
		},
		"not so: number of goroutines": func(y *year, _ map[uint64][]stay, _ map[uint64]struct{}) {
			y.months[9].goroutines += 7
		},
		"not so: store size": func(y *year, _ map[uint64][]stay, _ map[uint64]struct{}) { y.months[9].perURI *= 2 },
		"not so: size of the rows of a known URI": func(y *year, _ map[uint64][]stay, _ map[uint64]struct{}) {
			y.months[11].rows["q"] += 3e5
		},
		"not so: size of the rows of a known host": func(y *year, _ map[uint64][]stay, _ map[uint64]struct{}) {
			y.months[10].rows["h"] += 1e4
		},
		"not so: what is learned of a host has bounds": func(y *year, _ map[uint64][]stay, _ map[uint64]struct{}) {
			y.months[11].rows["#k"] = 1e4
		},
		"not so: index of payloads": func(y *year, _ map[uint64][]stay, _ map[uint64]struct{}) {
			y.months[11].rows["d"] += 9e6
		},
		"not so: size of the store's files": func(y *year, _ map[uint64][]stay, _ map[uint64]struct{}) {
			y.months[10].store += 1e8
		},
		"not so: start time": func(y *year, _ map[uint64][]stay, _ map[uint64]struct{}) { y.months[9].start *= 3 },
		"not so: overdue ends": func(y *year, _ map[uint64][]stay, _ map[uint64]struct{}) {
			y.samples = append(y.samples, measured{Healthy: day})
		},
		"at 0s the API said: x: never": func(y *year, _ map[uint64][]stay, _ map[uint64]struct{}) {
			y.samples = append(y.samples, measured{Never: []string{"x: never"}})
		},
		"it is not archived": func(_ *year, _ map[uint64][]stay, kept map[uint64]struct{}) { clear(kept) },
		"was never visited":  func(_ *year, visits map[uint64][]stay, _ map[uint64]struct{}) { clear(visits) },
		"archive: ": func(y *year, _ map[uint64][]stay, _ map[uint64]struct{}) {
			y.must(os.WriteFile(y.crawl("warc/b.warc.gz"), []byte("no gzip"), 0o600))
		},
	} {
		y := newYear(t, 1, 2, judgedFrom, t.TempDir())
		y.quiet = true
		y.ends = y.plan.lasts
		visits, kept := y.invent()
		spoil(y, visits, kept)
		y.versions(visits, kept)
		y.growth()
		y.overdue()
		if strings.HasPrefix(fault, "archive") {
			y.verify()
		}
		got := strings.Join(y.faults, "\n")
		if fault == "" && got != "" || !strings.Contains(got, fault) {
			t.Errorf("the faults are %q, want one with %q", got[:min(len(got), 500)], fault)
		}
	}
}

// invent returns visits and payloads of a perfect crawl, and fills the months with measurements that do not grow.
func (y *year) invent() (visits map[uint64][]stay, kept map[uint64]struct{}) {
	y.must(os.MkdirAll(y.crawl("warc"), 0o700))
	for i := range y.months {
		y.months[i] = monthly{
			heap: 2e7, descriptors: 30, goroutines: 40, perURI: 9e3, start: 1, store: 1e8, uris: 1000, known: 100,
			responses: 10_000, rows: map[string]float64{"u": 5e5, "h": 2e4, "d": float64(i+1) * 1e6, "a": 1e4, "#u": 1000},
		}
	}
	visits, kept = map[uint64][]stay{}, map[uint64]struct{}{}
	for _, h := range y.web.hosts {
		for _, path := range h.paths(y.ends) {
			name := "http://" + h.name + path
			for _, c := range h.changes(path, y.ends) {
				visits[hashOf(name)] = append(visits[hashOf(name)], stay{at: c.from, wait: time.Minute})
				_, body := h.body(path, c.version)
				kept[hashOf(name+" "+digest.Of(body).String())] = struct{}{}
			}
		}
	}
	return visits, kept
}

// TestGrowthIsJudgedOfThePartThatWasPlayed ends a year early.
func TestGrowthIsJudgedOfThePartThatWasPlayed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		played, grows int // months
		want          bool
	}{{6, 5, false}, {7, 6, true}, {8, 6, true}, {8, 5, false}, {8, 8, false}, {10, 7, true}, {10, 10, false}} {
		y := newYear(t, 1, 2, 2*judgedFrom, t.TempDir())
		y.quiet = true
		y.ends = time.Duration(c.played)*y.plan.month + day
		y.invent()
		y.months[c.grows].heap *= 3
		y.growth()
		if got := strings.Contains(strings.Join(y.faults, "\n"), "not so: memory (live heap)"); got != c.want {
			t.Errorf("%d months were played, and memory grows in month %d: fault %v, want %v", c.played, c.grows+1, got, c.want)
		}
	}
}
