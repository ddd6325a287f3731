// Package warc reads finished WARC files and checks their records one by one.
//
// It reads files of arcrawl and of other writers: WARC/1.0 and WARC/1.1, compressed with one gzip member for each
// record, or plain. Files inside a WACZ package are read there.
//
// # Damage
//
// A [Reader] trusts nothing. A record counts only when [Record.Close] returned no error: then its gzip member ended
// with the right CRC, its block is as long as its header says, and nothing follows it. Damage is a [Finding]. It ends a
// record, not the file: the reader searches for the next record and continues there. A plain file has no CRC, so a
// record in it is only as trustworthy as its digests, which a [Checker] compares.
//
// Something that is wrong with an archive is a finding. An error means that the work itself could not be done.
// Functions that receive findings are called by one goroutine at a time.
//
// # Invariants
//
//   - Nothing in an archive is ever changed. New files are written under a temporary name, synced and renamed, and
//     never replace an existing file.
//   - Memory does not depend on the size of records or files: blocks are streamed, and headers have a bound (64 KiB).
//   - Reading comes to an end, whatever bytes a file has.
package warc
