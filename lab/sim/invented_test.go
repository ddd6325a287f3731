package sim

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/internal/slow"
)

// NewsHost invents a news site of twelve days, for questions that recorded histories are too small for. Its front page
// changes six times an hour, its ten sections twice an hour. A hundred articles a day have two or three edits each,
// most of them soon after birth. Two thousand pages change once in four years. All changes come at random. The same
// seed returns the same site.
func NewsHost(seed uint64) []History {
	const (
		days, sections, articles, still = 12, 10, 1200, 2000
		edits, ageScale                 = 0.4, 300.0 // per unit of logarithmic age; seconds
	)
	start := time.Date(2026, time.January, 5, 0, 0, 0, 0, time.UTC)
	random := rand.New(rand.NewPCG(seed, 2))
	var all []History
	add := func(kind string, from time.Duration, gap func(age float64) float64) {
		h := History{
			ID: "invented:" + kind + strconv.Itoa(len(all)), Source: "invented", Kind: kind, Host: "news.example",
			Start: start.Add(from), Watched: days*24*time.Hour - from, Born: kind == "article",
		}
		for age := gap(0); age < h.Watched.Seconds(); age += gap(age) {
			h.Changes = append(h.Changes, seconds(age))
		}
		all = append(all, h)
	}
	every := func(mean float64) func(float64) float64 {
		return func(float64) float64 { return mean * random.ExpFloat64() }
	}
	add("front page", 0, every(600))
	for range sections {
		add("section", 0, every(1800))
	}
	for i := range articles { // the time to the next edit is exponential in the logarithm of the age
		birth := time.Duration(i) * days * 24 * time.Hour / articles
		add("article", birth, func(age float64) float64 {
			return 1 + (age+ageScale)*math.Expm1(random.ExpFloat64()/edits)
		})
	}
	for range still {
		add("page", 0, every(4*365*86400))
	}
	return all
}

// Daylight invents a news site that is watched for a number of days from a Monday on. The rates of its pages are
// spread log-normally about 0.7 changes a day, up to 48. The pages share their hours: from 22 to 7 UTC there are a
// twentieth of the changes of other hours, and at the weekend a quarter of the changes of other days. Otherwise
// changes come at random. The same seed returns the same site.
func Daylight(seed uint64, pages, days int) []History {
	const usual, spread, maxPerDay = 0.7, 1.2, 48.0
	random := rand.New(rand.NewPCG(seed, 4))
	start := time.Date(2026, time.January, 5, 0, 0, 0, 0, time.UTC)
	all := make([]History, pages)
	for i := range all {
		perDay := math.Min(usual*math.Exp(spread*random.NormFloat64()), maxPerDay)
		gap := secondsPerDay / (2 * perDay) // between possible changes, of which half take place
		h := History{
			ID: "daylight:" + strconv.Itoa(i), Source: "invented", Kind: "section", Host: "daylight.example",
			Start: start.Add(time.Duration(i) * time.Minute), Watched: time.Duration(days) * 24 * time.Hour,
		}
		for hour := gap * random.ExpFloat64(); hour < h.Watched.Seconds(); hour += gap * random.ExpFloat64() {
			if random.Float64() < byDaylight(h.Start.Add(seconds(hour))) {
				h.Changes = append(h.Changes, seconds(hour))
			}
		}
		all[i] = h
	}
	return all
}

// byDaylight returns the share of possible changes that take place.
func byDaylight(at time.Time) float64 {
	share := 1.0
	if at.Hour() < 7 || at.Hour() >= 22 {
		share = 1.0 / 20
	}
	if day := at.Weekday(); day == time.Saturday || day == time.Sunday {
		share /= 4
	}
	return share
}

// TestDatesHelpAndWrongDatesDoLittleHarm plays a news site that states when its pages changed. Some of the stated
// dates are true and some are invented.
func TestDatesHelpAndWrongDatesDoLittleHarm(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	slow.Unraced(t, slow.OneGoroutine)
	const most = 90 * 24 * time.Hour
	all := NewsHost(4)[:300]
	lies := func(name string, of func(Visit) time.Time) Policy {
		p := Learned(most)
		p.Name, p.Host = name, datedBy(p.Host, of)
		return p
	}
	share := map[string]float64{}
	names := []string{"silent", "true", "half way", "a minute ago", "just after the last visit"}
	for i, p := range []Policy{
		Learned(most), Dated(most),
		lies("", func(v Visit) time.Time { return v.At.Add(-v.Elapsed / 2) }),
		lies("", func(v Visit) time.Time { return v.At.Add(-time.Minute) }),
		lies("", func(v Visit) time.Time { return v.At.Add(time.Second - v.Elapsed) }),
	} {
		p.Name = names[i]
		r := Compare(Question{Policies: []Policy{p}, Budgets: []float64{2}, Draws: 2, Seed: 1}, all)
		share[p.Name] = r[0].Share
	}
	t.Log(share)
	if share["true"] < share["silent"]-0.005 {
		t.Errorf("fewer versions are captured with dates: %v", share)
	}
	for _, lie := range names[2:] {
		if share[lie] < share["silent"]-0.1 {
			t.Errorf("with %q dates %.3f of the versions are captured, without dates %.3f", lie, share[lie], share["silent"])
		}
	}
}
