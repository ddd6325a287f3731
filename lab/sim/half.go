package sim

import (
	"hash/fnv"
	"io"
	"slices"
	"time"
)

// Half returns the first or the second half of the histories, divided by a hash of their ids: constants are chosen on
// one half and judged on the other.
func Half(all []History, second bool) []History {
	var half []History
	for _, h := range all {
		hash := fnv.New32a()
		_, _ = io.WriteString(hash, h.ID) // never fails
		if second == (hash.Sum32()>>7&1 == 1) {
			half = append(half, h)
		}
	}
	return half
}

// Beginning returns the histories cut off after a time.
func Beginning(all []History, after time.Duration) []History {
	cut := slices.Clone(all)
	for i, h := range cut {
		if h.Watched > after {
			n, _ := slices.BinarySearch(h.Changes, after+1)
			cut[i].Watched, cut[i].Changes = after, h.Changes[:n]
		}
	}
	return cut
}
