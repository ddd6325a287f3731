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

// The size of a [knownCache]: knownSets sets of knownWays URIs each, a megabyte in all.
const (
	knownSets = 1 << 14
	knownWays = 4
)

// knownCache remembers some of the URIs that were found to be known, because the pages of a site link to the same
// URIs again and again. Each URI belongs to one set; a full set drops its oldest URI. URIs that an operator removes
// from the store are removed here too.
type knownCache struct {
	seeds [2]maphash.Seed

	mu    sync.Mutex // guards the fields below; no other lock is taken while it is held
	known []knownSet
	round uint64 // number of removals; a URI that was looked up in an earlier round may be gone
}

type knownSet [knownWays]uriHash

// uriHash identifies a URI in the cache: two sums with random keys, 128 bits, so that no two URIs are confused. It
// takes a tenth of the time of a fingerprint.
type uriHash [2]uint64

func newKnownCache() knownCache {
	return knownCache{seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}}
}

func (r *knownCache) hash(text string) uriHash {
	return uriHash{maphash.String(r.seeds[0], text) | 1, maphash.String(r.seeds[1], text)} // | 1: never the zero value
}

func (m uriHash) set() int { return int(m[1] % knownSets) }

// contains sets for each URI whether the cache has it, and returns the round of the answer.
func (r *knownCache) contains(hashes []uriHash, known []bool) (round uint64) {
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

// remember adds URIs that were found in the store in a round. If URIs were removed since then, it does nothing,
// because the found URIs may be among them.
func (r *knownCache) remember(hashes []uriHash, round uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if round != r.round {
		return
	}
	if r.known == nil {
		r.known = make([]knownSet, knownSets)
	}
	for _, h := range hashes {
		if set := &r.known[h.set()]; !slices.Contains(set[:], h) {
			copy(set[1:], set[:])
			set[0] = h
		}
	}
}

// forget removes URIs, after they have been removed from the store.
func (r *knownCache) forget(hashes []uriHash) {
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
				set[i] = uriHash{}
			}
		}
	}
}

// knownBatch is how many URIs [Frontier.RecentlyKnown] looks up at a time.
const knownBatch = 64

// RecentlyKnown sets known[i] to true if us[i] is certainly in the store, because it was found there recently. If
// known[i] is false, the URI may be in the store or not. Adding a known URI changes nothing, unless it is to be
// visited sooner; so thousands of links need not all become candidates. RecentlyKnown reads nothing from the disk.
func (f *Frontier) RecentlyKnown(us []uri.URI, known []bool) {
	var hashes [knownBatch]uriHash
	clear(known)
	for len(us) > 0 {
		n := min(len(us), knownBatch)
		for i, u := range us[:n] {
			hashes[i] = f.knownURIs.hash(u.String())
		}
		f.knownURIs.contains(hashes[:n], known)
		us, known = us[n:], known[n:]
	}
}

// hasText reports whether a row is of the URI with this text. It decodes the row only if its bytes are not as
// expected.
func hasText(item *badger.Item, text string) (same bool, err error) {
	err = item.Value(func(v []byte) error {
		if t, ok := rowText(v); ok {
			same = string(t) == text
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

// rowText returns the URI in a row that [uriRow] has encoded: a map whose first key is 1, with a byte string.
func rowText(row []byte) (text []byte, ok bool) {
	switch {
	case len(row) > 1 && row[0]>>5 == 5 && row[0]&31 < 24: // the number of keys is in the first byte
		row = row[1:]
	case len(row) > 2 && row[0] == 0xb8: // or in the second byte
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
