package infer

import (
	"bytes"
	"regexp"
	"time"

	"github.com/arcrawl/arcrawl/aspects/noise"
	"github.com/arcrawl/arcrawl/digest"
)

// clockMark stands for a time that goes with the clock.
const clockMark = "\u23f0"

var (
	// dayTime matches a time of day to the minute.
	dayTime = regexp.MustCompile(`(?:[01]?[0-9]|2[0-3])[:.h][0-5][0-9]`)
	// minutesAgo matches a number of minutes, as "3 minutes ago" and "vor 3 Minuten" have it.
	minutesAgo = regexp.MustCompile(`(?i)[0-9]{1,2}[ \x{a0}]?(?:min|мин)\pL*`)
)

// ShowsTime reports whether a reader of an HTML page sees what time it was when it was fetched, to the minute, or how
// many minutes ago something was. r is applied before.
func (Finder) ShowsTime(r *digest.Rules, v noise.Version) bool {
	text := digest.Visible(r.Scrub(v.Content, v.MIME))
	return !bytes.Equal(withoutTime(text, v.Date), text)
}

// DifferInTime reports whether a reader of two fetches of an HTML page sees another time, and nothing else that
// differs. r is applied before.
func (Finder) DifferInTime(r *digest.Rules, a, b noise.Version) bool {
	one, other := digest.Visible(r.Scrub(a.Content, b.MIME)), digest.Visible(r.Scrub(b.Content, b.MIME))
	return !bytes.Equal(one, other) && bytes.Equal(withoutTime(one, a.Date), withoutTime(other, b.Date))
}

// withoutTime returns a text in which marks stand for the times of day that are now, and for numbers of minutes.
func withoutTime(text []byte, now time.Time) []byte {
	text = replaceWhole(text, dayTime, func(match []byte) bool {
		minute := int(match[len(match)-2]-'0')*10 + int(match[len(match)-1]-'0')
		off := ((now.Minute()-minute)%quarter + quarter) % quarter // zones differ by quarters of an hour
		return off <= 1 || off == quarter-1                        // a page may be made a moment before it is fetched
	})
	return replaceWhole(text, minutesAgo, func([]byte) bool { return true })
}

const quarter = 15 // minutes

// replaceWhole replaces the matches for which is returns true by [clockMark], except parts of longer numbers.
func replaceWhole(text []byte, re *regexp.Regexp, is func(match []byte) bool) []byte {
	var to []byte
	from := 0
	for _, span := range re.FindAllIndex(text, -1) {
		if isNumeric(text, span[0]-1) || isNumeric(text, span[1]) || !is(text[span[0]:span[1]]) {
			continue
		}
		to = append(append(to, text[from:span[0]]...), clockMark...)
		from = span[1]
	}
	return append(to, text[from:]...)
}

// isNumeric reports whether the byte at a place continues a number or a time: a digit, or a colon before or after one.
func isNumeric(text []byte, at int) bool {
	return at >= 0 && at < len(text) && (text[at] >= '0' && text[at] <= '9' || text[at] == ':')
}
