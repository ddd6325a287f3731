// Package logs sums up crawl logs: visits, versions, bytes that were saved, and how late visits were.
//
// [Read] reads any number of logs once, of arcrawl or of Heritrix, compressed or not, on all processors. It returns a
// [Summary] for each requested period. A [Follower] reads the lines of a log that is being written, across rotations,
// and from the position where an earlier one stopped. [Find] returns the visits to one URI.
//
// A line counts as one of these:
//
//   - not tried: the status is -5000 or below, such as -9998 for a URI that robots.txt forbids;
//   - failed: there was no response, or one that refuses (401, 403, 407, 408, 425, 429, 5xx), or another page than the
//     requested one;
//   - unchanged: the line says so;
//   - a version: the content state is "changed". Logs of twelve columns do not have it. There, any other response to a
//     scheduled visit is a version, except 404 and 410. That includes the visits after a change of the scrubbing rules;
//   - other: the rest.
//
// Bytes received are bytes of bodies. Bytes spared were not transferred, because the headers showed no change. Bytes
// deduplicated were transferred and not stored again.
//
// Overdue times are counted in classes of at most six percent; the longest is exact.
//
// Memory is bounded: a [Summary] has a row for at most [MaxKeys] hosts, seeds, types and days, and one for all others.
// A line that is longer than any of a crawl log is skipped and counted.
package logs
