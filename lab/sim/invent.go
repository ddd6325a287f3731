package sim

import (
	"math"
	"math/rand/v2"
	"strconv"
	"time"
)

// Site invents a host as a crawl of many sites has them. Its front page changes twenty times a day. One resource in
// two hundred is a section that changes twice a day. The rates of other pages are spread log-normally about once a
// year; one in twenty changes once a month or more. All rates are multiplied by busy. All changes come at random. The
// same seed returns the same site.
func Site(seed uint64, resources int, watched time.Duration, busy float64) []History {
	const usual, spread, maxPerDay = 1.0 / 365, 1.5, 24.0 // changes a day
	random := rand.New(rand.NewPCG(seed, 3))
	start := time.Date(2026, time.January, 5, 0, 0, 0, 0, time.UTC)
	all := make([]History, resources)
	for i := range all {
		kind, perDay := "page", math.Min(usual*math.Exp(spread*random.NormFloat64()), maxPerDay)
		switch {
		case i == 0:
			kind, perDay = "front page", 20
		case i%200 == 1:
			kind, perDay = "section", 2
		}
		perDay *= busy
		h := History{
			ID: "invented:" + strconv.Itoa(i), Source: "invented", Kind: kind,
			Host:  "site" + strconv.FormatUint(seed, 10) + ".example",
			Start: start.Add(time.Duration(i) * time.Minute), Watched: watched,
		}
		gap := func() float64 { return random.ExpFloat64() / perDay * secondsPerDay }
		for hour := gap(); hour < watched.Seconds(); hour += gap() {
			h.Changes = append(h.Changes, seconds(hour))
		}
		all[i] = h
	}
	return all
}

const secondsPerDay = 24 * 60 * 60
