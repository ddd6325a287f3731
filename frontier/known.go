package frontier

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/dgraph-io/badger/v4"
	"github.com/fxamacker/cbor/v2"

	"github.com/arcrawl/arcrawl/uri"
)

// The rows of a host are scanned instead of looked up if there are at least minScan candidates on the host, and at
// most rowsPerLookUp rows for each of them. Beginning a scan costs as much as two or three look-ups, and a skipped row
// a tenth of one.
const (
	rowsPerLookUp = 8
	minScan       = 6
)

// lookUp reports which candidates have a row, in one view of the store. It does not look up candidates that are
// cached as known, or whose hosts are not known. Candidates of one host are looked up together.
func (f *Frontier) lookUp(
	cs []Candidate, fps []fingerprint, hosts []candidateHost, cached []bool,
) (known []bool, err error) {
	l := lookUp{candidates: cs, fingerprints: fps, known: slices.Clone(cached), collisions: &f.collisions}
	var asked []int
	for i := range cs {
		if hosts[i].id != 0 && !cached[i] {
			asked = append(asked, i)
		}
	}
	if len(asked) == 0 {
		return l.known, nil
	}
	slices.SortFunc(asked, func(i, j int) int {
		return cmp.Or(cmp.Compare(hosts[i].id, hosts[j].id), bytes.Compare(fps[i][:], fps[j][:]))
	})
	return l.known, f.View(func(txn *badger.Txn) error {
		for len(asked) > 0 {
			h := hosts[asked[0]]
			n := 1
			for n < len(asked) && hosts[asked[n]].id == h.id {
				n++
			}
			if n >= minScan && h.uris <= int64(rowsPerLookUp*n) {
				err = l.scan(txn, h.id, asked[:n])
			} else {
				err = l.each(txn, h.id, asked[:n])
			}
			if err != nil {
				return err
			}
			asked = asked[n:]
		}
		return nil
	})
}

// lookUp holds candidates, their fingerprints, and which of them have a row.
type lookUp struct {
	candidates   []Candidate
	fingerprints []fingerprint
	known        []bool
	collisions   *atomic.Int64
}

// each looks up some candidates of one host, by their indexes.
func (l *lookUp) each(txn *badger.Txn, host uint32, asked []int) (err error) {
	for _, i := range asked {
		var collides bool
		l.known[i], collides, err = isKnown(txn, host, l.fingerprints[i], l.candidates[i].URI)
		if err != nil {
			return err
		}
		if collides {
			l.collisions.Add(1)
		}
	}
	return nil
}

// scan compares the rows of a host with some of its candidates, both in the order of their fingerprints.
func (l *lookUp) scan(txn *badger.Txn, host uint32, asked []int) error {
	for k, err := range scan(txn, key(kindURI, host, nil), uriKey(host, l.fingerprints[asked[0]]), 0) {
		if err != nil {
			return err
		}
		for {
			if len(asked) == 0 {
				return nil
			}
			i := asked[0]
			by := bytes.Compare(l.fingerprints[i][:], k.rest)
			if by > 0 {
				break
			}
			asked = asked[1:]
			if by < 0 {
				continue
			}
			u := l.candidates[i].URI
			same, err := hasText(k.item, u.String())
			if err != nil {
				return err
			}
			if l.known[i] = true; !same {
				l.collisions.Add(1)
			}
		}
	}
	return nil
}

// Collisions returns the number of candidates since the opening that were not added because another URI of their host
// has the same fingerprint, or a damaged row that looks so.
func (f *Frontier) Collisions() int64 { return f.collisions.Load() }

// isKnown reports whether a URI has a row. It is also known if it collides: another URI has its fingerprint, and so its
// place in the store. To find two such URIs takes some 2^48 attempts, both are on one host, and only its owner loses by
// it: the second is never visited. Damage to the row looks the same; [Frontier.Check] finds it.
func isKnown(txn *badger.Txn, host uint32, fp fingerprint, u uri.URI) (known, collides bool, err error) {
	k := uriKey(host, fp)
	item, err := txn.Get(k)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return false, false, nil
	}
	if err != nil {
		return false, false, fmt.Errorf("read key %q: %w", k, err)
	}
	same, err := hasText(item, u.String())
	return true, !same && err == nil, err
}

// knownBatch is how many URIs [Frontier.RecentlyKnown] looks up at a time.
const knownBatch = 64

// RecentlyKnown sets known[i] to true if us[i] is certainly in the store, because it was found there recently. If
// known[i] is false, the URI may be in the store or not. Adding a known URI changes nothing, unless it is to be
// visited sooner; so thousands of links need not all become candidates. RecentlyKnown reads nothing from the disk.
func (f *Frontier) RecentlyKnown(us []uri.URI, known []bool) {
	var hashes [knownBatch]RecentHash
	clear(known)
	for len(us) > 0 {
		n := min(len(us), knownBatch)
		for i, u := range us[:n] {
			hashes[i] = f.knownURIs.Hash(u.String())
		}
		f.knownURIs.Contains(hashes[:n], known)
		us, known = us[n:], known[n:]
	}
}

// hasText reports whether a row is of the URI with this text.
func hasText(item *badger.Item, text string) (same bool, err error) {
	err = withText(item, func(t []byte) { same = string(t) == text })
	return same, err
}

// withText calls do with the URI in a row. It decodes the row only if its bytes are not as expected.
func withText(item *badger.Item, do func(text []byte)) error {
	return item.Value(func(v []byte) error {
		t, ok := rowText(v)
		if !ok {
			var w uriRow
			if err := cbor.Unmarshal(v, &w); err != nil {
				return damaged(item.KeyCopy(nil), err)
			}
			t = []byte(w.URI)
		}
		do(t)
		return nil
	})
}

// rowText returns the URI in a row that [uriRow] has encoded, which is its first field.
func rowText(row []byte) (text []byte, ok bool) {
	d := decodeFrom(row)
	k, v, more := d.next()
	return v.data, more && k == 1 && len(v.data) > 0
}
