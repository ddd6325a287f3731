package daily

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/uri"
)

func store(t *testing.T, dir string) *badger.DB {
	t.Helper()
	db, err := badger.Open(badger.DefaultOptions(dir).WithLogger(nil).WithMemTableSize(8 << 20))
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func open(t *testing.T, db *badger.DB) *Book {
	t.Helper()
	b, err := Open(db)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// told is what the book has to say, one line for each day.
func told(t *testing.T, b *Book, host uri.Host, from, to time.Time) (lines []string) {
	t.Helper()
	must(t, b.Each(host, from, to, func(d Date, day evaluators.Day) error {
		lines = append(lines, fmt.Sprintf("%s %s: %d requests, %d of %.1f", d.Time().Format(time.DateOnly), d.Host, day.Requests, day.Seen, day.Versions))
		return nil
	}))
	return lines
}

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func TestADayIsNotLostByARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db := store(t, dir)
	b := open(t, db)
	visit := evaluators.Day{Requests: 1, Seen: 1, Versions: 1.5}
	for range 3 {
		must(t, b.Add("a.example", noon, visit))
	}
	must(t, b.Add("b.example", noon, evaluators.Day{Requests: 1}))
	must(t, b.Keep())
	must(t, db.Close())

	db = store(t, dir)
	defer func() { must(t, db.Close()) }()
	b = open(t, db)
	must(t, b.Add("a.example", noon.Add(11*time.Hour), visit))
	must(t, b.Add("a.example", noon.Add(12*time.Hour), visit)) // the next day of UTC
	want := []string{
		"2026-11-20 a.example: 4 requests, 4 of 6.0",
		"2026-11-21 a.example: 1 requests, 1 of 1.5",
		"2026-11-20 b.example: 1 requests, 0 of 0.0",
	}
	if got := told(t, b, "", time.Time{}, time.Time{}); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("told %q, want %q", got, want)
	}
	if got := told(t, b, "a.example", noon, time.Time{}); fmt.Sprint(got) != fmt.Sprint(want[1:2]) {
		t.Errorf("of one host since the 21st %q, want %q", got, want[1:2])
	}
	if got := told(t, b, "", time.Time{}, noon); len(got) != 2 {
		t.Errorf("before the 21st %q, want two days", got)
	}
}

func TestAHostWhoseNameBeginsAnothersIsNotTakenForIt(t *testing.T) {
	t.Parallel()
	db := store(t, t.TempDir())
	defer func() { must(t, db.Close()) }()
	b := open(t, db)
	must(t, b.Add("a.example", noon, evaluators.Day{Requests: 1}))
	must(t, b.Add("a.example:8080", noon, evaluators.Day{Requests: 2}))
	if got := told(t, b, "a.example", time.Time{}, time.Time{}); len(got) != 1 {
		t.Errorf("told %q, want one host", got)
	}
}

func TestOldDaysAreForgotten(t *testing.T) {
	t.Parallel()
	db := store(t, t.TempDir())
	defer func() { must(t, db.Close()) }()
	b := open(t, db)
	for day := range 3 * Kept {
		at := noon.AddDate(0, 0, day)
		must(t, b.Add("a.example", at, evaluators.Day{Requests: 1}))
		must(t, b.Keep())
	}
	if got := told(t, b, "", time.Time{}, time.Time{}); len(got) != Kept {
		t.Errorf("%d days are kept, want %d", len(got), Kept)
	}
}

func TestWhatCannotBeWrittenIsWrittenLater(t *testing.T) {
	t.Parallel()
	db := store(t, t.TempDir())
	b := open(t, db)
	must(t, b.Add("a.example", noon, evaluators.Day{Requests: 1}))
	must(t, db.Close())
	if err := b.Keep(); err == nil {
		t.Error("a closed store took an account")
	}
	if b.pending[DateOf("a.example", noon)].Requests != 1 {
		t.Errorf("%v is pending, want the visit", b.pending)
	}
}

func TestManyHostsArePutDownInPortions(t *testing.T) {
	t.Parallel()
	db := store(t, t.TempDir())
	defer func() { must(t, db.Close()) }()
	b := open(t, db)
	const n = maxPending + maxPortion/2
	for i := range n {
		must(t, b.Add(uri.Host(fmt.Sprintf("h%d.example", i)), noon, evaluators.Day{Requests: 1}))
	}
	if len(b.pending) >= maxPending {
		t.Errorf("%d rows are in memory, want fewer than %d", len(b.pending), maxPending)
	}
	if got := told(t, b, "", time.Time{}, time.Time{}); len(got) != n {
		t.Errorf("%d rows, want %d", len(got), n)
	}
}

func FuzzARowIsReadOrRefused(f *testing.F) {
	f.Add(encode(evaluators.Day{Requests: 300, Seen: 7, Versions: 8.25}))
	f.Add([]byte{format, 0xff})
	f.Fuzz(func(t *testing.T, v []byte) {
		d, err := decode(v)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Errorf("%v is not ErrCorrupt", err)
			}
			return
		}
		if again, err := decode(encode(d)); err != nil || again != d {
			t.Errorf("%+v came back as %+v, %v", d, again, err)
		}
	})
}
