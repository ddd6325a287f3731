package frontier_test

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/internal/smalldisk"
)

// TestLoadingOnAFullDiskWaits loads a store while others fill the disk. Rows are put again when there is space, and all
// of them are in the store at the end. The test runs in a process of its own, which a page without a block would end.
func TestLoadingOnAFullDiskWaits(t *testing.T) {
	slow.Test(t)
	slow.Unraced(t, slow.OneGoroutine)
	if os.Getenv(fullDiskEnv) == "" {
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
		child.Env = append(os.Environ(), fullDiskEnv+"=1")
		if out, err := child.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	disk := smalldisk.Mount(t, "400m")
	filler := filepath.Join(disk, "filler")
	o := frontier.Options{
		Dir: filepath.Join(disk, "state"), Now: day, BulkLoad: true, AwaitSpace: func() { time.Sleep(5 * time.Millisecond) },
	}
	fillDisk(t, filler)
	nothing := func(func(k, v []byte) error) error { return nil }
	if _, err := frontier.Load(o, true, nothing); !errors.Is(err, frontier.ErrFull) {
		t.Errorf("a disk that is full from the start: %v", err)
	}
	must(t, os.Remove(filler))
	const rows = 60_000
	random, waits := rand.NewChaCha8([32]byte{}), 0
	row := func(i int) (k, v []byte) {
		v = make([]byte, 2_000)
		_, _ = random.Read(v)
		return binary.BigEndian.AppendUint32([]byte("d"), uint32(i)), v
	}
	_, err := frontier.Load(o, true, func(put func(k, v []byte) error) error {
		for i := range rows {
			if i == rows/3 {
				fillDisk(t, filler)
			}
			k, v := row(i)
			err := put(k, v)
			for ; errors.Is(err, frontier.ErrFull); err = put(k, v) {
				waits++
				must(t, os.Remove(filler))
				time.Sleep(time.Second)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	must(t, err)
	if waits == 0 {
		t.Error("the disk was never full: the test shows nothing")
	}
	db, err := badger.Open(badger.DefaultOptions(o.Dir).WithReadOnly(true).WithLogger(nil))
	must(t, err)
	n := 0
	txn := db.NewTransaction(false)
	for i := range rows {
		if _, err := txn.Get(binary.BigEndian.AppendUint32([]byte("d"), uint32(i))); err == nil {
			n++
		}
	}
	txn.Discard()
	must(t, db.Close())
	if n != rows {
		t.Errorf("%d rows were loaded, want %d", n, rows)
	}
}
