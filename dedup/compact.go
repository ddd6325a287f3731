package dedup

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strings"
	"sync"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/google/uuid"

	"github.com/arcrawl/arcrawl/digest"
)

// compact is the first byte of an entry in the short form, which has a third of the bytes of the long form, see [row].
// Entries that do not fit are written in the long form; both are read. All numbers are uvarints (package
// encoding/binary):
//
//	compact, marks(1), number of the collection, place of the file, offset, length, size,
//	date, record id, URI(the rest), check(2 BE)
//
// The place of the file is its number (see [fileNames]) or, without the mark, the length of its name and the name. The
// date is in µs since 1970 or, with the mark, in seconds; 0 = no date. The record id is 16 bytes of a UUID or, without
// the mark, its length and itself. The check is the lower half of the CRC-32C of the payload digest and all bytes
// before it. It shows that an entry belongs to another payload, although the payload is not in it.
const compact = 2

// The bits of marks.
const (
	markUUID    = 1 << iota // the record id is "urn:uuid:" and a UUID in lower case
	markNumber              // the file has a number
	markSeconds             // the date has no fraction
	marks       = iota
)

const (
	uuidPrefix = "urn:uuid:"
	uuidLen    = 16
	checkLen   = 2
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func check(payload digest.Digest, v []byte) uint16 {
	return uint16(crc32.Update(crc32.Checksum(payload[:], castagnoli), castagnoli, v))
}

// fits reports whether the short form can represent an entry.
func fits(o entry) bool {
	return o.Offset >= 0 && o.Length >= 0 && o.Size >= 0 &&
		(o.Date.IsZero() || o.Date.Unix() > 0 && o.Date.Year() < 10_000)
}

// encodeCompact returns an entry in the short form. file is the number of its file; zero = it has no number.
func encodeCompact(o entry, file uint32) []byte {
	v := make([]byte, 2, 2+7*binary.MaxVarintLen64+uuidLen+len(o.URI)+checkLen)
	v[0] = compact
	v = binary.AppendUvarint(v, uint64(o.source))
	if file > 0 {
		v[1] |= markNumber
		v = binary.AppendUvarint(v, uint64(file))
	} else {
		v = appendText(v, o.File)
	}
	v = binary.AppendUvarint(v, uint64(o.Offset))
	v = binary.AppendUvarint(v, uint64(o.Length))
	v = binary.AppendUvarint(v, uint64(o.Size))
	switch date := o.Date.UnixMicro(); {
	case o.Date.IsZero():
		v = append(v, 0)
	case date%1e6 == 0:
		v[1] |= markSeconds
		v = binary.AppendUvarint(v, uint64(date/1e6))
	default:
		v = binary.AppendUvarint(v, uint64(date))
	}
	if id, ok := uuidIn(o.RecordID); ok {
		v[1] |= markUUID
		v = append(v, id[:]...)
	} else {
		v = appendText(v, o.RecordID)
	}
	v = append(v, o.URI...)
	return binary.BigEndian.AppendUint16(v, check(o.Payload, v))
}

func appendText(v []byte, s string) []byte {
	return append(binary.AppendUvarint(v, uint64(len(s))), s...)
}

// uuidIn returns the UUID in a record id. ok is false if the UUID does not write the same id.
func uuidIn(id string) (u uuid.UUID, ok bool) {
	if len(id) != len(uuidPrefix)+36 || !strings.HasPrefix(id, uuidPrefix) || strings.ContainsAny(id, "ABCDEF") {
		return u, false
	}
	u, err := uuid.Parse(id)
	return u, err == nil
}

// parts reads the parts of a value in order.
type parts struct {
	rest []byte
	bad  bool
}

func (p *parts) number() uint64 {
	n, size := binary.Uvarint(p.rest)
	if size <= 0 {
		p.bad = true
		return 0
	}
	p.rest = p.rest[size:]
	return n
}

// signed reads a number that must fit into an int64.
func (p *parts) signed() int64 {
	n := int64(p.number())
	p.bad = p.bad || n < 0
	return n
}

func (p *parts) bytes(n uint64) []byte {
	if n > uint64(len(p.rest)) {
		p.bad = true
		return nil
	}
	b := p.rest[:n]
	p.rest = p.rest[n:]
	return b
}

// decodeCompact reads an entry of a payload. name returns the name of a file by its number.
func decodeCompact(payload digest.Digest, v []byte, name func(uint32) (string, bool)) (entry, error) {
	end := len(v) - checkLen
	if end < 2 || check(payload, v[:end]) != binary.BigEndian.Uint16(v[end:]) || v[1] >= 1<<marks {
		return entry{}, fmt.Errorf("%w: wrong checksum or another payload", ErrCorrupt)
	}
	p := parts{rest: v[2:end]}
	e := entry{source: uint32(p.number())}
	e.Payload = payload
	if v[1]&markNumber != 0 {
		known := false
		number := p.number()
		if e.File, known = name(uint32(number)); !known {
			return entry{}, fmt.Errorf("%w: no file has the number %d", ErrCorrupt, number)
		}
	} else {
		e.File = string(p.bytes(p.number()))
	}
	e.Offset, e.Length, e.Size = p.signed(), p.signed(), p.signed()
	switch date := p.signed(); {
	case date == 0:
	case v[1]&markSeconds != 0:
		e.Date = time.Unix(date, 0).UTC()
	default:
		e.Date = time.UnixMicro(date).UTC()
	}
	if v[1]&markUUID != 0 {
		if id := p.bytes(uuidLen); id != nil {
			e.RecordID = uuid.UUID(id).URN()
		}
	} else {
		e.RecordID = string(p.bytes(p.number()))
	}
	e.URI = string(p.rest)
	if p.bad || e.IsZero() || !fits(e) {
		return entry{}, fmt.Errorf("%w: it has no record, or one that no crawl has written", ErrCorrupt)
	}
	return e, nil
}

// maxNames bounds the file names that have a number. Further names are written into each entry.
const maxNames = 100_000

// fileNames holds the names of the files of entries. Each name has a permanent number, from 1 on, and is stored before
// the first entry that uses it.
type fileNames struct {
	mu     sync.RWMutex // guards the fields below; held while a new name is written
	number map[string]uint32
	name   []string // number n is at n-1
}

func nameKey(n uint32) []byte {
	return about(fileName, string(binary.BigEndian.AppendUint32(nil, n)))
}

// byNumber returns the name of a file by its number.
func (f *fileNames) byNumber(n uint32) (string, bool) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if n == 0 || int(n) > len(f.name) {
		return "", false
	}
	return f.name[n-1], true
}

// numberOf returns the number of a file; zero if it has no name, or if there are too many names.
func (i *Index) numberOf(file string) (uint32, error) {
	f := &i.files
	f.mu.RLock()
	n := f.number[file]
	full := len(f.name) >= maxNames
	f.mu.RUnlock()
	if n > 0 || full || file == "" {
		return n, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if n := f.number[file]; n > 0 {
		return n, nil
	}
	n = uint32(len(f.name) + 1)
	err := i.db.Update(func(txn *badger.Txn) error {
		return txn.Set(nameKey(n), append([]byte{format}, file...))
	})
	if err != nil {
		return 0, fmt.Errorf("number the file %s: %w", file, err)
	}
	f.name = append(f.name, file)
	f.number[file] = n
	return n, nil
}

// readNames reads the numbered names of earlier runs from the store.
func (i *Index) readNames() error {
	i.files.number = map[string]uint32{}
	return i.db.View(func(txn *badger.Txn) error {
		return scan(txn, about(fileName, ""), func(key, v []byte) error {
			n := uint32(len(i.files.name) + 1)
			if string(key) != string(nameKey(n)) {
				return fmt.Errorf("%w: the name of the file with the number %d is missing", ErrCorrupt, n)
			}
			if len(v) < 2 || v[0] != format {
				return fmt.Errorf("%w: the name of the file with the number %d is %q", ErrCorrupt, n, v)
			}
			name := string(v[1:])
			i.files.name = append(i.files.name, name)
			i.files.number[name] = n
			return nil
		})
	})
}
