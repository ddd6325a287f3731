package wacz

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/arcrawl/arcrawl/archive/index"
	"github.com/arcrawl/arcrawl/archive/warc"
	"github.com/arcrawl/arcrawl/digest"
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
	r, err := f.OpenAt(e.Offset)
	if err != nil {
		return "", "", !revisit
	}
	defer r.Close() //nolint:errcheck // nothing was written
	rec, err := r.Next()
	if err != nil || rec.Header.Target() != e.URL {
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
	title, text = digest.Page(content, head.Header().Get("Content-Type"))
	return cutText(title, maxTitle), cutText(text, maxPageText), true
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
