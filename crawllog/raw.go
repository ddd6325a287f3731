package crawllog

import (
	"bytes"
	"strconv"
	"time"
)

// RawEntry holds the parts of a line that statistics need. Parsing one allocates nothing: the texts are parts of the
// line and are valid only as long as the line is.
type RawEntry struct {
	Line   []byte // the whole line
	Logged int64  // milliseconds since 1970, UTC
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
	Uncounted   bool    // a second look, only noise, or a feed or sitemap: a change counts in no estimate of versions
	Repeats     []byte  // the word behind [Hit]: where the payload was archived before; empty = the log does not say
	Misfortune  bool    // an annotation says what went wrong on the web, or what the server sent instead of the page
	Spared      int64   // bytes that were not transferred, judged by the last capture
	New         float64 // estimated number of versions since the last judged visit; 0 = unknown
	State       []byte  // "unknown", "unchanged" or "changed"; empty without the thirteenth column
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
	rawLook        = []byte(Look)
	rawState       = []byte(`"contentState":"`)
	rawMisfortunes = [][]byte{
		[]byte("err="), []byte("challenge:"), []byte("consent:"), []byte("loop:"), []byte("notFound:"),
	}
	rawSources = [][]byte{
		[]byte("feedListed:"), []byte("feedNew:"), []byte("feedUpdated:"),
		[]byte("sitemapListed:"), []byte("sitemapNew:"), []byte("sitemapUpdated:"),
	}
	dash = []byte("-")
)

// Parse reads a line without its line end. It reads the same columns as [Parse] does, and does not check the columns
// that statistics do not need. It reports whether the line belongs to a crawl log.
func (g *RawEntry) Parse(line []byte) bool {
	*g = RawEntry{Line: line}
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
	early := len(column[columnAnnotations]) == 0 && string(column[columnTime]) < firstSeeds
	if early && !bytes.HasSuffix(bytes.TrimRight(line, "\r\n"), []byte(" ")) {
		column[columnSeed], column[columnAnnotations] = dash, column[columnSeed] // a log without seeds
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
			g.Wait, seen = parseDuration(a[len(rawWait):]), seen|1
		case bytes.HasSuffix(a, rawVisits):
			if n, ok := parseInteger(a[:len(a)-len(rawVisits)]); ok {
				g.Visits, seen = int(n), seen|2
			}
		case bytes.HasSuffix(a, rawVersions):
			if n, ok := parseInteger(a[:len(a)-len(rawVersions)]); ok {
				g.Versions, seen = int(n), seen|4
			}
		case bytes.HasPrefix(a, rawOverdue):
			g.Overdue, seen = parseDuration(a[len(rawOverdue):]), seen|8
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
	default:
		switch {
		case bytes.HasPrefix(a, rawLook):
			g.Uncounted = true
		case bytes.HasPrefix(a, rawHit):
			g.Repeats = a[len(rawHit):]
		case bytes.HasPrefix(a, rawNew):
			if n, err := strconv.ParseFloat(string(a[len(rawNew):]), 64); err == nil && n > 0 && n < maxNew {
				g.New = n
			}
		}
		for _, prefix := range rawSources {
			g.Uncounted = g.Uncounted || bytes.HasPrefix(a, prefix)
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
	n, err := strconv.ParseInt(string(b), 10, 64)
	if err != nil || n <= -1e18 || n >= 1e18 {
		return 0, false
	}
	return n, true
}

// parseMilliseconds reads the time of a line, as milliseconds since 1970.
func parseMilliseconds(b []byte) (int64, bool) {
	t, err := time.Parse(time.RFC3339Nano, string(b))
	return t.UnixMilli(), err == nil
}
