package crawllog

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/uri"
)

// MaxLine is a buffer size, in bytes, that is larger than the longest line.
const MaxLine = 32 << 10

// The annotations that other tools know by name.
const (
	Unchanged            = "unchanged"                     // the content is the same as in the last capture
	MidFetchAbort        = "midFetchAbort"                 // the body was not read, because the headers show no change
	LengthTruncated      = "lenTrunc"                      // the body was longer than the limit
	TimeTruncated        = "timeTrunc"                     // the body took longer than the limit
	DuplicateDigest      = "duplicate:digest"              // a revisit record; the payload was archived before
	DuplicateNotModified = "duplicate:server-not-modified" // a revisit record; the server answered 304
	Unwritten            = "unwritten:identicalDigest"     // no record, as configured; the payload was archived before
	Evidence             = "evidence"                      // a metadata record: the answer cannot be in a response record
	OtherRequest         = "otherRequest"                  // the settings send something else than before
	AcceptedExpired      = "tls:expired"                   // the certificate has expired; the settings accept that

	// UnwrittenFor is followed by why an answer with a payload has neither a response nor a revisit record: coding,
	// scrubbed, evidence or fault.
	UnwrittenFor = "unwritten:"
	// Way is followed by what is unusual about how the connection was made, as "proxy=office+ip=ipv4".
	Way = "way:"
	// Permission is followed by the reason why a URI was visited although robots.txt forbids it.
	Permission = "permission:"
	// Spared is followed by a number: bytes of payload that were not transferred, judged by the last capture.
	Spared = "spared:"
	// Asked is followed by a number: seconds after the visit before which the server wants no request (Retry-After).
	Asked = "asked:"
	// Look is followed by what a second look found: same, noisy, differs or failed.
	Look = "look:"
	// Restless marks visits of a page that differs at each fetch, and Noise visits that found no change that a reader
	// sees. Like second looks they count in no estimate of versions.
	Restless = "restless"
	Noise    = "noise"
)

// Hit begins the annotation that says under which URI the same payload was archived before: exact, equivalent, other,
// or none. It is written even if the payload was archived again, and is absent if nobody looked.
const Hit = "hit:"

// IsWhole reports whether the visit left a response record with the whole payload, as far as the line says: later
// revisits can refer to it.
func (e Entry) IsWhole() bool {
	return e.Status > 0 && e.Size > 0 && !e.Digest.IsZero() && !slices.ContainsFunc(e.Annotations, func(a string) bool {
		return strings.Contains(a, "duplicate") || strings.HasPrefix(a, UnwrittenFor) || strings.HasSuffix(a, "Trunc") ||
			a == MidFetchAbort || a == Evidence
	})
}

// Entry is one visit, or one URI that could not be visited.
type Entry struct {
	Logged  time.Time // written to the millisecond, in UTC
	Status  int       // HTTP status; zero or negative: Heritrix's codes for failures and for URIs that were not tried
	Size    int64     // bytes of the body; negative = none
	URI     string
	Hops    uri.HopPath
	Via     string        // empty = none, as for a seed
	MIME    string        // the Content-Type as received; the line has its beginning only
	Worker  int           // negative = none
	Started time.Time     // of the fetch; zero = nothing was fetched
	Took    time.Duration // of the fetch; written in milliseconds, at least 1
	Digest  digest.Digest // of the payload; zero = none
	Seed    string        // the seed's URI; a source tag in logs of Heritrix

	Annotations []string  // without the ones of Schedule; they are ordered and cleaned when written
	Schedule    *Schedule // nil = not a scheduled visit
	Extra       *Extra    // nil = nothing known
}

// Schedule holds the annotations of the adaptive schedule.
type Schedule struct {
	Tries    int           // number of fetches; one is not written
	Wait     time.Duration // until the next visit
	Visits   int           // so far, including this one
	Versions int           // so far, including this one
	Overdue  time.Duration // how late the visit was; a negative one is written as zero
}

// Began returns when the visit began, or when it was logged if no exchange took place.
func (e Entry) Began() time.Time {
	if e.Started.IsZero() {
		return e.Logged
	}
	return e.Started
}

// AskedFor returns how long after the visit the server wants no request.
func (e Entry) AskedFor() time.Duration {
	for _, a := range e.Annotations {
		if text, ok := strings.CutPrefix(a, Asked); ok {
			if n, err := strconv.ParseInt(text, 10, 32); err == nil {
				return time.Duration(n) * time.Second
			}
		}
	}
	return 0
}

// AppendTo appends the line to b, without its line end. withExtra adds the thirteenth column. AppendTo never fails: it
// replaces or cuts whatever would break the columns; see the package comment.
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

// timeLayout has 24 characters. fetchLayout has 17 without its point.
const (
	timeLayout  = "2006-01-02T15:04:05.000Z"
	fetchLayout = "20060102150405.000"
)

// writable returns t in UTC, or the zero time if its year does not fit in four digits.
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
		start = writable(e.Logged) // some readers fail on "-" if there was a response
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
	clean := strings.Map(func(r rune) rune {
		if r < 'A' || r > 'Z' {
			return unknownHop
		}
		return r
	}, string(hops))
	return appendOrDash(b, uri.HopPath(clean).String())
}

// The maximum lengths, in bytes, of one annotation, and of all that do not belong to the adaptive schedule. An error
// may be longer than other annotations, because its end says what to do.
const (
	maxAnnotation      = 160
	maxErrorAnnotation = 400
	maxAnnotations     = 640

	errorPrefix = "err="
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
	if e.Schedule != nil {
		if len(b) > start {
			b = append(b, ',')
		}
		b = e.Schedule.appendTo(b)
	}
	if len(b) == start {
		b = append(b, '-')
	}
	return b
}

func (r Schedule) appendTo(b []byte) []byte {
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

// inOrder returns annotations in the order of the package comment. Annotations of one rank keep their order.
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
	case strings.HasPrefix(annotation, errorPrefix):
		return 6
	case strings.HasPrefix(annotation, "ip:"):
		return 7
	case strings.HasPrefix(annotation, "content-size:"):
		return 8
	}
	return 4
}

// unknownHop is written for a hop whose letter is not valid or was left out.
const unknownHop = '?'

// duplicatePrefix begins the annotations that say that a payload was archived before.
const duplicatePrefix = "duplicate:"

// maxMIME is the maximum length of a MIME type: 64 bytes for each of type and subtype (RFC 6838, 4.2), and the slash.
const maxMIME = 129

// Heritrix's words for a response without a MIME type, and for no response.
const (
	noType      = "no-type"
	unknownType = "unknown"
)

const upperHex = "0123456789ABCDEF"

// appendURI writes a URI as one word of ASCII of at most [uri.MaxLength] bytes. A canonical URI stays unchanged.
func appendURI(b []byte, s string) []byte {
	if s == "" {
		return append(b, '-')
	}
	end := len(b) + uri.MaxLength
	for i := 0; i < len(s) && len(b) < end; i++ {
		if c := s[i]; c > ' ' && c < 0x7f {
			b = append(b, c)
		} else {
			b = append(b, '%', upperHex[c>>4], upperHex[c&15])
		}
	}
	return b[:min(len(b), end)]
}

func appendMIME(b []byte, mime string, status int) []byte {
	word := mime
	if i := strings.IndexFunc(word, func(r rune) bool { return r == ';' || r == ',' || unicode.IsSpace(r) }); i >= 0 {
		word = word[:i]
	}
	if isNoType(word) {
		if status > 0 {
			return append(b, noType...)
		}
		return append(b, unknownType...)
	}
	for i := 0; i < min(len(word), maxMIME); i++ {
		if c := word[i]; c > ' ' && c < 0x7f {
			b = append(b, c)
		} else {
			b = append(b, '_')
		}
	}
	return b
}

func isNoType(mime string) bool {
	return mime == "" || mime == "-" || mime == noType || mime == unknownType
}

// appendAnnotation writes s as one word without commas, with at most maxAnnotation or maxErrorAnnotation bytes. It
// replaces "duplicate" where the word does not begin an annotation.
func appendAnnotation(b []byte, s string) []byte {
	prefix := ""
	if rest, ok := strings.CutPrefix(s, duplicatePrefix); ok {
		prefix, s = duplicatePrefix, rest
	}
	limit := maxAnnotation
	if strings.HasPrefix(s, errorPrefix) {
		limit = maxErrorAnnotation
	}
	if len(s) > 4*limit {
		s = s[:4*limit] // the rest does not fit in any case
	}
	s = withoutDuplicate(s)
	end := len(b) + limit
	b = append(b, prefix...)
	for _, r := range s {
		switch {
		case r == ',':
			r = ';'
		case r == ' ' || !unicode.IsPrint(r):
			r = '_'
		}
		if len(b)+utf8.RuneLen(r) > end {
			break
		}
		b = utf8.AppendRune(b, r)
	}
	return b
}

// withoutDuplicate replaces "duplicate", in any case of letters, by "repeat".
func withoutDuplicate(s string) string {
	const word, other = "duplicate", "repeat"
	for i := 0; i+len(word) <= len(s); {
		if strings.EqualFold(s[i:i+len(word)], word) {
			s = s[:i] + other + s[i+len(word):]
			i += len(other)
		} else {
			i++
		}
	}
	return s
}

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
