// Package stats sums up crawl logs: visits, versions, what was saved, how late visits were.
//
// [Read] goes once through any number of logs, of arcrawl or of Heritrix, compressed or not, on all processors, and
// gives a [Summary] for each period that is asked for. A [Follower] hands out the lines of a log that is being written,
// across its rotation and from where an earlier one left off.
//
// What a line counts as:
//
//   - not tried: a status of -5000 or below, such as -9998 for what robots.txt forbids;
//   - failed: no answer, an answer that refuses (401, 403, 407, 408, 425, 429, 5xx), or something that stood in for the page;
//   - unchanged: it says so;
//   - a version: its content state is "changed". Logs of twelve columns do not tell that. There it is any other answer to a scheduled
//     visit but 404 and 410, which also counts the visits after a change of scrubbing rules;
//   - other: what remains.
//
// Bytes received are those of bodies. Bytes spared were not transferred, because the headers vouched for the page; bytes
// deduplicated were transferred and not stored again.
//
// Times overdue are counted in classes of six percent at most; the greatest is exact.
//
// Everything is bounded: at most [MaxKeys] hosts, seeds, types and days are told apart, the rest goes into one; longer lines than
// a crawl log can have are passed over and counted.
package stats
