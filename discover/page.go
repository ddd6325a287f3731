package discover

import (
	"bytes"
	"context"
	"hash/maphash"
	"slices"
	"strings"

	"golang.org/x/text/encoding"

	"github.com/arcrawl/arcrawl/uri"
)

// resolutions is how many references are resolved for each link that Bounds allows. Resolving is what takes time, and a
// page of faulty references would otherwise have no bound.
const resolutions = 4

// page gathers the links of one document.
type page struct {
	ctx      context.Context // when it ends, nothing more is resolved
	self     uri.URI
	base     uri.URI
	origin   string            // of base, without a slash at the end
	folder   string            // of base, with a slash at the end
	bare     string            // base without its query
	based    bool              // a base element was seen; later ones are ignored
	legacy   encoding.Encoding // the encoding in which queries are escaped; nil for UTF-8
	maxLinks int

	xhtml         bool       // the document is XML: <script/> is a whole element
	svg           bool       // inside an svg element, where <script/> is a whole element too
	prefixedStyle bool       // inside a style element whose name has a prefix
	nested        bool       // inside the srcdoc of an iframe
	scriptKind    scriptKind // kind of the script element that is being read
	noSkim        bool       // the tokenizer reads everything; tests compare both ways

	speculative bool            // scripts are searched for references
	guessed     []string        // references found in scripts, each once; listed after all other links
	isGuessed   map[string]bool // the same as a set

	shown   shown // what the page shows without scripts
	wording wording
	last    int // place of the last reference; none if it is not a link

	attrs       []attribute    // memory for the attributes of a tag
	resolved    int            // number of references that were resolved
	seen        map[string]int // place of a reference as written, under the current base; not of plain references
	places      index          // place of a URI
	text        []byte         // memory for a plain reference
	origins     [maxOrigins]string
	originCount int // number of origins that were remembered, including overwritten ones
	result      Result
}

// maxOrigins is how many origins of other hosts are remembered. References to them are resolved without parsing.
const maxOrigins = 8

// none is the place of a reference that is not a link.
const none = -1

func newPage(ctx context.Context, self uri.URI, maxLinks int) *page {
	p := &page{ctx: ctx, self: self, maxLinks: maxLinks, seen: map[string]int{}, places: newIndex()}
	p.wording.link = none
	p.resolveAgainst(self)
	return p
}

// resolveAgainst sets the base of the references that follow.
func (p *page) resolveAgainst(base uri.URI) {
	p.base, p.origin = base, origin(base)
	p.bare, _, _ = strings.Cut(base.String(), "?")
	p.folder = p.bare[:strings.LastIndexByte(p.bare, '/')+1]
}

// origin returns the origin of a URI without a slash at the end.
func origin(u uri.URI) string { return strings.TrimSuffix(u.Origin().String(), "/") }

// setBase applies the href of a base element. Only the first base element counts, even if it is faulty.
func (p *page) setBase(href []byte) {
	if p.based {
		return
	}
	p.based = true
	if len(href) > uri.MaxLength || p.full() {
		return
	}
	p.resolved++
	base, err := p.self.Join(string(href))
	if err != nil {
		return
	}
	p.resolveAgainst(base)
	clear(p.seen)
}

// reference adds a reference that is written in the encoding of the document.
func (p *page) reference(ref []byte, hop uri.Hop) {
	if p.legacy != nil {
		ref = escapeQuery(ref, p.legacy)
	}
	p.add(ref, hop)
}

// embedRelativeTo adds an embed that is relative to a base of its own.
func (p *page) embedRelativeTo(from uri.URI, ref []byte) {
	ref = bytes.TrimFunc(ref, func(c rune) bool { return c <= ' ' })
	switch {
	case from == p.base:
		p.reference(ref, uri.Embed)
		return
	case len(ref) == 0:
		return
	case len(ref) > uri.MaxLength || hasOtherScheme(ref):
		p.result.Refused++
		return
	case p.full():
		p.result.Dropped++
		return
	}
	p.resolved++
	if p.legacy != nil {
		ref = escapeQuery(ref, p.legacy)
	}
	u, err := from.Join(string(ref))
	if err != nil {
		p.result.Refused++
		return
	}
	p.add([]byte(u.String()), uri.Embed)
}

// add resolves a reference and lists it.
func (p *page) add(ref []byte, hop uri.Hop) {
	p.last = none
	for len(ref) > 0 && ref[0] <= ' ' {
		ref = ref[1:]
	}
	for len(ref) > 0 && ref[len(ref)-1] <= ' ' {
		ref = ref[:len(ref)-1]
	}
	// A fragment names a place in the target. White space before it is not removed.
	if i := bytes.IndexByte(ref, '#'); i == 0 || i > 0 && ref[i-1] > ' ' {
		ref = ref[:i]
	}
	if len(ref) == 0 {
		return
	}
	if text := p.resolvePlain(ref); text != nil {
		p.list(text, hop)
		return
	}
	if place, ok := p.seen[string(ref)]; ok {
		p.last = place
		p.strengthen(place, hop)
		return
	}
	if len(ref) > uri.MaxLength || hasOtherScheme(ref) {
		p.result.Refused++
		return
	}
	if p.full() {
		p.result.Dropped++
		return
	}
	p.resolved++
	s := string(ref)
	u, err := p.base.Join(s)
	if err != nil {
		p.result.Refused++
		p.seen[s] = none
		return
	}
	p.rememberOrigin(s, u)
	p.last = p.place([]byte(u.String()), u, hop)
	p.seen[s] = p.last
}

// full reports whether no more references may be resolved. All resolving asks it first, because a page can have
// references that take long.
func (p *page) full() bool {
	return len(p.result.Links) >= p.maxLinks || p.resolved >= resolutions*p.maxLinks || p.ctx.Err() != nil
}

// list adds the URI with this text, which is in canonical form.
func (p *page) list(text []byte, hop uri.Hop) {
	if string(text) == p.self.String() {
		return
	}
	place, sum, ok := p.places.find(text, p.result.Links)
	switch {
	case ok:
		p.last = place
		p.strengthen(place, hop)
	case p.full():
		p.result.Dropped++
	default:
		p.resolved++
		p.last = p.append(uri.FromCanonical(string(text)), sum, hop)
	}
}

// place returns the place of a URI, and adds the URI if it is new.
func (p *page) place(text []byte, u uri.URI, hop uri.Hop) int {
	if u == p.self {
		return none
	}
	place, sum, ok := p.places.find(text, p.result.Links)
	if ok {
		p.strengthen(place, hop)
		return place
	}
	return p.append(u, sum, hop)
}

// append adds a new link and returns its place.
func (p *page) append(u uri.URI, sum uint32, hop uri.Hop) int {
	place := len(p.result.Links)
	if place == cap(p.result.Links) {
		p.result.Links = slices.Grow(p.result.Links, max(place, 8)) // append would grow long lists by too little
	}
	p.result.Links = append(p.result.Links, Link{URI: u, Hop: hop})
	p.places.put(sum, place)
	return place
}

// strengthen sets the stronger of both hops for a link that was found again.
func (p *page) strengthen(place int, hop uri.Hop) {
	if place != none && strength(hop) > strength(p.result.Links[place].Hop) {
		p.result.Links[place].Hop = hop
	}
}

// strength ranks hops: a URI that is found in several ways gets the strongest.
func strength(h uri.Hop) int {
	switch h {
	case uri.Embed:
		return 3
	case uri.Redirect:
		return 2
	case uri.Manifest:
		return 1
	case uri.Speculative:
		return -1
	}
	return 0
}

// hasOtherScheme reports whether a reference begins with a scheme other than http and https. It saves resolving the
// many javascript: and data: references of ordinary pages. The resolver refuses those that it overlooks.
func hasOtherScheme(ref []byte) bool {
	for i, c := range ref {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		switch {
		case c == ':':
			return i > 0 && !bytes.EqualFold(ref[:i], []byte("http")) && !bytes.EqualFold(ref[:i], []byte("https"))
		case !letter && (i == 0 || (c < '0' || c > '9') && c != '+' && c != '-' && c != '.'):
			return false
		}
	}
	return false
}

// index finds the place of a link by the text of its URI. It is a hash table of places without texts: a page may have
// thousands of links, and filling a map of their texts takes longer than reading the page.
type index struct {
	seed  maphash.Seed
	slots []slot // their number is a power of two, and at least half are free
	n     int
}

// slot holds some bits of the hash of a text, and the place of the link plus 1. The zero slot is free.
type slot struct{ sum, after uint32 }

// firstSlots is the initial number of slots.
const firstSlots = 64

func newIndex() index { return index{seed: maphash.MakeSeed(), slots: make([]slot, firstSlots)} }

// find returns the place of the link whose URI has this text. If there is none, put takes sum to add it.
func (x *index) find(text []byte, links []Link) (place int, sum uint32, ok bool) {
	sum = uint32(maphash.Bytes(x.seed, text))
	for pos := x.first(sum); ; pos = x.next(pos) {
		switch s := x.slots[pos]; {
		case s.after == 0:
			return none, sum, false
		case s.sum == sum && links[s.after-1].URI.String() == string(text):
			return int(s.after - 1), sum, true
		}
	}
}

// put stores the place of a link that find did not find.
func (x *index) put(sum uint32, place int) {
	if x.n++; 2*x.n > len(x.slots) {
		old := x.slots
		x.slots = make([]slot, 2*len(old))
		for _, s := range old {
			if s.after != 0 {
				x.fill(s)
			}
		}
	}
	x.fill(slot{sum, uint32(place + 1)})
}

func (x *index) fill(s slot) {
	at := x.first(s.sum)
	for x.slots[at].after != 0 {
		at = x.next(at)
	}
	x.slots[at] = s
}

func (x *index) first(sum uint32) int { return int(sum) & (len(x.slots) - 1) }
func (x *index) next(at int) int      { return (at + 1) & (len(x.slots) - 1) }
