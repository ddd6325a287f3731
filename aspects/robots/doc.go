// Package robots reads robots.txt files: which URIs they allow (RFC 9309) and which rest between requests they ask for
// (Crawl-delay).
//
// [Parse] reads a file once and returns its [Rules], an immutable value that is safe for concurrent use. It answers
// in a few microseconds per URI. The zero Rules are the rules of an empty file: everything is allowed.
//
// The caller decides what the status of a response means, for example that a missing robots.txt allows everything and
// an unreachable one forbids everything. The caller also decides how long a file stays in force.
//
// The parser is as lenient as Google's: it accepts common typos and a missing colon, and it skips rules before the
// first User-agent. Before a file is read, and before a URI is compared, both are brought to one
// spelling. Escapes of unreserved characters are decoded, and other escapes are in upper case. Characters that a URI
// cannot have are escaped, and so are a literal * and $. So a rule "/café*" applies to /caf%c3%a9, and "/a%2A"
// applies to /a*.
//
// Invariants, tested against a port of Google's parser:
//   - All groups that name the agent are one group. The groups for * apply only if there is none.
//   - The longest matching pattern decides. Between equal lengths Allow wins. No match allows. An empty pattern never
//     matches.
//   - /robots.txt itself is always allowed.
//   - Time is linear in the size of a pattern and of the URI, whatever the wildcards. An answer takes some 40 ms at
//     most. A URI for which the wildcards of all rules together take more is forbidden.
package robots
