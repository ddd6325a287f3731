package crawllog

import (
	"bytes"
	"strconv"
	"time"
)

// Glance is what statistics need of a line, without a single allocation. Its texts are parts of the line and are good only
// as long as that is.
type Glance struct {
	Logged int64 // milliseconds since 1970, UTC
	Status int
	Size   int64 // bytes of the body; less than zero = none
	URI    []byte
	MIME   []byte // empty = none, or no answer
	Seed   []byte // empty = none
	Took   time.Duration

	Scheduled        bool // the four fields below were there
	Wait, Overdue    time.Duration
	Visits, Versions int

	Unchanged   bool
	Stopped     bool    // the mid-fetch filter broke off the download
	Duplicate   bool    // a revisit record, because the payload was archived already
	NotModified bool    // a revisit record, because the server answered 304
	Unwritten   bool    // the same as one of the two above, but no revisit record was wanted
	Repeats     Repeat  // what the payload repeats
	Troubled    bool    // what the web did wrong stands among the annotations, or what stood in for the page
	Spared      int64   // bytes that were not transferred, going by the last capture
	New         float64 // versions that are thought to have come into being since the last judged visit; 0 = not told
	State       []byte  // "unknown", "unchanged" or "changed"; empty unless the thirteenth column tells
}

// Repeat says under which URI a payload was in the archive.
type Repeat uint8

// The repetitions. They are not stored.
const (
	NotLooked         Repeat = iota // nobody looked, or the log does not tell
	RepeatsNone                     // it was not there
	RepeatsExact                    // under the same URI
	RepeatsEquivalent               // under an equivalent one
	RepeatsOther                    // under another one
)

// repeatOf reads what follows [Hit].
func repeatOf(word []byte) Repeat {
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
	return NotLooked
}

// The beginnings of the annotations that a glance knows.
var (
	glanceWait     = []byte("wt:")
	glanceOverdue  = []byte("ov:")
	glanceVisits   = []byte("vis")
	glanceVersions = []byte("ver")
	glanceSpared   = []byte(Spared)
	glanceHit      = []byte(Hit)
	glanceNew      = []byte("new:")
	glanceState    = []byte(`"contentState":"`)
	troubles       = [][]byte{[]byte("err="), []byte("challenge:"), []byte("consent:"), []byte("notFound:")}
	dash           = []byte("-")
)

// Read reads a line without its line end, like [Parse] but only what statistics need and without checking the rest. It
// reports whether the line is one of a crawl log.
func (g *Glance) Read(line []byte) bool {
	*g = Glance{}
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
	g.Logged, ok[0] = milliseconds(column[columnTime])
	status, isStatus := integer(column[columnStatus])
	g.Status, ok[1] = int(status), isStatus
	if g.Size, ok[2] = integer(column[columnSize]); bytes.Equal(column[columnSize], dash) {
		g.Size, ok[2] = -1, true
	}
	if ok != [3]bool{true, true, true} || g.Size < -1 {
		return false
	}
	g.URI, g.Seed = column[columnURI], undashed(column[columnSeed])
	if mime := undashed(column[columnMIME]); !isNoType(string(mime)) {
		g.MIME = mime
	}
	if _, took, ok := bytes.Cut(column[columnFetch], []byte("+")); ok {
		ms, _ := integer(took)
		g.Took = time.Duration(ms) * time.Millisecond
	}
	g.readAnnotations(column[columnAnnotations])
	if at := bytes.Index(rest, glanceState); at >= 0 {
		g.State, _, _ = bytes.Cut(rest[at+len(glanceState):], []byte(`"`))
	}
	return true
}

// readAnnotations takes those of the adaptive schedule wherever they stand: only that frontier writes them.
func (g *Glance) readAnnotations(all []byte) {
	var seen int
	for len(all) > 0 {
		a := all
		if i := bytes.IndexByte(all, ','); i >= 0 {
			a, all = all[:i], all[i+1:]
		} else {
			all = nil
		}
		switch {
		case bytes.HasPrefix(a, glanceWait):
			g.Wait, seen = durationOf(a[len(glanceWait):]), seen|1
		case bytes.HasSuffix(a, glanceVisits):
			if n, ok := integer(a[:len(a)-len(glanceVisits)]); ok {
				g.Visits, seen = int(n), seen|2
			}
		case bytes.HasSuffix(a, glanceVersions):
			if n, ok := integer(a[:len(a)-len(glanceVersions)]); ok {
				g.Versions, seen = int(n), seen|4
			}
		case bytes.HasPrefix(a, glanceOverdue):
			g.Overdue, seen = durationOf(a[len(glanceOverdue):]), seen|8
		case bytes.HasPrefix(a, glanceSpared):
			g.Spared, _ = integer(a[len(glanceSpared):])
		default:
			g.readWord(a)
		}
	}
	g.Scheduled = seen == 15
}

func (g *Glance) readWord(a []byte) {
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
	default:
		switch {
		case bytes.HasPrefix(a, glanceHit):
			g.Repeats = repeatOf(a[len(glanceHit):])
		case bytes.HasPrefix(a, glanceNew):
			if n, err := strconv.ParseFloat(string(a[len(glanceNew):]), 64); err == nil && n > 0 && n < mostNew {
				g.New = n
			}
		}
		for _, t := range troubles {
			g.Troubled = g.Troubled || bytes.HasPrefix(a, t)
		}
	}
}

// mostNew bounds the versions that a line is believed to tell of.
const mostNew = 1e9

func undashed(b []byte) []byte {
	if len(b) == 1 && b[0] == '-' {
		return nil
	}
	return b
}

// integer reads a decimal number of at most 18 digits behind its zeros.
func integer(b []byte) (int64, bool) {
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

// milliseconds reads the time of a line: the form that is written here at once, others of RFC 3339 the slow way.
func milliseconds(b []byte) (int64, bool) {
	if len(b) != len(timeLayout) || b[19] != '.' || b[23] != 'Z' {
		t, err := time.Parse(time.RFC3339Nano, string(b))
		return t.UnixMilli(), err == nil
	}
	var n [7]int64
	for i, part := range [7][]byte{b[0:4], b[5:7], b[8:10], b[11:13], b[14:16], b[17:19], b[20:23]} {
		v, ok := integer(part)
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

// durationOf reads what [Duration] writes; what is none is zero.
func durationOf(b []byte) time.Duration {
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
