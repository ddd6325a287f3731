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

// patrol is how far [Frontier.Verify] has come.
type verifyProgress struct {
	mu   sync.Mutex // guards what follows
	left []uint64   // the tables of this round that were not verified yet
}

// Verify compares the checksums of a part of the store with what is on disk, and goes on where it ended last. It stops
// after the table with which it has read most bytes, at least one; done tells that a round of the whole store is complete.
// A disk can spoil what has lain there for years: whoever calls Verify now and then learns of it while there is a backup
// to restore. The frontier can be used meanwhile. [ErrCorrupt] names the table.
func (f *Frontier) Verify(most int64) (done bool, err error) {
	f.mu.Lock()
	closed := f.closed
	f.mu.Unlock()
	if closed {
		return false, ErrClosed
	}
	f.verification.mu.Lock()
	defer f.verification.mu.Unlock()
	standing := map[uint64]bool{}
	for _, t := range f.db.Tables() {
		standing[t.ID] = true
	}
	if len(f.verification.left) == 0 {
		for id := range standing {
			f.verification.left = append(f.verification.left, id)
		}
		slices.Sort(f.verification.left)
	}
	o, v := f.db.Opts(), verifier{}
	for most = max(most, 1); len(f.verification.left) > 0 && most > 0; {
		id := f.verification.left[0]
		f.verification.left = f.verification.left[1:]
		if !standing[id] {
			continue // others took its place
		}
		name := table.NewFilename(id, f.dir)
		size, err := v.table(name, id, table.Options{BlockSize: o.BlockSize, Compression: o.Compression})
		if errors.Is(err, fs.ErrNotExist) && !f.hasTable(id) {
			continue
		}
		if err != nil {
			return false, fmt.Errorf("verify %s: %w", name, err)
		}
		most -= size
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

// verifier compares the checksums of tables. It uses its memory again from one block to the next: Badger makes each block anew,
// and of the time that an opening took half was the collection of that.
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
		return t.VerifyChecksum() // knows what is wrong, if anything
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

// whole tells that all blocks of the table have the checksums that stand in them; false may also mean that it is not written as
// ours are. That of the index was compared already. At the end of a table are: the index, its length, its checksum, the length of
// that; lengths have four bytes, big-endian.
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

// maxBlock is how long an unpacked block may be for a verifier to have memory for it. Those of tables with short values have some 8 KB.
const maxBlock = 4 << 20

// wholeBlock compares the checksum of a packed block, which stands at its end, before its length. It is a message of protobuf, of which
// field 2 is the sum, and field 1, which is left out, the kind of sum.
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

// cutLast takes from the end of data a piece that is followed by its length.
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

// verifyIndex reads what Badger trusts at once: a table's index and its last block.
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

// readTable opens a table as Badger does, and has a further look at it.
func readTable(data []byte, id uint64, o table.Options, look func(*table.Table) error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			// Badger's message is a dump of many lines.
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
