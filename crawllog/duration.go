package crawllog

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"
)

// units are the units above the millisecond, largest first.
var units = [...]struct {
	letter byte
	size   time.Duration
}{{'d', 24 * time.Hour}, {'h', time.Hour}, {'m', time.Minute}, {'s', time.Second}}

// Duration writes d as Heritrix does, truncated to milliseconds. A unit is written only if what remains is larger
// than one of it, and the milliseconds are always written. So 36h is "1d12h0ms" but 24h is "24h0ms", and a second is
// "1000ms". A negative duration is written as zero. For people, see the package human.
func Duration(d time.Duration) string { return string(appendDuration(nil, d)) }

func appendDuration(b []byte, d time.Duration) []byte {
	d = max(0, d.Truncate(time.Millisecond))
	for _, u := range units {
		if d > u.size {
			b = strconv.AppendInt(b, int64(d/u.size), 10)
			b = append(b, u.letter)
			d %= u.size
		}
	}
	b = strconv.AppendInt(b, d.Milliseconds(), 10)
	return append(b, "ms"...)
}

var errDuration = errors.New("want days, hours, minutes, seconds and milliseconds, as in 1d12h0ms")

// ParseDuration is the reverse of [Duration]. It reads numbers with the units d, h, m, s and ms, each at most once
// and in this order. The milliseconds are required.
func ParseDuration(s string) (time.Duration, error) {
	var sum time.Duration
	rest := s
	unit := 0 // index of the largest unit that may follow
	for {
		n, tail, ok := leadingNumber(rest)
		if !ok {
			return 0, fmt.Errorf("duration %.60q: %w", s, errDuration)
		}
		size := time.Millisecond
		if tail != "ms" {
			for unit < len(units) && (tail == "" || tail[0] != units[unit].letter) {
				unit++
			}
			if unit == len(units) {
				return 0, fmt.Errorf("duration %.60q: %w", s, errDuration)
			}
			size = units[unit].size
			unit++
			tail = tail[1:]
		}
		if n > int64((math.MaxInt64-sum)/size) {
			return 0, fmt.Errorf("duration %.60q: more than %d days", s, math.MaxInt64/int64(units[0].size))
		}
		sum += time.Duration(n) * size
		if size == time.Millisecond {
			return sum, nil
		}
		rest = tail
	}
}

// leadingNumber splits s behind the number that it begins with. It returns false if there is none.
func leadingNumber(s string) (int64, string, bool) {
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	n, err := strconv.ParseInt(s[:i], 10, 64)
	return n, s[i:], err == nil
}
