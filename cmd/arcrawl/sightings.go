package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/crawllog"
	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/sim"
)

// sightings reads visits from crawl logs, and from indexes in CDX and CDXJ, gzipped or not. A line that is none of these is
// counted and passed over; a file without any that is, is refused. wanted says which URIs are kept.
type sightings struct {
	sim.Sightings

	wanted  func(uri string) bool
	visits  int
	strange int
}

func (s *sightings) readAll(files []string) error {
	for _, name := range files {
		if err := s.read(name); err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
	}
	return nil
}

func (s *sightings) read(name string) (err error) {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	in, err := unzipped(f)
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 0, 1<<16), 1<<20)
	var columns []string // of a CDX
	any := false
	for lines.Scan() {
		line := lines.Text()
		if fields := strings.Fields(line); len(fields) > 2 && fields[0] == "CDX" {
			columns = fields[1:]
			any = true
			continue
		}
		ok := false
		switch {
		case line == "" || strings.HasPrefix(line, "!"): // CDXJ has headers
			continue
		case columns != nil:
			ok = s.cdx(columns, line)
		default:
			ok = s.log(line) || s.cdxj(line)
		}
		if any = any || ok; !ok {
			s.strange++
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	if !any {
		return errors.New("no line of it is one of a crawl log, a CDX or a CDXJ")
	}
	return nil
}

// unzipped is what is in a file, gzipped or not.
func unzipped(f io.Reader) (*bufio.Reader, error) {
	in := bufio.NewReaderSize(f, 1<<16)
	if head, _ := in.Peek(2); !bytes.Equal(head, []byte{0x1f, 0x8b}) {
		return in, nil
	}
	z, err := gzip.NewReader(in)
	if err != nil {
		return nil, err
	}
	return bufio.NewReaderSize(z, 1<<16), nil
}

// isHistories reports whether a file has histories of change, each an object, and not visits.
func isHistories(name string) (is bool, err error) {
	f, err := os.Open(name)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	in, err := unzipped(f)
	if err != nil {
		return false, fmt.Errorf("read %s: %w", name, err)
	}
	head, _ := in.Peek(1)
	return len(head) == 0 || head[0] == '{', nil
}

func (s *sightings) add(uri, mime string, bytes int64, v sim.Sighting) {
	if s.wanted == nil || s.wanted(uri) {
		s.visits++
		s.Add(uri, mime, bytes, v)
	}
}

// log reads a line of a crawl log.
func (s *sightings) log(line string) bool {
	e, err := crawllog.Parse(line)
	if err != nil {
		return false
	}
	notModified := e.Status == 304
	if e.Started.IsZero() || (e.Status < 200 || e.Status >= 400) || strings.HasSuffix(e.URI, "/robots.txt") {
		return true // a misfortune teaches nothing
	}
	v := sim.Sighting{At: e.Started}
	if !e.Digest.IsZero() {
		v.Digest = e.Digest.String()
	}
	switch {
	case e.Extra != nil && e.Extra.ContentState == "changed":
		v.State = evaluators.Changed
	case notModified || slices.Contains(e.Annotations, crawllog.Unchanged):
		v.State = evaluators.Unchanged
	case e.Extra != nil && e.Extra.ContentState == "unknown":
		return true
	}
	s.add(e.URI, e.MIME, e.Size, v)
	return true
}

// cdxj reads a line of a CDXJ.
func (s *sightings) cdxj(line string) bool {
	e, err := index.ParseEntry(line)
	if err != nil || e.Date().IsZero() {
		return false
	}
	s.indexed(e.URL, e.MIME, e.Status, e.Digest, e.Date())
	return true
}

// cdx reads a line of a CDX by the letters of its header.
func (s *sightings) cdx(columns []string, line string) bool {
	of := map[string]string{}
	for i, field := range strings.Fields(line) {
		if i < len(columns) && field != "-" {
			of[columns[i]] = field
		}
	}
	at, err := time.Parse("20060102150405", of["b"])
	if err != nil || of["a"] == "" {
		return false
	}
	s.indexed(of["a"], of["m"], of["s"], of["k"], at)
	return true
}

// indexed takes in a capture. A revisit whose index does not tell a digest found what was there before.
func (s *sightings) indexed(uri, mime, status, digest string, at time.Time) {
	if code, err := strconv.Atoi(status); err == nil && (code < 200 || code >= 400) && code != 304 {
		return
	}
	v := sim.Sighting{At: at, Digest: strings.TrimPrefix(digest, "sha1:")}
	if mime == index.RevisitMIME {
		mime = ""
		if digest == "" {
			v.State = evaluators.Unchanged
		}
	}
	if v.State == evaluators.Unknown && digest == "" {
		return
	}
	s.add(uri, mime, 0, v)
}
