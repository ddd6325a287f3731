package frontier

import (
	"encoding/binary"

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
