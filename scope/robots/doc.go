// Package robots says what a robots.txt allows (RFC 9309) and how long it asks to wait between requests (Crawl-delay).
//
// [Parse] reads a file once; the [Rules] it gives are an immutable value, safe for concurrent use, and answer in a few
// microseconds for each URI. The zero Rules are those of an empty file: everything is allowed.
//
// What the status of the response means is not decided here: that a missing robots.txt allows everything and that an
// unreachable one forbids everything is the caller's business, and so is how long a file stays in force.
//
// The parser is the port of Google's, and its leniency is kept: common typos, a missing colon, rules that stand before
// the first User-agent (they are skipped). Before it reads a file, and before a URI is compared, both are brought to one
// spelling: escapes of unreserved characters are decoded, other escapes are upper-case, everything that cannot stand in
// a URI is escaped, and so are a literal * and $. A rule "/café*" thus speaks for /caf%c3%a9, and "/a%2A" for /a*.
//
// Invariants, held by tests against the parser's own matcher:
//   - All groups that name the agent are one group; only when there is none do the groups for * count.
//   - The longest matching pattern decides; between equals Allow wins; no match allows. An empty pattern never matches.
//   - /robots.txt itself is always allowed.
//   - Time is linear in the size of a pattern and of the URI, whatever the wildcards.
package robots
