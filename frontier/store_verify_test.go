package frontier

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Verify finds damage on disk while the frontier is open, and names the table.
func TestVerifyFindsADamagedTable(t *testing.T) {
	t.Parallel()
	o := Options{Dir: t.TempDir()}
	for _, text := range []string{"http://a.example/", "http://b.example/"} {
		f := openTest(t, o)
		link(t, f, text)
		noErr(t, f.Close()) // writes a table
	}
	f, err := Open(Options{Dir: o.Dir, Now: start, Compactors: -1})
	noErr(t, err)
	defer func() { _ = f.Close() }()
	rounds := 0
	for calls := range 5 { // two tables, one for each call
		done, err := f.Verify(1)
		noErr(t, err)
		if done != (calls%2 == 1) {
			t.Errorf("call %d: done %v", calls, done)
		}
		if done {
			rounds++
		}
	}
	tables, err := filepath.Glob(filepath.Join(o.Dir, "*.sst"))
	if err != nil || len(tables) != 2 {
		t.Fatal(tables, err)
	}
	spoil(t, tables[0])
	var faults error
	for range 3 {
		_, err := f.Verify(1)
		faults = errors.Join(faults, err)
	}
	if !errors.Is(faults, ErrCorrupt) || !strings.Contains(faults.Error(), filepath.Base(tables[0])) || rounds != 2 {
		t.Errorf("Verify: %v after %d rounds; want an error that %s is damaged", faults, rounds, tables[0])
	}
}

// spoil changes a byte of a file that is in use.
func spoil(t *testing.T, name string) {
	t.Helper()
	file, err := os.OpenFile(name, os.O_RDWR, 0)
	noErr(t, err)
	var b [1]byte
	_, err1 := file.ReadAt(b[:], 3)
	b[0] ^= 1
	_, err2 := file.WriteAt(b[:], 3)
	noErr(t, errors.Join(err1, err2, file.Close()))
}
