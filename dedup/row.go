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

// The layout of keys is stored and never changes:
//
//	'd', payload digest(20), status(2 BE), type(8)                     the first record of a payload
//	'd', payload digest(20), status(2 BE), type(8), 'u', URI(8)        the first record of it under another URI
//	'd', payload digest(20), status(2 BE), type(8), 'e', URI(8)        the first record of it under an equivalent URI
//	'd', payload digest(20), 'r', name of an original(8), number(4 BE)  how many revisits of a collection refer to it
//	'd', zeros(20), 'L', name                                          a file of which part is lost
//	'd', zeros(20), 'C', number(4 BE)                                  a collection
//	'd', zeros(20), 'F', number(4 BE)                                  the name of a file that entries lie in
//
// Type and URI are the first bytes of SHA-256 sums. What makes captures unequal besides the digest is part of the type:
// the SHA-256 of the payload too, which entries of imported archives lack. No payload has a digest of zeros.
const (
	kind     = 'd'
	typeLen  = 8
	uriLen   = 8
	keyLen   = payloadEnd + 2 + typeLen
	sameURI  = 'u'
	alikeURI = 'e'
	lostFile = 'L'

	reference  = 'r'
	collection = 'C'
	fileName   = 'F'

	payloadEnd = 1 + len(digest.Digest{}) // where the payload digest of a key ends
)

// format is the first byte of each value that is not in the short form, see [compact]. An unknown format is an error.
const format = 1

// ErrCorrupt says that an entry is damaged: it is unreadable, or belongs to another payload.
var ErrCorrupt = errors.New("dedup entry is damaged")

// bytes returns the key in the store. The media type is hashed, since its length is up to the server.
func (k Key) bytes() ([]byte, error) {
	if k.Payload.IsZero() {
		return nil, errors.New("no payload digest")
	}
	if k.Status < 0 || k.Status > 999 {
		return nil, fmt.Errorf("%d is not an HTTP status", k.Status)
	}
	b := make([]byte, 0, keyLen+1+uriLen)
	b = append(b, kind)
	b = append(b, k.Payload[:]...)
	b = binary.BigEndian.AppendUint16(b, uint16(k.Status))
	sum := k.typeSum()
	return append(b, sum[:]...), nil
}

// typeSum returns the part of the key that stands for the type.
func (k Key) typeSum() (sum [typeLen]byte) {
	media, _, _ := strings.Cut(k.MIME, ";")
	kind := append(make([]byte, 0, 256), strings.ToLower(strings.TrimSpace(media))...)
	if k.Cut != "" {
		kind = append(append(kind, 0), k.Cut...) // no media type has a zero byte
	}
	if k.Prerequisite {
		kind = append(kind, "\x00prerequisite"...)
	}
	if k.Framing != "" {
		kind = append(append(kind, "\x00framing\x00"...), k.Framing...)
	}
	if k.Series != "" {
		kind = append(append(kind, "\x00series\x00"...), k.Series...)
	}
	if !k.Strong.IsZero() {
		kind = append(append(kind, "\x00sha256\x00"...), k.Strong[:]...)
	}
	whole := sha256.Sum256(kind)
	copy(sum[:], whole[:])
	return sum
}

// weak returns the key that a capture had if its SHA-256 was not known. key is the result of bytes.
func (k Key) weak(key []byte) []byte {
	k.Strong = digest.Half{}
	sum := k.typeSum()
	return append(append(make([]byte, 0, keyLen+1+uriLen), key[:keyLen-typeLen]...), sum[:]...)
}

// under returns the key of a payload under one URI, or one name of equivalent URIs.
func under(key []byte, mark byte, uri string) []byte {
	sum := sha256.Sum256([]byte(uri))
	b := append(make([]byte, 0, keyLen+1+uriLen), key...)
	return append(append(b, mark), sum[:uriLen]...)
}

// about returns a key that is not about a payload.
func about(mark byte, name string) []byte {
	b := make([]byte, payloadEnd, payloadEnd+1+len(name))
	b[0] = kind
	return append(append(b, mark), name...)
}

// row is the long stored form of an origin: a CBOR map with integer keys. Keys are stored: do not change or reuse
// them. The date is in µs since 1970; 0 = no date.
type row struct {
	RecordID string `cbor:"1,keyasint"`
	URI      string `cbor:"2,keyasint,omitempty"`
	Date     int64  `cbor:"3,keyasint,omitempty"`
	Payload  []byte `cbor:"4,keyasint"`
	File     string `cbor:"5,keyasint,omitempty"`
	Offset   int64  `cbor:"6,keyasint,omitempty"`
	Length   int64  `cbor:"7,keyasint,omitempty"`
	Size     int64  `cbor:"8,keyasint,omitempty"`
	Source   uint32 `cbor:"9,keyasint,omitempty"`
}

// entry is an origin and the collection that it came from.
type entry struct {
	digest.Origin
	source uint32
}

// encode returns an entry in its stored form, the short one if the entry fits.
func (i *Index) encode(o entry) ([]byte, error) {
	if !fits(o) {
		return encodeLong(o)
	}
	file, err := i.numberOf(o.File)
	return encodeCompact(o, file), err
}

func encodeLong(o entry) ([]byte, error) {
	w := row{
		RecordID: o.RecordID, URI: o.URI, Payload: o.Payload[:],
		File: o.File, Offset: o.Offset, Length: o.Length, Size: o.Size, Source: o.source,
	}
	if !o.Date.IsZero() {
		w.Date = o.Date.UnixMicro()
	}
	return encodeRow(w)
}

// cborOf and readCBOR store texts as byte strings, so that no byte in a file name makes a row unreadable.
var cborOf, readCBOR = func() (cbor.EncMode, cbor.DecMode) {
	out, err1 := cbor.EncOptions{String: cbor.StringToByteString}.EncMode()
	in, err2 := cbor.DecOptions{ByteStringToString: cbor.ByteStringToStringAllowed}.DecMode()
	if err := errors.Join(err1, err2); err != nil {
		panic(err) // the options are constant
	}
	return out, in
}()

// encodeRow returns the format byte and a CBOR map.
func encodeRow(w any) ([]byte, error) {
	v, err := cborOf.Marshal(w)
	return append([]byte{format}, v...), err
}

// decodeRow reads the result of encodeRow.
func decodeRow(v []byte, w any) error {
	if len(v) == 0 || v[0] != format {
		return fmt.Errorf("%w: format %x, want %x", ErrCorrupt, v[:min(1, len(v))], format)
	}
	if err := readCBOR.Unmarshal(v[1:], w); err != nil {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return nil
}

// decode reads an entry of a payload.
func (i *Index) decode(payload digest.Digest, v []byte) (entry, error) {
	if len(v) > 0 && v[0] == compact {
		return decodeCompact(payload, v, i.files.byNumber)
	}
	e, err := decodeLong(v)
	if err == nil && e.Payload != payload {
		err = fmt.Errorf("%w: record %s holds %s", ErrCorrupt, e.RecordID, e.Payload)
	}
	return e, err
}

func decodeLong(v []byte) (entry, error) {
	var w row
	if err := decodeRow(v, &w); err != nil {
		return entry{}, err
	}
	o := entry{source: w.Source, Origin: digest.Origin{
		RecordID: w.RecordID, URI: w.URI, File: w.File, Offset: w.Offset, Length: w.Length, Size: w.Size,
	}}
	if len(w.Payload) != len(o.Payload) || o.IsZero() {
		return entry{}, fmt.Errorf("%w: it has no record or no payload", ErrCorrupt)
	}
	copy(o.Payload[:], w.Payload)
	if w.Date != 0 {
		o.Date = time.UnixMicro(w.Date).UTC()
	}
	return o, nil
}

// scan calls visit with each row whose key begins with a prefix, in the order of the keys. Both slices are valid only
// during the call.
func scan(txn *badger.Txn, prefix []byte, visit func(key, value []byte) error) error {
	it := txn.NewIterator(badger.IteratorOptions{Prefix: prefix, PrefetchValues: true, PrefetchSize: 100})
	defer it.Close()
	for it.Rewind(); it.Valid(); it.Next() {
		key := it.Item().Key()
		if err := it.Item().Value(func(value []byte) error { return visit(key, value) }); err != nil {
			return err
		}
	}
	return nil
}
