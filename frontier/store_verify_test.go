package frontier

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/uri"
)

// Verify finds damage on disk while the frontier is open, and names the table.
func TestVerifyFindsADamagedTable(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	o := Options{Dir: t.TempDir(), Now: now, Compactors: -1}
	for _, text := range []string{"http://a.example/", "http://b.example/"} {
		f, err := Open(o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Add(now, Candidate{URI: uri.FromCanonical(text)}); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil { // writes a table
			t.Fatal(err)
		}
	}
	f, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	rounds := 0
	for calls := range 5 { // two tables, one for each call
		done, err := f.Verify(1)
		if err != nil {
			t.Fatal(err)
		}
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
	if err != nil {
		t.Fatal(err)
	}
	var b [1]byte
	_, err1 := file.ReadAt(b[:], 3)
	b[0] ^= 1
	_, err2 := file.WriteAt(b[:], 3)
	if err := errors.Join(err1, err2, file.Close()); err != nil {
		t.Fatal(err)
	}
}
