package discover

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"golang.org/x/net/html"

	"github.com/arcrawl/arcrawl/uri"
)

// maxToken is the longest tag, comment or stretch of text, in bytes, that the tokenizer gathers as one. The links of a
// longer tag are lost; the rest of the page is not.
const maxToken = 1 << 20

// maxAttributes is how many attributes a tag may have before the tokenizer is thrown away for a new one: it keeps a
// table of names that grows with the largest tag, and going over it costs every later tag.
const maxAttributes = 1_000

type attribute struct{ key, val []byte }

// html adds what a page names. Where the tokenizer cannot go on, a new one takes the rest.
func (p *page) html(text []byte) {
	within := ""
	for len(text) > 0 {
		if within == "" && !p.thorough {
			text = text[p.skim(text):]
		}
		var n int
		n, within = p.stretch(text, within)
		text = text[n:]
	}
}

// stretch reads text, which stands inside the raw text of the element within if that is not empty, as far as the tokenizer
// is needed. It gives how far it came, and what the element of raw text is there.
func (p *page) stretch(text []byte, within string) (int, string) {
	z := html.NewTokenizer(bytes.NewReader(text))
	if within != "" {
		// The tokenizer's own way to begin inside an element does not end where a script or style ends.
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
				p.overlong(within, z.Raw())
				return read, within
			}
			return len(text), ""
		case html.TextToken:
			// What ends a raw text is another token, or the tokenizer's limit: then within still holds.
			switch {
			case within == "style", p.styled:
				p.css(z.Text())
			case within == "script":
				p.script(z.Text)
			}
			p.styled = false
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
				p.writes = scriptOf(attrs)
			}
			if len(attrs) > maxAttributes {
				return read, within
			}
		case html.EndTagToken:
			within, p.styled = "", false
			if name, _ := z.TagName(); string(name) == "svg" {
				p.svg = false
			}
		default:
			within, p.styled = "", false
			p.instruction(z.Raw())
		}
		if !p.thorough && !p.styled && done(read, kind, within) {
			return read, ""
		}
	}
}

// rawText tells the tokenizer where it takes for raw text what is none, and gives the name of the element without its prefix,
// and once more if its content is raw text to us too. To the tokenizer an element whose name has a prefix has none.
func (p *page) rawText(z *html.Tokenizer, name []byte, closed bool) (local []byte, within string) {
	local = p.localName(name)
	p.styled = len(local) < len(name) && !closed && string(local) == "style"
	if len(local) < len(name) {
		return local, ""
	}
	switch string(name) {
	case "svg":
		p.svg = !closed
	case "noscript", "noframes", "noembed":
		z.NextIsNotRawText() // we run no scripts, and lazy images have their true address there
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

// element adds what one tag names.
func (p *page) element(name []byte, attrs []attribute) {
	switch string(name) {
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
			p.named(attrs, "action", uri.Link)
		}
	case "input":
		if kind, _ := value(attrs, "type"); bytes.EqualFold(kind, []byte("image")) {
			p.named(attrs, "src", uri.Embed)
		}
	case "object", "applet":
		p.object(attrs)
	case "param":
		if name, _ := value(attrs, "name"); bytes.EqualFold(name, []byte("movie")) {
			p.named(attrs, "value", uri.Embed)
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
		if p.speculative && runs(a) {
			p.guesses(a.val)
		}
	}
}

// runs reports whether an attribute is a script: a handler of events, or an address that is one.
func runs(a attribute) bool {
	const scheme = "javascript:"
	return bytes.HasPrefix(a.key, []byte("on")) || len(a.val) > len(scheme) && bytes.EqualFold(a.val[:len(scheme)], []byte(scheme))
}

// object adds what an object or applet element is made of, which is relative to its codebase.
func (p *page) object(attrs []attribute) {
	from := p.base
	if codebase, ok := value(attrs, "codebase"); ok && len(codebase) <= uri.MaxLength && p.resolved < resolutions*p.maxLinks {
		p.resolved++
		if u, err := p.base.Join(string(codebase)); err == nil {
			from = u
		}
	}
	for _, a := range attrs {
		switch string(a.key) {
		case "data":
			p.relative(from, a.val)
		case "code":
			if bytes.HasSuffix(a.val, []byte(".class")) {
				p.relative(from, a.val)
			}
		case "archive":
			for one := range bytes.FieldsFuncSeq(a.val, func(r rune) bool { return r == ',' || strings.ContainsRune(whitespace, r) }) {
				p.relative(from, one)
			}
		}
	}
}

// value is the value of an attribute.
func value(attrs []attribute, key string) ([]byte, bool) {
	for _, a := range attrs {
		if string(a.key) == key {
			return a.val, true
		}
	}
	return nil, false
}

// named adds the reference in an attribute that may be absent.
func (p *page) named(attrs []attribute, key string, hop uri.Hop) {
	if ref, ok := value(attrs, key); ok {
		p.reference(ref, hop)
	}
}

func (p *page) linkElement(attrs []attribute) {
	rel, _ := value(attrs, "rel")
	hop := relation(string(rel), unrelated(attrs))
	if hop == nothing {
		return
	}
	if kind, _ := value(attrs, "type"); hop == uri.Link && isFeed(rel, kind) {
		hop = uri.Manifest
	}
	p.named(attrs, "href", hop)
	if list, ok := value(attrs, "imagesrcset"); ok {
		p.srcset(list)
	}
}

// unrelated is the hop of a link element whose rel says nothing: one may be a property of the page instead (microdata).
func unrelated(attrs []attribute) uri.Hop {
	property, _ := value(attrs, "itemprop")
	if hop, ok := metaUses[string(bytes.ToLower(bytes.TrimSpace(property)))]; ok {
		return hop
	}
	return uri.Link
}

// isFeed reports whether a link element names a feed of its page, as feed readers find them.
func isFeed(rel, kind []byte) bool {
	media, _, _ := strings.Cut(strings.ToLower(string(kind)), ";")
	switch strings.TrimSpace(media) {
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

func (p *page) attribute(u use, val []byte) {
	switch u {
	case link:
		p.reference(val, uri.Link)
	case embed:
		p.reference(val, uri.Embed)
	case set:
		p.srcset(val)
	case declared:
		if bytes.IndexByte(val, '(') >= 0 {
			p.css(val)
		}
	case lazy:
		if bytes.Contains(val, []byte("url(")) {
			p.css(val)
		} else if plausible(val) {
			p.reference(val, uri.Embed)
		}
	case lazySet:
		if bytes.IndexByte(val, '{') < 0 {
			p.srcset(val)
		}
	case srcdoc:
		p.frame(val)
	}
}

// frame reads a page inside an attribute. What its base element says is only for itself, and a page inside the page
// inside is not read.
func (p *page) frame(text []byte) {
	if p.nested {
		return
	}
	based, svg := p.based, p.svg
	p.nested, p.based, p.svg = true, true, false
	p.html(text)
	p.nested, p.based, p.svg = false, based, svg
}

// plausible reports whether the value of an attribute that scripts made up may be a reference: not "true", not "3", not
// a template and not a piece of JSON.
func plausible(val []byte) bool {
	val = bytes.TrimSpace(val)
	return bytes.ContainsAny(val, "/.") && !bytes.ContainsAny(val, "{}<>\"\t\r\n ")
}
