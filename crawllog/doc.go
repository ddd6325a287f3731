// Package crawllog writes and reads the crawl log: one line for each visit, in the columns of Heritrix.
//
// # The line
//
// Columns are separated by one space; what is empty is "-".
//
//	 1  time of logging    2026-01-02T03:04:05.678Z, UTC
//	 2  status             HTTP status or Heritrix's negative code, right-aligned to 5
//	 3  size               bytes of the body, right-aligned to 10 (and wider if need be)
//	 4  URI
//	 5  hop path           L link, E embed, R redirect, P robots.txt, X guess, M feed or sitemap, I inferred;
//	                       the last 50, with "<n>+" for the n before them
//	 6  via                the URI that led here
//	 7  MIME type          cut at the first blank, semicolon or comma; "no-type" if the answer had none,
//	                       "unknown" if there was no answer
//	 8  worker             # and at least three digits
//	 9  fetch              17 digits of its start in UTC, + and its milliseconds, at least 1
//	10  payload digest     sha1: and 32 letters of Base32
//	11  seed               the seed's URI
//	12  annotations        joined by commas
//	13  extra              a JSON object without blanks; only if asked for, as some tools take 12 columns and no more
//
// What other tools require, and this package therefore sees to whatever it is given: no blank inside a column; a
// duration above zero; a start for every status above zero (without one, the time of logging stands in);
// the word "duplicate" only at the beginning of an annotation that says so ("duplicate:digest"), because a reader
// drops every line with it anywhere in the annotations.
//
// # Annotations
//
// They stand in a fixed order: unchanged, midFetchAbort, the truncations (lenTrunc, timeTrunc …), duplicate:…, all
// without a place of their own (among them spared:<n>, the bytes that did not have to be transferred, and with the rule
// "learned" chg:<changes a day that are expected>, miss:<share of the coming versions expected to be missed> and
// new:<versions thought to have come into being since the last visit>), dol:<n> (links
// dropped), err=…, ip:…, content-size:<n>. After them come those of the adaptive schedule, on every scheduled visit,
// failures too: <n>t (tries, if more than one), wt:<wait interval>, <n>vis, <n>ver, ov:<overdue>. An annotation is at most 160 bytes long, all but the last five together 512; blanks
// become underscores, commas semicolons.
//
// # One line, one write
//
// A line goes to the file with a single write(2) in append mode, so that readers and rotation never see half of one.
// URIs are written whole, whatever that costs: tools join lines by them. Everything else is cut to a bound. So a line
// is below 4 KiB, the size that the most modest readers cope with, unless its URIs are longer than some 300 bytes
// each, and never above [MaxLine].
//
// # Rotation
//
// Rename the file and send SIGHUP ([Writer.Reopen]); or only rename it: the [Writer] looks once a second, by the clock
// of the entries, whether the path still leads to its file. Lines written in between go to the renamed file. Nothing is
// lost either way, but with copytruncate it would be.
//
// # States of a Writer
//
// Open → writing ⇄ damaged → closed. A write that fails is cut back to the end of the last whole line; if even that
// fails the writer is damaged, and each further write first tries to cut again. What a crash left behind the last line
// end is cut away by [Open], which refuses files that do not begin like a crawl log.
//
// The folder lnav beside this file has a format for the log viewer lnav: `lnav -i crawllog/lnav/arcrawl_log.json`.
package crawllog
