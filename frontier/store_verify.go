package frontier

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"

	"github.com/dgraph-io/badger/v4/fb"
	"github.com/dgraph-io/badger/v4/options"
	"github.com/dgraph-io/badger/v4/table"
	"github.com/dgraph-io/ristretto/v2/z"
	"github.com/klauspost/compress/snappy"
)

// verifyProgress is how far [Frontier.Verify] has come.
type verifyProgress struct {
	mu   sync.Mutex // guards the field below
	left []uint64   // tables of this round that are not verified yet
}

// Verify compares a part of the store with its checksums, and continues where the last call ended. It stops after the
// table with which it has read limit bytes, and reads at least one; done is true when a round of the whole store is
// complete. A disk can damage data that was written years ago. Regular calls of Verify find that while there is still
// a backup to restore. The frontier can be used meanwhile. [ErrCorrupt] names the table.
func (f *Frontier) Verify(limit int64) (done bool, err error) {
	f.mu.Lock()
	closed := f.closed
	f.mu.Unlock()
	if closed {
		return false, ErrClosed
	}
	f.verification.mu.Lock()
	defer f.verification.mu.Unlock()
	tables := map[uint64]bool{}
	for _, t := range f.db.Tables() {
		tables[t.ID] = true
	}
	if len(f.verification.left) == 0 {
		for id := range tables {
			f.verification.left = append(f.verification.left, id)
		}
		slices.Sort(f.verification.left)
	}
	o, v := f.db.Opts(), verifier{}
	for limit = max(limit, 1); len(f.verification.left) > 0 && limit > 0; {
		id := f.verification.left[0]
		f.verification.left = f.verification.left[1:]
		if !tables[id] {
			continue // it was merged into others
		}
		name := table.NewFilename(id, f.o.Dir)
		size, err := v.table(name, id, table.Options{BlockSize: o.BlockSize, Compression: o.Compression})
		if errors.Is(err, fs.ErrNotExist) && !f.hasTable(id) {
			continue
		}
		if err != nil {
			return false, fmt.Errorf("verify %s: %w", name, err)
		}
		limit -= size
	}
	return len(f.verification.left) == 0, nil
}

func (f *Frontier) hasTable(id uint64) bool {
	for _, t := range f.db.Tables() {
		if t.ID == id {
			return true
		}
	}
	return false
}

// verifier compares the checksums of tables. It uses the same memory for all blocks. Badger allocates each block, and
// collecting that garbage took half of the time of an opening.
type verifier struct{ file, block []byte }

// table reads a whole table and compares its checksums.
func (v *verifier) table(name string, id uint64, o table.Options) (size int64, err error) {
	if err := v.read(name); errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("%w: %w", err, ErrCorrupt)
	} else if err != nil {
		return 0, err
	}
	return int64(len(v.file)), readTable(v.file, id, o, func(t *table.Table) error {
		if v.whole(o.Compression) {
			return nil
		}
		return t.VerifyChecksum() // says what is wrong, if anything
	})
}

func (v *verifier) read(name string) (err error) {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	v.file = slices.Grow(v.file[:0], int(info.Size()))[:info.Size()]
	_, err = io.ReadFull(f, v.file)
	return err
}

// whole reports whether all blocks of the table have the checksums that are stored in them. The result is also false
// if the table is not written as ours are. The checksum of the index was compared before. A table ends with: the
// index, its length, its checksum, the length of that; lengths have four bytes, big-endian.
func (v *verifier) whole(c options.CompressionType) bool {
	rest, _, ok := cutLast(v.file)
	if !ok || c != options.Snappy {
		return false
	}
	_, index, ok := cutLast(rest)
	if !ok {
		return false
	}
	blocks, at := fb.GetRootAsTableIndex(index, 0), new(fb.BlockOffset)
	for i := range blocks.OffsetsLength() {
		if !blocks.Offsets(at, i) || !v.wholeBlock(v.file[at.Offset():][:at.Len()]) {
			return false
		}
	}
	return true
}

// maxBlock is the maximum length of an unpacked block that a verifier has memory for. Blocks of tables with short
// values have some 8 KB.
const maxBlock = 4 << 20

// wholeBlock reports whether a packed block has the checksum that is stored at its end, before its length. The
// checksum is a message of protobuf: field 2 is the sum, and field 1, which is left out, the kind of sum.
func (v *verifier) wholeBlock(packed []byte) bool {
	n, err := snappy.DecodedLen(packed)
	if err != nil || n > maxBlock {
		return false
	}
	v.block = slices.Grow(v.block[:0], n)[:n]
	block, err := snappy.Decode(v.block, packed)
	if err != nil {
		return false
	}
	entries, sum, ok := cutLast(block)
	if !ok || len(sum) < 2 || sum[0] != 2<<3 {
		return false
	}
	want, length := binary.Uvarint(sum[1:])
	return length == len(sum)-1 && want == uint64(crc32.Checksum(entries, castagnoli))
}

// cutLast removes from the end of data a piece that is followed by its length.
func cutLast(data []byte) (rest, piece []byte, ok bool) {
	end := len(data) - 4
	if end < 0 {
		return nil, nil, false
	}
	start := end - int(binary.BigEndian.Uint32(data[end:]))
	if start < 0 {
		return nil, nil, false
	}
	return data[:start], data[start:end], true
}

// verifyIndex reads the parts of a table that Badger trusts: its index and its last block.
func verifyIndex(name string, id uint64, o table.Options) (size int64, err error) {
	m, err := z.OpenMmapFile(name, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("%w: %w", err, ErrCorrupt)
	}
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, m.Close(-1)) }()
	return int64(len(m.Data)), readTable(m.Data, id, o, func(*table.Table) error { return nil })
}

// readTable opens a table as Badger does, and calls look.
func readTable(data []byte, id uint64, o table.Options, look func(*table.Table) error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			// Badger's own message is a dump of many lines.
			err = fmt.Errorf("its index or a block is unreadable: %w", ErrCorrupt)
		}
	}()
	t, err := table.OpenInMemoryTable(data, id, &o)
	if err == nil {
		err = look(t)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", err, ErrCorrupt)
	}
	return nil
}
