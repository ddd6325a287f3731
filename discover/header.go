package discover

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/arcrawl/arcrawl/uri"
)

// nothing is the hop to what is not to be crawled.
const nothing uri.Hop = 0

// relations says what the rel of a link element or Link header makes of its target.
var relations = map[string]uri.Hop{
	"stylesheet":                   uri.Embed,
	"icon":                         uri.Embed,
	"apple-touch-icon":             uri.Embed,
	"apple-touch-icon-precomposed": uri.Embed,
	"apple-touch-startup-image":    uri.Embed,
	"mask-icon":                    uri.Embed,
	"fluid-icon":                   uri.Embed,
	"image_src":                    uri.Embed,
	"import":                       uri.Embed,
	"preload":                      uri.Embed,
	"modulepreload":                uri.Embed,
	"manifest":                     uri.Embed,

	"alternate":      uri.Link,
	"amphtml":        uri.Link,
	"archives":       uri.Link,
	"author":         uri.Link,
	"bookmark":       uri.Link,
	"canonical":      uri.Link,
	"collection":     uri.Link,
	"contents":       uri.Link,
	"first":          uri.Link,
	"help":           uri.Link,
	"index":          uri.Link,
	"item":           uri.Link,
	"last":           uri.Link,
	"license":        uri.Link,
	"next":           uri.Link,
	"prefetch":       uri.Link,
	"prerender":      uri.Link,
	"prev":           uri.Link,
	"previous":       uri.Link,
	"privacy-policy": uri.Link,
	"search":         uri.Link,
	"shortlink":      uri.Link,
	"start":          uri.Link,
	"up":             uri.Link,

	"dns-prefetch": nothing,
	"preconnect":   nothing,
	"edituri":      nothing, // this and the rest await requests from programs
	"hub":          nothing,
	"micropub":     nothing,
	"microsub":     nothing,
	"pingback":     nothing,
	"webmention":   nothing,
}

// relation is what the words of a rel say: embed if any does, else link if any does. Without any known word it is what
// the caller makes of the unknown.
func relation(rel string, unknown uri.Hop) uri.Hop {
	hop, known := nothing, false
	for word := range strings.FieldsSeq(strings.ToLower(rel)) {
		h, ok := relations[word]
		known = known || ok
		if h == uri.Embed || h == uri.Link && hop == nothing {
			hop = h
		}
	}
	if !known {
		return unknown
	}
	return hop
}

// headers adds what Refresh and Link name.
func (p *page) headers(h http.Header) {
	if target, ok := refreshTarget([]byte(h.Get("Refresh"))); ok {
		p.add(escapeHigh(string(target)), uri.Redirect)
	}
	for _, value := range h.Values("Link") {
		p.linkHeader(value)
	}
}

// linkHeader reads one Link header (RFC 8288, section 3). It stops at the first thing that is no link-value.
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
		hop := relation(params.rel, nothing)
		if hop == uri.Link && isFeed([]byte(params.rel), []byte(params.kind)) {
			hop = uri.Manifest
		}
		if hop == nothing {
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

// readLinkParams reads the parameters of a link-value and gives what follows the value.
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

// linkValue reads the value of a parameter, quoted or not.
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

// escapeHigh escapes the bytes over 0x7F as they are. Servers write Latin-1 as well as UTF-8 into headers, and both want
// back the bytes that they wrote.
func escapeHigh(s string) []byte {
	b := make([]byte, 0, len(s))
	for i := range len(s) {
		b = appendEscaped(b, s[i])
	}
	return b
}

// appendEscaped appends an ASCII byte as it is and any other as an escape.
func appendEscaped(b []byte, c byte) []byte {
	const digits = "0123456789ABCDEF"
	if c < 0x80 {
		return append(b, c)
	}
	return append(b, '%', digits[c>>4], digits[c&15])
}
