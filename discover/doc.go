// Package discover finds the links of a response: targets of references, things that a page shows or runs, and
// redirects. It follows nothing and decides nothing about scope. [Links] turns one response into a list of URIs, each
// with the hop that leads to it.
//
// # What is read
//
//   - A redirect (301, 302, 303, 307, 308) with a Location has that target as its only link; its body is not read.
//   - The headers Refresh and Link. Of Link, only well-known relations count.
//   - HTML and XHTML, by Content-Type or, without one, by the first 512 bytes: elements, also in noscript and srcdoc,
//     styles, meta elements of Open Graph and others, blocks of JSON-LD. SVG (image/svg+xml) in the same way.
//   - In XHTML and SVG the instruction xml-stylesheet.
//   - Style sheets (text/css): url(), @import, image-set().
//   - With [Bounds].Speculative, scripts: files, elements other than JSON-LD, event handlers, javascript: addresses.
//
// All other content has no links here. Package feeds reads feeds and sitemaps, package robots reads robots.txt.
//
// # Hops
//
// Embed: what a browser fetches by itself to show the page, or another site to show a card of it. Images (src, srcset,
// the data-src family of lazy loaders), style sheets and their references, scripts, frames, objects, media, icons,
// preloads; the images, films, sounds and players of meta elements (og:image) and of JSON-LD (image, logo, contentUrl,
// embedUrl).
//
// Link: where a reader may go. a and area, link elements with relations such as next or alternate, cite, longdesc,
// forms with GET, og:url, the url and mainEntityOfPage of JSON-LD. rel="nofollow" is still a link.
//
// Manifest: a feed in a link element or a Link header. Redirect: Location, Refresh, and meta refresh, as in Heritrix.
// Speculative: a guess from a script.
//
// A URI that is found in several ways is listed once, at its first place, with the strongest hop: Embed, then Redirect,
// Manifest, Link, Speculative. Forms that change something, ping, the services of a page (pingback, hub) and hints
// (preconnect, dns-prefetch) are not links.
//
// In JSON-LD the names of properties count, not the types of things: url inside of image is the address of the image.
// An @id is only a name. It counts only as the value of a page or an image, if it is an http(s) address without a
// fragment.
//
// # How references are resolved
//
// They are resolved as in a browser, against the first base element, from that element on. In a page that is not in
// UTF-8, the query of a reference is escaped in the page's own encoding and the rest in UTF-8. If that encoding lacks
// a character, the whole query is escaped in UTF-8. Bytes over 0x7F in a header are escaped without decoding them, so
// that the server gets back what it wrote. References to the document itself, with or without a fragment, are dropped.
//
// # Invariants
//
//   - Every link is a valid [uri.URI] other than the document's own, and no two are equal.
//   - There are at most [Bounds].MaxLinks links, and at most four times as many references are resolved.
//   - Time is bounded without a clock: it is linear in the content, of which at most MaxBytes are read, plus the time
//     for resolving the references, of at most [uri.MaxLength] bytes each. A tag has at most 1 MiB, JSON-LD at most 1
//     MiB and 64 levels. Scripts are read once, and at most MaxLinks guesses are kept. BenchmarkHostile measures the
//     worst known pages: 50 ms per MiB, and 140 ms for 20,000 references.
//   - Memory is usually twice the content. It is eight times the content if a one-byte encoding full of non-ASCII
//     letters must be decoded.
//   - Nothing is kept between two calls; they may run at the same time.
package discover
