package frontier

import (
	"hash/maphash"
	"slices"
	"sync"
)

// The size of a [Recent]: the number of its sets, and of the URIs in each. It takes a megabyte.
const (
	sets = 1 << 14
	ways = 4
)

// Recent remembers some of the URIs that were found to be known, because the pages of a site link to the same
// URIs again and again. Each URI belongs to one set; a full set drops its oldest URI. URIs that an operator removes
// from the store are removed here too.
type Recent struct {
	seeds [2]maphash.Seed

	mu    sync.Mutex // guards the fields below; no other lock is taken while it is held
	known []set
	round uint64 // number of removals; a URI that was looked up in an earlier round may be gone
}

type set [ways]RecentHash

// RecentHash identifies a URI in the cache: two sums with random keys, 128 bits, so that no two URIs are confused. It
// takes a tenth of the time of a fingerprint.
type RecentHash [2]uint64

// NewRecent returns an empty cache.
func NewRecent() Recent {
	return Recent{seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}}
}

// Hash returns the hash of a URI.
func (r *Recent) Hash(text string) RecentHash {
	return RecentHash{maphash.String(r.seeds[0], text) | 1, maphash.String(r.seeds[1], text)} // | 1: never the zero value
}

func (m RecentHash) set() int { return int(m[1] % sets) }

// Contains sets for each URI whether the cache has it, and returns the round of the answer.
func (r *Recent) Contains(hashes []RecentHash, known []bool) (round uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known == nil {
		return r.round
	}
	for i, h := range hashes {
		set := &r.known[h.set()]
		known[i] = set[0] == h || set[1] == h || set[2] == h || set[3] == h
	}
	return r.round
}

// Remember adds URIs that were found in the store in a round. If URIs were removed since then, it does nothing,
// because the found URIs may be among them.
func (r *Recent) Remember(hashes []RecentHash, round uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if round != r.round {
		return
	}
	if r.known == nil {
		r.known = make([]set, sets)
	}
	for _, h := range hashes {
		if set := &r.known[h.set()]; !slices.Contains(set[:], h) {
			copy(set[1:], set[:])
			set[0] = h
		}
	}
}

// Forget removes URIs, after they have been removed from the store.
func (r *Recent) Forget(hashes []RecentHash) {
	if len(hashes) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.round++
	if r.known == nil {
		return
	}
	for _, h := range hashes {
		set := &r.known[h.set()]
		for i := range set {
			if set[i] == h {
				set[i] = RecentHash{}
			}
		}
	}
}
