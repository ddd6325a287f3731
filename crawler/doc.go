// Package crawler visits URIs: it takes each one from its claim to its settlement. It is the only package that knows
// all steps of a visit.
//
// # The walk
//
// [Crawler.Run] claims URIs that are due and walks each of them through the same steps. The function walk calls them,
// with conclude for those after the verdict:
//
//	claim → settings → admit → request → fetch → judge → archive → discover → schedule → log → settle
//
// A walk ends in one of three ways:
//
//   - It is settled. The visit is archived if there was something to archive, it has its line in crawl.log, and the
//     frontier remembers it.
//   - Its claim is released, because the daemon is stopping or because of a fault of our own, such as a full disk.
//     The URI stays due.
//   - The store fails, and Run returns the error.
//
// # Law 1: archive, log, then remember
//
// The order of the last steps makes a crash harmless. If the process dies
//
//	while fetching                        nothing has happened; the URI is still due
//	while the records are being written   the torn end is cut off at the next start; the URI is still due
//	after the records, before the line    the capture is there; the URI is captured once more
//	after the line                        the capture is there and logged; the URI is captured once more
//	after the settlement                  nothing is lost, nothing is repeated
//
// The settlement writes frontier and dedup index in one transaction. No line and no revisit record ever points to a
// record that does not exist, because a record is on disk before anything else refers to it. A power cut may also
// take the last moments of the log and of the frontier, which are synced every 200 ms. The rows above hold for it in
// the same way.
//
// [FindMissing] compares crawl.log with the frontier, so that a lost end of the store is noticed, and [Missing.Rest]
// lets the hosts of these visits rest.
//
// # The meaning of a visit
//
// A complete answer is judged: its content is changed or unchanged, and the wait evaluators say when to come back. An
// answer without a body of its own, a 304 or a download that the mid-fetch filter stopped, is unchanged according to
// its headers. Headers are believed only if they have proven right on the host. Each visit that knows both headers
// and body adds to the host's reputation. Audits ([config.Midfetch].Audit) read the body from time to time to check
// the headers.
//
// These answers are misfortunes:
//
//   - an error of the server (5xx), a refusal (401, 403, 407, 408, 425, 429), a cut body, a failed connection;
//   - an answer that comes instead of the page: a challenge, a consent wall, a "not found" with status 200, see
//     [evaluators.Block];
//   - a 404 or 410, until [misfortune.Options].GoneAfter of them in a row confirm that the page is gone.
//
// Misfortunes are archived as evidence if there is any, and logged. They change nothing that was learned. The URI comes
// back after a wait that grows with the number of failures in a row.
//
// A confirmed 404 or 410 is a change like any other, and the URI is visited seldom from then on. The learned interval
// is kept in case the page returns.
package crawler
