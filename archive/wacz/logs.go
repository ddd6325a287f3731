package wacz

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/internal/fileio"
)

// Logs says which lines of which crawl logs are put into a package, as logs/NAME. They also say what could not be
// captured.
type Logs struct {
	Files []string // crawl.log of arcrawl or Heritrix, also rotated ones compressed with gzip

	From, To time.Time                           // the visits from one time and before another; zero = of the captures
	Select   func(uri string, at time.Time) bool // of these URIs; nil = all
}

// columns of a crawl log, from 0.
const (
	columnLogged  = 0
	columnURI     = 3
	columnVisited = 8
	columns       = 11 // minimum number
)

// logs writes the lines of the crawl logs. It leaves out a log without any.
func (p *writer) logs(lines *os.File) error {
	if len(p.o.Logs.Files) == 0 {
		return nil
	}
	wanted, err := p.wantedLines(lines)
	if err != nil {
		return err
	}
	names := map[string]string{}
	for _, file := range p.o.Logs.Files {
		name := logName(file)
		if other, taken := names[name]; taken {
			return fmt.Errorf("the crawl logs %s and %s have the same name; a package can hold only one of them", other, file)
		}
		names[name] = file
		if err := p.log(file, wanted); err != nil {
			return fmt.Errorf("read the crawl log %s: %w", file, err)
		}
	}
	return nil
}

// wantedLines returns a function that reports whether a line is of the chosen visits. lines is the index.
func (p *writer) wantedLines(lines *os.File) (func(line []byte) bool, error) {
	first, last, err := periodOf(lines)
	if err != nil {
		return nil, err
	}
	choice := p.o.Logs
	if !choice.From.IsZero() {
		first = choice.From
	}
	last = last.Add(time.Millisecond) // the index has no smaller unit
	if !choice.To.IsZero() {
		last = choice.To
	}
	return func(line []byte) bool {
		uri, at, ok := visitOf(line)
		return ok && !at.Before(first) && at.Before(last) && (choice.Select == nil || choice.Select(uri, at))
	}, nil
}

// periodOf returns the times of the first and the last capture in an index.
func periodOf(lines *os.File) (first, last time.Time, err error) {
	scan, err := linesOf(lines)
	if err != nil {
		return first, last, err
	}
	lowest, highest := "", ""
	for scan.Scan() {
		_, rest, _ := strings.Cut(scan.Text(), " ")
		stamp, _, _ := strings.Cut(rest, " ")
		if lowest == "" || stamp < lowest {
			lowest = stamp
		}
		highest = max(highest, stamp)
	}
	if err := scan.Err(); err != nil || lowest == "" {
		return first, last, err
	}
	first, errFirst := index.ParseStamp(lowest)
	last, errLast := index.ParseStamp(highest)
	return first, last, errors.Join(errFirst, errLast)
}

// visitOf returns the URI of a line and when its visit began. Without a response that is when it was logged.
func visitOf(line []byte) (uri string, at time.Time, ok bool) {
	fields := bytes.Fields(line)
	if len(fields) < columns {
		return "", at, false
	}
	began, _, _ := bytes.Cut(fields[columnVisited], []byte("+"))
	at, err := index.ParseStamp(string(began))
	if err != nil {
		at, err = time.Parse(time.RFC3339, string(fields[columnLogged]))
	}
	return string(fields[columnURI]), at, err == nil
}

// logName returns the path of a log in the package.
func logName(file string) string { return "logs/" + strings.TrimSuffix(filepath.Base(file), ".gz") }

// log writes the wanted lines of one log.
func (p *writer) log(file string, wanted func([]byte) bool) (err error) {
	f, err := fileio.OpenText(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	lines := index.NewLines(f)
	next := func() bool {
		for lines.Scan() {
			if wanted(lines.Bytes()) {
				return true
			}
		}
		return false
	}
	if !next() {
		return lines.Err()
	}
	return p.add(logName(file), false, func(w io.Writer) error {
		for more := true; more; more = next() {
			if _, err := io.WriteString(w, lines.Text()+"\n"); err != nil {
				return err
			}
		}
		return lines.Err()
	})
}
