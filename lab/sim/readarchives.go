package sim

import (
	"bytes"
	"context"
	"io"
	"os"

	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/warc"
)

// Archives divides names into WARC files or folders, and other files.
func Archives(names []string) (archives, others []string) {
	for _, name := range names {
		info, err := os.Stat(name)
		if err == nil && info.IsDir() || warc.IsArchive(name) {
			archives = append(archives, name)
		} else {
			others = append(others, name) // reading it returns the error of one that is missing
		}
	}
	return archives, others
}

// ReadArchives adds the captures in WARC files, and in the WARC files below folders. It returns the number of visits
// added. Damage is reported and skipped. Unless wanted is nil, it adds only the visits of URIs for which wanted returns
// true.
func (s *Sightings) ReadArchives(
	ctx context.Context, paths []string, wanted func(uri string) bool, report func(warc.Finding) error,
) (visits int, _ error) {
	r := newVisitReader(s, wanted)
	lines := eachLine{do: func(line string) { r.cdxj(line) }}
	_, err := index.Build(ctx, paths, index.Options{Milliseconds: true}, &lines, report)
	return r.visits, err
}

// ReadLines adds the visits in a text, as [Sightings.ReadFiles] does. A text without lines is valid: a CDX server may
// have no captures of a host.
func (s *Sightings) ReadLines(in io.Reader, wanted func(uri string) bool) (visits, skipped int, err error) {
	r := newVisitReader(s, wanted)
	_, err = r.text(in)
	return r.visits, r.skipped, err
}

// eachLine calls do with each line that is written to it.
type eachLine struct {
	do      func(line string)
	partial []byte // the beginning of a line whose end was not written yet
}

func (e *eachLine) Write(p []byte) (int, error) {
	n := len(p)
	for {
		line, rest, ended := bytes.Cut(p, []byte("\n"))
		e.partial = append(e.partial, line...)
		if !ended {
			return n, nil
		}
		e.do(string(e.partial))
		e.partial, p = e.partial[:0], rest
	}
}
