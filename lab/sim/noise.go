package sim

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
)

// WithNoise returns the histories and, behind them, pages that differ at each fetch, as if they showed a clock or a
// token. share is the share of such pages among all; it must be below 1. Each noisy page belongs to the host of a
// history that is drawn at random, and is watched as long. Every second one has the changes of that history beneath its
// noise, the others have none. The same seed adds the same pages.
func WithNoise(all []History, share float64, seed uint64) []History {
	if len(all) == 0 || !(share > 0 && share < 1) {
		return all
	}
	random := rand.New(rand.NewPCG(seed, 5))
	mixed := append(make([]History, 0, int(float64(len(all))/(1-share))+1), all...)
	for i := range int(math.Round(float64(len(all)) * share / (1 - share))) {
		page := all[random.IntN(len(all))]
		page.ID, page.Source, page.Noise = "noise:"+strconv.Itoa(i)+":"+page.ID, "noise", true
		if i%2 == 1 {
			page.Changes = nil
		}
		mixed = append(mixed, page)
	}
	return mixed
}

// Unseen returns the histories with noise that no reader sees, such as tokens.
func Unseen(all []History) []History {
	hidden := slices.Clone(all)
	for i := range hidden {
		hidden[i].Unseen = hidden[i].Noise
	}
	return hidden
}
