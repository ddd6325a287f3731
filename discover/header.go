package discover

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/arcrawl/arcrawl/uri"
)

// noHop means that the target is not to be crawled.
const noHop uri.Hop = 0

// relations are the hops of the words in the rel of a link element or Link header. Some are for requests of programs.
var relations = byName(map[uri.Hop]string{
	uri.Embed: `
		stylesheet icon apple-touch-icon apple-touch-icon-precomposed apple-touch-startup-image mask-icon fluid-icon
		image_src import preload modulepreload manifest
	`,
	uri.Link: `
		alternate amphtml archives author bookmark canonical collection contents first help index item last license
		next prefetch prerender prev previous privacy-policy search shortlink start up
	`,
	noHop: `dns-prefetch preconnect edituri hub micropub microsub pingback webmention`,
})

// relation returns the hop of a rel: embed if any of its words is one, else link if any is one. If no word is known it
// returns unknown.
func relation(rel string, unknown uri.Hop) uri.Hop {
	hop, known := noHop, false
	for word := range strings.FieldsSeq(strings.ToLower(rel)) {
		h, ok := relations[word]
		known = known || ok
		if h == uri.Embed || h == uri.Link && hop == noHop {
			hop = h
		}
	}
	if !known {
		return unknown
	}
	return hop
}

// headers adds the targets of the header fields Refresh and Link.
func (p *page) headers(h http.Header) {
	if target, ok := refreshTarget([]byte(h.Get("Refresh"))); ok {
		p.add(escapeHigh(string(target)), uri.Redirect)
	}
	for _, value := range h.Values("Link") {
		p.linkHeader(value)
	}
}

// linkHeader adds the targets of one Link header (RFC 8288, section 3). It stops at the first faulty link-value.
func (p *page) linkHeader(s string) {
	for {
		rest, ok := strings.CutPrefix(strings.TrimLeft(s, " \t,"), "<")
		if !ok {
			return
		}
		target, rest, ok := strings.Cut(rest, ">")
		if !ok {
			return
		}
		var params linkParams
		params, s = readLinkParams(rest)
		hop := relation(params.rel, noHop)
		if hop == uri.Link && isFeed([]byte(params.rel), []byte(params.kind)) {
			hop = uri.Manifest
		}
		if hop == noHop {
			continue
		}
		p.add(escapeHigh(target), hop)
		if params.images != "" {
			p.srcset(escapeHigh(params.images))
		}
	}
}

// linkParams are the first rel, type and imagesrcset of a link-value.
type linkParams struct{ rel, kind, images string }

// readLinkParams returns the parameters of a link-value, and the text after the value.
func readLinkParams(s string) (params linkParams, rest string) {
	for {
		s = strings.TrimLeft(s, " \t;")
		if s == "" || s[0] == ',' {
			return params, s
		}
		end := strings.IndexAny(s, "=;,")
		if end < 0 {
			return params, ""
		}
		name := strings.TrimSpace(s[:end])
		if s[end] != '=' {
			s = s[end:]
			continue
		}
		var value string
		value, s = linkValue(strings.TrimLeft(s[end+1:], " \t"))
		switch strings.ToLower(name) {
		case "rel":
			params.rel = cmp.Or(params.rel, value)
		case "type":
			params.kind = cmp.Or(params.kind, value)
		case "imagesrcset":
			params.images = cmp.Or(params.images, value)
		}
	}
}

// linkValue returns the value of a parameter, quoted or not, and the text after it.
func linkValue(s string) (value, rest string) {
	if quoted, ok := strings.CutPrefix(s, `"`); ok {
		value, rest, _ = strings.Cut(quoted, `"`)
		return value, rest
	}
	end := strings.IndexAny(s, ";,")
	if end < 0 {
		end = len(s)
	}
	return strings.TrimSpace(s[:end]), s[end:]
}

// escapeHigh percent-encodes the bytes over 0x7F without decoding them. Servers write both Latin-1 and UTF-8 into
// headers, and expect the bytes back that they wrote.
func escapeHigh(s string) []byte {
	b := make([]byte, 0, len(s))
	for i := range len(s) {
		b = appendEscaped(b, s[i])
	}
	return b
}

// appendEscaped appends an ASCII byte unchanged, and any other byte percent-encoded.
func appendEscaped(b []byte, c byte) []byte {
	const digits = "0123456789ABCDEF"
	if c < 0x80 {
		return append(b, c)
	}
	return append(b, '%', digits[c>>4], digits[c&15])
}
