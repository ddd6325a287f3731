package hosts

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"
)

// openBadger opens a Badger store in a folder, or in memory if dir is empty.
func openBadger(t testing.TB, dir string) *badger.DB {
	t.Helper()
	db, err := badger.Open(badger.DefaultOptions(dir).WithLogger(nil).WithInMemory(dir == "").WithMemTableSize(8 << 20))
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// numbers describes rows that hold a number for each name. The row "new-x" deletes the row "old-x".
var numbers = RowKind[string, uint64]{
	Name: "number", Prefix: "n", MaxInMemory: 1000, RowBytes: 100, Own: strings.Clone,
	Key:      func(name string) []byte { return []byte("n" + name) },
	ParseKey: func(k []byte) (string, bool) { return string(k[1:]), len(k) > 1 },
	Encode:   func(n uint64) ([]byte, error) { return binary.AppendUvarint(nil, n), nil },
	Decode: func(v []byte, to *uint64) error {
		n, size := binary.Uvarint(v)
		if size != len(v) || size == 0 {
			return ErrCorrupt
		}
		*to = n
		return nil
	},
	Outdated: func(_ *badger.Txn, added string) [][]byte {
		if name, ok := strings.CutPrefix(added, "new-"); ok {
			return [][]byte{[]byte("nold-" + name)}
		}
		return nil
	},
}

func add(t *testing.T, s *Rows[string, uint64], name string, more uint64) {
	t.Helper()
	if err := s.Change(name, func(n uint64) (uint64, bool) { return n + more, true }); err != nil {
		t.Error(err)
	}
}

// list returns the rows whose keys begin with prefix, as "name=number".
func list(t *testing.T, s *Rows[string, uint64], prefix []byte) (all []string) {
	t.Helper()
	err := s.Each(prefix, func(name string, n uint64) error {
		all = append(all, fmt.Sprintf("%s=%d", name, n))
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return all
}

func checkRow(t *testing.T, s *Rows[string, uint64], name string, want uint64) {
	t.Helper()
	if got, err := s.Get(name); err != nil || got != want {
		t.Errorf("Get(%q) = %d, %v; want %d", name, got, err, want)
	}
}

func TestOnlyFlushedRowsSurviveTheProcess(t *testing.T) {
	t.Parallel()
	db := openBadger(t, "")
	s := NewRows(db, numbers)
	add(t, s, "a", 1)
	add(t, s, "b", 2)
	must(t, s.Flush())
	add(t, s, "a", 10)
	checkRow(t, s, "a", 11)
	s = NewRows(db, numbers)
	checkRow(t, s, "a", 1)
	checkRow(t, s, "missing", 0)
	add(t, s, "ab", 3)
	if got := fmt.Sprint(list(t, s, nil), list(t, s, []byte("na"))); got != "[a=1 ab=3 b=2] [a=1 ab=3]" {
		t.Errorf("Each lists %s", got)
	}
}

func TestAnUnchangedRowIsNotWritten(t *testing.T) {
	t.Parallel()
	s := NewRows(openBadger(t, ""), numbers)
	must(t, s.Change("a", func(n uint64) (uint64, bool) { return n + 1, false }))
	if got := list(t, s, nil); got != nil {
		t.Errorf("Each lists %q, want no row", got)
	}
}

func TestANewRowDeletesOutdatedOnes(t *testing.T) {
	t.Parallel()
	s := NewRows(openBadger(t, ""), numbers)
	add(t, s, "old-x", 1)
	add(t, s, "old-y", 1)
	list(t, s, nil)
	add(t, s, "new-x", 1)
	if got := fmt.Sprint(list(t, s, nil)); got != "[new-x=1 old-y=1]" {
		t.Errorf("Each lists %s, want new-x and old-y", got)
	}
}

func TestMoreRowsThanFitInMemory(t *testing.T) {
	t.Parallel()
	s := NewRows(openBadger(t, ""), numbers)
	s.kind.MaxBytes = 800 * s.kind.RowBytes // is reached before the number of rows
	const rows, workers = 3500, 4
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for n := range rows {
				add(t, s, fmt.Sprint(n), uint64(n))
				if n%100 == 0 {
					if err := s.Flush(); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	all.Wait()
	if n := len(s.rows); n > 800+workers || s.Bytes() != int64(n)*s.kind.RowBytes {
		t.Errorf("%d rows are in memory and take %d bytes, want at most 800", n, s.Bytes())
	}
	for n := range uint64(rows) {
		checkRow(t, s, fmt.Sprint(n), workers*n)
	}
}

func TestRowsThatCannotBeWrittenAreWrittenLater(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db := openBadger(t, dir)
	s := NewRows(db, numbers)
	for n := range maxPortion + 50 {
		add(t, s, fmt.Sprint(n), 7)
	}
	must(t, db.Close())
	if err := s.Flush(); err == nil {
		t.Error("Flush succeeds in a closed store")
	}
	checkRow(t, s, "0", 7)
	s.db = openBadger(t, dir)
	must(t, s.Flush())
	if got := len(list(t, NewRows(s.db, numbers), nil)); got != maxPortion+50 {
		t.Errorf("%d rows are stored, want %d", got, maxPortion+50)
	}
}

func TestADamagedRowIsAnError(t *testing.T) {
	t.Parallel()
	db := openBadger(t, "")
	s := NewRows(db, numbers)
	for _, key := range []string{"na", "n"} { // a damaged value, and a key without a name
		must(t, db.Update(func(txn *badger.Txn) error { return txn.Set([]byte(key), nil) }))
		if err := s.Each(nil, func(string, uint64) error { return nil }); !errors.Is(err, ErrCorrupt) {
			t.Errorf("Each with the key %q: %v, want ErrCorrupt", key, err)
		}
	}
	if _, err := s.Get("a"); !errors.Is(err, ErrCorrupt) {
		t.Errorf("Get: %v, want ErrCorrupt", err)
	}
	if err := s.Change("a", func(n uint64) (uint64, bool) { return n, true }); !errors.Is(err, ErrCorrupt) {
		t.Errorf("Change: %v, want ErrCorrupt", err)
	}
}

func TestADamagedRowIsReportedOnceAndReplaced(t *testing.T) {
	t.Parallel()
	db := openBadger(t, "")
	for _, key := range []string{"na", "nb", "nc"} {
		must(t, db.Update(func(txn *badger.Txn) error { return txn.Set([]byte(key), nil) }))
	}
	s := NewRows(db, numbers)
	told := 0
	s.OnDamage(func(error) { told++ })
	if v, err := s.Get("a"); v != 0 || err != nil {
		t.Errorf("Get: %d, %v, want an empty row", v, err)
	}
	if err := s.Change("b", func(n uint64) (uint64, bool) { return n + 1, true }); err != nil {
		t.Error(err)
	}
	if got := list(t, s, nil); told != 3 || len(got) != 2 { // c is found by listing, and replaced after it
		t.Errorf("%d reports, the list is %v; want 3 and the rows a and b", told, got)
	}
	must(t, s.Flush())
	if got := list(t, NewRows(db, numbers), nil); told != 3 || len(got) != 3 {
		t.Errorf("%d reports, the list after reopening is %v; want 3 and three rows", told, got)
	}
}

func TestEachStopsAtAnError(t *testing.T) {
	t.Parallel()
	s := NewRows(openBadger(t, ""), numbers)
	add(t, s, "a", 1)
	add(t, s, "b", 1)
	errStop, seen := errors.New("stop"), 0
	err := s.Each(nil, func(string, uint64) error {
		seen++
		return errStop
	})
	if err != errStop || seen != 1 {
		t.Errorf("Each returns %v after %d rows, want the error after 1", err, seen)
	}
}

// The names are parts of long texts, as hosts are parts of URIs. The rows stay within their bound, and no text stays in
// memory.
func TestRowsAreBoundedInBytes(t *testing.T) {
	s := NewRows(openBadger(t, ""), numbers)
	inUse := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := inUse()
	for n := range 3 * numbers.MaxInMemory {
		text := fmt.Sprintf("h%06d", n) + strings.Repeat("x", 100_000)
		add(t, s, text[:7], 1)
		if got := s.Bytes(); got <= 0 || got > int64(numbers.MaxInMemory)*numbers.RowBytes {
			t.Fatalf("%d bytes after %d rows", got, n+1)
		}
	}
	if grown := inUse() - before; grown > 50<<20 {
		t.Errorf("the rows keep %d bytes", grown)
	}
	runtime.KeepAlive(s)
}

// One goroutine is in the middle of a change. The users of other rows do not wait for it.
func TestOneRowDoesNotDelayOthers(t *testing.T) {
	t.Parallel()
	s := NewRows(openBadger(t, ""), numbers)
	began, finish, answered := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		answered <- s.Change("slow", func(uint64) (uint64, bool) { close(began); <-finish; return 0, false })
	}()
	<-began
	go func() { answered <- s.Change("fast", func(uint64) (uint64, bool) { return 1, true }) }()
	select {
	case err := <-answered:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("the user of another row waits")
	}
	close(finish)
	<-answered
}

// TestAForgottenRowIsReadAgain forgets changes that are not written, of rows that the store has, and then other ones.
func TestAForgottenRowIsReadAgain(t *testing.T) {
	t.Parallel()
	db := openBadger(t, "")
	s, other := NewRows(db, numbers), NewRows(db, numbers)
	for _, name := range []string{"a", "kept"} {
		add(t, s, name, 1)
	}
	must(t, s.Flush())
	for _, name := range []string{"a", "kept", "unknown"} {
		add(t, s, name, 10)
	}
	add(t, other, "a", 6) // 7
	must(t, other.Flush())
	checkRow(t, s, "a", 11)
	isMoved := func(name string) bool { return name != "kept" }
	s.Forget(isMoved)
	checkRow(t, s, "a", 7)
	checkRow(t, s, "unknown", 0)
	checkRow(t, s, "kept", 11)
	if got := fmt.Sprint(list(t, s, nil)); got != "[a=7 kept=11]" { // writes what has changed
		t.Errorf("stored are %s", got)
	}
	add(t, s, "unknown", 2)
	if got := fmt.Sprint(list(t, s, nil)); got != "[a=7 kept=11 unknown=2]" {
		t.Errorf("after another change, stored are %s", got)
	}
	s.Forget(func(string) bool { return true })
	if len(s.rows) != 0 || s.Bytes() != 0 {
		t.Errorf("%d rows are still in memory, with %d bytes", len(s.rows), s.Bytes())
	}
}

// TestARowInUseIsForgotten forgets a row while somebody changes it, and another one waits for it.
func TestARowInUseIsForgotten(t *testing.T) {
	t.Parallel()
	s := NewRows(openBadger(t, ""), numbers)
	add(t, s, "a", 1)
	must(t, s.Flush())
	begun, end := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		err := s.Change("a", func(n uint64) (uint64, bool) { close(begun); <-end; return n + 10, true })
		if err != nil {
			t.Error(err)
		}
	})
	<-begun
	all.Go(func() { s.Forget(func(string) bool { return true }) })
	for s.flushing.TryLock() { // until Forget has it
		s.flushing.Unlock()
		runtime.Gosched()
	}
	close(end)
	all.Wait()
	checkRow(t, s, "a", 1)
	if got := fmt.Sprint(list(t, s, nil)); got != "[a=1]" {
		t.Errorf("stored are %s", got)
	}
}

// TestRowsAreForgottenWhileTheyAreUsed changes, flushes, lists and forgets rows at the same time, with too few in
// memory. What was written is never lost, and no row is written that nobody has.
func TestRowsAreForgottenWhileTheyAreUsed(t *testing.T) {
	t.Parallel()
	s := NewRows(openBadger(t, ""), numbers)
	s.kind.MaxInMemory = 20
	const rows, rounds = 40, 300
	var all sync.WaitGroup
	for w := range 3 {
		all.Go(func() {
			for n := range rounds {
				add(t, s, fmt.Sprintf("kept-%d", (n+w)%rows), 1)
				add(t, s, fmt.Sprintf("moved-%d", (n+w)%rows), 1)
			}
		})
	}
	for range 2 {
		all.Go(func() {
			for range rounds / 10 {
				s.Forget(func(name string) bool { return strings.HasPrefix(name, "moved-") })
				if err := s.Flush(); err != nil {
					t.Error(err)
				}
				list(t, s, []byte("nkept-1"))
			}
		})
	}
	all.Wait()
	must(t, s.Flush())
	if len(s.changed) > 0 || s.Bytes() != int64(len(s.rows))*s.kind.RowBytes {
		t.Errorf("%d rows are changed after a flush; %d rows take %d bytes", len(s.changed), len(s.rows), s.Bytes())
	}
	var kept uint64
	must(t, NewRows(s.db, numbers).Each([]byte("nkept-"), func(_ string, n uint64) error { kept += n; return nil }))
	if kept != 3*rounds {
		t.Errorf("%d changes of rows that were not forgotten are stored, want %d", kept, 3*rounds)
	}
}
