package sim

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/internal/fileio"
)

// maxVisitLine is the maximum length of a line of a log or an index, in bytes. A longer line is an error.
const maxVisitLine = 1 << 20

// ReadFiles adds the visits in crawl logs, and in indexes in CDX and CDXJ, gzipped or not. A CDX without a header is
// read as one of six or more fields, whose first are " CDX N b a m s k" (OutbackCDX). It returns the number of
// visits added, and the number of lines skipped because they have none of these formats. A file with only such lines
// is an error. Unless wanted is nil, it adds only the visits of URIs for which wanted returns true.
func (s *Sightings) ReadFiles(names []string, wanted func(uri string) bool) (visits, skipped int, err error) {
	r := newVisitReader(s, wanted)
	for _, name := range names {
		if err := r.read(name); err != nil {
			return r.visits, r.skipped, fmt.Errorf("read %s: %w", name, err)
		}
	}
	return r.visits, r.skipped, nil
}

// IsHistories reports whether a file holds histories of change, each a JSON object, and not visits.
func IsHistories(name string) (is bool, err error) {
	f, err := fileio.OpenText(name)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	head, _ := f.Peek(1)
	return len(head) == 0 || head[0] == '{', nil
}

// visitReader reads visits from files.
type visitReader struct {
	into    *Sightings
	wanted  func(uri string) bool
	visits  int
	skipped int

	columns []string // the letters of a CDX header, once it was read in the current file
}

// newVisitReader returns a reader that adds visits to s. If wanted is nil, all URIs are wanted.
func newVisitReader(s *Sightings, wanted func(uri string) bool) *visitReader {
	if wanted == nil {
		wanted = func(string) bool { return true }
	}
	return &visitReader{into: s, wanted: wanted}
}

// read reads one file.
func (r *visitReader) read(name string) (err error) {
	f, err := fileio.OpenText(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	understood, err := r.text(f)
	if err == nil && !understood {
		err = errors.New("it has no line of a crawl log, a CDX or a CDXJ")
	}
	return err
}

// text reads the lines of a text. It reports whether a line has one of the formats.
func (r *visitReader) text(in io.Reader) (understood bool, _ error) {
	r.columns = nil
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 0, 1<<16), maxVisitLine)
	for lines.Scan() {
		line := lines.Text()
		if line == "" || strings.HasPrefix(line, "!") { // a header of CDXJ
			continue
		}
		if r.line(line) {
			understood = true
		} else {
			r.skipped++
		}
	}
	return understood, lines.Err()
}

// line reads one line. It reports whether the line has one of the formats.
func (r *visitReader) line(line string) bool {
	if fields := strings.Fields(line); len(fields) > 2 && fields[0] == "CDX" {
		r.columns = fields[1:]
		return true
	}
	if r.columns != nil {
		return r.cdx(line)
	}
	return r.log(line) || r.cdxj(line) || r.headerless(line)
}

// headerless reads a line of a CDX without a header, as OutbackCDX and other CDX servers write them: with the key, the
// timestamp, the URI, the media type, the status, the digest and further fields.
func (r *visitReader) headerless(line string) bool {
	fields := strings.Fields(line)
	if len(fields) < 6 || !strings.Contains(fields[2], "://") {
		return false
	}
	return r.cdxFields(fields, strings.Fields("N b a m s k"))
}

// log reads a line of a crawl log. Failed visits and visits of robots.txt are not added.
func (r *visitReader) log(line string) bool {
	e, err := crawllog.Parse(line)
	if err != nil {
		return false
	}
	if e.Started.IsZero() || e.Status < 200 || e.Status >= 400 || strings.HasSuffix(e.URI, "/robots.txt") {
		return true
	}
	v := Sighting{At: e.Started}
	if !e.Digest.IsZero() {
		v.Digest = e.Digest.String()
	}
	uncounted := func(a string) bool { return a == crawllog.Restless || strings.HasPrefix(a, crawllog.Look) }
	switch {
	case slices.ContainsFunc(e.Annotations, uncounted):
		return true
	case slices.Contains(e.Annotations, crawllog.Noise):
		v.State, v.Digest = evaluators.Unchanged, ""
	case e.Extra != nil && e.Extra.ContentState == "changed":
		v.State = evaluators.Changed
	case e.Status == 304 || slices.Contains(e.Annotations, crawllog.Unchanged):
		v.State = evaluators.Unchanged
	case e.Extra != nil && e.Extra.ContentState == "unknown":
		return true
	}
	r.add(e.URI, e.MIME, e.Size, v)
	return true
}

// cdxj reads a line of a CDXJ.
func (r *visitReader) cdxj(line string) bool {
	e, err := index.ParseEntry(line)
	if err != nil || e.Date().IsZero() {
		return false
	}
	r.capture(e.URL, e.MIME, e.Status, e.Digest, e.Date())
	return true
}

// cdx reads a line of a CDX by the letters of its header.
func (r *visitReader) cdx(line string) bool { return r.cdxFields(strings.Fields(line), r.columns) }

// cdxFields reads the fields of a line of a CDX by the letters of its columns.
func (r *visitReader) cdxFields(fields, columns []string) bool {
	values := map[string]string{}
	for i, field := range fields {
		if i < len(columns) && field != "-" {
			values[columns[i]] = field
		}
	}
	at, err := index.ParseStamp(values["b"])
	if err != nil || values["a"] == "" {
		return false
	}
	r.capture(values["a"], values["m"], values["s"], values["k"], at)
	return true
}

// capture adds a capture of an index. A revisit record without a digest means that nothing has changed. Captures of
// robots.txt are not added.
func (r *visitReader) capture(uri, mime, status, digest string, at time.Time) {
	if strings.HasSuffix(uri, "/robots.txt") {
		return
	}
	if code, err := strconv.Atoi(status); err == nil && (code < 200 || code >= 400) && code != 304 {
		return
	}
	v := Sighting{At: at, Digest: strings.TrimPrefix(digest, "sha1:")}
	if mime == index.RevisitMIME {
		mime = ""
		if digest == "" {
			v.State = evaluators.Unchanged
		}
	}
	if v.State == evaluators.Unknown && digest == "" {
		return
	}
	r.add(uri, mime, 0, v)
}

// add adds a visit of a URI that is wanted.
func (r *visitReader) add(uri, mime string, bytes int64, v Sighting) {
	if r.wanted(uri) {
		r.visits++
		r.into.Add(uri, mime, bytes, v)
	}
}
