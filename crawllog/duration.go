package crawllog

import (
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

// parseDuration reads a duration that [Duration] wrote. It accepts units in any order and number, and returns zero for
// anything else.
func parseDuration[T string | []byte](b T) time.Duration {
	var sum, n int64
	for i := 0; i < len(b); i++ {
		c := b[i]
		switch {
		case c >= '0' && c <= '9':
			if n = n*10 + int64(c-'0'); n > 1e9 || sum > 1<<60 {
				return 0
			}
			continue
		case c == 'd':
			sum += n * 24 * 3600 * 1000
		case c == 'h':
			sum += n * 3600 * 1000
		case c == 'm' && i+1 < len(b) && b[i+1] == 's':
			sum += n
			i++
		case c == 'm':
			sum += n * 60 * 1000
		case c == 's':
			sum += n * 1000
		default:
			return 0
		}
		n = 0
	}
	if sum > int64(1<<63-1)/int64(time.Millisecond) {
		return 0
	}
	return time.Duration(sum) * time.Millisecond
}
