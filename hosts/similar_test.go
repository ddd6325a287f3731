package hosts_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/evaluators/rate"
	"github.com/arcrawl/arcrawl/hosts"
	"github.com/arcrawl/arcrawl/uri"
)

func openBadger(t *testing.T) *badger.DB {
	t.Helper()
	db, err := badger.Open(badger.DefaultOptions(t.TempDir()).WithLogger(nil))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func TestAddCountsByHostAndKind(t *testing.T) {
	t.Parallel()
	s, err := hosts.OpenSimilar(openBadger(t))
	if err != nil {
		t.Fatal(err)
	}
	one := rate.Relatives{URIs: 1, Rate: [2]float64{-2, 4}, Ageing: [2]float64{0.5, 0.25}}
	one.Weight[3] = -1.5
	var all sync.WaitGroup
	for range 20 { // concurrent calls must all count
		all.Go(func() {
			if err := s.Add("a.example", 5, one); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	got, err := s.Get("a.example", 5)
	want := rate.Relatives{URIs: 20, Rate: [2]float64{-40, 80}, Ageing: [2]float64{10, 5}}
	want.Weight[3] = -30
	if err != nil || got != want {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
	if err := s.Add("a.example", 0, one); err != nil {
		t.Error(err)
	}
	for _, other := range []struct {
		host uri.Host
		kind rate.Kind
	}{{"a.example", 6}, {"b.example", 5}, {"a.example", 0}} {
		if got, err := s.Get(other.host, other.kind); err != nil || got != (rate.Relatives{}) {
			t.Errorf("Get(%v) = %+v, %v; want a zero value", other, got, err)
		}
	}
}

func TestRowsWithAndWithoutRhythm(t *testing.T) {
	t.Parallel()
	s, err := hosts.OpenSimilar(openBadger(t))
	if err != nil {
		t.Fatal(err)
	}
	before := rate.Relatives{URIs: 3, Rate: [2]float64{1, 2}}
	lesson := rate.Relatives{Rhythm: rate.Rhythm{At: 1e9}}
	lesson.Rhythm.Seen[0], lesson.Rhythm.Expected[30] = 1.5, 0.25
	for _, step := range []struct {
		add, want rate.Relatives
	}{{before, before}, {lesson, before.Plus(lesson)}} {
		if err := s.Add("a.example", 5, step.add); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Get("a.example", 5); err != nil || got != step.want {
			t.Errorf("%+v, %v; want %+v", got, err, step.want)
		}
	}
}

func TestFlushedRowsSurviveTheProcess(t *testing.T) {
	t.Parallel()
	db := openBadger(t)
	one := rate.Relatives{URIs: 1}
	for run := 1; run <= 3; run++ {
		s, err := hosts.OpenSimilar(db)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Add("a.example", 5, one); err != nil {
			t.Fatal(err)
		}
		if run == 3 {
			break // a crash loses only what was not flushed
		}
		if err := s.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	s, err := hosts.OpenSimilar(db)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := s.Get("a.example", 5); err != nil || got.URIs != 2 {
		t.Errorf("%v URIs are stored, %v; want the 2 flushed ones", got.URIs, err)
	}
}

func TestSimilarADamagedRowIsAnError(t *testing.T) {
	t.Parallel()
	db := openBadger(t)
	s, err := hosts.OpenSimilar(db)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(txn *badger.Txn) error { return txn.Set([]byte("k\x05a.example"), []byte{1, 2, 3}) })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get("a.example", 5); !errors.Is(err, hosts.ErrCorrupt) {
		t.Errorf("reading a damaged row: %v, want ErrCorrupt", err)
	}
	if err := s.Add("a.example", 5, rate.Relatives{URIs: 1}); !errors.Is(err, hosts.ErrCorrupt) {
		t.Errorf("adding to a damaged row: %v, want ErrCorrupt", err)
	}
	if _, err := hosts.OpenSimilar(nil); err == nil {
		t.Error("Open accepts a missing store")
	}
}

func TestSimilarTheStoredFormStays(t *testing.T) {
	t.Parallel()
	db := openBadger(t)
	s, err := hosts.OpenSimilar(db)
	if err != nil {
		t.Fatal(err)
	}
	lesson := rate.Relatives{URIs: 1.5}
	if err := errors.Join(s.Add("a.example", 5, lesson), s.Flush()); err != nil {
		t.Fatal(err)
	}
	err = db.View(func(txn *badger.Txn) error {
		item, err := txn.Get([]byte("k\x05a.example"))
		if err != nil {
			return err
		}
		return item.Value(func(v []byte) error {
			want := "\x01\x3f\xf8" + string(make([]byte, len(v)-3))
			if string(v) != want || len(v) != 1+8*(5+len(lesson.Weight)) {
				t.Errorf("the row is %x, want %x", v, want)
			}
			return nil
		})
	})
	if err != nil {
		t.Error(err)
	}
}
