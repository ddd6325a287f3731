package discover

import (
	"bytes"
	"slices"
	"strings"

	"golang.org/x/text/encoding"

	"github.com/arcrawl/arcrawl/uri"
)

// resolutions is how many references are resolved for each link that may be given. Resolving is what costs time, and a
// page of unparsable references would otherwise cost without end.
const resolutions = 4

// page gathers the links of one document.
type page struct {
	self     uri.URI
	base     uri.URI
	origin   string            // of base, without a slash at the end
	folder   string            // of base, with a slash at the end
	bare     string            // base without its query
	based    bool              // a base element was seen: later ones do not count
	legacy   encoding.Encoding // of the document, nil for UTF-8: what queries are escaped in
	xhtml    bool              // the document is XML: <script/> is a whole element
	svg      bool              // inside an svg element, where that is so too
	styled   bool              // inside a style element whose name has a prefix
	nested   bool              // inside an iframe's srcdoc
	writes   script            // what the script element is in that is being read
	thorough bool              // the tokenizer reads everything; a test compares
	maxLinks int

	speculative bool            // scripts are searched for what may be references
	guessed     []string        // what was found in them, each once; listed behind all else
	guessedOnce map[string]bool // the same

	attrs    []attribute    // memory for those of a tag
	resolved int            // how many references were resolved
	seen     map[string]int // reference as written, under the current base → place in found.Links, or none; not of plain ones
	places   index          // the same by URI
	text     []byte         // memory for a plain reference
	origins  [maxOrigins]string
	met      int // how many origins were
	found    Result
}

// maxOrigins is how many origins of other hosts are remembered that references were found to have in canonical form.
const maxOrigins = 8

// none is the place of a reference that gave no link.
const none = -1

func newPage(self uri.URI, maxLinks int) *page {
	p := &page{self: self, maxLinks: maxLinks, seen: map[string]int{}, places: newIndex()}
	p.rest(self)
	return p
}

// rest has the references that follow resolved against a base.
func (p *page) rest(base uri.URI) {
	p.base, p.origin = base, origin(base)
	p.bare, _, _ = strings.Cut(base.String(), "?")
	p.folder = p.bare[:strings.LastIndexByte(p.bare, '/')+1]
}

func origin(u uri.URI) string { return strings.TrimSuffix(u.Origin().String(), "/") }

// setBase applies the href of a base element. The first one counts even when it is no good.
func (p *page) setBase(href []byte) {
	if p.based {
		return
	}
	p.based = true
	if len(href) > uri.MaxLength {
		return
	}
	base, err := p.self.Join(string(href))
	if err != nil {
		return
	}
	p.rest(base)
	clear(p.seen)
}

// reference adds what an attribute of the document names.
func (p *page) reference(ref []byte, hop uri.Hop) {
	if p.legacy != nil {
		ref = escapeQuery(ref, p.legacy)
	}
	p.add(ref, hop)
}

// relative adds what an element embeds whose references have a base of their own.
func (p *page) relative(from uri.URI, ref []byte) {
	ref = bytes.TrimFunc(ref, func(c rune) bool { return c <= ' ' })
	switch {
	case from == p.base:
		p.reference(ref, uri.Embed)
		return
	case len(ref) == 0:
		return
	case len(ref) > uri.MaxLength || foreign(ref):
		p.found.Refused++
		return
	case p.resolved >= resolutions*p.maxLinks:
		p.found.Dropped++
		return
	}
	p.resolved++
	if p.legacy != nil {
		ref = escapeQuery(ref, p.legacy)
	}
	u, err := from.Join(string(ref))
	if err != nil {
		p.found.Refused++
		return
	}
	p.add([]byte(u.String()), uri.Embed)
}

// add resolves a reference and lists it.
func (p *page) add(ref []byte, hop uri.Hop) {
	for len(ref) > 0 && ref[0] <= ' ' {
		ref = ref[1:]
	}
	for len(ref) > 0 && ref[len(ref)-1] <= ' ' {
		ref = ref[:len(ref)-1]
	}
	// A fragment names a place in the target. What stands before it is not trimmed once more.
	if i := bytes.IndexByte(ref, '#'); i == 0 || i > 0 && ref[i-1] > ' ' {
		ref = ref[:i]
	}
	if len(ref) == 0 {
		return
	}
	if text := p.plainly(ref); text != nil {
		p.list(text, hop)
		return
	}
	if place, ok := p.seen[string(ref)]; ok {
		p.strengthen(place, hop)
		return
	}
	if len(ref) > uri.MaxLength || foreign(ref) {
		p.found.Refused++
		return
	}
	if p.full() {
		p.found.Dropped++
		return
	}
	p.resolved++
	s := string(ref)
	u, err := p.base.Join(s)
	if err != nil {
		p.found.Refused++
		p.seen[s] = none
		return
	}
	p.meet(s, u)
	p.seen[s] = p.place([]byte(u.String()), u, hop)
}

// full reports whether no further reference may be resolved.
func (p *page) full() bool {
	return len(p.found.Links) >= p.maxLinks || p.resolved >= resolutions*p.maxLinks
}

// list lists the URI with a text in canonical form.
func (p *page) list(text []byte, hop uri.Hop) {
	if string(text) == p.self.String() {
		return
	}
	place, sum, ok := p.places.find(text, p.found.Links)
	switch {
	case ok:
		p.strengthen(place, hop)
	case p.full():
		p.found.Dropped++
	default:
		p.resolved++
		p.append(uri.FromCanonical(string(text)), sum, hop)
	}
}

// place gives the place of a URI, and lists it if it has none.
func (p *page) place(text []byte, u uri.URI, hop uri.Hop) int {
	if u == p.self {
		return none
	}
	place, sum, ok := p.places.find(text, p.found.Links)
	if ok {
		p.strengthen(place, hop)
		return place
	}
	return p.append(u, sum, hop)
}

func (p *page) append(u uri.URI, sum uint32, hop uri.Hop) int {
	place := len(p.found.Links)
	if place == cap(p.found.Links) {
		p.found.Links = slices.Grow(p.found.Links, max(place, 8)) // twice as many: what append would add beside is much for many links
	}
	p.found.Links = append(p.found.Links, Link{URI: u, Hop: hop})
	p.places.put(sum, place)
	return place
}

// strengthen notes that a link was found again, in another way perhaps.
func (p *page) strengthen(place int, hop uri.Hop) {
	if place != none && strength(hop) > strength(p.found.Links[place].Hop) {
		p.found.Links[place].Hop = hop
	}
}

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

// foreign reports whether a reference begins with a scheme other than http and https. It saves resolving the many
// javascript: and data: references of ordinary pages; what it overlooks, the resolver refuses.
func foreign(ref []byte) bool {
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
