package similar_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/hosts/similar"
	"github.com/arcrawl/arcrawl/uri"
)

func store(t *testing.T) *badger.DB {
	t.Helper()
	db, err := badger.Open(badger.DefaultOptions(t.TempDir()).WithLogger(nil))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func TestWhatVisitsAddIsKeptByHostAndKind(t *testing.T) {
	t.Parallel()
	b, err := similar.Open(store(t))
	if err != nil {
		t.Fatal(err)
	}
	one := evaluators.Relatives{URIs: 1, Rate: [2]float64{-2, 4}, Ageing: [2]float64{0.5, 0.25}}
	one.Weight[3] = -1.5
	var all sync.WaitGroup
	for range 20 { // at once: none is lost
		all.Go(func() {
			if err := b.Add("a.example", 5, one); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	got, err := b.Of("a.example", 5)
	if err != nil || got.URIs != 20 || got.Rate != [2]float64{-40, 80} || got.Ageing != [2]float64{10, 5} || got.Weight[3] != -30 {
		t.Errorf("%+v, %v", got, err)
	}
	if err := b.Add("a.example", 0, one); err != nil {
		t.Error(err)
	}
	for _, other := range []struct {
		host uri.Host
		kind evaluators.Kind
	}{{"a.example", 6}, {"b.example", 5}, {"a.example", 0}} {
		if got, err := b.Of(other.host, other.kind); err != nil || got != (evaluators.Relatives{}) {
			t.Errorf("%v: %+v, %v", other, got, err)
		}
	}
}

func TestTheRhythmIsKeptAndRowsWithoutOneAreRead(t *testing.T) {
	t.Parallel()
	b, err := similar.Open(store(t))
	if err != nil {
		t.Fatal(err)
	}
	before := evaluators.Relatives{URIs: 3, Rate: [2]float64{1, 2}}
	lesson := evaluators.Relatives{Rhythm: evaluators.Rhythm{At: 1e9}}
	lesson.Rhythm.Seen[0], lesson.Rhythm.Expected[30] = 1.5, 0.25
	for _, step := range []struct {
		add, want evaluators.Relatives
	}{{before, before}, {lesson, before.Plus(lesson)}} {
		if err := b.Add("a.example", 5, step.add); err != nil {
			t.Fatal(err)
		}
		if got, err := b.Of("a.example", 5); err != nil || got != step.want {
			t.Errorf("%+v, %v; want %+v", got, err, step.want)
		}
	}
}

func TestWhatWasKeptIsThereForTheNextRun(t *testing.T) {
	t.Parallel()
	db := store(t)
	one := evaluators.Relatives{URIs: 1}
	for run := 1; run <= 3; run++ {
		b, err := similar.Open(db)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Add("a.example", 5, one); err != nil {
			t.Fatal(err)
		}
		if run == 3 {
			break // a crash: what was not kept is lost, and nothing else
		}
		if err := b.Keep(); err != nil {
			t.Fatal(err)
		}
	}
	b, err := similar.Open(db)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := b.Of("a.example", 5); err != nil || got.URIs != 2 {
		t.Errorf("%v URIs, %v; want the 2 that were kept", got.URIs, err)
	}
}

func TestMoreKindsThanAreInMemory(t *testing.T) {
	t.Parallel()
	b, err := similar.Open(store(t))
	if err != nil {
		t.Fatal(err)
	}
	const hosts = 9000
	host := func(n int) uri.Host { return uri.Host(fmt.Sprintf("%d.example", n)) }
	for range 2 {
		for n := range hosts {
			if err := b.Add(host(n), 5, evaluators.Relatives{URIs: float64(n)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := b.InMemory(); n > hosts/2 {
		t.Errorf("%d rows are in memory", n)
	}
	for n := range hosts {
		if got, err := b.Of(host(n), 5); err != nil || got.URIs != float64(2*n) {
			t.Fatalf("of host %d: %v, %v", n, got.URIs, err)
		}
	}
}

func TestWhatCannotBeKeptIsKeptLater(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	open := func() *badger.DB {
		db, err := badger.Open(badger.DefaultOptions(dir).WithLogger(nil))
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
	db := open()
	b, err := similar.Open(db)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Add("a.example", 5, evaluators.Relatives{URIs: 7}); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := b.Keep(); err == nil {
		t.Error("it was kept in a store that is closed")
	}
	if got, err := b.Of("a.example", 5); err != nil || got.URIs != 7 {
		t.Errorf("after that %v, %v", got.URIs, err)
	}
	db = open()
	defer db.Close()
	b.Reopen(db)
	if err := b.Keep(); err != nil {
		t.Fatal(err)
	}
	other, err := similar.Open(db)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := other.Of("a.example", 5); err != nil || got.URIs != 7 {
		t.Errorf("in the store is %v, %v", got.URIs, err)
	}
}

func TestADamagedRowIsAnError(t *testing.T) {
	t.Parallel()
	db := store(t)
	b, err := similar.Open(db)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(txn *badger.Txn) error { return txn.Set([]byte("k\x05a.example"), []byte{1, 2, 3}) })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Of("a.example", 5); !errors.Is(err, similar.ErrCorrupt) {
		t.Errorf("read: %v", err)
	}
	if err := b.Add("a.example", 5, evaluators.Relatives{URIs: 1}); !errors.Is(err, similar.ErrCorrupt) {
		t.Errorf("added to: %v", err)
	}
	if _, err := similar.Open(nil); err == nil {
		t.Error("a book without a store was opened")
	}
}
