package cluster

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
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

// shardOf returns the number of the shard, from 1 to n, of a host or of its politeness group.
func shardOf(h uri.Host, group string, n int) int { return shared.ShardOf(partOf(h, group), n) }

// letter carries a URI to the shard that its host belongs to. It is written together with the visit that found the URI.
type letter struct {
	shard      int
	key, value []byte
	sooner     bool // the candidate has Sooner
}

// maxWaiting is the maximum number of letters that wait in the store. While there are more, links to other shards are
// refused, and added when they are found again.
const maxWaiting = 1_000_000

// letterPrefix begins the keys of letters that were not sent yet. The number of the shard follows, 2 bytes big-endian,
// and the first 12 bytes of the SHA-256 of the URI. The value is an encoded [frontier.Candidate].
const letterPrefix = "pl"

const fingerprintLen = 12

// letterbox keeps the letters of a store that were not sent yet, as rows of this store. It is safe for concurrent use.
type letterbox struct {
	shard  func(uri.Host) int                       // that a host belongs to; 0 means the shard of this store
	read   func(h uri.Host, portable []byte) []byte // returns the value of a key in the store of a host
	posted frontier.Recent                          // URIs that letters were written for

	waiting atomic.Int64 // letters that were not sent yet
}

var _ frontier.Elsewhere = (*letterbox)(nil)

func newLetterbox(shard func(uri.Host) int, read func(uri.Host, []byte) []byte) *letterbox {
	return &letterbox{shard: shard, read: read, posted: frontier.NewRecent()}
}

// Has reports whether a host belongs to another shard.
func (b *letterbox) Has(h uri.Host) bool { return b.shard(h) != 0 }

// Row returns the value of a key in the store of a host.
func (b *letterbox) Row(h uri.Host, portable []byte) []byte { return b.read(h, portable) }

// Post writes a letter with a candidate, unless one was written today or too many wait, and counts the candidate.
func (b *letterbox) Post(
	txn *badger.Txn, c frontier.Candidate, now time.Time,
) (added frontier.Added, committed func(), err error) {
	hash := b.posted.Hash(c.URI.String())
	hash[0] ^= uint64(now.Unix()/86_400) << 1 // the other shard may have refused it, and have room tomorrow
	fp := sha256.Sum256([]byte(c.URI.String()))
	k := append(binary.BigEndian.AppendUint16([]byte(letterPrefix), uint16(b.shard(c.URI.Host()))), fp[:fingerprintLen]...)
	var known [1]bool
	b.posted.Contains([]frontier.RecentHash{hash}, known[:])
	if known[0] && !c.Sooner {
		return frontier.Added{Known: 1}, nil, nil
	}
	waits, err := valueOf(txn, k)
	more := int64(0)
	switch {
	case err != nil:
		return added, nil, err
	case waits != nil && !c.Sooner: // a letter that waits may say more
		return frontier.Added{Known: 1}, nil, nil
	case waits == nil && b.waiting.Load() >= maxWaiting:
		return frontier.Added{Refused: 1}, nil, nil
	case waits != nil:
		if was, err := frontier.DecodeCandidate(waits); err == nil {
			c = c.Join(was)
		}
	default:
		more = 1
	}
	value, err := c.Encode(now)
	if err == nil {
		err = txn.Set(k, value)
	}
	return frontier.Added{Posted: 1}, func() {
		b.waiting.Add(more)
		b.posted.Remember([]frontier.RecentHash{hash}, 0)
	}, err
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

// count counts the letters of a store that was just opened.
func (b *letterbox) count(f *frontier.Frontier) error {
	b.waiting.Store(0)
	return f.View(func(txn *badger.Txn) error {
		return eachLetter(txn, nil, func(letter, *badger.Item) (bool, error) {
			b.waiting.Add(1)
			return true, nil
		})
	})
}

// eachLetter calls do with letters that were not sent yet, until it returns false. skip says to which shards none are
// sent now; nil skips none. Damaged keys are skipped: nothing says where these letters belong.
func eachLetter(txn *badger.Txn, skip func(int) bool, do func(letter, *badger.Item) (more bool, err error)) error {
	o := badger.DefaultIteratorOptions
	o.Prefix, o.PrefetchValues = []byte(letterPrefix), false
	it := txn.NewIterator(o)
	defer it.Close()
	for it.Rewind(); it.Valid(); {
		l := letter{key: it.Item().KeyCopy(nil)}
		if len(l.key) != len(letterPrefix)+2+fingerprintLen {
			it.Next()
			continue
		}
		number := binary.BigEndian.Uint16(l.key[len(letterPrefix):])
		if l.shard = int(number); skip != nil && skip(l.shard) && number < math.MaxUint16 {
			it.Seek(binary.BigEndian.AppendUint16([]byte(letterPrefix), number+1))
			continue
		}
		if more, err := do(l, it.Item()); !more || err != nil {
			return err
		}
		it.Next()
	}
	return nil
}

// lettersIn returns up to n letters of a store that were not sent yet, except to the shards that skip names; nil names
// none.
func lettersIn(f *frontier.Frontier, n int, skip func(shard int) bool) (list []letter, err error) {
	err = f.View(func(txn *badger.Txn) error {
		return eachLetter(txn, skip, func(l letter, item *badger.Item) (more bool, err error) {
			if l.value, err = item.ValueCopy(nil); err != nil {
				return false, err
			}
			c, err := frontier.DecodeCandidate(l.value)
			l.sooner = err == nil && c.Sooner
			list = append(list, l)
			return len(list) < n, nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("read letters to other shards: %w", err)
	}
	return list, nil
}

// sent removes letters of a store that were sent, unless they have changed since.
func (b *letterbox) sent(f *frontier.Frontier, list []letter) error {
	gone := int64(0)
	err := frontier.UpdateOthers(f, list, func(txn *badger.Txn, some []letter) error {
		gone = 0
		for _, l := range some {
			is, err := valueOf(txn, l.key)
			if err == nil && bytes.Equal(is, l.value) {
				err, gone = txn.Delete(l.key), gone+1
			}
			if err != nil {
				return err
			}
		}
		return nil
	}, func([]letter) { b.waiting.Add(-gone) })
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
