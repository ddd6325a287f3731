package crawllog

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/uri"
)

// The columns, as errors name them.
const (
	columnTime = iota
	columnStatus
	columnSize
	columnURI
	columnHops
	columnVia
	columnMIME
	columnWorker
	columnFetch
	columnDigest
	columnSeed
	columnAnnotations
	columns // the number of required columns

	columnExtra = columns
)

const (
	maxHops     = 10_000 // longer than any path of a crawl
	fetchDigits = 17
	sha1Letters = 32
	maxQuoted   = 60 // bytes of a column in an error
	// firstSeeds is when Heritrix began to write the column of the seed. Of a later line, the end is missing.
	firstSeeds = "2006"
)

var columnNames = [...]string{
	"time", "status", "size", "URI", "hop path", "via", "MIME type", "worker", "fetch", "digest", "seed", "annotations",
	"extra",
}

// Parse reads a line of 12 or 13 columns, with or without its line end, as this package and Heritrix write it. Hops
// that were left out of a long path become question marks. In lines of 2005, Heritrix wrote no seed, and until 2006 no
// name before a digest. The MIME type has no parameters; "no-type" and "unknown"
// become empty. In a thirteenth column of other programs, unknown keys are ignored. Errors name the column.
func Parse(line string) (Entry, error) {
	fields, rest := split(strings.TrimRight(line, "\r\n"))
	if len(fields) == columns-1 && strings.HasSuffix(strings.TrimRight(line, "\r\n"), " ") {
		fields = append(fields, "-") // early versions of Heritrix 3 leave the annotations empty
	}
	if len(fields) == columns-1 && fields[columnTime] < firstSeeds {
		fields = slices.Insert(fields, columnSeed, "-")
	}
	if len(fields) < columns {
		return Entry{}, fmt.Errorf("crawl log line %.60q: %d columns, want 12 or 13", line, len(fields))
	}
	e := Entry{
		URI: withoutDash(fields[columnURI]), Via: withoutDash(fields[columnVia]), Seed: withoutDash(fields[columnSeed]),
	}
	if mime := fields[columnMIME]; !isNoType(mime) {
		e.MIME = mime
	}
	e.Annotations, e.Schedule = parseAnnotations(fields[columnAnnotations])
	fields = append(fields, rest)
	for column, read := range readers {
		if read == nil {
			continue
		}
		if err := read(&e, fields[column]); err != nil {
			return Entry{}, fmt.Errorf("crawl log line, column %d (%s) %s: %w",
				column+1, columnNames[column], quoted(fields[column]), err)
		}
	}
	return e, nil
}

// readers read the columns that can be invalid.
var readers = [...]func(*Entry, string) error{
	columnTime:   readTime,
	columnStatus: readStatus,
	columnSize:   readSize,
	columnHops:   readHops,
	columnWorker: readWorker,
	columnFetch:  readFetch,
	columnDigest: readDigest,
	columnExtra:  readExtra,
}

// split returns up to 12 columns and the rest of the line.
func split(line string) ([]string, string) {
	fields := make([]string, 0, columns+1)
	for len(fields) < columns {
		line = strings.TrimLeft(line, " ")
		if line == "" {
			break
		}
		field, rest, _ := strings.Cut(line, " ")
		fields = append(fields, field)
		line = rest
	}
	return fields, strings.Trim(line, " ")
}

func quoted(s string) string {
	if len(s) > maxQuoted {
		return strconv.Quote(s[:maxQuoted]) + "…"
	}
	return strconv.Quote(s)
}

func withoutDash(s string) string {
	if s == "-" {
		return ""
	}
	return s
}

var (
	errTime   = errors.New("not a time such as 2026-01-02T03:04:05.678Z")
	errNumber = errors.New("not a number")
	errSize   = errors.New(`neither "-" nor a number of bytes`)
	errHops   = errors.New(`neither "-" nor letters A to Z, with a number and a plus before them if abbreviated`)
	errWorker = errors.New(`neither "-" nor "#" and a number`)
	errFetch  = errors.New(`neither "-" nor 17 digits of start, "+" and milliseconds`)
)

func readTime(e *Entry, s string) error {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return errTime
	}
	e.Logged = writable(t)
	return nil
}

func readStatus(e *Entry, s string) error {
	n, err := strconv.Atoi(s)
	if err != nil {
		return errNumber
	}
	e.Status = n
	return nil
}

func readSize(e *Entry, s string) error {
	if s == "-" {
		e.Size = -1
		return nil
	}
	n, err := strconv.ParseUint(s, 10, 63)
	if err != nil {
		return errSize
	}
	e.Size = int64(n)
	return nil
}

func readHops(e *Entry, s string) error {
	if s == "-" {
		return nil
	}
	omitted := 0
	letters := s
	if number, rest, ok := strings.Cut(s, "+"); ok {
		n, err := strconv.ParseUint(number, 10, 32)
		if err != nil || n > maxHops {
			return errHops
		}
		omitted, letters = int(n), rest
	}
	for i := range len(letters) {
		if c := letters[i]; c != unknownHop && (c < 'A' || c > 'Z') {
			return errHops
		}
	}
	e.Hops = uri.HopPath(strings.Repeat(string(unknownHop), omitted) + letters)
	return nil
}

func readWorker(e *Entry, s string) error {
	if s == "-" {
		e.Worker = -1
		return nil
	}
	number, ok := strings.CutPrefix(s, "#")
	n, err := strconv.ParseUint(number, 10, strconv.IntSize-1)
	if !ok || err != nil {
		return errWorker
	}
	e.Worker = int(n)
	return nil
}

func readFetch(e *Entry, s string) error {
	if s == "-" {
		return nil
	}
	start, took, ok := strings.Cut(s, "+")
	if !ok || len(start) != fetchDigits {
		return errFetch
	}
	point := fetchDigits - 3
	t, err := time.Parse(fetchLayout, start[:point]+"."+start[point:])
	if err != nil {
		return errFetch
	}
	ms, err := strconv.ParseUint(took, 10, 63)
	if err != nil || ms > math.MaxInt64/uint64(time.Millisecond) {
		return errFetch
	}
	e.Started, e.Took = t.UTC(), time.Duration(ms)*time.Millisecond
	return nil
}

func readDigest(e *Entry, s string) error {
	if s == "-" {
		return nil
	}
	d, err := digest.Parse(s)
	if err != nil && len(s) == sha1Letters {
		if early, e := digest.Parse("sha1:" + s); e == nil {
			d, err = early, nil
		}
	}
	if err != nil {
		return err
	}
	e.Digest = d
	return nil
}

func readExtra(e *Entry, s string) error {
	x, err := parseExtra(s)
	e.Extra = x
	return err
}

// parseAnnotations separates the annotations of the adaptive schedule from the others. They are recognised only if all
// four are at the end.
func parseAnnotations(s string) ([]string, *Schedule) {
	var list []string
	for a := range strings.SplitSeq(s, ",") {
		if a != "" && a != "-" {
			list = append(list, a)
		}
	}
	n := len(list)
	if n < 4 {
		return list, nil
	}
	r := Schedule{Tries: 1}
	var ok [4]bool
	r.Wait, ok[0] = prefixedDuration(list[n-4], "wt:")
	r.Visits, ok[1] = suffixedNumber(list[n-3], "vis")
	r.Versions, ok[2] = suffixedNumber(list[n-2], "ver")
	r.Overdue, ok[3] = prefixedDuration(list[n-1], "ov:")
	if ok != [4]bool{true, true, true, true} {
		return list, nil
	}
	list = list[:n-4]
	if n := len(list); n > 0 {
		if tries, ok := suffixedNumber(list[n-1], "t"); ok && tries > 1 {
			r.Tries, list = tries, list[:n-1]
		}
	}
	if len(list) == 0 {
		list = nil
	}
	return list, &r
}

// prefixedDuration reads a duration behind a prefix. Like suffixedNumber it accepts only the form that this package
// writes.
func prefixedDuration(s, prefix string) (time.Duration, bool) {
	text, ok := strings.CutPrefix(s, prefix)
	if !ok {
		return 0, false
	}
	d := parseDuration(text)
	return d, Duration(d) == text
}

func suffixedNumber(s, suffix string) (int, bool) {
	text, ok := strings.CutSuffix(s, suffix)
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(text)
	return n, err == nil && n >= 0 && strconv.Itoa(n) == text
}
