package frontier

import (
	"crypto/sha256"
	"encoding/binary"
	"sync"

	"github.com/dgraph-io/badger/v4"
	"github.com/fxamacker/cbor/v2"

	"github.com/arcrawl/arcrawl/uri"
)

// recentBits is the binary logarithm of the number of URIs that are remembered as known: a megabyte of them.
const recentBits = 16

// recent remembers some of the URIs that were found to be known, because the pages of a site name the same ones again and
// again. Each has one place, where the last one stays. What is forgotten on purpose is forgotten here too.
type recent struct {
	mu    sync.Mutex // guards what follows; nothing else is locked while it is held
	known []sum
	round uint64 // of forgetting: what was looked up before the last one may be gone
}

// sum is more of the SHA-256 of a URI than a fingerprint, so that two URIs of one fingerprint are not taken for one.
type sum [sha256.Size / 2]byte

func sumOfText(u uri.URI) sum { return sumOfBytes([]byte(u.String())) }

func sumOfBytes(text []byte) sum {
	all := sha256.Sum256(text)
	return sum(all[:])
}

func (s sum) fingerprint() fingerprint { return fingerprint(s[:fingerprintLen]) }
func (s sum) index() int               { return int(binary.BigEndian.Uint64(s[:8]) >> (64 - recentBits)) }

// has tells for each of the sums whether it is remembered, and in which round.
func (r *recent) has(sums []sum) (found []bool, round uint64) {
	found = make([]bool, len(sums))
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known == nil {
		return found, r.round
	}
	for i, s := range sums {
		found[i] = r.known[s.index()] == s
	}
	return found, r.round
}

// remember is told what was looked up since a round. If something was forgotten meanwhile, it may be among it.
func (r *recent) remember(sums []sum, round uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if round != r.round {
		return
	}
	if r.known == nil {
		r.known = make([]sum, 1<<recentBits)
	}
	for _, s := range sums {
		r.known[s.index()] = s
	}
}

// forget is called after the URIs have gone from the store.
func (r *recent) forget(sums []sum) {
	if len(sums) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.round++
	if r.known == nil {
		return
	}
	for _, s := range sums {
		if r.known[s.index()] == s {
			r.known[s.index()] = sum{}
		}
	}
}

// isOf tells whether a row is of the URI with this text. Only a row that does not look as expected is decoded.
func isOf(item *badger.Item, text string) (same bool, err error) {
	err = item.Value(func(v []byte) error {
		if found, ok := textOf(v); ok {
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

// textOf takes the URI out of a row as [rowOf] writes it: a map whose first key is 1, and its value a byte string.
func textOf(row []byte) (text []byte, ok bool) {
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
