// Package discover finds what a response names: the targets of its links, the things it shows or runs, and where it
// redirects to. It follows nothing and decides nothing about scope: [Links] turns one response into a list of URIs, each
// with the hop that leads to it.
//
// # What is read
//
//   - A redirect (301, 302, 303, 307, 308) with a Location names that target and nothing else; its body is not read.
//   - The headers Refresh and Link. Of Link only well-known relations count.
//   - HTML and XHTML by Content-Type, or, when there is none, by its first 512 bytes.
//   - Style sheets (text/css): url(), @import, image-set().
//
// Everything else, XML, feeds, sitemaps and scripts included, names nothing yet.
//
// # Which hop
//
// Embed is what a browser fetches by itself to show the page: images (src, srcset, the data-src family of lazy loaders,
// og:image), style sheets and what they name, scripts, frames, media, icons, preloads. Link is what a reader may go to: a
// and area, link elements with relations such as next or alternate, og:url; rel="nofollow" is still a link. Redirect is
// where the reader is taken: Location, Refresh, and meta refresh, as Heritrix has it. A URI that is found in several
// ways is listed once, where it first stood, with the strongest hop: Embed, then Redirect, then Manifest, then Link. Forms, ping, cite,
// longdesc, pingback and mere hints (preconnect, dns-prefetch) name nothing.
//
// # How references are resolved
//
// As a browser does, against the first base element from where it stands on. In a page that is not in UTF-8 the query of
// a reference is escaped in the page's own encoding and the rest in UTF-8; a character that the encoding lacks turns the
// whole query to UTF-8. Bytes over 0x7F in a header are escaped as they are, so that the server gets back what it wrote.
// A reference to the document itself, with or without a fragment, is left out.
//
// # Invariants
//
//   - Every link is a valid [uri.URI] other than the document's own, and no two are equal.
//   - There are at most [Bounds].MaxLinks of them, and no more than four times as many references are resolved.
//   - Time is linear in the content. Memory is twice the content ordinarily, eight times where a one-byte
//     encoding full of letters beyond ASCII has to be undone.
//   - Nothing is remembered between two calls; they may run at the same time.
package discover
