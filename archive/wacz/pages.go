package wacz

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/arcrawl/arcrawl/archive/depend"
	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/internal/fileio"
)

// The maximum sizes of what is read of a page, and of its title and text in the list of pages, in bytes.
const (
	maxPage     = 8 << 20
	maxPageText = 64 << 10
	maxTitle    = 1 << 10
)

// pageDate is the layout of dates of pages. Replay tools show the first capture at or after the date, so seconds are
// not enough.
const pageDate = "2006-01-02T15:04:05.000Z"

// page is a line of the list of pages.
type page struct {
	ID    string `json:"id"`
	URL   string `json:"url"`
	TS    string `json:"ts"`
	Title string `json:"title,omitempty"`
	Text  string `json:"text,omitempty"`
}

// pages writes the list of pages, at which readers of the package begin: HTML with status 200, with title and text, in
// which replay tools search. A page of which the package has only revisits is listed once.
func (p *writer) pages(lines *os.File, files []string) error {
	named := map[string]warc.File{}
	for _, f := range files {
		named[filepath.Base(f)] = warc.File{Path: f}
	}
	whole, err := p.wholePages(lines)
	if err != nil {
		return err
	}
	scan, err := linesOf(lines)
	if err != nil {
		return err
	}
	return p.add("pages/pages.jsonl", false, func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		head := map[string]any{"format": "json-pages-1.0", "id": "pages", "title": "All Pages"}
		if !p.o.NoText {
			head["hasText"] = true
		}
		err := enc.Encode(head)
		for err == nil && scan.Scan() {
			var e index.Entry
			if e, err = index.ParseEntry(scan.Text()); err != nil || !isPage(e, whole) {
				continue
			}
			title, text, ok := p.read(e, named[e.Filename])
			if !ok {
				continue
			}
			whole[sha256.Sum256([]byte(e.URL))] = true
			id := sha256.Sum256([]byte(e.Timestamp + e.URL))
			err = enc.Encode(page{hex.EncodeToString(id[:8]), e.URL, e.Date().Format(pageDate), title, text})
			p.sum.Pages++
		}
		return errors.Join(err, scan.Err())
	})
}

// wholePages returns the hashes of URIs of which the package has a response that is a page.
func (p *writer) wholePages(lines *os.File) (map[[sha256.Size]byte]bool, error) {
	scan, err := linesOf(lines)
	if err != nil {
		return nil, err
	}
	whole := map[[sha256.Size]byte]bool{}
	for scan.Scan() {
		e, err := index.ParseEntry(scan.Text())
		if err != nil {
			return nil, err
		}
		if e.MIME == "text/html" && e.Status == "200" {
			whole[sha256.Sum256([]byte(e.URL))] = true
		}
	}
	return whole, scan.Err()
}

// isPage reports whether a capture may be a page. whole has the URIs that need no revisit in the list.
func isPage(e index.Entry, whole map[[sha256.Size]byte]bool) bool {
	if e.MIME == index.RevisitMIME {
		return e.Status == "200" && !whole[sha256.Sum256([]byte(e.URL))]
	}
	return e.MIME == "text/html" && e.Status == "200"
}

// read returns title and text of a page. ok is false if a revisit is not one of HTML. A damaged page has no text: the
// index has reported it.
func (p *writer) read(e index.Entry, f warc.File) (title, text string, ok bool) {
	revisit := e.MIME == index.RevisitMIME
	if p.o.NoText && !revisit {
		return "", "", true
	}
	r, rec, err := f.RecordAt(e.Offset)
	if err != nil {
		return "", "", !revisit
	}
	defer r.Close() //nolint:errcheck // nothing was written
	if rec.Header.Target() != e.URL {
		return "", "", !revisit
	}
	head, body, err := rec.Payload()
	if revisit {
		return "", "", err == nil && head.MIME() == "text/html"
	}
	if err == nil {
		body, err = head.Decode(body)
	}
	if err != nil {
		return "", "", true
	}
	content, _ := io.ReadAll(io.LimitReader(body, maxPage)) // the beginning of a cut page has text too
	content = digest.Decode(content, head.Header().Get("Content-Type"))
	return cutText(titleOf(content), maxTitle), cutText(string(digest.Visible(content)), maxPageText), true
}

// titleOf returns the text of the first title element of a page, in which each run of white space is one space.
func titleOf(page []byte) string {
	z := html.NewTokenizer(bytes.NewReader(page))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return ""
		case html.StartTagToken:
			if name, _ := z.TagName(); atom.Lookup(name) == atom.Title && z.Next() == html.TextToken {
				space := func(r rune) bool { return strings.ContainsRune(" \t\n\r\f", r) }
				return strings.Join(strings.FieldsFunc(string(z.Text()), space), " ")
			}
		}
	}
}

// cutText returns the beginning of a text, of at most limit bytes, as valid UTF-8.
func cutText(s string, limit int) string {
	if len(s) > limit {
		for limit > 0 && !utf8.RuneStart(s[limit]) {
			limit--
		}
		s = s[:limit]
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// timestamp returns a time as the manifest has it.
func timestamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// Logs says which lines of which crawl logs are put into a package, as logs/NAME. They also say what could not be
// captured.
type Logs struct {
	Files []string // crawl.log of arcrawl or Heritrix, also rotated ones compressed with gzip

	From, To time.Time                           // the visits from one time and before another; zero = of the captures
	Select   func(uri string, at time.Time) bool // of these URIs; nil = all
	ByHost   bool                                // of hosts with captures in the package, from their first to their last
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
	all, hosts, err := p.periodsOf(lines)
	if err != nil {
		return nil, err
	}
	choice := p.o.Logs
	if !choice.From.IsZero() {
		all.first = choice.From
	}
	if !choice.To.IsZero() {
		all.end = choice.To
	}
	return func(line []byte) bool {
		uri, at, ok := visitOf(line)
		return ok && all.has(at) && (choice.Select == nil || choice.Select(uri, at)) &&
			(!choice.ByHost || hosts[hostOf(uri)].has(at))
	}, nil
}

// period is from a first time to before its end.
type period struct{ first, end time.Time }

func (p period) has(at time.Time) bool { return !at.Before(p.first) && at.Before(p.end) }

// with returns the period extended to a time, which the index has in milliseconds.
func (p period) with(at time.Time) period {
	if p.end.IsZero() || at.Before(p.first) {
		p.first = at
	}
	if end := at.Add(time.Millisecond); end.After(p.end) {
		p.end = end
	}
	return p
}

// periodsOf returns the period of the captures in an index, and the period of each host if the lines of the log are
// chosen by host.
func (p *writer) periodsOf(lines *os.File) (all period, hosts map[string]period, err error) {
	scan, err := linesOf(lines)
	if err != nil {
		return all, nil, err
	}
	hosts = map[string]period{}
	for scan.Scan() {
		_, rest, _ := strings.Cut(scan.Text(), " ")
		stamp, _, _ := strings.Cut(rest, " ")
		at, err := index.ParseStamp(stamp)
		if err != nil {
			return all, nil, err
		}
		all = all.with(at)
		if !p.o.Logs.ByHost {
			continue
		}
		e, err := index.ParseEntry(scan.Text())
		if err != nil {
			return all, nil, err
		}
		host := hostOf(e.URL)
		hosts[host] = hosts[host].with(at)
	}
	return all, hosts, scan.Err()
}

// hostOf returns the host of a URI, with its port if the URI has one. A look-up is of the host that it looks for.
func hostOf(uri string) string {
	if host, ok := strings.CutPrefix(uri, "dns:"); ok {
		return host
	}
	return depend.HostOf(uri)
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

func logName(file string) string { return "logs/" + strings.TrimSuffix(filepath.Base(file), ".gz") }

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
