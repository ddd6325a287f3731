// Package crawler takes each URI through the rooms: it is the one place that knows the whole way of a visit, and the
// only one that owns goroutines.
//
// # The walk
//
// [Crawler.Run] claims URIs that are due and walks each through the same steps, told by one function, walk:
//
//	claim → settings → robots → fetch → judge → keep → discover → wait → log → remember
//
// A walk ends in one of three ways. It is settled: the visit is archived as far as there was something to archive, has
// its line in crawl.log, and the frontier remembers it. It is released: the daemon stops, or something of our own is
// broken (a full disk, say), and the URI stays due where it was. Or the store itself fails, and Run returns the error.
//
// # Law 1: archive, log, then remember
//
// The order of the last steps is what makes a crash harmless. If the process dies
//
//	while fetching                        nothing happened; the URI is still due
//	while the records are being written   the torn tail is cut at the next start; the URI is still due
//	after the records, before the line    the capture is there; it is captured once more
//	after the line                        the capture is there and logged; it is captured once more
//	after dedup and the frontier          nothing is lost, nothing repeated
//
// Dedup and the frontier hear in one transaction. Never does a line or a revisit point to a record that is not there,
// because a record is on disk before anything else hears of it. A power cut may take the last moments of the log and of the frontier with it (they are synced
// every 200 ms); the rows above hold for it in the same way.
//
// # What a visit can mean
//
// An answer that is complete is judged: its content state is changed or unchanged, and the wait evaluators say when to
// come back. An answer without a body of its own, a 304 or a download that the mid-fetch filter broke off, is unchanged
// on the word of its headers. Only headers that have proven right on the host are believed: each visit where headers and
// body are both known adds to the host's reputation in the room trust, and audits ([config.Midfetch].Audit) read the body
// now and then to check that word.
//
// An error of the server (5xx), a refusal (401, 403, 407, 408, 425, 429), a cut body, a failed connection, and an answer
// that stands in for the page ([evaluators.Block]: a challenge, a consent wall, a "not found" with status 200) are
// misfortunes: they are archived as evidence as far as there is any, logged, and change nothing that was learned; the
// URI comes back on the ladder of its failures in a row. A 404 or 410 is one too until [config.Trouble].GoneAfter of them in a
// row confirm it; then the page is gone, which is a change like any other, and the URI moves to the slow lane. The
// interval that was learned waits for the page to come back.
package crawler
