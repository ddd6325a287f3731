package crawllog

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/uri"
)

// MaxLine is more than the longest line has, in bytes: the buffer that a reader needs.
const MaxLine = 32 << 10

// The annotations that other tools know by name.
const (
	Unchanged            = "unchanged"                     // the content is that of the last capture
	MidFetchAbort        = "midFetchAbort"                 // the body was not read because the headers vouch for it
	LengthTruncated      = "lenTrunc"                      // the body was longer than the limit
	TimeTruncated        = "timeTrunc"                     // the body took longer than the limit
	DuplicateDigest      = "duplicate:digest"              // a revisit record says that the payload is archived already
	DuplicateNotModified = "duplicate:server-not-modified" // a revisit record says that the server answered 304
	Spared               = "spared:"                       // and a number: bytes of payload that the visit did not transfer, going by the last capture
	Unwritten            = "unwritten:identicalDigest"     // nothing was archived: the payload is there, and no further revisit is wanted
)

// Hit begins the annotation that tells what the URI of an earlier record with the same payload is to this one: exact,
// equivalent or other; none when there is no such record. It is there also when the payload was archived nevertheless, and
// lacks when nobody looked.
const Hit = "hit:"

// Entry is one visit, or one URI that could not be visited.
type Entry struct {
	Logged  time.Time // written to the millisecond, in UTC
	Status  int       // HTTP status; zero or below: Heritrix's codes for what the web did wrong, and for what was not tried
	Size    int64     // bytes of the body; less than zero = none
	URI     string
	Hops    uri.HopPath
	Via     string        // empty = none, as for a seed
	MIME    string        // the Content-Type as it came; it is cut here
	Worker  int           // less than zero = none
	Started time.Time     // of the fetch; zero = nothing was fetched
	Took    time.Duration // of the fetch, in milliseconds; at least one is written
	Digest  digest.Digest // of the payload; zero = none
	Seed    string        // the seed's URI; a source tag in logs of Heritrix

	Annotations []string    // without those that Revisiting stands for; put in order and made harmless when written
	Revisiting  *Revisiting // nil = not a scheduled visit
	Extra       *Extra      // nil = nothing known
}

// Revisiting is what the adaptive schedule has to say of a visit.
type Revisiting struct {
	Tries    int           // fetches it took; one is not written
	Wait     time.Duration // until the next visit
	Visits   int           // so far, with this one
	Versions int           // so far, with this one
	Overdue  time.Duration // how late the visit was; less than zero is written as zero
}

// AppendTo appends the line to b, without its line end, and with the thirteenth column if withExtra. It never fails:
// whatever would break the columns is replaced or cut, see the package comment.
func (e Entry) AppendTo(b []byte, withExtra bool) []byte {
	b = appendTime(b, e.Logged)
	b = append(b, ' ')
	b = appendPadded(b, strconv.Itoa(e.Status), 5)
	b = append(b, ' ')
	size := "-"
	if e.Size >= 0 {
		size = strconv.FormatInt(e.Size, 10)
	}
	b = appendPadded(b, size, 10)
	b = append(b, ' ')
	b = appendURI(b, e.URI)
	b = append(b, ' ')
	b = appendHops(b, e.Hops)
	b = append(b, ' ')
	b = appendURI(b, e.Via)
	b = append(b, ' ')
	b = appendMIME(b, e.MIME, e.Status)
	b = append(b, ' ')
	b = appendWorker(b, e.Worker)
	b = append(b, ' ')
	b = e.appendFetch(b)
	b = append(b, ' ')
	if e.Digest.IsZero() {
		b = append(b, '-')
	}
	b = e.Digest.Append(b)
	b = append(b, ' ')
	b = appendURI(b, e.Seed)
	b = append(b, ' ')
	b = e.appendAnnotations(b)
	if withExtra {
		b = append(b, ' ')
		b = e.Extra.appendTo(b)
	}
	return b
}

// timeLayout has 24 characters; fetchLayout has 17 once its point is taken out.
const (
	timeLayout  = "2006-01-02T15:04:05.000Z"
	fetchLayout = "20060102150405.000"
)

// writable is t in UTC; a time that does not fit four digits of year counts as none.
func writable(t time.Time) time.Time {
	t = t.UTC()
	if y := t.Year(); y < 0 || y > 9999 {
		return time.Time{}
	}
	return t
}

func appendTime(b []byte, t time.Time) []byte { return writable(t).AppendFormat(b, timeLayout) }

func (e Entry) appendFetch(b []byte) []byte {
	start := writable(e.Started)
	if start.IsZero() {
		if e.Status <= 0 {
			return append(b, '-')
		}
		start = writable(e.Logged) // a reader fails on "-" if there was an answer
	}
	b = start.AppendFormat(b, fetchLayout)
	b = slices.Delete(b, len(b)-4, len(b)-3) // the point
	b = append(b, '+')
	return strconv.AppendInt(b, max(1, e.Took.Milliseconds()), 10)
}

func appendPadded(b []byte, s string, width int) []byte {
	for range width - len(s) {
		b = append(b, ' ')
	}
	return append(b, s...)
}

func appendOrDash(b []byte, s string) []byte {
	if s == "" {
		return append(b, '-')
	}
	return append(b, s...)
}

func appendWorker(b []byte, worker int) []byte {
	if worker < 0 {
		return append(b, '-')
	}
	b = append(b, '#')
	if worker < 100 {
		b = append(b, '0')
	}
	if worker < 10 {
		b = append(b, '0')
	}
	return strconv.AppendInt(b, int64(worker), 10)
}

func appendHops(b []byte, hops uri.HopPath) []byte {
	harmless := strings.Map(func(r rune) rune {
		if r < 'A' || r > 'Z' {
			return lostHop
		}
		return r
	}, string(hops))
	return appendOrDash(b, uri.HopPath(harmless).String())
}

// The bounds of annotations, in bytes: of one, and of all that are not of the adaptive schedule.
const (
	maxAnnotation  = 160
	maxAnnotations = 512
)

func (e Entry) appendAnnotations(b []byte) []byte {
	start := len(b)
	for _, a := range inOrder(e.Annotations) {
		before := len(b)
		if before > start {
			b = append(b, ',')
		}
		text := len(b)
		b = appendAnnotation(b, a)
		if written := string(b[text:]); written == "" || written == "-" || len(b)-start > maxAnnotations {
			b = b[:before]
		}
	}
	if e.Revisiting != nil {
		if len(b) > start {
			b = append(b, ',')
		}
		b = e.Revisiting.appendTo(b)
	}
	if len(b) == start {
		b = append(b, '-')
	}
	return b
}

func (r Revisiting) appendTo(b []byte) []byte {
	if r.Tries > 1 {
		b = strconv.AppendInt(b, int64(r.Tries), 10)
		b = append(b, "t,"...)
	}
	b = append(b, "wt:"...)
	b = appendDuration(b, r.Wait)
	b = append(b, ',')
	b = strconv.AppendInt(b, int64(max(0, r.Visits)), 10)
	b = append(b, "vis,"...)
	b = strconv.AppendInt(b, int64(max(0, r.Versions)), 10)
	b = append(b, "ver,ov:"...)
	return appendDuration(b, r.Overdue)
}

// inOrder puts annotations into the order of the package comment, and leaves those of one rank as they are.
func inOrder(annotations []string) []string {
	byRank := func(a, b string) int { return rank(a) - rank(b) }
	if slices.IsSortedFunc(annotations, byRank) {
		return annotations
	}
	sorted := slices.Clone(annotations)
	slices.SortStableFunc(sorted, byRank)
	return sorted
}

func rank(annotation string) int {
	switch {
	case annotation == Unchanged:
		return 0
	case annotation == MidFetchAbort:
		return 1
	case strings.HasSuffix(annotation, "Trunc"):
		return 2
	case strings.HasPrefix(annotation, duplicatePrefix):
		return 3
	case strings.HasPrefix(annotation, "dol:"):
		return 5
	case strings.HasPrefix(annotation, "err="):
		return 6
	case strings.HasPrefix(annotation, "ip:"):
		return 7
	case strings.HasPrefix(annotation, "content-size:"):
		return 8
	}
	return 4
}
