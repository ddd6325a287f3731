// Package crawllog writes and reads the crawl log: one line for each visit, in the columns of Heritrix.
//
// # The line
//
// Columns are separated by one space. An empty column is "-".
//
//	 1  time of logging    2026-01-02T03:04:05.678Z, UTC
//	 2  status             HTTP status or Heritrix's negative code, right-aligned to 5
//	 3  size               bytes of the body, right-aligned to 10 (and wider if needed)
//	 4  URI
//	 5  hop path           L link, E embed, R redirect, P robots.txt, X guess, M feed or sitemap, I inferred;
//	                       the last 50, with "<n>+" for the n before them
//	 6  via                the URI that led here
//	 7  MIME type          cut at the first blank, semicolon or comma; "no-type" if the response had none,
//	                       "unknown" if there was no response
//	 8  worker             # and at least three digits
//	 9  fetch              17 digits of its start in UTC, + and its milliseconds, at least 1
//	10  payload digest     sha1: and 32 letters of Base32
//	11  seed               the URI of the seed
//	12  annotations        joined by commas
//	13  extra              a JSON object without blanks; optional, because some tools accept 12 columns only
//
// Other tools rely on some rules, so this package follows them for any entry. No column contains a blank. A duration is
// above zero. Every status above zero has a start of the fetch; if none is known, it is the time of logging. The word
// "duplicate" appears only at the beginning of the annotations that mean it ("duplicate:digest"), because one reader
// drops every line that has the word anywhere in its annotations.
//
// # Annotations
//
// They have a fixed order: unchanged, midFetchAbort, the truncations (lenTrunc, timeTrunc …), duplicate:…, all
// others, dol:<n> (links dropped), err=…, ip:…, content-size:<n>. Among the others are spared:<n>, the bytes that did
// not have to be transferred, asked:<n>, the seconds after the visit before which the server wants no request
// (Retry-After), and for the rule "learned":
//
//   - chg:<changes a day that are expected>
//   - miss:<share of the coming versions that will probably be missed>
//   - new:<estimated number of versions since the last visit>
//   - odds:<probability that this visit would find a change, as expected before it>
//   - again, if this visit and the one before found a change
//
// The annotations of the adaptive schedule come last, on every scheduled visit, failures too: <n>t (tries, if more than
// one), wt:<wait interval>, <n>vis, <n>ver, ov:<overdue>. An annotation has at most 160 bytes, err= has at most
// 400, and all except the last five together have at most 640. Blanks become underscores, and commas semicolons.
//
// # One line, one write
//
// A line is written with a single write(2) in append mode. So readers and rotation never see half a line. URIs are
// always written whole, because tools join lines by them. Everything else is cut at a limit. So a line is shorter than
// 4 KiB, which even simple readers can handle, unless its URIs are longer than some 300 bytes each. It is never longer
// than [MaxLine].
//
// # Rotation
//
// Rename the file and send SIGHUP ([Writer.Reopen]). Or only rename it: once a second, by the clock of the entries,
// the [Writer] checks whether its path still names its file. Lines written in between go to the renamed file. No line
// is lost either way. With copytruncate, lines would be lost.
//
// # States of a Writer
//
// Open → writing ⇄ damaged → closed. After a write that fails, the file is cut back to the end of the last whole
// line. If that fails too, the writer is damaged, and each further write first tries to cut again. [Open] cuts off
// what a crash left behind the last line end. It refuses files that do not begin like a crawl log.
//
// # lnav
//
// The folder lnav has a format for the log viewer lnav: `lnav -i crawllog/lnav/arcrawl_log.json`.
package crawllog
