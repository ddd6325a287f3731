// Package warcout writes visits as WARC/1.1 records.
//
// A [Writer] writes one file at a time in its folder, and one more for each series, whose visits are kept apart from
// all others. Each record is a gzip member of its own, so that a growing file can be indexed. [Writer.Write] returns
// when all records of the visit are on disk. It returns the [digest.Origin] of the visit's first record, with which the
// record can be found and a later revisit can point at it.
//
// # The life of a file
//
//	PREFIX-[SERIES-]YYYYMMDDhhmmssSSS-SERIAL-HOST.warc.gz.open   created with the first visit, over no other file
//	        │  grows visit by visit; each group of visits is synced together
//	        │  retired: MaxSize or MaxAge is reached, or Seal or Close was called; visits in progress still complete
//	        ▼
//	PREFIX-[SERIES-]YYYYMMDDhhmmssSSS-SERIAL-HOST.warc.gz        synced, logged in the journal, renamed; folder synced
//
// A file that holds only its warcinfo record is removed instead. If a failed visit can neither be cut off nor synced,
// its file is abandoned: nothing more is written to it, it stays .open, and the next [Open] repairs it. Several
// Writers, also of several processes, may use the same folder. Names are taken with O_EXCL. An .open file that is
// being written is locked (flock), and others do not repair it.
//
// # The records of a visit
//
// They are consecutive members of one file. A record points only to earlier ones, so cutting the end of a file never
// leaves a reference to a missing record.
//
//	Response               response, request, metadata
//	Revisit                revisit, request unless it is usual, evidence if fields cannot hold it, metadata
//	Head alone             evidence, request, metadata
//	none of the three      request, metadata
//
// Missing parts are omitted. The first record has the headers that apply to the whole visit: the address of the server
// and the warcinfo record of the file. The others are WARC-Concurrent-To the first and do not repeat them. The ids of
// all records of a file are UUIDs of version 8 that differ only in their last eight digits, the ids of one visit only
// in the last digit. A short record is mostly header and gzip frame; this makes it a fifth smaller.
//
// The metadata record of a revisit holds the head of a 304 in fields ([HeadField]), and what was sent ([RequestField])
// if that is [Options].Usual with conditions, which the warcinfo record of the file shows ([UsualField]). [MakeRequest]
// makes it again. Both are exact to the byte; what fields cannot hold exactly has a record of its own.
//
// Evidence is a metadata record that holds the exact head of a response whose body was not kept (an aborted download,
// or a 304 with an unusual head). Its Content-Type is application/http;msgtype=response, or application/octet-stream if
// it does not begin like HTTP. Its target URI begins with [EvidencePrefix]: the indexers of pywb and py-wacz take each
// metadata record of another type than application/warc-fields for a capture of its URI. An answer that is not HTTP at
// all is stored in the same way, also if it is passed as a Response: several readers stop reading a file at a response
// record without a status line. [IsResponse] is the one predicate for this; [Written.IsResponse] says which kind the
// record is.
//
// A revisit by payload has the response head as its block. A server-not-modified revisit has an empty block, because
// replay tools would otherwise play an empty 304. A revisit always points at the original with record id, URI, date and
// payload digest, never at another revisit: [Revisit.Origin] must be the result of Write for a Response.
//
// Every record with a block has a WARC-Block-Digest. Responses have a WARC-Payload-Digest (as passed, of the
// transfer-decoded body), and so have revisits (the original's). Requests have none, as their body is always empty. All
// dates are UTC with microseconds. Header values with control characters, invalid UTF-8 or outer blanks are refused as
// errors of the program. Texts of servers are written only where they cannot do harm: [Field] values are escaped by
// [Escape].
//
// # Documents about the crawl
//
// [Writer.WriteResource] writes a resource record, for example with the configuration of the crawl.
//
// # Invariants
//
//   - If Write returns without an error, the whole visit is synced. If it returns an error, nothing of the visit is
//     in the file, and the Writer stays usable: a retry succeeds once the cause is gone. errors.Is finds ENOSPC.
//   - A file holds whole members from its first byte to its end, except for the write in progress.
//   - No existing file is ever overwritten.
//   - Memory does not grow with the size of a visit: compressed visits over 1 MiB wait in an unnamed file in TempDir.
//
// # Compression
//
// Each record is a gzip member of its own. klauspost's encoder compresses responses. Short records and revisits are
// compressed by [brief] with one Huffman code for all, which takes less than half the time.
//
// # Group commit
//
// Visits are compressed in parallel, without a lock, and appended under the lock. Of the callers that wait for their
// bytes to be on disk, one syncs for all visits appended before; meanwhile others append or wait. There are no
// goroutines and no clock here.
//
// # The journal
//
// A file cut exactly between two records looks whole to every tool. So the Writer keeps a journal, a text file with
// one line for each event: time, event, file, size, records.
//
//	arcrawl-warc-journal 1
//	2026-11-21T09:00:00.000000Z opened arcrawl-20261121090000000-00001-c1.warc.gz 391 1
//	2026-11-21T09:10:12.000000Z checkpoint arcrawl-20261121090000000-00001-c1.warc.gz 16780211 2213
//	2026-11-21T10:00:00.000000Z sealed arcrawl-20261121090000000-00001-c1.warc.gz 1073790112 141000
//
// A checkpoint is written after every 16 MiB that were synced. The next start reads a damaged file only from there.
// Open reports a sealed file whose size differs from its sealed line, and does not change it; it ignores one that was
// moved away. An incomplete last line is dropped. Without a journal (none configured, or lost) files are read from
// their beginning.
//
// # After a crash
//
// [Open] cuts each .open file that a crash left back to its last whole record, syncs and seals it. It does not cut
// back to the last whole visit: after a power cut the journal may be older than the file, so an apparent half visit
// may be the end of one that was acknowledged. Half a visit does no harm: each of its records is complete, and its URI
// is still due. If whole records follow the damage, the tail is first copied to a file with the suffix .tail.
package warcout
