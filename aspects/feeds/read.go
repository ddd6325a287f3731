package feeds

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/arcrawl/arcrawl/uri"
)

// DefaultMaxItems is the number of items read from one source unless [Bounds] says otherwise: the limit of the sitemap
// protocol.
const DefaultMaxItems = 50_000

const (
	// defaultMaxBytes is the limit of the sitemap protocol, too.
	defaultMaxBytes = 50 << 20
	// maxFeed is how much of a feed is read. All of it is held in memory at once.
	maxFeed = 8 << 20
	// maxEmbeds is how many images and the like are taken from one source.
	maxEmbeds = 5_000

	gzipMagic = "\x1f\x8b"
)

// Bounds limit what one source may cost.
type Bounds struct {
	MaxItems int   // number of items; zero means [DefaultMaxItems]
	MaxBytes int64 // bytes of content, after the content's own gzip is undone; zero means 50 MiB
}

// Item is an entry of a feed or sitemap. Times are zero where the source says nothing or nothing readable.
type Item struct {
	ID        string    // guid, id or about; the link where there is none
	URI       uri.URI   // the page, or the sitemap of an index
	Published time.Time // UTC
	Updated   time.Time // UTC; lastmod of a sitemap
	Day       bool      // Updated is a date without a time of day, at midnight
	Text      uint16    // hash of what the source says about the page; zero if it says nothing
	Reworded  bool      // in [Reading].Updated: the source changed its text, and not its date
}

// Date returns the later of the item's two dates, zero if it has none.
func (i Item) Date() time.Time {
	if i.Updated.After(i.Published) {
		return i.Updated
	}
	return i.Published
}

// Document is the content of a source.
type Document struct {
	Kind    Kind
	Items   []Item // in the order of the source, each URI with its first id only once
	Embeds  []uri.URI
	Hints   Hints
	Hub     uri.URI // WebSub hub, zero if none
	Self    uri.URI // the address that the source calls its own, zero if it does not say
	Dropped int     // items beyond MaxItems, or without an http(s) link
	Cut     bool    // it was not read to its end, because it is too long or broken
	Fault   error   // why it could not be read whole; nil if it could
}

// ErrNotASource means that a content is neither a feed nor a sitemap.
var ErrNotASource = errors.New("neither a feed nor a sitemap")

// Read reads the source at the URI self. The content is the body without content coding. A list of addresses in plain
// text is a source only if awaited is true. If content has a method Bytes, most contents that are not sources are
// recognised without a copy. The error is [ErrNotASource], or says why content could not be read. A source that is
// broken is returned as far as it could be read, with the reason in its Fault. When ctx ends, the rest is not read.
func Read(
	ctx context.Context, self uri.URI, contentType string, awaited bool, content io.Reader, b Bounds,
) (Document, error) {
	if b.MaxItems <= 0 {
		b.MaxItems = DefaultMaxItems
	}
	if b.MaxBytes <= 0 {
		b.MaxBytes = defaultMaxBytes
	}
	if all, ok := content.(interface{ Bytes() []byte }); ok && clearlyNone(contentType, all.Bytes(), awaited) {
		return Document{}, ErrNotASource
	}
	r := bufio.NewReaderSize(content, headLength)
	if magic, _ := r.Peek(2); string(magic) == gzipMagic {
		z, err := gzip.NewReader(r)
		if err != nil {
			return Document{}, ErrNotASource
		}
		r = bufio.NewReaderSize(z, headLength)
		contentType = "" // it describes the gzip, not its content
	}
	limited := &limitedReader{ctx: ctx, r: r, left: b.MaxBytes}
	decoded, head, err := decode(limited, contentType)
	if err != nil {
		return Document{}, fmt.Errorf("read %s: %w", self, err)
	}
	g := gatherer{ctx: ctx, self: self, bounds: b, places: map[uri.URI]int{}}
	switch g.doc.Kind = kindOf(contentType, head, awaited); {
	case g.doc.Kind == None:
		return Document{}, ErrNotASource
	case g.doc.Kind == Feed:
		err = g.feed(decoded)
	case head[0] != '<':
		err = g.lines(decoded)
	default:
		err = g.sitemap(decoded)
	}
	g.doc.Cut = g.doc.Cut || limited.over || err != nil
	if err != nil {
		g.doc.Fault = fmt.Errorf("read %s %s: %w", g.doc.Kind, self, err)
	}
	return g.doc, nil
}

// limitedReader reads at most left bytes. An error of r, or the end of ctx, ends it as the end of the content does.
type limitedReader struct {
	ctx  context.Context
	r    io.Reader
	left int64
	over bool // there were more bytes, r failed, or ctx has ended
}

func (l *limitedReader) Read(p []byte) (int, error) {
	if l.left <= 0 {
		if n, _ := l.r.Read(make([]byte, 1)); n > 0 {
			l.over = true
		}
		return 0, io.EOF
	}
	if l.ctx.Err() != nil {
		l.over = true
		return 0, io.EOF
	}
	n, err := l.r.Read(p[:min(int64(len(p)), l.left)])
	l.left -= int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		l.over = true
		err = io.EOF // what was read before it is good
	}
	return n, err
}

// gatherer puts a document together.
type gatherer struct {
	ctx    context.Context
	self   uri.URI
	bounds Bounds
	doc    Document
	places map[uri.URI]int // index in doc.Items
}

// textHash returns the hash of what a source says about a page. It is never zero.
func textHash(text string) uint16 { return uint16(xxhash.Sum64String(text)) | 1 }

// resolve returns the URI of a reference. It returns the zero URI if the reference is empty, too long or faulty.
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

// add adds an item. Of two items with the same page and id, the one with the later date is kept.
func (g *gatherer) add(i Item, link string) {
	if len(g.doc.Items) >= g.bounds.MaxItems || g.ctx.Err() != nil {
		g.doc.Dropped++ // before resolving the link, which is the expensive part
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

// embed adds the address of an image or the like.
func (g *gatherer) embed(ref string) {
	if len(g.doc.Embeds) >= maxEmbeds || g.ctx.Err() != nil {
		return
	}
	if u := g.resolve(ref); !u.IsZero() {
		g.doc.Embeds = append(g.doc.Embeds, u)
	}
}
