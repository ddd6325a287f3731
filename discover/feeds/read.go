package feeds

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/arcrawl/arcrawl/uri"
)

// DefaultMaxItems is the number of items read from one source unless [Bounds] says otherwise: the limit of the sitemap
// protocol.
const DefaultMaxItems = 50_000

const (
	// defaultMaxBytes is the limit of the sitemap protocol, too.
	defaultMaxBytes = 50 << 20
	// maxFeed is how much of a feed is read, since all of it is held in memory at once.
	maxFeed = 8 << 20
	// maxEmbeds is how many pictures and the like are taken from one source.
	maxEmbeds = 5_000
)

// Bounds limit what one source may cost.
type Bounds struct {
	MaxItems int   // items that are given; zero means [DefaultMaxItems]
	MaxBytes int64 // bytes of content that are read, after a gzip of the content's own is undone; zero means 50 MiB
}

// Item is an entry of a feed or sitemap. Times are zero where none is given or none can be read.
type Item struct {
	ID        string    // guid, id or about; the link where there is none
	URI       uri.URI   // the page, or the sitemap of an index
	Published time.Time // UTC
	Updated   time.Time // UTC; lastmod of a sitemap
	Day       bool      // Updated is a date without a time of day: its midnight
	Text      uint16    // hash of what the source says about the page; zero where it says nothing
}

// Date is the latest date that an item claims, zero if none.
func (i Item) Date() time.Time {
	if i.Updated.After(i.Published) {
		return i.Updated
	}
	return i.Published
}

// Document is what a source says.
type Document struct {
	Kind    Kind
	Items   []Item // in their order, each URI with its first id only once
	Embeds  []uri.URI
	Hints   Hints
	Hub     uri.URI // WebSub hub, zero if none
	Self    uri.URI // what the source calls itself, zero if it does not say
	Dropped int     // items beyond MaxItems, or without an http(s) link
	Cut     bool    // it was not read to its end: too long, or broken
	Fault   error   // why it could not be read whole; nil if it could
}

// ErrNotASource tells that a content is neither a feed nor a sitemap.
var ErrNotASource = errors.New("neither a feed nor a sitemap")

// Read reads a source found at self. The content is the body without content coding. Sources in plain text are taken for
// one only if they are awaited to be. What a reader with a method Bytes has in memory is not copied to look at it. The
// error is [ErrNotASource], or says that content could not be read.
func Read(self uri.URI, contentType string, awaited bool, content io.Reader, b Bounds) (Document, error) {
	if b.MaxItems <= 0 {
		b.MaxItems = DefaultMaxItems
	}
	if b.MaxBytes <= 0 {
		b.MaxBytes = defaultMaxBytes
	}
	if all, ok := content.(interface{ Bytes() []byte }); ok && plainlyNone(contentType, all.Bytes(), awaited) {
		return Document{}, ErrNotASource
	}
	r := bufio.NewReaderSize(content, headLength)
	if magic, _ := r.Peek(2); string(magic) == "\x1f\x8b" {
		z, err := gzip.NewReader(r)
		if err != nil {
			return Document{}, ErrNotASource
		}
		r = bufio.NewReaderSize(z, headLength)
		contentType = "" // that of the package, not of what is in it
	}
	limited := &limit{r: r, left: b.MaxBytes}
	text, head, err := decoded(limited, contentType)
	if err != nil {
		return Document{}, fmt.Errorf("read %s: %w", self, err)
	}
	g := gatherer{self: self, bounds: b, places: map[uri.URI]int{}}
	switch g.doc.Kind = recognise(contentType, head, awaited); {
	case g.doc.Kind == None:
		return Document{}, ErrNotASource
	case g.doc.Kind == Feed:
		err = g.feed(text)
	case head[0] != '<':
		err = g.lines(text)
	default:
		err = g.sitemap(text)
	}
	g.doc.Cut = g.doc.Cut || limited.over || err != nil
	if err != nil {
		g.doc.Fault = fmt.Errorf("read %s %s: %w", g.doc.Kind, self, err)
	}
	return g.doc, nil
}

// limit reads so many bytes, remembers whether there were more, and takes a broken gzip for its end.
type limit struct {
	r    io.Reader
	left int64
	over bool
}

func (l *limit) Read(p []byte) (int, error) {
	if l.left <= 0 {
		if n, _ := l.r.Read(make([]byte, 1)); n > 0 {
			l.over = true
		}
		return 0, io.EOF
	}
	n, err := l.r.Read(p[:min(int64(len(p)), l.left)])
	l.left -= int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		l.over = true
		err = io.EOF // what came before it counts
	}
	return n, err
}

// gatherer puts a document together.
type gatherer struct {
	self   uri.URI
	bounds Bounds
	doc    Document
	places map[uri.URI]int
}

// resolve turns a reference into a URI, the zero one if it is none.
func (g *gatherer) resolve(ref string) uri.URI {
	ref = strings.TrimSpace(ref)
	if ref == "" || len(ref) > uri.MaxLength {
		return uri.URI{}
	}
	u, err := g.self.Join(ref)
	if err != nil {
		return uri.URI{}
	}
	return u
}

// add takes an item. One whose page was listed before keeps the later of the dates.
func (g *gatherer) add(i Item, link string) {
	if len(g.doc.Items) >= g.bounds.MaxItems {
		g.doc.Dropped++ // without a look, since resolving is what costs
		return
	}
	i.URI = g.resolve(link)
	if i.URI.IsZero() || i.URI == g.self {
		g.doc.Dropped++
		return
	}
	if i.ID == "" {
		i.ID = i.URI.String()
	}
	if at, ok := g.places[i.URI]; ok && g.doc.Items[at].ID == i.ID {
		if i.Date().After(g.doc.Items[at].Date()) {
			g.doc.Items[at] = i
		}
		return
	}
	g.places[i.URI] = len(g.doc.Items)
	g.doc.Items = append(g.doc.Items, i)
}

// embed takes the address of a picture or the like.
func (g *gatherer) embed(ref string) {
	if len(g.doc.Embeds) >= maxEmbeds {
		return
	}
	if u := g.resolve(ref); !u.IsZero() {
		g.doc.Embeds = append(g.doc.Embeds, u)
	}
}
