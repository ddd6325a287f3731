package frontier

import (
	"encoding/binary"
	"hash/maphash"
	"slices"
	"sync"

	"github.com/dgraph-io/badger/v4"
	"github.com/fxamacker/cbor/v2"

	"github.com/arcrawl/arcrawl/uri"
)

// What is remembered as known: so many sets of URIs, a megabyte in all. A URI has its place in one of them.
const (
	knownSets = 1 << 14
	knownWays = 4
)

// recent remembers some of the URIs that were found to be known, because the pages of a site name the same ones again and
// again. Where one does not fit, another goes. What is forgotten on purpose is forgotten here too.
type knownCache struct {
	seeds [2]maphash.Seed

	mu    sync.Mutex // guards what follows; nothing else is locked while it is held
	known []knownSet
	round uint64 // of forgetting: what was looked up before the last one may be gone
}

type knownSet [knownWays]uriHash

// mark is what is remembered of a URI: two sums with keys that nobody outside knows, 128 bits, so that no two URIs are taken for
// one. It takes a tenth of the time of a fingerprint.
type uriHash [2]uint64

func newKnownCache() knownCache {
	return knownCache{seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}}
}

func (r *knownCache) hash(text string) uriHash {
	return uriHash{maphash.String(r.seeds[0], text) | 1, maphash.String(r.seeds[1], text)} // never that of an empty place
}

func (m uriHash) set() int { return int(m[1] % knownSets) }

// has sets which of the marks are remembered, and tells the round in which it looked.
func (r *knownCache) contains(marks []uriHash, found []bool) (round uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known == nil {
		return r.round
	}
	for i, m := range marks {
		set := &r.known[m.set()]
		found[i] = set[0] == m || set[1] == m || set[2] == m || set[3] == m
	}
	return r.round
}

// remember is told what was looked up since a round. If something was forgotten meanwhile, it may be among it.
func (r *knownCache) remember(marks []uriHash, round uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if round != r.round {
		return
	}
	if r.known == nil {
		r.known = make([]knownSet, knownSets)
	}
	for _, m := range marks {
		if set := &r.known[m.set()]; !slices.Contains(set[:], m) {
			copy(set[1:], set[:])
			set[0] = m
		}
	}
}

// forget is called after the URIs have gone from the store.
func (r *knownCache) forget(marks []uriHash) {
	if len(marks) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.round++
	if r.known == nil {
		return
	}
	for _, m := range marks {
		set := &r.known[m.set()]
		for i := range set {
			if set[i] == m {
				set[i] = uriHash{}
			}
		}
	}
}

// recentAtATime is how many URIs are looked for at a time.
const knownBatch = 64

// RecentlyKnown sets for each of the URIs whether it is certain that it has a place in the store, because it was found there lately. Where
// that is false the store knows. Adding a URI that is known changes nothing, unless it is to be visited sooner: so whoever finds
// thousands of links has no need to make candidates of all of them. It reads nothing from the disk.
func (f *Frontier) RecentlyKnown(us []uri.URI, known []bool) {
	var marks [knownBatch]uriHash
	clear(known)
	for len(us) > 0 {
		n := min(len(us), knownBatch)
		for i, u := range us[:n] {
			marks[i] = f.knownURIs.hash(u.String())
		}
		f.knownURIs.contains(marks[:n], known)
		us, known = us[n:], known[n:]
	}
}

// isOf tells whether a row is of the URI with this text. Only a row that does not look as expected is decoded.
func hasText(item *badger.Item, text string) (same bool, err error) {
	err = item.Value(func(v []byte) error {
		if found, ok := rowText(v); ok {
			same = string(found) == text
			return nil
		}
		var w textRow
		if err := cbor.Unmarshal(v, &w); err != nil {
			return damaged(item.KeyCopy(nil), err)
		}
		same = string(w.URI) == text
		return nil
	})
	return same, err
}

// textOf takes the URI out of a row as [newURIRow] writes it: a map whose first key is 1, and its value a byte string.
func rowText(row []byte) (text []byte, ok bool) {
	switch {
	case len(row) > 1 && row[0]>>5 == 5 && row[0]&31 < 24: // the number of keys is in the first byte
		row = row[1:]
	case len(row) > 2 && row[0] == 0xb8: // or behind it
		row = row[2:]
	default:
		return nil, false
	}
	if len(row) < 4 || row[0] != 1 {
		return nil, false
	}
	n := 0
	switch head := row[1]; {
	case head>>5 == 2 && head&31 < 24:
		n, row = int(head&31), row[2:]
	case head == 0x58:
		n, row = int(row[2]), row[3:]
	case head == 0x59:
		n, row = int(binary.BigEndian.Uint16(row[2:])), row[4:]
	default:
		return nil, false
	}
	if n == 0 || len(row) < n {
		return nil, false
	}
	return row[:n], true
}
