package cluster

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/cluster/shared"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// partOf returns the part of the crawl that a host or its politeness group belongs to; group is "" if it has none. The
// name with and without "www." and all ports of a host have one part. The result never changes.
func partOf(h uri.Host, group string) int16 {
	key := "group " + group
	if group == "" {
		key = strings.TrimPrefix(string(h), "www.")
		if at := strings.LastIndexByte(key, ':'); at > strings.LastIndexByte(key, ']') { // a port, not a part of IPv6
			key = key[:at]
		}
	}
	sum := sha256.Sum256([]byte(key))
	return int16(binary.BigEndian.Uint64(sum[:8]) % shared.Parts)
}

// letterPrefix begins the keys of letters that were not sent yet, each with a URI for the node that crawls its host. It
// is written together with the visit that found the URI. The part of the host follows, 2 bytes big-endian, and the
// first 12 bytes of the SHA-256 of the URI. The value is an encoded [frontier.Candidate].
const letterPrefix = "pl"

const fingerprintLen = 12

// letter is the row of a letter in the store.
type letter struct{ key, value []byte }

// letterbox takes URIs for other nodes, as rows of the store. A shipment moves them to the database. It is safe for
// concurrent use.
type letterbox struct {
	route  func(uri.Host) (part int16, isHere bool)
	read   func(h uri.Host, portable []byte) []byte // returns the value of a key in the store of a host
	posted frontier.Recent                          // URIs that letters were written for
	size   int64                                    // of the stores of all nodes, about, when this node started

	full    atomic.Pointer[map[int16]bool] // parts for which too many letters wait in the database
	posting atomic.Bool                    // a letter was written since the last look for full parts
}

var _ frontier.Elsewhere = (*letterbox)(nil)

func newLetterbox(
	route func(uri.Host) (part int16, isHere bool), read func(uri.Host, []byte) []byte,
) *letterbox {
	return &letterbox{route: route, read: read, posted: frontier.NewRecent()}
}

// Has reports whether another node crawls a host.
func (b *letterbox) Has(h uri.Host) bool { _, isHere := b.route(h); return !isHere }

// Row returns the value of a key in the store of a host.
func (b *letterbox) Row(h uri.Host, portable []byte) []byte { return b.read(h, portable) }

// Size returns about how many bytes the stores of all nodes have: what the database needs for the same rows, times 0.4.
func (b *letterbox) Size() int64 { return b.size }

// Post writes a letter with a candidate, unless one was written today or too many wait, and counts the candidate.
func (b *letterbox) Post(
	txn *badger.Txn, c frontier.Candidate, now time.Time,
) (added frontier.Added, committed func(), err error) {
	hash := b.posted.Hash(c.URI.String())
	hash[0] ^= uint64(now.Unix()/86_400) << 1 // the other node may have refused it, and have room tomorrow
	part, _ := b.route(c.URI.Host())
	fp := sha256.Sum256([]byte(c.URI.String()))
	k := append(binary.BigEndian.AppendUint16([]byte(letterPrefix), uint16(part)), fp[:fingerprintLen]...)
	var known [1]bool
	b.posted.Contains([]frontier.RecentHash{hash}, known[:])
	if known[0] && !c.Sooner {
		return frontier.Added{Known: 1}, nil, nil
	}
	b.posting.Store(true)
	waits, err := valueOf(txn, k)
	switch {
	case err != nil:
		return added, nil, err
	case waits != nil && !c.Sooner: // a letter that waits may say more
		return frontier.Added{Known: 1}, nil, nil
	case waits != nil:
		if was, err := frontier.DecodeCandidate(waits); err == nil {
			c = c.Join(was)
		}
	default:
		if full := b.full.Load(); full != nil && (*full)[part] {
			return frontier.Added{Refused: 1}, nil, nil
		}
	}
	value, err := c.Encode(now)
	if err == nil {
		err = txn.Set(k, value)
	}
	return frontier.Added{Posted: 1}, func() { b.posted.Remember([]frontier.RecentHash{hash}, 0) }, err
}

// letterRow returns the letter in a row of the store as the database has it. ok is false for a damaged key: nothing
// says where it belongs.
//
// News of a URI does not replace earlier news, and a mere link to it replaces neither. The same letter always has the
// same key.
func letterRow(k, value []byte) (r shared.Row, ok bool) {
	if len(k) != len(letterPrefix)+2+fingerprintLen {
		return r, false
	}
	part := int16(binary.BigEndian.Uint16(k[len(letterPrefix):]))
	if part < 0 || part >= shared.Parts {
		return r, false
	}
	r = shared.Row{Part: part, Key: k[len(letterPrefix)+2:], Value: value, Of: shared.Letters}
	if c, err := frontier.DecodeCandidate(value); err == nil && c.Sooner {
		sum := sha256.Sum256(value)
		r.Key = append(bytes.Clone(r.Key), sum[:8]...)
	}
	return r, true
}

// valueOf returns the value of a key; nil if there is none.
func valueOf(txn *badger.Txn, k []byte) ([]byte, error) {
	item, err := txn.Get(k)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return item.ValueCopy(nil)
}

// sent removes letters of a store that were sent, unless they have changed since.
func sent(f *frontier.Frontier, list []letter) error {
	err := frontier.UpdateOthers(f, list, func(txn *badger.Txn, some []letter) error {
		for _, l := range some {
			is, err := valueOf(txn, l.key)
			if err == nil && bytes.Equal(is, l.value) {
				err = txn.Delete(l.key)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}, func([]letter) {})
	if err != nil {
		return fmt.Errorf("remove letters that were sent: %w", err)
	}
	return nil
}

// receive makes the URIs of letters known in a store. Receiving a letter twice changes nothing. damaged has the places
// of the letters that cannot be read; they are skipped.
func receive(f *frontier.Frontier, now time.Time, values [][]byte) (added frontier.Added, damaged []int, err error) {
	var cs []frontier.Candidate
	for i, v := range values {
		c, err := frontier.DecodeCandidate(v)
		if err != nil {
			damaged = append(damaged, i)
			continue
		}
		cs = append(cs, c)
	}
	added, err = f.Receive(now, cs...)
	return added, damaged, err
}
