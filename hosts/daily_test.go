package hosts

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/uri"
)

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

func TestDaysAreListedByHostAndTime(t *testing.T) {
	t.Parallel()
	db := openBadger(t, "")
	s := OpenDaily(db)
	visit := evaluators.Day{Requests: 1, Seen: 1, Versions: 1.5}
	for range 3 {
		must(t, s.Add("a.example", noon, visit))
	}
	must(t, s.Add("b.example", noon, evaluators.Day{Requests: 1}))
	must(t, s.Add("a.example:8080", noon, evaluators.Day{Requests: 2})) // not of a.example
	must(t, s.Flush())
	s = OpenDaily(db)
	must(t, s.Add("a.example", noon.Add(11*time.Hour), visit))
	must(t, s.Add("a.example", noon.Add(12*time.Hour), visit)) // the next day in UTC
	want := []string{
		"2026-11-22 a.example: 4 requests, 4 of 6.0",
		"2026-11-23 a.example: 1 requests, 1 of 1.5",
		"2026-11-22 a.example:8080: 2 requests, 0 of 0.0",
		"2026-11-22 b.example: 1 requests, 0 of 0.0",
	}
	for _, c := range []struct {
		host     uri.Host
		from, to time.Time
		want     []string
	}{
		{"", time.Time{}, time.Time{}, want},
		{"a.example", time.Time{}, time.Time{}, want[:2]},
		{"a.example", noon, time.Time{}, want[1:2]},
		{"", time.Time{}, noon, []string{want[0], want[2], want[3]}},
	} {
		if got := dailyList(t, s, c.host, c.from, c.to); !slices.Equal(got, c.want) {
			t.Errorf("host %q from %s to %s: listed %q, want %q", c.host, c.from, c.to, got, c.want)
		}
	}
}

func TestOldDaysAreDeleted(t *testing.T) {
	t.Parallel()
	s := OpenDaily(openBadger(t, ""))
	for day := range 3 * MaxDays {
		at := noon.AddDate(0, 0, day)
		must(t, s.Add("a.example", at, evaluators.Day{Requests: 1}))
		must(t, s.Flush())
	}
	if got := dailyList(t, s, "", time.Time{}, time.Time{}); len(got) != MaxDays {
		t.Errorf("%d days are kept, want %d", len(got), MaxDays)
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

// BenchmarkFlush measures writing the counts of a new day for 5,000 hosts.
func BenchmarkFlush(b *testing.B) {
	store := OpenDaily(openBadger(b, b.TempDir()))
	hosts := make([]uri.Host, 5000)
	for i := range hosts {
		hosts[i] = uri.Host(fmt.Sprintf("host-%d.example", i))
	}
	day := noon
	for b.Loop() {
		day = day.Add(24 * time.Hour)
		for _, h := range hosts {
			if err := store.Add(h, day, evaluators.Day{Requests: 1, Seen: 1, Versions: 1}); err != nil {
				b.Fatal(err)
			}
		}
		if err := store.Flush(); err != nil {
			b.Fatal(err)
		}
	}
}
