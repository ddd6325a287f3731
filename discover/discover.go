package discover

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/uri"
)

// DefaultMaxLinks is the number of links taken from one page unless [Bounds] says otherwise. It is a little less than
// Heritrix's limit.
const DefaultMaxLinks = 5_000

// defaultMaxBytes is a page size that no honest page reaches.
const defaultMaxBytes = 8 << 20

// sniffed is how many bytes of a body the sniffing standard examines.
const sniffed = 512

// Bounds limit what one response may cost.
type Bounds struct {
	MaxLinks int   // number of links; zero means [DefaultMaxLinks]
	MaxBytes int64 // bytes of content; zero means 8 MiB

	// Speculative also searches scripts for strings that look like references. These guesses are listed after all other
	// links, as far as MaxLinks allows.
	Speculative bool
	// Words fills in [Link].Words.
	Words bool
}

// Document is a response to search for links.
type Document struct {
	URI    uri.URI     // the requested URI; references are relative to it
	Status int         // status of the response
	Header http.Header // Content-Type, Location, Refresh and Link are used
}

// Link is a URI and the kind of step that leads to it: [uri.Embed], [uri.Redirect], [uri.Link], [uri.Manifest] for a
// feed of the page, or [uri.Speculative] for a guess from a script.
type Link struct {
	URI uri.URI
	Hop uri.Hop
	// Words is a hash of the texts in elements a that lead to the URI, of at least four words each: headlines and
	// teasers. It is zero if there are none, and unless [Bounds].Words is set.
	Words uint16
}

// Result holds the links of a response.
type Result struct {
	Title     string    // of an HTML page: one line of at most 200 bytes
	Published time.Time // when the page says that it was published as an article; zero if it does not
	Shell     bool      // an HTML page whose scripts make what a reader sees: it has hardly any text and hardly a link

	Links   []Link // each URI once, in order of appearance
	Dropped int    // references beyond MaxLinks; they were not resolved, so a repeated one counts each time
	Refused int    // references that are faulty, too long, or not http(s), such as mailto:, javascript: and data:
	Cut     bool   // the content is longer than MaxBytes, and only that much was searched
}

// Links returns the links of a response. The content is the body without transfer and content coding. It is read only
// if it can have links, and may be nil for a response without a body. If it has a method Bytes, that is used instead
// of reading. An error means that reading failed, or that ctx has ended; the links found before are returned too.
func Links(ctx context.Context, doc Document, content io.Reader, b Bounds) (Result, error) {
	if b.MaxLinks <= 0 {
		b.MaxLinks = DefaultMaxLinks
	}
	if b.MaxBytes <= 0 {
		b.MaxBytes = defaultMaxBytes
	}
	p := newPage(ctx, doc.URI, b.MaxLinks)
	p.speculative, p.wording.on = b.Speculative, b.Words
	if location := doc.Header.Get("Location"); location != "" && IsRedirect(doc.Status) {
		p.add(escapeHigh(location), uri.Redirect)
		return p.result, nil
	}
	p.headers(doc.Header)
	contentType := doc.Header.Get("Content-Type")
	form := formOf(contentType)
	if form == formOther || form == formScript && !b.Speculative || content == nil {
		return p.result, nil
	}
	body, cut, err := read(content, b.MaxBytes)
	p.result.Cut = cut
	if form == formUnknown {
		form = formOf(http.DetectContentType(body[:min(len(body), sniffed)]))
	}
	switch form {
	case formHTML, formXHTML:
		text, encoding := decodeHTML(body, contentType)
		p.legacy, p.xhtml = encoding, form == formXHTML
		p.html(text)
		p.result.Shell = p.shown.isShell()
	case formCSS:
		p.css(decodeCSS(body, contentType))
	case formScript:
		p.guesses(body)
	}
	p.addGuesses()
	if err = errors.Join(err, ctx.Err()); err != nil {
		err = fmt.Errorf("search %s for links: %w", doc.URI, err)
	}
	return p.result, err
}

// IsRedirect reports whether a browser follows the Location of a response with this status.
func IsRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// read reads at most limit bytes, and reports whether there were more. Bytes that r has in memory are not copied.
func read(r io.Reader, limit int64) (body []byte, cut bool, err error) {
	if all, ok := r.(interface{ Bytes() []byte }); ok {
		body = all.Bytes()
		return body[:min(int64(len(body)), limit)], int64(len(body)) > limit, nil
	}
	limit = min(limit, math.MaxInt64-1)
	body, err = io.ReadAll(io.LimitReader(r, limit+1))
	if int64(len(body)) > limit {
		return body[:limit], true, nil // an error after the limit does not matter
	}
	return body, false, err
}

// form is a way to read a body.
type form int

const (
	formOther   form = iota // not read
	formUnknown             // there is no Content-Type
	formHTML
	formXHTML // and SVG, whose elements have the same names alone as in a page
	formCSS
	formScript
)

// formOf returns the form of a body with this Content-Type.
func formOf(contentType string) form {
	if media, _, _ := strings.Cut(contentType, ";"); strings.TrimSpace(media) == "" {
		return formUnknown
	}
	switch digest.MediaType(contentType) {
	case "text/html":
		return formHTML
	case "application/xhtml+xml", "application/vnd.wap.xhtml+xml", "image/svg+xml":
		return formXHTML
	case "text/css":
		return formCSS
	case "text/javascript", "application/javascript", "application/x-javascript",
		"text/ecmascript", "application/ecmascript":
		return formScript
	}
	return formOther
}
