package discover

import (
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/uri"
)

// DefaultMaxLinks is the number of links taken from one page unless [Bounds] says otherwise. It is a little less than
// Heritrix's limit.
const DefaultMaxLinks = 5_000

// defaultMaxBytes is a page size that no honest page reaches.
const defaultMaxBytes = 8 << 20

// sniffed is how much of a body the sniffing standard looks at.
const sniffed = 512

// Bounds limit what one response may cost.
type Bounds struct {
	MaxLinks int   // how many links are given; zero means [DefaultMaxLinks]
	MaxBytes int64 // how much of the content is read, in bytes; zero means 8 MiB

	// Speculative asks for what looks like a reference in scripts, too. What is only found there is listed behind all
	// else, as far as MaxLinks leaves room.
	Speculative bool
}

// Document is the response whose links are wanted.
type Document struct {
	URI    uri.URI     // what was requested; references are relative to it
	Status int         // of the response
	Header http.Header // Content-Type, Location, Refresh and Link are used
}

// Link is a URI that was found and the kind of step that leads to it: [uri.Embed], [uri.Redirect], [uri.Link], or
// [uri.Manifest] for a feed of the page, [uri.Speculative] for a guess from a script.
type Link struct {
	URI uri.URI
	Hop uri.Hop
}

// Result is what a response names.
type Result struct {
	Published time.Time // when the page says that it was published as an article; zero if it does not

	Links   []Link // each URI once, in order of appearance
	Dropped int    // references beyond MaxLinks; they were not resolved, so one that is repeated counts each time
	Refused int    // references that no browser could resolve, that are too long, or not http(s): mailto:, javascript:, data:
	Cut     bool   // the content was longer than MaxBytes, and what lies beyond was not looked at
}

// Links finds what a response names. The content is the body without transfer and content encoding; it is read only if
// it can name something, and may be nil for a response without body. One with a method Bytes is asked for that instead.
// An error means that reading it failed; what was read until then has been searched, and the links in it are returned too.
func Links(doc Document, content io.Reader, b Bounds) (Result, error) {
	if b.MaxLinks <= 0 {
		b.MaxLinks = DefaultMaxLinks
	}
	if b.MaxBytes <= 0 {
		b.MaxBytes = defaultMaxBytes
	}
	p := newPage(doc.URI, b.MaxLinks)
	p.speculative = b.Speculative
	if location := doc.Header.Get("Location"); location != "" && redirects(doc.Status) {
		p.add(escapeHigh(location), uri.Redirect)
		return p.found, nil
	}
	p.headers(doc.Header)
	contentType := doc.Header.Get("Content-Type")
	form := formOf(contentType)
	if form == other || form == code && !b.Speculative || content == nil {
		return p.found, nil
	}
	body, cut, err := read(content, b.MaxBytes)
	p.found.Cut = cut
	if form == unnamed {
		form = formOf(http.DetectContentType(body[:min(len(body), sniffed)]))
	}
	switch form {
	case markup, xhtml:
		text, encoding := decodeHTML(body, contentType)
		p.legacy, p.xhtml = encoding, form == xhtml
		p.html(text)
	case styles:
		p.css(decodeCSS(body, contentType))
	case code:
		p.guesses(body)
	}
	p.addGuesses()
	if err != nil {
		err = fmt.Errorf("read content of %s for links: %w", doc.URI, err)
	}
	return p.found, err
}

// redirects reports whether a browser follows the Location of a response with this status.
func redirects(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// read takes at most limit bytes, and says whether there were more. What r has in memory is not copied.
func read(r io.Reader, limit int64) (body []byte, cut bool, err error) {
	if all, ok := r.(interface{ Bytes() []byte }); ok {
		body = all.Bytes()
		return body[:min(int64(len(body)), limit)], int64(len(body)) > limit, nil
	}
	limit = min(limit, math.MaxInt64-1)
	body, err = io.ReadAll(io.LimitReader(r, limit+1))
	if int64(len(body)) > limit {
		return body[:limit], true, nil // an error past the limit is none of ours
	}
	return body, false, err
}

// form is how a body is read.
type form int

const (
	other   form = iota // not at all
	unnamed             // there is no Content-Type
	markup
	xhtml // and SVG, whose elements have the same names on their own as in a page
	styles
	code
)

func formOf(contentType string) form {
	media, _, _ := strings.Cut(contentType, ";")
	switch strings.ToLower(strings.TrimSpace(media)) {
	case "":
		return unnamed
	case "text/html":
		return markup
	case "application/xhtml+xml", "application/vnd.wap.xhtml+xml", "image/svg+xml":
		return xhtml
	case "text/css":
		return styles
	case "text/javascript", "application/javascript", "application/x-javascript", "text/ecmascript", "application/ecmascript":
		return code
	}
	return other
}
