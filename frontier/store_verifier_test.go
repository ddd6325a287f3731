package frontier

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/dgraph-io/badger/v4/options"
	"github.com/dgraph-io/badger/v4/table"
)

// Whichever byte of a table is changed, the verifier accepts the table only if Badger does. It accepts all undamaged
// tables. Otherwise opening a store would take as long as with Badger's own check.
func TestVerifierAcceptsOnlyUndamagedTables(t *testing.T) {
	t.Parallel()
	o := Options{Dir: t.TempDir()}
	f := openTest(t, o)
	for i := range 300 {
		link(t, f, fmt.Sprintf("http://a.example/%d", i))
	}
	noErr(t, f.Close())
	names, err := filepath.Glob(filepath.Join(o.Dir, "*.sst"))
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	var v verifier
	noErr(t, v.read(names[0]))
	if !v.whole(options.Snappy) {
		t.Fatal("an undamaged table is not accepted")
	}
	spoiled := 0
	for i := 0; i < len(v.file); i += 7 {
		v.file[i] ^= 1 << (i % 8)
		vouched := false
		err := readTable(v.file, 1, table.Options{BlockSize: 8 << 10, Compression: options.Snappy},
			func(b *table.Table) error {
				vouched = v.whole(options.Snappy)
				return b.VerifyChecksum()
			})
		if vouched && err != nil {
			t.Errorf("byte %d of %d is damaged, but the table was accepted; Badger: %v", i, len(v.file), err)
		}
		if err != nil {
			spoiled++
		}
		v.file[i] ^= 1 << (i % 8)
	}
	if spoiled < len(v.file)/7*9/10 || !v.whole(options.Snappy) {
		t.Errorf("only %d of %d damaged bytes were noticed", spoiled, len(v.file)/7)
	}
}
