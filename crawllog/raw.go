package crawllog

import (
	"bytes"
	"strconv"
	"time"
)

// RawEntry holds the parts of a line that statistics need. Parsing one allocates nothing: the texts are parts of the
// line and are valid only as long as the line is.
type RawEntry struct {
	Logged int64 // milliseconds since 1970, UTC
	Status int
	Size   int64 // bytes of the body; negative = none
	URI    []byte
	MIME   []byte // empty = none, or no response
	Seed   []byte // empty = none
	Took   time.Duration

	Scheduled        bool // the line has all four fields below
	Wait, Overdue    time.Duration
	Visits, Versions int

	Unchanged   bool
	Stopped     bool    // the mid-fetch filter ended the download
	Duplicate   bool    // a revisit record, because the payload was archived before
	NotModified bool    // a revisit record, because the server answered 304
	Unwritten   bool    // like one of the two above, but without a revisit record, as configured
	Uncounted   bool    // a second look, or a visit that found only noise: a change counts in no estimate of versions
	Repeats     Repeat  // where the payload was archived before
	Misfortune  bool    // an annotation says what went wrong on the web, or what the server sent instead of the page
	Spared      int64   // bytes that were not transferred, judged by the last capture
	New         float64 // estimated number of versions since the last judged visit; 0 = unknown
	Odds        float64 // probability of a change, as expected before the visit; 0 = unknown
	Again       bool    // this visit and the one before found a change
	State       []byte  // "unknown", "unchanged" or "changed"; empty without the thirteenth column
}

// Repeat says under which URI a payload was archived before. It is not stored.
type Repeat uint8

const (
	RepeatUnknown     Repeat = iota // nobody looked, or the log does not say
	RepeatsNone                     // the payload was not archived before
	RepeatsExact                    // under the same URI
	RepeatsEquivalent               // under an equivalent URI
	RepeatsOther                    // under another URI
)

// parseRepeat reads the word behind [Hit].
func parseRepeat(word []byte) Repeat {
	switch string(word) {
	case "none":
		return RepeatsNone
	case "exact":
		return RepeatsExact
	case "equivalent":
		return RepeatsEquivalent
	case "other":
		return RepeatsOther
	}
	return RepeatUnknown
}

// The beginnings and endings of the annotations that a RawEntry reads.
var (
	rawWait        = []byte("wt:")
	rawOverdue     = []byte("ov:")
	rawVisits      = []byte("vis")
	rawVersions    = []byte("ver")
	rawSpared      = []byte(Spared)
	rawHit         = []byte(Hit)
	rawNew         = []byte("new:")
	rawOdds        = []byte("odds:")
	rawLook        = []byte(Look)
	rawState       = []byte(`"contentState":"`)
	rawMisfortunes = [][]byte{
		[]byte("err="), []byte("challenge:"), []byte("consent:"), []byte("loop:"), []byte("notFound:"),
	}
	dash = []byte("-")
)

// Parse reads a line without its line end. It reads the same columns as [Parse] does, and does not check the columns
// that statistics do not need. It reports whether the line belongs to a crawl log.
func (g *RawEntry) Parse(line []byte) bool {
	*g = RawEntry{}
	var column [columns][]byte
	rest := line
	for i := range column {
		rest = bytes.TrimLeft(rest, " ")
		end := bytes.IndexByte(rest, ' ')
		if end < 0 {
			end = len(rest)
		}
		if end == 0 && i < columnAnnotations {
			return false
		}
		column[i], rest = rest[:end], rest[end:]
	}
	var ok [3]bool
	g.Logged, ok[0] = parseMilliseconds(column[columnTime])
	status, isStatus := parseInteger(column[columnStatus])
	g.Status, ok[1] = int(status), isStatus
	if g.Size, ok[2] = parseInteger(column[columnSize]); bytes.Equal(column[columnSize], dash) {
		g.Size, ok[2] = -1, true
	}
	if ok != [3]bool{true, true, true} || g.Size < -1 {
		return false
	}
	g.URI, g.Seed = column[columnURI], emptyIfDash(column[columnSeed])
	if mime := emptyIfDash(column[columnMIME]); !isNoType(string(mime)) {
		g.MIME = mime
	}
	if _, took, ok := bytes.Cut(column[columnFetch], []byte("+")); ok {
		ms, _ := parseInteger(took)
		g.Took = time.Duration(ms) * time.Millisecond
	}
	g.parseAnnotations(column[columnAnnotations])
	if at := bytes.Index(rest, rawState); at >= 0 {
		g.State, _, _ = bytes.Cut(rest[at+len(rawState):], []byte(`"`))
	}
	return true
}

// parseAnnotations reads the annotations of the adaptive schedule at any position, because only that schedule writes
// them.
func (g *RawEntry) parseAnnotations(all []byte) {
	var seen int
	for len(all) > 0 {
		a := all
		if i := bytes.IndexByte(all, ','); i >= 0 {
			a, all = all[:i], all[i+1:]
		} else {
			all = nil
		}
		switch {
		case bytes.HasPrefix(a, rawWait):
			g.Wait, seen = parseLeniently(a[len(rawWait):]), seen|1
		case bytes.HasSuffix(a, rawVisits):
			if n, ok := parseInteger(a[:len(a)-len(rawVisits)]); ok {
				g.Visits, seen = int(n), seen|2
			}
		case bytes.HasSuffix(a, rawVersions):
			if n, ok := parseInteger(a[:len(a)-len(rawVersions)]); ok {
				g.Versions, seen = int(n), seen|4
			}
		case bytes.HasPrefix(a, rawOverdue):
			g.Overdue, seen = parseLeniently(a[len(rawOverdue):]), seen|8
		case bytes.HasPrefix(a, rawSpared):
			g.Spared, _ = parseInteger(a[len(rawSpared):])
		default:
			g.parseAnnotation(a)
		}
	}
	g.Scheduled = seen == 15
}

func (g *RawEntry) parseAnnotation(a []byte) {
	switch string(a) {
	case Unchanged:
		g.Unchanged = true
	case MidFetchAbort:
		g.Stopped = true
	case DuplicateDigest:
		g.Duplicate = true
	case DuplicateNotModified:
		g.NotModified = true
	case Unwritten:
		g.Unwritten = true
	case Restless, Noise:
		g.Uncounted = true
	case "again":
		g.Again = true
	default:
		switch {
		case bytes.HasPrefix(a, rawLook):
			g.Uncounted = true
		case bytes.HasPrefix(a, rawHit):
			g.Repeats = parseRepeat(a[len(rawHit):])
		case bytes.HasPrefix(a, rawNew):
			if n, err := strconv.ParseFloat(string(a[len(rawNew):]), 64); err == nil && n > 0 && n < maxNew {
				g.New = n
			}
		case bytes.HasPrefix(a, rawOdds):
			if p, err := strconv.ParseFloat(string(a[len(rawOdds):]), 64); err == nil && p > 0 && p <= 1 {
				g.Odds = p
			}
		}
		for _, prefix := range rawMisfortunes {
			g.Misfortune = g.Misfortune || bytes.HasPrefix(a, prefix)
		}
	}
}

// maxNew is the first number of new versions that is not believed.
const maxNew = 1e9

func emptyIfDash(b []byte) []byte {
	if len(b) == 1 && b[0] == '-' {
		return nil
	}
	return b
}

// parseInteger reads a decimal number of at most 18 digits, leading zeros not counted.
func parseInteger(b []byte) (int64, bool) {
	negative := len(b) > 0 && b[0] == '-'
	if negative || len(b) > 0 && b[0] == '+' {
		b = b[1:]
	}
	for len(b) > 1 && b[0] == '0' {
		b = b[1:]
	}
	if len(b) == 0 || len(b) > 18 {
		return 0, false
	}
	var n int64
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	if negative {
		n = -n
	}
	return n, true
}

// parseMilliseconds reads the time of a line, as milliseconds since 1970. The form that this package writes is read
// fast, and other forms of RFC 3339 by the package time.
func parseMilliseconds(b []byte) (int64, bool) {
	if len(b) != len(timeLayout) || b[19] != '.' || b[23] != 'Z' {
		t, err := time.Parse(time.RFC3339Nano, string(b))
		return t.UnixMilli(), err == nil
	}
	var n [7]int64
	for i, part := range [7][]byte{b[0:4], b[5:7], b[8:10], b[11:13], b[14:16], b[17:19], b[20:23]} {
		v, ok := parseInteger(part)
		if !ok {
			return 0, false
		}
		n[i] = v
	}
	if n[1] < 1 || n[1] > 12 || n[2] < 1 || n[2] > 31 || n[3] > 23 || n[4] > 59 || n[5] > 59 {
		return 0, false
	}
	day := time.Date(int(n[0]), time.Month(n[1]), int(n[2]), 0, 0, 0, 0, time.UTC).Unix()
	return (day+n[3]*3600+n[4]*60+n[5])*1000 + n[6], true
}

// parseLeniently reads a duration that [Duration] wrote. Unlike [ParseDuration] it accepts units in any order and
// number, and returns zero for anything else.
func parseLeniently(b []byte) time.Duration {
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
