package frontier

import (
	"github.com/dgraph-io/badger/v4"
	"github.com/fxamacker/cbor/v2"

	"github.com/arcrawl/arcrawl/uri"
)

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
