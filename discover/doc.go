// Package discover finds what a response names: the targets of its links, the things it shows or runs, and where it
// redirects to. It follows nothing and decides nothing about scope: [Links] turns one response into a list of URIs,
// each with the hop that leads to it.
//
// # What is read
//
//   - A redirect (301, 302, 303, 307, 308) with a Location names that target and nothing else; its body is not read.
//   - The headers Refresh and Link. Of Link only well-known relations count.
//   - HTML and XHTML by Content-Type, or, when there is none, by its first 512 bytes: elements, what is in noscript and
//     srcdoc, styles, meta elements of Open Graph and the like, blocks of JSON-LD. SVG (image/svg+xml) likewise.
//   - In XHTML and SVG the instruction xml-stylesheet.
//   - Style sheets (text/css): url(), @import, image-set().
//   - With [Bounds].Speculative, scripts: files, elements other than JSON-LD, handlers of events, javascript:
//     addresses.
//
// Everything else names nothing here; feeds, sitemaps and robots.txt have rooms of their own.
//
// # Which hop
//
// Embed is what a browser fetches by itself to show the page, or others to show a card of it: images (src, srcset, the
// data-src family of lazy loaders), style sheets and what they name, scripts, frames, objects, media, icons, preloads;
// the pictures, films, sounds and players of meta elements (og:image) and of JSON-LD (image, logo, contentUrl,
// embedUrl). Link is what a reader may go to: a and area, link elements with relations such as next or alternate,
// cite, longdesc, forms that only ask (GET), og:url, the url and mainEntityOfPage of JSON-LD; rel="nofollow" is still
// a link. Manifest is a feed that a link element or a Link header names. Redirect is where the reader is taken:
// Location, Refresh, and meta refresh, as Heritrix has it. Speculative is a guess from a script. A URI that is found
// in several ways is listed once, where it first stood, with the strongest hop: Embed, then Redirect, then Manifest,
// then Link, then Speculative. Forms that change something, ping, the services of a page (pingback, hub) and mere
// hints (preconnect, dns-prefetch) name nothing.
//
// Of JSON-LD it is the names of properties that count, not the types of things: url inside of an image is the image's.
// An @id is but a name, and counts only where a page or an image is wanted, if it is an http(s) address without
// fragment.
//
// # How references are resolved
//
// As a browser does, against the first base element from where it stands on. In a page that is not in UTF-8 the query
// of a reference is escaped in the page's own encoding and the rest in UTF-8; a character that the encoding lacks
// turns the whole query to UTF-8. Bytes over 0x7F in a header are escaped as they are, so that the server gets back
// what it wrote. A reference to the document itself, with or without a fragment, is left out.
//
// # Invariants
//
//   - Every link is a valid [uri.URI] other than the document's own, and no two are equal.
//   - There are at most [Bounds].MaxLinks of them, and no more than four times as many references are resolved.
//   - Time has a bound without a clock: it is linear in the content, of which no more than MaxBytes are read, plus
//     what resolving those references takes, of at most [uri.MaxLength] bytes each. A tag has at most 1 MiB, JSON-LD
//     no more than 1 MiB and 64 levels; guesses are made in one pass, and no more than MaxLinks are kept.
//     BenchmarkHostile measures the worst pages known: a twentieth of a second for each MiB, and a seventh for 20,000
//     references.
//   - Memory is twice the content ordinarily, eight times where a one-byte encoding full of letters beyond ASCII has
//     to be undone.
//   - Nothing is remembered between two calls; they may run at the same time.
package discover
