// This file counts what each day brought from each host: requests, versions seen, and the estimated number of
// versions that appeared.
//
// [Daily.Add] counts a visit in memory, and [Rows.Flush] writes the counts. Flush is called at intervals and before
// the Badger store is closed, so a crash loses the visits since the last one. Days are days of UTC. When a host
// begins a new day, its days that are older by [MaxDays] or more are deleted.
//
// The keys begin with the letter 'a'. The name of the host follows, a zero byte, and the number of days since 1970 in 4
// bytes, big-endian.

package hosts

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/uri"
)

// letter begins each key, and one of the formats each value. The requests and the versions seen follow the format as
// unsigned varints, and then the estimated versions as a big-endian float of 64 bits. Format 1 is written for days that
// missed nothing. Format 4 has [evaluators.Day.Blind] after the versions seen, and [evaluators.Day.Spread] at the end.
// Format 2 has three more varints and one more float, which are not used any more, and format 3 has Blind after them.
const (
	letter      = 'a'
	withoutOdds = 1
	withOdds    = 2
	withBlind   = 3
	withSpread  = 4
)

// MaxDays is the number of days that are kept of a host.
const MaxDays = 92

// maxDaysInMemory is the number of counts in memory, of dayBytes each.
const (
	maxDaysInMemory = 10_000
	dayBytes        = 500
)

// Daily keeps the daily counts in an open Badger store.
type Daily struct {
	*Rows[HostDay, evaluators.Day]
}

// HostDay is a day of a host.
type HostDay struct {
	Host uri.Host
	Day  int32 // since 1970, UTC
}

// hostDayAt returns the day of a host that includes a moment.
func hostDayAt(host uri.Host, at time.Time) HostDay {
	return HostDay{host, int32(math.Floor(float64(at.Unix()) / (24 * 60 * 60)))}
}

// Time returns the beginning of the day.
func (d HostDay) Time() time.Time { return time.Unix(int64(d.Day)*24*60*60, 0).UTC() }

// String returns the host and the date.
func (d HostDay) String() string { return string(d.Host) + " on " + d.Time().Format(time.DateOnly) }

// OpenDaily returns a store of daily counts in db.
func OpenDaily(db *badger.DB) *Daily {
	return &Daily{NewRows(db, RowKind[HostDay, evaluators.Day]{
		Name: "daily count", Prefix: string(letter), MaxInMemory: maxDaysInMemory, RowBytes: dayBytes,
		Own: func(d HostDay) HostDay { return HostDay{d.Host.Clone(), d.Day} },
		Key: key, ParseKey: parseKey, Encode: encodeDay, Decode: decodeDay, Outdated: outdated,
	})}
}

// Add adds a visit to the counts of its day.
func (s *Daily) Add(host uri.Host, at time.Time, visit evaluators.Day) error {
	return s.Change(hostDayAt(host, at), func(d evaluators.Day) (evaluators.Day, bool) { return d.Plus(visit), true })
}

// Forget drops the counts of hosts from memory, as [Rows.Forget] does.
func (s *Daily) Forget(is func(uri.Host) bool) {
	s.Rows.Forget(func(d HostDay) bool { return is(d.Host) })
}

// Each calls see with the counts of the days that begin at from or later, and before to. A zero time is no bound. It
// lists the days of one host, or of all hosts if host is empty, ordered by host and then by day. Each stops at the
// first error of see, and returns it.
func (s *Daily) Each(host uri.Host, from, to time.Time, see func(HostDay, evaluators.Day) error) error {
	var of []byte
	if host != "" {
		of = dailyPrefix(host)
	}
	return s.Rows.Each(of, func(d HostDay, day evaluators.Day) error {
		if at := d.Time(); !from.IsZero() && at.Before(from) || !to.IsZero() && !at.Before(to) {
			return nil
		}
		return see(d, day)
	})
}

// outdated returns the keys of a few days that are too old when a new day of their host begins. The next new day finds
// more.
func outdated(txn *badger.Txn, d HostDay) (keys [][]byte) {
	it := txn.NewIterator(badger.IteratorOptions{Prefix: dailyPrefix(d.Host)})
	defer it.Close()
	const few = 8
	for it.Rewind(); it.Valid() && len(keys) < few; it.Next() {
		k := it.Item().KeyCopy(nil)
		if old, ok := parseKey(k); !ok || old.Day > d.Day-MaxDays {
			break
		}
		keys = append(keys, k)
	}
	return keys
}

func dailyPrefix(host uri.Host) []byte { return append(append([]byte{letter}, host...), 0) }

func key(d HostDay) []byte { return binary.BigEndian.AppendUint32(dailyPrefix(d.Host), uint32(d.Day)) }

func parseKey(k []byte) (HostDay, bool) {
	end := len(k) - 4
	if end < 2 || k[end-1] != 0 {
		return HostDay{}, false
	}
	return HostDay{uri.Host(k[1 : end-1]), int32(binary.BigEndian.Uint32(k[end:]))}, true
}

func encodeDay(d evaluators.Day) ([]byte, error) {
	format := byte(withoutOdds)
	if d.Spread > 0 || d.Young > 0 || d.Blind > 0 {
		format = withSpread
	}
	counts, floats := dailyNumbers(&d, format)
	v := []byte{format}
	for _, n := range counts {
		v = binary.AppendUvarint(v, uint64(max(*n, 0)))
	}
	for _, f := range floats {
		v = binary.BigEndian.AppendUint64(v, math.Float64bits(*f))
	}
	return v, nil
}

// dailyNumbers lists the fields of d in the order in which a format stores them.
func dailyNumbers(d *evaluators.Day, format byte) (counts []*int, floats []*float64) {
	counts, floats = []*int{&d.Requests, &d.Seen}, []*float64{&d.Versions}
	switch format {
	case withOdds, withBlind:
		counts = append(counts, new(int), new(int), new(int))
		floats = append(floats, new(float64))
	case withSpread:
		counts, floats = append(counts, &d.Young), append(floats, &d.Spread)
	}
	if format >= withBlind {
		counts = append(counts, &d.Blind)
	}
	return counts, floats
}

func decodeDay(v []byte, d *evaluators.Day) error {
	fault := fmt.Errorf("%w: %d bytes", ErrCorrupt, len(v))
	if len(v) == 0 || v[0] < withoutOdds || v[0] > withSpread {
		return fault
	}
	counts, floats := dailyNumbers(d, v[0])
	v = v[1:]
	for _, n := range counts {
		u, size := binary.Uvarint(v)
		if size <= 0 || u > math.MaxInt32 {
			return fault
		}
		*n, v = int(u), v[size:]
	}
	if len(v) != 8*len(floats) {
		return fault
	}
	for i, f := range floats {
		*f = math.Float64frombits(binary.BigEndian.Uint64(v[8*i:]))
		if math.IsNaN(*f) || math.IsInf(*f, 0) || *f < 0 {
			return fault
		}
	}
	return nil
}
