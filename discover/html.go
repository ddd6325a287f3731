package discover

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"unicode"

	"golang.org/x/net/html"

	"github.com/arcrawl/arcrawl/digest"
	"github.com/arcrawl/arcrawl/uri"
)

// maxToken is the maximum length of a tag, a comment or a text, in bytes, that the tokenizer reads as one token. The
// links of a longer tag are lost; the rest of the page is not.
const maxToken = 1 << 20

// maxAttributes is the number of attributes of a tag after which the tokenizer is replaced. Its table of names grows
// with the largest tag, and slows down every later tag.
const maxAttributes = 1_000

type attribute struct{ key, val []byte }

// html adds the links of a page. Where the tokenizer cannot continue, a new one reads the rest.
func (p *page) html(text []byte) {
	within := ""
	for len(text) > 0 {
		if within == "" && !p.noSkim {
			text = text[p.skim(text):]
		}
		var n int
		n, within = p.tokenize(text, within)
		text = text[n:]
	}
}

// tokenize reads text with the tokenizer, as far as the tokenizer is needed. within is the raw-text element in which
// text begins, or empty. It returns how far it read, and the raw-text element there.
func (p *page) tokenize(text []byte, within string) (int, string) {
	z := html.NewTokenizer(bytes.NewReader(text))
	if within != "" {
		// The tokenizer can begin inside an element, but would not notice the end of a script or style.
		z = html.NewTokenizer(io.MultiReader(strings.NewReader("<"+within+">"), bytes.NewReader(text)))
		z.Next()
	}
	z.SetMaxBuf(maxToken)
	var attrs []attribute
	read := 0
	for {
		kind := z.Next()
		read += len(z.Raw())
		switch kind {
		case html.ErrorToken:
			if read > 0 && errors.Is(z.Err(), html.ErrBufferExceeded) {
				p.longText(within, z.Raw())
				return read, within
			}
			return len(text), ""
		case html.TextToken:
			// Raw text ends with the next token. At the tokenizer's limit the text continues, and within with it.
			if within == "" {
				p.shows(z.Raw())
			}
			p.rawContent(z.Text, within)
			continue
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := z.TagName()
			name, within = p.rawText(z, name, kind == html.SelfClosingTagToken)
			attrs = attrs[:0]
			for more {
				var a attribute
				a.key, a.val, more = z.TagAttr()
				attrs = append(attrs, a)
			}
			p.element(name, attrs)
			if within == "script" {
				p.scriptKind = kindOfScript(attrs)
			}
			if len(attrs) > maxAttributes {
				return read, within
			}
		case html.EndTagToken:
			within, p.prefixedStyle = "", false
			name, _ := z.TagName()
			p.closes(name)
		default:
			within, p.prefixedStyle = "", false
			p.instruction(z.Raw())
		}
		if !p.noSkim && !p.prefixedStyle && canSkim(read, kind, within) {
			return read, ""
		}
	}
}

// rawContent reads the text of a raw-text element. It calls text only if it needs the text.
func (p *page) rawContent(text func() []byte, within string) {
	switch {
	case within == "style", p.prefixedStyle:
		p.css(text())
	case within == "script":
		p.script(text)
	case within == "title" && p.result.Title == "":
		p.result.Title = titleOf(text())
	}
	p.prefixedStyle = false
}

// maxTitle is the maximum length of a title in bytes.
const maxTitle = 200

// titleOf returns a title on one line, without control characters and characters that turn the direction of text.
func titleOf(text []byte) string {
	text = text[:min(len(text), 8*maxTitle)]
	title := strings.Join(strings.FieldsFunc(string(text), func(r rune) bool {
		turns := r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
		return unicode.IsSpace(r) || unicode.IsControl(r) || turns
	}), " ")
	if len(title) > maxTitle {
		title = title[:maxTitle]
	}
	return strings.ToValidUTF8(title, "")
}

// rawText corrects the tokenizer where the content of an element is not raw text to us. It returns the name of the
// element without its prefix, and the same name as within if the content is raw text. To the tokenizer, an element
// with a prefix never has raw text.
func (p *page) rawText(z *html.Tokenizer, name []byte, closed bool) (local []byte, within string) {
	local = p.localName(name)
	p.prefixedStyle = len(local) < len(name) && !closed && string(local) == "style"
	if len(local) < len(name) {
		return local, ""
	}
	switch string(name) {
	case "svg":
		p.svg = !closed
	case "noscript", "noframes", "noembed":
		z.NextIsNotRawText() // we run no scripts, and lazy images have their real address there
	case "script", "style", "title", "textarea", "iframe", "xmp":
		if closed && (p.xhtml || p.svg) {
			z.NextIsNotRawText()
			break
		}
		return name, string(name)
	case "plaintext":
		return name, string(name)
	}
	return name, ""
}

// element adds the links of one start tag.
func (p *page) element(name []byte, attrs []attribute) {
	p.wording.breaks(name, p.result.Links)
	switch string(name) {
	case "a", "area", "frame", "iframe":
		p.shown.door()
	case "script":
		p.shown.scripts = true
	case "noscript":
		p.shown.aside = true
	case "base":
		if href, ok := value(attrs, "href"); ok {
			p.setBase(href)
		}
	case "link":
		p.linkElement(attrs)
	case "meta":
		p.meta(attrs)
	case "form":
		if method, _ := value(attrs, "method"); len(method) == 0 || bytes.EqualFold(method, []byte("get")) {
			p.attributeReference(attrs, "action", uri.Link)
		}
	case "input":
		if kind, _ := value(attrs, "type"); bytes.EqualFold(kind, []byte("image")) {
			p.attributeReference(attrs, "src", uri.Embed)
		}
	case "object", "applet":
		p.object(attrs)
	case "param":
		if name, _ := value(attrs, "name"); bytes.EqualFold(name, []byte("movie")) {
			p.attributeReference(attrs, "value", uri.Embed)
		}
	}
	own := elementUses[string(name)]
	for _, a := range attrs {
		key := p.key(a)
		u, ok := own[string(key)]
		if !ok {
			u = uses[string(key)]
		}
		p.attribute(u, a.val)
		if string(key) == "href" && string(name) == "a" {
			p.wording.begin(p.last)
		}
		if p.speculative && runs(a) {
			p.guesses(a.val)
		}
	}
}

// shows reads a text between two tags.
func (p *page) shows(text []byte) {
	p.shown.add(text)
	p.wording.text(text)
}

// closes reads an end tag. name may have capitals.
func (p *page) closes(name []byte) {
	p.wording.breaks(name, p.result.Links)
	switch {
	case len(name) == 1 && name[0]|0x20 == 'a':
		p.wording.begin(none)
	case len(name) == len("svg") && bytes.EqualFold(name, []byte("svg")):
		p.svg = false
	case p.shown.aside && bytes.EqualFold(name, []byte("noscript")):
		p.shown.aside = false
	}
}

// runs reports whether an attribute is a script: an event handler or a javascript: address.
func runs(a attribute) bool {
	const scheme = "javascript:"
	return bytes.HasPrefix(a.key, []byte("on")) ||
		len(a.val) > len(scheme) && bytes.EqualFold(a.val[:len(scheme)], []byte(scheme))
}

// object adds the parts of an object or applet element. They are relative to its codebase.
func (p *page) object(attrs []attribute) {
	from := p.base
	codebase, ok := value(attrs, "codebase")
	if ok && len(codebase) <= uri.MaxLength && !p.full() {
		p.resolved++
		if u, err := p.base.Join(string(codebase)); err == nil {
			from = u
		}
	}
	for _, a := range attrs {
		switch string(a.key) {
		case "data":
			p.embedRelativeTo(from, a.val)
		case "code":
			if bytes.HasSuffix(a.val, []byte(".class")) {
				p.embedRelativeTo(from, a.val)
			}
		case "archive":
			separates := func(r rune) bool { return r == ',' || strings.ContainsRune(whitespace, r) }
			for part := range bytes.FieldsFuncSeq(a.val, separates) {
				p.embedRelativeTo(from, part)
			}
		}
	}
}

// value returns the value of an attribute.
func value(attrs []attribute, key string) ([]byte, bool) {
	for _, a := range attrs {
		if string(a.key) == key {
			return a.val, true
		}
	}
	return nil, false
}

// attributeReference adds the reference in an attribute, if the element has that attribute.
func (p *page) attributeReference(attrs []attribute, key string, hop uri.Hop) {
	if ref, ok := value(attrs, key); ok {
		p.reference(ref, hop)
	}
}

// linkElement adds the links of a link element.
func (p *page) linkElement(attrs []attribute) {
	rel, _ := value(attrs, "rel")
	hop := relation(string(rel), hopWithoutRel(attrs))
	if hop == noHop {
		return
	}
	if kind, _ := value(attrs, "type"); hop == uri.Link && isFeed(rel, kind) {
		hop = uri.Manifest
	}
	p.attributeReference(attrs, "href", hop)
	if list, ok := value(attrs, "imagesrcset"); ok {
		p.srcset(list)
	}
}

// hopWithoutRel returns the hop of a link element without a known rel. It may be a property of the page (microdata).
func hopWithoutRel(attrs []attribute) uri.Hop {
	property, _ := value(attrs, "itemprop")
	if hop, ok := metaUses[string(bytes.ToLower(bytes.TrimSpace(property)))]; ok {
		return hop
	}
	return uri.Link
}

// isFeed reports whether a link with this rel and type is a feed of its page, by the rules of feed readers.
func isFeed(rel, kind []byte) bool {
	switch digest.MediaType(string(kind)) {
	case "application/rss+xml", "application/atom+xml", "application/feed+json", "application/rdf+xml":
	default:
		return false
	}
	alternate := false
	for word := range strings.FieldsSeq(strings.ToLower(string(rel))) {
		alternate = alternate || word == "alternate" || word == "feed"
	}
	return alternate
}

// meta adds the links of a meta element.
func (p *page) meta(attrs []attribute) {
	content, ok := value(attrs, "content")
	if !ok {
		return
	}
	if equiv, _ := value(attrs, "http-equiv"); bytes.EqualFold(equiv, []byte("refresh")) {
		if target, ok := refreshTarget(content); ok {
			p.reference(target, uri.Redirect)
		}
	}
	for _, key := range []string{"property", "name", "itemprop"} {
		name, _ := value(attrs, key)
		p.published(name, content)
		if hop, ok := metaUses[string(bytes.ToLower(bytes.TrimSpace(name)))]; ok {
			p.reference(content, hop)
		}
	}
}

// attribute adds the links in an attribute.
func (p *page) attribute(u use, val []byte) {
	switch u {
	case link:
		p.reference(val, uri.Link)
	case embed:
		p.reference(val, uri.Embed)
	case imageList:
		p.srcset(val)
	case styles:
		if bytes.IndexByte(val, '(') >= 0 {
			p.css(val)
		}
	case lazy:
		if bytes.Contains(val, []byte("url(")) {
			p.css(val)
		} else if plausible(val) {
			p.reference(val, uri.Embed)
		}
	case lazyList:
		if bytes.IndexByte(val, '{') < 0 {
			p.srcset(val)
		}
	case srcdoc:
		p.frame(val)
	}
}

// frame reads a page inside an attribute. Its base element applies to itself alone. A page inside that page is not
// read.
func (p *page) frame(text []byte) {
	if p.nested {
		return
	}
	based, svg := p.based, p.svg
	p.nested, p.based, p.svg = true, true, false
	p.html(text)
	p.nested, p.based, p.svg = false, based, svg
}

// plausible reports whether the value of an attribute that belongs to a script may be a reference. "true", "3",
// templates and pieces of JSON are not.
func plausible(val []byte) bool {
	val = bytes.TrimSpace(val)
	return bytes.ContainsAny(val, "/.") && !bytes.ContainsAny(val, "{}<>\"\t\r\n ")
}

// instruction adds the style sheet of an xml-stylesheet instruction ("Associating Style Sheets with XML documents 1.0",
// section 3). text is any markup with its angle brackets; other markup is ignored. In HTML an instruction is a comment.
func (p *page) instruction(text []byte) {
	const begin, end = "<?xml-stylesheet", "?>"
	if !p.xhtml || !bytes.HasPrefix(text, []byte(begin)) || !bytes.HasSuffix(text, []byte(end)) {
		return
	}
	rest := text[len(begin) : len(text)-1] // including the '?', so that every attribute has an end
	for len(rest) > 0 {
		blank := space(rest)
		if blank == 0 {
			return
		}
		key, val, n := attributeOf(rest[blank:])
		if n == 0 {
			return
		}
		if string(key) == "href" {
			p.reference([]byte(html.UnescapeString(string(val))), uri.Embed)
			return
		}
		rest = rest[blank+n:]
	}
}

// localName returns the name of an element of an XML document without its namespace prefix, which can be any name. In
// HTML a colon is part of the name.
func (p *page) localName(name []byte) []byte {
	if !p.xhtml {
		return name
	}
	return name[bytes.IndexByte(name, ':')+1:]
}

// key returns the name of an attribute as in the tables. Of names with a prefix, only the href of XLink counts.
func (p *page) key(a attribute) []byte {
	const linked = "xlink:href"
	if p.xhtml && bytes.HasSuffix(a.key, []byte(linked[len("xlink"):])) {
		return []byte(linked)
	}
	return a.key
}
