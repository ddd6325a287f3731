package frontier

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/uri"
)

// scanned and scanFrom say when the rows of a host are walked over instead of looked up: when at least scanFrom are asked for
// at a time, and the host has no more than scanned rows for each of them. To begin a walk costs as much as two or three
// look-ups, and a row that is passed over a tenth of one.
const (
	rowsPerLookUp = 8
	minScan       = 6
)

// lookUp tells which candidates have a row, in one view of the store. What is in known already is not asked for; without a
// home there is nothing to ask. Neighbours are asked for together.
func (f *Frontier) lookUp(cs []Candidate, fps []fingerprint, homes []candidateHost, known []bool) ([]bool, error) {
	found := slices.Clone(known)
	var asked []int
	for i := range cs {
		if homes[i].id != 0 && !known[i] {
			asked = append(asked, i)
		}
	}
	if len(asked) == 0 {
		return found, nil
	}
	slices.SortFunc(asked, func(i, j int) int {
		return cmp.Or(cmp.Compare(homes[i].id, homes[j].id), bytes.Compare(fps[i][:], fps[j][:]))
	})
	return found, f.View(func(txn *badger.Txn) error {
		for len(asked) > 0 {
			at := homes[asked[0]]
			n := 1
			for n < len(asked) && homes[asked[n]].id == at.id {
				n++
			}
			look := lookUpEach
			if n >= minScan && at.uris <= int64(rowsPerLookUp*n) {
				look = scanRows
			}
			if err := look(txn, at.id, cs, fps, asked[:n], found); err != nil {
				return err
			}
			asked = asked[n:]
		}
		return nil
	})
}

func lookUpEach(txn *badger.Txn, host uint32, cs []Candidate, fps []fingerprint, asked []int, found []bool) (err error) {
	for _, i := range asked {
		if found[i], err = isKnown(txn, host, fps[i], cs[i].URI); err != nil {
			return err
		}
	}
	return nil
}

// walkOver goes through the rows of a host and the candidates at once, both in the order of their fingerprints.
func scanRows(txn *badger.Txn, host uint32, cs []Candidate, fps []fingerprint, asked []int, found []bool) error {
	it := txn.NewIterator(badger.IteratorOptions{Prefix: key(kindURI, host, nil)})
	defer it.Close()
	for it.Seek(uriKey(host, fps[asked[0]])); it.Valid() && len(asked) > 0; it.Next() {
		_, rest, err := split(it.Item().Key(), fingerprintLen)
		if err != nil {
			return err
		}
		for len(asked) > 0 {
			i := asked[0]
			by := bytes.Compare(fps[i][:], rest)
			if by > 0 {
				break
			}
			asked = asked[1:]
			if by < 0 {
				continue
			}
			if found[i], err = hasText(it.Item(), cs[i].URI.String()); err != nil {
				return err
			}
			if !found[i] {
				return collides(cs[i].URI, it.Item().KeyCopy(nil))
			}
		}
	}
	return nil
}

// known reports whether the URI has a row.
func isKnown(txn *badger.Txn, host uint32, fp fingerprint, u uri.URI) (bool, error) {
	k := uriKey(host, fp)
	item, err := txn.Get(k)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read key %q: %w", k, err)
	}
	same, err := hasText(item, u.String())
	if err == nil && !same {
		err = collides(u, k)
	}
	return true, err
}

func collides(u uri.URI, k []byte) error {
	return fmt.Errorf("%s and the URI of key %q: %w", u, k, ErrCollision)
}
