package main

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// population describes what a bootstrap draws from: units, such as hosts, each with its pages, and sets of noisy pages,
// one of which belongs to each draw.
type population struct {
	name   string
	units  int
	noises int // at least 1
}

// statistic is a figure of one draw. It is not a number if the draw does not have it.
type statistic func(*draw) float64

// draw holds how often each unit was drawn, and which set of noisy pages.
type draw struct {
	weights []float64
	noise   int
	sums    map[*curve][]counts // of the curves that were asked for already
	bases   map[*curve]float64
}

func newDraw(units, noise int) *draw {
	return &draw{
		weights: make([]float64, units), noise: noise, sums: map[*curve][]counts{}, bases: map[*curve]float64{},
	}
}

// whole returns the draw in which each unit is once.
func whole(units, noise int) *draw {
	d := newDraw(units, noise)
	for i := range d.weights {
		d.weights[i] = 1
	}
	return d
}

// estimate is a figure of all units and its interval. Without an interval, low and high are not numbers.
type estimate struct {
	value       float64 // the mean over the sets of noisy pages
	low, high   float64 // in 95 of 100 draws the figure is between them
	least, most float64 // over the sets of noisy pages, with each unit once
	missing     int     // draws that do not have the figure
}

// bootstrap returns the figures of a population with their percentile intervals: B. Efron, "Bootstrap methods: another
// look at the jackknife", The Annals of Statistics 7 (1979). Each draw has as many units as the population, drawn at
// random with replacement, and a set of noisy pages, drawn as well. All figures are computed from the same draws, so
// that the interval of a difference is the interval of the paired difference. An interval holds from the 2.5th to the
// 97.5th percentile of the draws. Draws without the figure are left out of its interval and counted. The same seed
// returns the same figures.
func (p population) bootstrap(draws int, seed uint64, figures []statistic) []estimate {
	results := make([]estimate, len(figures))
	var points []*draw
	for noise := range p.noises {
		points = append(points, whole(p.units, noise))
	}
	for i, figure := range figures {
		e := &results[i]
		e.least, e.most = math.Inf(1), math.Inf(-1)
		for _, point := range points {
			v := figure(point)
			e.value += v / float64(len(points))
			e.least, e.most = min(e.least, v), max(e.most, v)
		}
	}
	values := make([][]float64, len(figures))
	random := rand.New(rand.NewPCG(seed, uint64(p.units)))
	for range draws {
		d := newDraw(p.units, random.IntN(p.noises))
		for range p.units {
			d.weights[random.IntN(p.units)]++
		}
		for i, figure := range figures {
			if v := figure(d); !math.IsNaN(v) {
				values[i] = append(values[i], v)
			}
		}
	}
	for i := range results {
		results[i].low, results[i].high = percentiles(values[i])
		results[i].missing = draws - len(values[i])
	}
	return results
}

// percentiles returns the 2.5th and the 97.5th percentile of values: of a thousand, the 25th and the 975th smallest. It
// sorts the values.
func percentiles(values []float64) (low, high float64) {
	n := len(values)
	if n == 0 {
		return math.NaN(), math.NaN()
	}
	slices.SortFunc(values, cmp.Compare)
	place := func(thousandths int) int { return (n*thousandths+999)/1000 - 1 }
	return values[place(25)], values[place(975)]
}
