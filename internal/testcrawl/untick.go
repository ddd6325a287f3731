package testcrawl

import (
	"fmt"
	"reflect"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/ristretto/v2/z"
)

// Untick stops the periodic work of a store that has just been opened by a test in virtual time. In real time it does
// nothing. Badger and its caches wake up every two seconds to look for something to release, and each minute to measure
// the folder of the store. A crawl that plays a month in virtual time wakes up four million times for that, which takes
// nearly all of the time of the test. Badger has no option against it, so Untick reaches into its private fields.
//
// What stops is the measuring of the store for [badger.DB.Size], the removal of expired entries from caches
// that have none, and the release of idle buffers. Merging tables is something else, and continues.
func Untick(t testing.TB, db *badger.DB) {
	t.Helper()
	if calm() {
		stop(t, db, "updateSize", "cacheHealth")
	}
}

// UntickAndMerging also stops the merging of tables, which looks for work each 50 ms. It is for small stores that are
// opened with merging.
func UntickAndMerging(t testing.TB, db *badger.DB) {
	t.Helper()
	if calm() {
		stop(t, db, "updateSize", "cacheHealth", "compactors")
	}
}

// stop stops the given workers of a store, and the timers of its caches and buffers.
func stop(t testing.TB, db *badger.DB, workers ...string) {
	t.Helper()
	defer func() {
		if r := recover(); r != nil {
			t.Fatalf("stop the periodic work of a store: this version of Badger has other fields: %v", r)
		}
	}()
	store := reflect.ValueOf(db).Elem()
	for _, worker := range workers {
		(*field[*z.Closer](store.FieldByName("closers"), worker)).Signal()
	}
	for _, cache := range []string{"blockCache", "indexCache"} {
		(*field[*time.Ticker](store.FieldByName(cache).Elem(), "cleanupTicker")).Stop()
	}
	pool := field[*z.AllocatorPool](store, "allocPool")
	(*pool).Release()
	*pool = nil // then buffers are not kept for others
}

// calm waits until nothing else happens in the bubble of the caller: a store that was killed writes tables when it has
// been opened. It reports whether there is a bubble.
func calm() (bubble bool) {
	defer func() { bubble = recover() == nil }()
	synctest.Wait()
	return true
}

// field returns the address of a private field of a struct.
func field[T any](of reflect.Value, name string) *T {
	f := of.FieldByName(name)
	if want := reflect.TypeFor[T](); !f.IsValid() || f.Type() != want {
		panic(fmt.Sprintf("%v has no field %s of type %v", of.Type(), name, want))
	}
	return (*T)(unsafe.Pointer(f.UnsafeAddr()))
}

// Merger stops the periodic work of a store, as [UntickAndMerging] does, and returns a function that lets the merging
// of tables look for work for a second and a half. A crawl of a year in virtual time calls it every hour or so. The
// caller does not close the store meanwhile.
func Merger(t testing.TB, db *badger.DB) (merge func()) {
	t.Helper()
	UntickAndMerging(t, db)
	return func() {
		startMerging(db)
		time.Sleep(1500 * time.Millisecond) // each worker begins within a second, and looks every 50 ms
		(*field[*z.Closer](reflect.ValueOf(db).Elem().FieldByName("closers"), "compactors")).SignalAndWait()
	}
}

// startMerging starts the workers that merge tables. Badger calls this itself after it has stopped them for a while.
//
//go:linkname startMerging github.com/dgraph-io/badger/v4.(*DB).startCompactions
func startMerging(db *badger.DB)
