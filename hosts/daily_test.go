package hosts

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/uri"
)

func dailyOpenBadger(t *testing.T, dir string) *badger.DB {
	t.Helper()
	db, err := badger.Open(badger.DefaultOptions(dir).WithLogger(nil).WithMemTableSize(8 << 20))
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func open(t *testing.T, db *badger.DB) *Daily {
	t.Helper()
	s, err := OpenDaily(db)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// dailyList returns one line for each day of each host.
func dailyList(t *testing.T, s *Daily, host uri.Host, from, to time.Time) (lines []string) {
	t.Helper()
	must(t, s.Each(host, from, to, func(d HostDay, day evaluators.Day) error {
		lines = append(lines, fmt.Sprintf("%s %s: %d requests, %d of %.1f", d.Time().Format(time.DateOnly), d.Host, day.Requests, day.Seen, day.Versions))
		return nil
	}))
	return lines
}

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func TestCountsSurviveARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db := dailyOpenBadger(t, dir)
	s := open(t, db)
	visit := evaluators.Day{Requests: 1, Seen: 1, Versions: 1.5}
	for range 3 {
		must(t, s.Add("a.example", noon, visit))
	}
	must(t, s.Add("b.example", noon, evaluators.Day{Requests: 1}))
	must(t, s.Flush())
	must(t, db.Close())

	db = dailyOpenBadger(t, dir)
	defer func() { must(t, db.Close()) }()
	s = open(t, db)
	must(t, s.Add("a.example", noon.Add(11*time.Hour), visit))
	must(t, s.Add("a.example", noon.Add(12*time.Hour), visit)) // the next day in UTC
	want := []string{
		"2026-11-20 a.example: 4 requests, 4 of 6.0",
		"2026-11-21 a.example: 1 requests, 1 of 1.5",
		"2026-11-20 b.example: 1 requests, 0 of 0.0",
	}
	if got := dailyList(t, s, "", time.Time{}, time.Time{}); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("listed %q, want %q", got, want)
	}
	if got := dailyList(t, s, "a.example", noon, time.Time{}); fmt.Sprint(got) != fmt.Sprint(want[1:2]) {
		t.Errorf("one host since the 21st: listed %q, want %q", got, want[1:2])
	}
	if got := dailyList(t, s, "", time.Time{}, noon); len(got) != 2 {
		t.Errorf("before the 21st: listed %q, want two days", got)
	}
}

func TestEachOfOneHostSkipsHostsWithALongerName(t *testing.T) {
	t.Parallel()
	db := dailyOpenBadger(t, t.TempDir())
	defer func() { must(t, db.Close()) }()
	s := open(t, db)
	must(t, s.Add("a.example", noon, evaluators.Day{Requests: 1}))
	must(t, s.Add("a.example:8080", noon, evaluators.Day{Requests: 2}))
	if got := dailyList(t, s, "a.example", time.Time{}, time.Time{}); len(got) != 1 {
		t.Errorf("listed %q, want one host", got)
	}
}

func TestOldDaysAreDeleted(t *testing.T) {
	t.Parallel()
	db := dailyOpenBadger(t, t.TempDir())
	defer func() { must(t, db.Close()) }()
	s := open(t, db)
	for day := range 3 * MaxDays {
		at := noon.AddDate(0, 0, day)
		must(t, s.Add("a.example", at, evaluators.Day{Requests: 1}))
		must(t, s.Flush())
	}
	if got := dailyList(t, s, "", time.Time{}, time.Time{}); len(got) != MaxDays {
		t.Errorf("%d days are kept, want %d", len(got), MaxDays)
	}
}

func TestCountsOfMoreHostsThanFitInMemory(t *testing.T) {
	t.Parallel()
	db := dailyOpenBadger(t, t.TempDir())
	defer func() { must(t, db.Close()) }()
	s := open(t, db)
	const n = maxDaysInMemory + 250
	for i := range n {
		must(t, s.Add(uri.Host(fmt.Sprintf("h%d.example", i)), noon, evaluators.Day{Requests: 1}))
	}
	if got := dailyList(t, s, "", time.Time{}, time.Time{}); len(got) != n {
		t.Errorf("%d rows, want %d", len(got), n)
	}
}

func FuzzDecode(f *testing.F) {
	valid, err := encodeDay(evaluators.Day{Requests: 300, Seen: 7, Versions: 8.25})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(valid)
	day := evaluators.Day{Requests: 300, Seen: 7, Versions: 8.25, Odds: evaluators.OddsOf(0.4, true, true)}
	odds, err := encodeDay(day)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(odds)
	f.Add([]byte{withoutOdds, 0xff})
	f.Fuzz(func(t *testing.T, v []byte) {
		var d, again evaluators.Day
		if err := decodeDay(v, &d); err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Errorf("the error is %v, want ErrCorrupt", err)
			}
			return
		}
		v, err := encodeDay(d)
		if err == nil {
			err = decodeDay(v, &again)
		}
		if err != nil || again != d {
			t.Errorf("%+v is decoded again as %+v, %v", d, again, err)
		}
	})
}

func TestTheStoredFormStays(t *testing.T) {
	t.Parallel()
	v, err := encodeDay(evaluators.Day{Requests: 300, Seen: 7, Versions: 8.25})
	if got, want := fmt.Sprintf("%q %x", key(hostDayAt("a.example", noon)), v), `"aa.example\x00\x00\x00Q)" 01ac02074020800000000000`; got != want || err != nil {
		t.Errorf("the row is %s, %v; want %s", got, err, want)
	}
}

func TestDaysOfOlderVersionsCanBeRead(t *testing.T) {
	t.Parallel()
	var d evaluators.Day
	must(t, decodeDay([]byte{1, 0xac, 0x02, 7, 0x40, 0x20, 0x80, 0, 0, 0, 0, 0}, &d))
	if want := (evaluators.Day{Requests: 300, Seen: 7, Versions: 8.25}); d != want {
		t.Errorf("%+v, want %+v", d, want)
	}
	old, err := encodeDay(d)
	must(t, err)
	if old[0] != withoutOdds {
		t.Errorf("a day without odds is written in format %d", old[0])
	}
	d = d.Plus(evaluators.Day{Requests: 1, Seen: 1, Versions: 2, Odds: evaluators.OddsOf(0.25, true, true)})
	now, err := encodeDay(d)
	must(t, err)
	var again evaluators.Day
	must(t, decodeDay(now, &again))
	if want := (evaluators.Odds{Visits: 1, Found: 1, Again: 1, Expected: 0.25}); again != d || again.Odds != want {
		t.Errorf("%+v, want %+v with odds %+v", again, d, want)
	}
}
