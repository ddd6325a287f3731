package hosts

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/evaluators/rate"
	"github.com/arcrawl/arcrawl/uri"
)

func must(t testing.TB, err error) {
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
	must(f, err)
	f.Add(valid)
	spread, err := encodeDay(evaluators.Day{Requests: 300, Seen: 7, Versions: 8.25, Spread: 0.5, Young: 2, Blind: 3})
	must(f, err)
	f.Add(spread)
	f.Add(withThreeMore)
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
		t.Errorf("a day that missed nothing is written in format %d", old[0])
	}
	must(t, decodeDay(withThreeMore, &d))
	if want := (evaluators.Day{Requests: 300, Seen: 7, Versions: 8.25, Blind: 3}); d != want {
		t.Errorf("%+v, want %+v", d, want)
	}
	d = d.Plus(evaluators.Found(1.5, 2, 1))
	now, err := encodeDay(d)
	must(t, err)
	var again evaluators.Day
	must(t, decodeDay(now, &again))
	want := evaluators.Day{Requests: 301, Seen: 8, Versions: 10.75, Spread: 6.75, Young: 1, Blind: 4}
	if again != d || again != want {
		t.Errorf("%+v, want %+v", again, want)
	}
}

// withThreeMore is a day in format 3.
var withThreeMore = []byte{
	3, 0xac, 0x02, 7, 1, 1, 1, 3, 0x40, 0x20, 0x80, 0, 0, 0, 0, 0, 0x3f, 0xd0, 0, 0, 0, 0, 0, 0,
}

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

var seen = []evaluators.Observation{
	{MIME: "text/html", Before: evaluators.Validators{ETag: `"a"`}, Now: evaluators.Validators{ETag: `"a"`}, State: evaluators.Changed},
	{MIME: "text/html", Before: evaluators.Validators{ETag: `W/"a"`}, Now: evaluators.Validators{ETag: `W/"b"`}, State: evaluators.Changed},
	{MIME: "image/png", Before: evaluators.Validators{LastModified: "x"}, Now: evaluators.Validators{LastModified: "x"}, State: evaluators.Unchanged},
	{MIME: "text/html", State: evaluators.Changed, Denied: true},
}

func TestTheStoredFormsStay(t *testing.T) {
	t.Parallel()
	db := openBadger(t, "")
	days, similar, reputation, cookies := OpenDaily(db), OpenSimilar(db), OpenReputation(db), OpenCookies(db)
	err := errors.Join(
		days.Add("a.example", noon, evaluators.Day{Requests: 300, Seen: 7, Versions: 8.25}), days.Flush(),
		similar.Add("a.example", 5, rate.Relatives{URIs: 1.5}), similar.Flush(),
		reputation.Add("a.example", seen[2]), reputation.AddDate("a.example", evaluators.DatedPages, true),
		reputation.ChangeIndexes("a.example", func([]evaluators.HostIndex) []evaluators.HostIndex {
			x := evaluators.Index{}.AfterSaid(true, 0.5)
			x.Read = noon
			return []evaluators.HostIndex{{URI: "x", Index: x, Found: []evaluators.FoundChange{{Page: 1, Before: 2, At: 3}}}}
		}),
		cookies.Learn(uri.FromCanonical("https://a.example/"), http.Header{"Set-Cookie": {"a=1; Secure"}}, true, noon), cookies.Flush(),
	)
	must(t, err)
	for key, want := range map[string]string{
		"aa.example\x00\x00\x00Q+": "01ac02074020800000000000",
		"k\x05a.example":           "013ff8" + strings.Repeat("00", 8*13-2),
		"ta.example":               "01a10182a201010701a40101020205010901",
		"pFa.example":              "01a10181a3010103010901",
		"pIa.example":              "0181a814617801a20301090102a20301090103fb3fe48a11293d785b0674323032362d31312d32325431323a30303a30305a0df60c8efb0000000000000000fb0000000000000000fb0000000000000000fb0000000000000000fb0000000000000000fb0000000000000000fb0000000000000000fb0000000000000000fb0000000000000000fb0000000000000000fb0000000000000000fb0000000000000000fb0000000000000000fb00000000000000001581a3010102020303",
		"pCa.example":              "0181a401616102613103612f04f5",
	} {
		err := db.View(func(txn *badger.Txn) error {
			item, err := txn.Get([]byte(key))
			if err != nil {
				return err
			}
			return item.Value(func(v []byte) error {
				if got := fmt.Sprintf("%x", v); got != want {
					t.Errorf("the row of %q is %s, want %s", key, got, want)
				}
				return nil
			})
		})
		if err != nil {
			t.Errorf("%q: %v", key, err)
		}
	}
}

func TestDamagedRowsOfEachStoreAreErrors(t *testing.T) {
	t.Parallel()
	db := openBadger(t, "")
	days, similar, reputation := OpenDaily(db), OpenSimilar(db), OpenReputation(db)
	for _, c := range []struct {
		key, value string
		use        func() []error
	}{
		{"aa.example\x00\x00\x00Q+", "\x03", func() []error {
			return []error{
				days.Add("a.example", noon, evaluators.Day{}),
				days.Each("", time.Time{}, time.Time{}, func(HostDay, evaluators.Day) error { return nil }),
			}
		}},
		{"k\x05a.example", "\x01\x02\x03", func() []error {
			_, err := similar.Get("a.example", 5)
			return []error{err, similar.Add("a.example", 5, rate.Relatives{URIs: 1})}
		}},
		{"ta.example", "\x01\xa1\x01\x81\xa1\x02\x18\x63", func() []error { // an unknown witness
			_, err := reputation.Get("a.example")
			return []error{
				err, reputation.Add("a.example", seen[0]),
				reputation.Each(func(uri.Host, evaluators.Reputation) error { return nil }),
			}
		}},
		{"pFa.example", "\x01\xa1\x01\x81\xa1\x01\x07", func() []error { // unknown dates
			_, err := reputation.Dates("a.example")
			return []error{
				err, reputation.AddDate("a.example", evaluators.DatedPages, true),
				reputation.EachDates(func(uri.Host, evaluators.Dates) error { return nil }),
			}
		}},
	} {
		for _, value := range []string{"", "\x09\xa0", "\x01\xff", c.value} { // empty, another format, not CBOR
			must(t, db.Update(func(txn *badger.Txn) error { return txn.Set([]byte(c.key), []byte(value)) }))
			for i, err := range c.use() {
				if !errors.Is(err, ErrCorrupt) {
					t.Errorf("%q with the value %q, use %d: %v, want ErrCorrupt", c.key, value, i, err)
				}
			}
		}
	}
}

// Reputations, also of dates, are written at once, so that a crash loses nothing.
func TestReputationsSurviveACrash(t *testing.T) {
	t.Parallel()
	db := openBadger(t, "")
	store := OpenReputation(db)
	var want evaluators.Reputation
	for _, o := range seen {
		want = want.After(o)
		must(t, store.Add("a.example", o))
	}
	var wantDates evaluators.Dates
	for n := range 70 {
		about := evaluators.Dating(n % evaluators.Datings)
		wantDates = wantDates.After(about, n%3 > 0)
		must(t, store.AddDate("b.example", about, n%3 > 0))
	}
	store = OpenReputation(db)
	for host, want := range map[uri.Host]evaluators.Reputation{"a.example": want, "a.example:8080": {}} {
		if got, err := store.Get(host); err != nil || got != want {
			t.Errorf("%s has %+v, %v; want %+v", host, got, err, want)
		}
	}
	for host, want := range map[uri.Host]evaluators.Dates{"a.example": {}, "b.example": wantDates} {
		if got, err := store.Dates(host); err != nil || got != want {
			t.Errorf("%s has dates %+v, %v; want %+v", host, got, err, want)
		}
	}
	listed := ""
	err := errors.Join(store.Each(func(h uri.Host, r evaluators.Reputation) error {
		listed += fmt.Sprint(h, r == want, " ")
		return nil
	}), store.EachDates(func(h uri.Host, d evaluators.Dates) error {
		listed += fmt.Sprint(h, d == wantDates)
		return nil
	}))
	if err != nil || listed != "a.exampletrue b.exampletrue" {
		t.Errorf("listed %s, %v", listed, err)
	}
}

func TestSimilarAddsByHostAndKind(t *testing.T) {
	t.Parallel()
	s := OpenSimilar(openBadger(t, ""))
	one := rate.Relatives{URIs: 1, Rate: [2]float64{-2, 4}, Ageing: [2]float64{0.5, 0.25}}
	one.Weight[3] = -1.5
	rhythm := rate.Relatives{Rhythm: rate.Rhythm{At: 1e9}}
	rhythm.Rhythm.Seen[0], rhythm.Rhythm.Expected[30] = 1.5, 0.25
	want := rate.Relatives{}
	for _, lesson := range []rate.Relatives{one, one, rhythm, one} { // rows without a rhythm, and with one
		want = want.Plus(lesson)
		must(t, errors.Join(s.Add("a.example", 5, lesson), s.Add("a.example", 0, lesson), s.Flush()))
		s.Rows = OpenSimilar(s.db).Rows // reads what is stored
		if got, err := s.Get("a.example", 5); err != nil || got != want {
			t.Errorf("got %+v, %v; want %+v", got, err, want)
		}
	}
	for _, other := range []hostKind{{"a.example", 6}, {"b.example", 5}, {"a.example", 0}} {
		if got, err := s.Get(other.host, other.kind); err != nil || got != (rate.Relatives{}) {
			t.Errorf("Get(%v) = %+v, %v; want a zero value", other, got, err)
		}
	}
}

func TestBytesCoverARow(t *testing.T) {
	t.Parallel()
	db := openBadger(t, "")
	reputation, similar := OpenReputation(db), OpenSimilar(db)
	_, err1 := reputation.Get("a.example")
	_, err2 := similar.Get("a.example", 5)
	must(t, errors.Join(err1, err2))
	const longestHost = 259 // with a port
	for _, c := range []struct {
		name string
		got  int64
		row  uintptr
	}{
		{"reputation", reputation.Bytes(), max(unsafe.Sizeof(evaluators.Reputation{}), unsafe.Sizeof(evaluators.Dates{}))},
		{"similar", similar.Bytes(), unsafe.Sizeof(rate.Relatives{})},
	} {
		if c.got < int64(c.row)+longestHost {
			t.Errorf("a row of %s counts %d bytes, and takes up to %d", c.name, c.got, c.row+longestHost)
		}
	}
}

// The count of the probes is one for the whole crawl. It is kept next to the kinds, and a damaged one begins again.
func TestProbesAreKept(t *testing.T) {
	t.Parallel()
	s := OpenSimilar(openBadger(t, ""))
	add := func(p rate.Probes) {
		if err := errors.Join(s.AddProbes(p), s.Add("a.example", 5, rate.Relatives{URIs: 1}), s.Flush()); err != nil {
			t.Fatal(err)
		}
		s = OpenSimilar(s.db) // reads what is stored
	}
	add(rate.Probes{Expected: 1.5, Found: 1})
	add(rate.Probes{Expected: 0.25})
	if p, err := s.Probes(); err != nil || p != (rate.Probes{Expected: 1.75, Found: 1}) {
		t.Errorf("kept %v: %v", p, err)
	}
	if k, err := s.Get("a.example", 5); err != nil || k.URIs != 2 {
		t.Errorf("the kind has %v URIs: %v", k.URIs, err)
	}
	for _, bad := range []any{rate.Probes{Expected: -1}, rate.Probes{Found: math.Inf(1)}, "no count"} {
		row, err := EncodeRow(bad)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.db.Update(func(txn *badger.Txn) error { return txn.Set([]byte("pP"), row) }); err != nil {
			t.Fatal(err)
		}
		s = OpenSimilar(s.db)
		if _, err := s.Probes(); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%v was read: %v", bad, err)
		}
		damaged := 0
		s.OnDamage(func(error) { damaged++ })
		if p, err := s.Probes(); err != nil || p != (rate.Probes{}) || damaged != 1 {
			t.Errorf("%v: %v, %d damages, %v", bad, p, damaged, err)
		}
	}
}

// TestWhatWasLearnedOfAHostIsForgotten teaches each store of hosts about two hosts, and lets it forget one. What is not
// written is lost, and what is written stays.
func TestWhatWasLearnedOfAHostIsForgotten(t *testing.T) {
	t.Parallel()
	db := openBadger(t, "")
	cookies, daily, similar, reputation := OpenCookies(db), OpenDaily(db), OpenSimilar(db), OpenReputation(db)
	set := http.Header{"Set-Cookie": {"id=1"}}
	page := func(h uri.Host) uri.URI { return uri.FromCanonical("http://" + string(h) + "/") }
	for _, h := range []uri.Host{"kept.example", "moved.example"} {
		must(t, cookies.Learn(page(h), set, false, noon)) // empties the stored jar
		must(t, cookies.Learn(page(h), set, true, noon))
		must(t, daily.Add(h, noon, evaluators.Day{Requests: 1}))
		must(t, similar.Add(h, 1, rate.Relatives{URIs: 1}))
		must(t, reputation.Add(h, seen[2])) // writes it
	}
	is := func(h uri.Host) bool { return h == "moved.example" }
	must(t, db.Update(func(txn *badger.Txn) error { return txn.Delete([]byte("tmoved.example")) }))
	cookies.Forget(is)
	daily.Forget(is)
	similar.Forget(is)
	reputation.Forget(is)
	must(t, errors.Join(cookies.Flush(), daily.Flush(), similar.Flush(), reputation.Flush()))
	for h, knows := range map[uri.Host]bool{"kept.example": true, "moved.example": false} {
		for _, keep := range []bool{false, true} {
			if got, err := cookies.Header(page(h), keep, nil, noon); err != nil || (got != "") != knows {
				t.Errorf("%s: the cookies are %q, %v (stored: %t)", h, got, err, keep)
			}
		}
		if got := dailyList(t, daily, h, time.Time{}, time.Time{}); (len(got) > 0) != knows {
			t.Errorf("%s: the days are %q", h, got)
		}
		if got, err := reputation.Get(h); err != nil || (got != evaluators.Reputation{}) != knows {
			t.Errorf("%s: the reputation is %v, %v", h, got, err)
		}
		if got, err := similar.Get(h, 1); err != nil || (got.URIs > 0) != knows {
			t.Errorf("%s: the kind is %v, %v", h, got, err)
		}
	}
}
