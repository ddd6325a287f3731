// Package human writes durations, sizes and counts for people, in one spelling for every screen, log and error. It
// reads the durations and sizes that people write.
//
// Durations are spelled as the configuration reads them: "1d12h", "1m30s". Sizes are decimal, as the configuration
// reads kB, MB and GB: 1.5 GB is 1,500,000,000 bytes. A count has its noun in the right number: "1 fault", "2 faults".
//
// The annotations of the crawl log (wt: and ov:) have a form of their own, which other tools read. It is written by
// the package crawllog.
package human

import (
	"math"
	"strconv"
	"strings"
	"time"
)

const day = 24 * time.Hour

// durationUnit is a unit of durations.
type durationUnit struct {
	name string
	size time.Duration
}

// units are the units in which durations are written, largest first.
var units = [...]durationUnit{
	{"d", day}, {"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}, {"ms", time.Millisecond},
}

// Duration writes d exactly, rounded to milliseconds: "1d12h", "1m30s", "250ms", "0s". The configuration reads what
// it writes, except the minus sign of a negative duration.
func Duration(d time.Duration) string {
	d = d.Round(time.Millisecond)
	sign := ""
	if d < 0 {
		sign, d = "-", -max(d, -math.MaxInt64)
	}
	var b strings.Builder
	b.WriteString(sign)
	for _, u := range units {
		if n := d / u.size; n > 0 {
			b.WriteString(strconv.FormatInt(int64(n), 10))
			b.WriteString(u.name)
			d -= n * u.size
		}
	}
	if b.Len() == len(sign) {
		return "0s"
	}
	return b.String()
}

// About writes d in its two largest units, rounded: "2d3h", "4m10s", "350ms". From one second to ten it writes one
// decimal, "4.2s", and from there to a minute whole seconds.
func About(d time.Duration) string {
	switch size := max(d, -d); {
	case size >= day-30*time.Minute:
		return Duration(d.Round(time.Hour))
	case size >= time.Hour-30*time.Second:
		return Duration(d.Round(time.Minute))
	case size >= 9950*time.Millisecond:
		return Duration(d.Round(time.Second))
	case size >= time.Second:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + "s"
	}
	return Duration(d)
}

// Bytes writes a number of bytes in decimal units, to one decimal below a hundred: "999 B", "1.5 GB", "150 MB".
func Bytes[N int | int64 | uint64](n N) string {
	const names = "kMGTPE"
	size := float64(n)
	if math.Abs(size) < 1000 {
		return strconv.FormatInt(int64(n), 10) + " B"
	}
	unit := -1
	for math.Abs(size) >= 999.5 && unit < len(names)-1 {
		size /= 1000
		unit++
	}
	decimals := 1
	if math.Abs(size) >= 99.95 {
		decimals = 0
	}
	return strconv.FormatFloat(size, 'f', decimals, 64) + " " + names[unit:unit+1] + "B"
}

// Count writes a number with its noun, which is given in the singular: "1 fault", "2 faults", "0 entries". The last
// word is the one that gets the plural.
func Count[N int | int32 | int64 | uint64](n N, noun string) string {
	if n != 1 {
		noun = plural(noun)
	}
	return strconv.FormatInt(int64(n), 10) + " " + noun
}

// Last writes how many of the newest things are meant: "last visit", "last 3 visits".
func Last[N int | int32 | int64 | uint64](n N, noun string) string {
	if n == 1 {
		return "last " + noun
	}
	return "last " + Count(n, noun)
}

// plural returns the plural of a regular English noun.
func plural(noun string) string {
	for _, end := range []string{"s", "x", "ch", "sh"} {
		if strings.HasSuffix(noun, end) {
			return noun + "es"
		}
	}
	if stem, ok := strings.CutSuffix(noun, "y"); ok && stem != "" && !strings.ContainsAny(stem[len(stem)-1:], "aeiou") {
		return stem + "ies"
	}
	return noun + "s"
}
