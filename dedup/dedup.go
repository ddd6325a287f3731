package dedup

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"mime"
	"strings"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/fxamacker/cbor/v2"

	"github.com/arcrawl/arcrawl/digest"
)

// prefix sets the index's keys apart from all others in the store.
const prefix = 'd'

// Key is what a payload is known by. The status and the type belong to it: an error page and an article with the same
// bytes are not the same capture.
type Key struct {
	Payload digest.Digest
	Status  int
	MIME    string // with or without parameters, in any case
}

// Index maps payloads to the records that hold them. It is safe for many goroutines.
type Index struct{ db *badger.DB }

// Open uses the index in db. Whoever opened db closes it.
func Open(db *badger.DB) (*Index, error) {
	if db == nil || db.IsClosed() {
		return nil, errors.New("open the deduplication index: its store is not open")
	}
	return &Index{db: db}, nil
}

// row is an entry as it is stored. Its numbers are for ever; new fields get new ones.
type row struct {
	RecordID string `cbor:"1,keyasint"`
	URI      string `cbor:"2,keyasint"`
	Date     int64  `cbor:"3,keyasint"` // microseconds since 1970
	Payload  []byte `cbor:"4,keyasint"`
	File     string `cbor:"5,keyasint"`
	Offset   int64  `cbor:"6,keyasint"`
	Length   int64  `cbor:"7,keyasint"`
	Size     int64  `cbor:"8,keyasint"`
}

// Lookup finds the record that holds k's payload. It reports false when there is none, and an error when the store
// fails or an entry is damaged.
func (i *Index) Lookup(k Key) (digest.Origin, bool, error) {
	var o digest.Origin
	err := i.db.View(func(txn *badger.Txn) error {
		item, err := txn.Get(k.bytes())
		if err != nil {
			return err
		}
		return item.Value(func(value []byte) error {
			o, err = decode(value)
			return err
		})
	})
	switch {
	case errors.Is(err, badger.ErrKeyNotFound):
		return digest.Origin{}, false, nil
	case err != nil:
		return digest.Origin{}, false, fmt.Errorf("look up the payload %s: %w", k.Payload, err)
	case o.Payload != k.Payload:
		return digest.Origin{}, false, fmt.Errorf("look up the payload %s: its entry is damaged, it names the payload %s", k.Payload, o.Payload)
	}
	return o, true, nil
}

// Put makes o the record that holds k's payload, unless there is one already. The record must be on disk.
func (i *Index) Put(k Key, o digest.Origin) error {
	if k.Payload.IsZero() || o.IsZero() || o.Payload != k.Payload {
		return fmt.Errorf("put the payload %q: it is not that of the record %q with the payload %q", k.Payload, o.RecordID, o.Payload)
	}
	value, err := encode(o)
	if err != nil {
		return fmt.Errorf("put the payload %s: %w", k.Payload, err)
	}
	key := k.bytes()
	for {
		err := i.db.Update(func(txn *badger.Txn) error {
			if _, err := txn.Get(key); !errors.Is(err, badger.ErrKeyNotFound) {
				return err // there already, or the store fails
			}
			return txn.Set(key, value)
		})
		if errors.Is(err, badger.ErrConflict) {
			continue // another visit put it first: look again, and find it
		}
		if err != nil {
			return fmt.Errorf("put the payload %s: %w", k.Payload, err)
		}
		return nil
	}
}

// bytes is the key as it is stored: prefix, digest, status, and a hash of the type.
func (k Key) bytes() []byte {
	b := make([]byte, 0, 1+len(k.Payload)+2+4)
	b = append(b, prefix)
	b = append(b, k.Payload[:]...)
	b = binary.BigEndian.AppendUint16(b, uint16(k.Status))
	h := fnv.New32a()
	h.Write([]byte(bareType(k.MIME)))
	return h.Sum(b)
}

// bareType is a media type without parameters, in lower case.
func bareType(s string) string {
	if t, _, err := mime.ParseMediaType(s); err == nil {
		return t
	}
	t, _, _ := strings.Cut(s, ";")
	return strings.ToLower(strings.TrimSpace(t))
}

func encode(o digest.Origin) ([]byte, error) {
	return cbor.Marshal(row{
		RecordID: o.RecordID, URI: o.URI, Date: o.Date.UnixMicro(), Payload: o.Payload[:],
		File: o.File, Offset: o.Offset, Length: o.Length, Size: o.Size,
	})
}

func decode(value []byte) (digest.Origin, error) {
	var r row
	if err := cbor.Unmarshal(value, &r); err != nil {
		return digest.Origin{}, fmt.Errorf("its entry is damaged: %w", err)
	}
	o := digest.Origin{
		RecordID: r.RecordID, URI: r.URI, Date: time.UnixMicro(r.Date).UTC(),
		File: r.File, Offset: r.Offset, Length: r.Length, Size: r.Size,
	}
	copy(o.Payload[:], r.Payload)
	return o, nil
}
