package dedup

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/fxamacker/cbor/v2"

	"github.com/arcrawl/arcrawl/digest"
)

// The layout of keys stands in stores and never changes: 'd', payload digest(20), status(2 BE), type(8).
const (
	kind    = 'd'
	typeLen = 8
	keyLen  = 1 + len(digest.Digest{}) + 2 + typeLen
)

// format is the first byte of each value. A value of a format that is not known is an error.
const format = 1

// ErrCorrupt tells that an entry cannot be what was put: it is unreadable, or of another payload.
var ErrCorrupt = errors.New("dedup entry is damaged")

// Key says which captures are the same. MIME is a Content-Type as the server wrote it; parameters and letter case do
// not count. Status is the HTTP status of the response, 0 to 999, since some servers send odd ones.
type Key struct {
	Payload digest.Digest
	Status  int
	MIME    string
}

// Index is the index in an open store. Its methods may be called by many goroutines at once. It needs no closing, and is
// of no use when the store is closed.
type Index struct{ db *badger.DB }

// Open takes a store to keep the index in.
func Open(db *badger.DB) (*Index, error) {
	if db == nil {
		return nil, errors.New("open dedup index: no store")
	}
	return &Index{db: db}, nil
}

// Lookup gives the record that first held the payload; ok is false when there is none.
func (i *Index) Lookup(k Key) (o digest.Origin, ok bool, err error) {
	b, err := k.bytes()
	if err == nil {
		err = i.db.View(func(txn *badger.Txn) error {
			o, ok, err = get(txn, b, k.Payload)
			return err
		})
	}
	if err != nil {
		return digest.Origin{}, false, fmt.Errorf("look up origin of %s: %w", k.Payload, err)
	}
	return o, ok, nil
}

// Put remembers that o holds the payload of k. It must be called only after the record is on disk. When there is an
// entry already, that one stays.
func (i *Index) Put(k Key, o digest.Origin) error {
	b, err := k.bytes()
	switch {
	case err != nil:
	case o.IsZero():
		err = errors.New("no record is given")
	case o.Payload != k.Payload:
		err = fmt.Errorf("record %s holds another payload, %s", o.RecordID, o.Payload)
	default:
		err = i.put(b, k.Payload, o)
		for errors.Is(err, badger.ErrConflict) { // another goroutine was first; each round lets one through
			err = i.put(b, k.Payload, o)
		}
	}
	if err != nil {
		return fmt.Errorf("remember origin of %s: %w", k.Payload, err)
	}
	return nil
}

func (i *Index) put(key []byte, payload digest.Digest, o digest.Origin) error {
	return i.db.Update(func(txn *badger.Txn) error {
		if _, ok, err := get(txn, key, payload); ok || err != nil {
			return err
		}
		v, err := cbor.Marshal(rowOf(o))
		if err != nil {
			return err
		}
		return txn.Set(key, append([]byte{format}, v...))
	})
}

func get(txn *badger.Txn, key []byte, payload digest.Digest) (o digest.Origin, ok bool, err error) {
	item, err := txn.Get(key)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return o, false, nil
	}
	if err != nil {
		return o, false, err
	}
	err = item.Value(func(v []byte) error {
		o, err = decode(v)
		return err
	})
	if err == nil && o.Payload != payload {
		err = fmt.Errorf("%w: record %s holds %s", ErrCorrupt, o.RecordID, o.Payload)
	}
	return o, err == nil, err
}

// bytes is the key in the store. The media type is shortened to a hash, since servers write what they like there.
func (k Key) bytes() ([]byte, error) {
	if k.Payload.IsZero() {
		return nil, errors.New("no payload digest")
	}
	if k.Status < 0 || k.Status > 999 {
		return nil, fmt.Errorf("%d is no HTTP status", k.Status)
	}
	b := make([]byte, 0, keyLen)
	b = append(b, kind)
	b = append(b, k.Payload[:]...)
	b = binary.BigEndian.AppendUint16(b, uint16(k.Status))
	media, _, _ := strings.Cut(k.MIME, ";")
	sum := sha256.Sum256([]byte(strings.ToLower(strings.TrimSpace(media))))
	return append(b, sum[:typeLen]...), nil
}

// row is an origin as it is stored: a CBOR map with integer keys, to which keys are only ever added. Texts are byte
// strings, so that no byte in a file name makes an entry unreadable. The date is in µs since 1970, 0 for none.
type row struct {
	RecordID cbor.ByteString `cbor:"1,keyasint"`
	URI      cbor.ByteString `cbor:"2,keyasint,omitempty"`
	Date     int64           `cbor:"3,keyasint,omitempty"`
	Payload  []byte          `cbor:"4,keyasint"`
	File     cbor.ByteString `cbor:"5,keyasint,omitempty"`
	Offset   int64           `cbor:"6,keyasint,omitempty"`
	Length   int64           `cbor:"7,keyasint,omitempty"`
	Size     int64           `cbor:"8,keyasint,omitempty"`
}

func rowOf(o digest.Origin) row {
	w := row{
		RecordID: cbor.ByteString(o.RecordID), URI: cbor.ByteString(o.URI), Payload: o.Payload[:], File: cbor.ByteString(o.File),
		Offset: o.Offset, Length: o.Length, Size: o.Size,
	}
	if !o.Date.IsZero() {
		w.Date = o.Date.UnixMicro()
	}
	return w
}

func decode(v []byte) (digest.Origin, error) {
	if len(v) == 0 || v[0] != format {
		return digest.Origin{}, fmt.Errorf("%w: format %x, want %x", ErrCorrupt, v[:min(1, len(v))], format)
	}
	var w row
	if err := cbor.Unmarshal(v[1:], &w); err != nil {
		return digest.Origin{}, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	o := digest.Origin{
		RecordID: string(w.RecordID), URI: string(w.URI), File: string(w.File), Offset: w.Offset, Length: w.Length, Size: w.Size,
	}
	if len(w.Payload) != len(o.Payload) || o.IsZero() {
		return digest.Origin{}, fmt.Errorf("%w: it names no record or no payload", ErrCorrupt)
	}
	copy(o.Payload[:], w.Payload)
	if w.Date != 0 {
		o.Date = time.UnixMicro(w.Date).UTC()
	}
	return o, nil
}
