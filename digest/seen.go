package digest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Sight holds digests of what a reader sees of an HTML page: its text, and the addresses of its pictures and links.
// Two pages with the same digest look the same. Zero means that there is none: the page is not HTML, has little text,
// or a part of its text is in scripts.
type Sight struct {
	Exact  uint64 // with whole addresses
	Masked uint64 // without the values of parameters whose names say that they belong to a visitor, such as a session
	Text   int    // bytes of text
}

// minSeen is the minimum number of bytes of text of a page that is compared by what a reader sees. The content of a
// shorter page probably comes from a script.
const minSeen = 200

// maxInScripts is the minimum of the bytes of text for each byte of a sentence in a script. Where scripts have more,
// they probably write a part of what a reader sees.
const maxInScripts = 8

// Seen returns the digests of what a reader sees of a content, after the regular expressions and selectors of r. It
// ignores Types and Text. There are none if the rules take too long, or the content is longer than MaxSize.
func (r *Rules) Seen(ctx context.Context, content io.Reader, contentType string) (Sight, error) {
	if !IsHTML(contentType) {
		return Sight{}, nil
	}
	body, ok, err := r.read(content)
	if !ok {
		return Sight{}, err
	}
	page, err := r.scrub(ctx, body, contentType)
	if errors.Is(err, ErrTooSlow) {
		return Sight{}, nil
	}
	if err != nil {
		return Sight{}, err
	}
	return r.SightOf(page), nil
}

// SightOf returns the digests of what a reader sees of an HTML page in UTF-8 that was scrubbed by r.
func (r *Rules) SightOf(page []byte) Sight { return sightOf(page, r.unordered) }

// view collects what a reader sees.
type view struct {
	exact, masked spaced
	text, hidden  int // bytes of text, and of sentences in scripts

	unordered bool
	sums      [2]uint64 // of the parts so far, if their order does not matter
}

func (v *view) add(text []byte) {
	before := len(v.exact.b)
	v.exact.add(text)
	v.masked.add(text)
	v.text += len(v.exact.b) - before
}

func (v *view) part(a atom.Atom) {
	if v.unordered && !inline(a) {
		v.endPart()
	}
	v.exact.part(a)
	v.masked.part(a)
}

// endPart adds what was collected to the sums of the parts.
func (v *view) endPart() {
	if len(v.exact.b) > 0 {
		v.sums[0] += short(v.exact.b)
		v.sums[1] += short(v.masked.b)
	}
	v.exact.b, v.masked.b = v.exact.b[:0], v.masked.b[:0]
}

// address adds the value of an attribute.
func (v *view) address(name, value string) {
	v.exact.b = append(append(append(append(v.exact.b, 0), name...), '='), value...)
	v.masked.b = append(append(append(append(v.masked.b, 0), name...), '='), mask(value)...)
	v.exact.space, v.masked.space = true, true
}

// sight returns the digests.
func (v *view) sight() Sight {
	if v.text < minSeen || v.hidden*maxInScripts > v.text {
		return Sight{}
	}
	if v.unordered {
		v.endPart()
		return Sight{max(1, v.sums[0]), max(1, v.sums[1]), v.text}
	}
	return Sight{short(v.exact.b), short(v.masked.b), v.text}
}

// short returns a digest of 64 bits, which is never zero.
func short(b []byte) uint64 {
	sum := sha256.Sum256(b)
	return max(1, binary.BigEndian.Uint64(sum[:]))
}

// SightOf returns the digests of what a reader sees of an HTML page in UTF-8. It reads the page once, tag by tag.
func SightOf(page []byte) Sight { return sightOf(page, false) }

// sightOf returns the digests. The order of parts matters unless it says that they are unordered.
func sightOf(page []byte, unordered bool) Sight {
	z := html.NewTokenizer(bytes.NewReader(page))
	v := view{unordered: unordered}
	var skipping atom.Atom // the element that is being skipped
	depth := 0             // of elements with the same name inside it
	for {
		switch kind := z.Next(); kind {
		case html.ErrorToken:
			return v.sight()
		case html.TextToken:
			switch {
			case skipping == 0:
				v.add(z.Text())
			case skipping == atom.Script:
				for _, text := range sentence.FindAll(z.Raw(), -1) {
					v.hidden += len(text)
				}
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			token := z.Token()
			a := token.DataAtom
			if skipping != 0 {
				if a == skipping && kind == html.StartTagToken {
					depth++
				}
				continue
			}
			v.part(a)
			for _, attr := range followed(token) {
				v.address(attr.Key, attr.Val)
			}
			if kind == html.StartTagToken && skipped(a) {
				skipping, depth = a, 0
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			a := atom.Lookup(name)
			switch {
			case skipping == 0:
				v.part(a)
			case a == skipping:
				if depth--; depth < 0 {
					skipping = 0
				}
			}
		}
	}
}

// skipped reports whether no reader sees what is inside an element. Drawings and formulas are seen.
func skipped(a atom.Atom) bool {
	return Invisible(a) && a != atom.Svg && a != atom.Math && a != atom.Object
}

// sentence matches a quoted text of four words or more.
var sentence = regexp.MustCompile("[\"'`](?:[^\"'`\\s\\\\<>{}]+ ){3,}[^\"'`\\\\<>{}]+[\"'`]")

// followed returns the attributes of an element that a reader sees, or follows.
func followed(t html.Token) []html.Attribute {
	switch t.DataAtom {
	case atom.Script, atom.Link, atom.Meta, atom.Base, atom.Style:
		return nil
	}
	var all []html.Attribute
	hidden := false
	for _, a := range t.Attr {
		hidden = hidden || t.DataAtom == atom.Input && a.Key == "type" && strings.EqualFold(a.Val, "hidden")
		switch a.Key {
		case "src", "srcset", "href", "xlink:href", "poster", "data", "data-src", "data-srcset", "alt", "placeholder",
			"value", "label", "d", "points":
			all = append(all, a)
		case "style":
			if strings.Contains(a.Val, "url(") {
				all = append(all, a)
			}
		}
	}
	if hidden {
		return nil
	}
	return all
}

// IsMost reports whether s has at least half of the text of the whole page.
func (s Sight) IsMost(whole Sight) bool { return 2*s.Text >= whole.Text }

// parameterValue matches a parameter of a path or query, with its value.
var parameterValue = regexp.MustCompile(`[?&;][A-Za-z_][A-Za-z0-9_.-]*=[^?&;#\s"')]*`)

// mask returns an address without the values of parameters that belong to a visitor.
func mask(address string) string {
	if strings.IndexByte(address, '=') < 0 {
		return address
	}
	return parameterValue.ReplaceAllStringFunc(address, func(pair string) string {
		name, value, _ := strings.Cut(pair, "=")
		if !IsSession(strings.ToLower(name)+"=") || !IsToken(value) {
			return pair
		}
		return name + "=*"
	})
}

var sessionName = regexp.MustCompile(`sess|sid=$|csrf|token|nonce`)

// IsSession reports whether a parameter belongs to a visitor. name is its name in lower case, with the sign behind it:
// "sid=".
func IsSession(name string) bool { return sessionName.MatchString(name) }

// IsToken reports whether a text is a token of a program: no words, at least eight letters and digits, and both.
func IsToken(v string) bool {
	letters, digits := 0, 0
	for _, r := range v {
		switch {
		case r >= '0' && r <= '9':
			digits++
		case r <= unicode.MaxASCII && unicode.IsLetter(r):
			letters++
		case !strings.ContainsRune("-_+/=.:", r):
			return false
		}
	}
	return letters > 0 && digits > 0 && letters+digits >= 8
}
