package discover

import (
	"bytes"
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

	attrs    []attribute     // memory for those of a tag
	resolved int             // how many references were resolved
	seen     map[string]int  // reference as written, under the current base → place in found.Links, or none
	places   map[uri.URI]int // the same by URI
	found    Found
}

// none is the place of a reference that gave no link.
const none = -1

func newPage(self uri.URI, maxLinks int) *page {
	return &page{self: self, base: self, origin: origin(self), maxLinks: maxLinks, seen: map[string]int{}, places: map[uri.URI]int{}}
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
	p.base, p.origin = base, origin(base)
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
	ref = bytes.TrimFunc(ref, func(c rune) bool { return c <= ' ' })
	// A fragment names a place in the target. What stands before it is not trimmed once more.
	if i := bytes.IndexByte(ref, '#'); i == 0 || i > 0 && ref[i-1] > ' ' {
		ref = ref[:i]
	}
	if len(ref) == 0 {
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
	if len(p.found.Links) >= p.maxLinks || p.resolved >= resolutions*p.maxLinks {
		p.found.Dropped++
		return
	}
	p.resolved++
	s := string(ref)
	p.seen[s] = p.place(s, hop)
}

func (p *page) place(ref string, hop uri.Hop) int {
	u := p.simple(ref)
	if u.IsZero() {
		var err error
		if u, err = p.base.Join(ref); err != nil {
			p.found.Refused++
			return none
		}
	}
	if u == p.self {
		return none
	}
	if place, ok := p.places[u]; ok {
		p.strengthen(place, hop)
		return place
	}
	place := len(p.found.Links)
	p.found.Links = append(p.found.Links, Link{URI: u, Hop: hop})
	p.places[u] = place
	return place
}

// simple resolves what most references of most pages are, a path from the root in plain characters, in a hundredth of
// the time that the full way takes; the zero URI says that this is not one. It gives what [uri.URI.Join] would.
func (p *page) simple(ref string) uri.URI {
	path := strings.TrimPrefix(ref, p.origin)
	if !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") && len(path) == len(ref) {
		return uri.URI{}
	}
	for i := range len(path) {
		switch c := path[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '.' && path[i-1] != '/':
		case strings.IndexByte("/-_~?=&+,:;@!$()*", c) < 0:
			return uri.URI{}
		}
	}
	return uri.FromCanonical(p.origin + path)
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
