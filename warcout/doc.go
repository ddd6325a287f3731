// Package warcout makes visits permanent as WARC/1.1 records.
//
// A [Writer] writes one file at a time in its folder: one gzip member for each record, so that an index can be made of
// a file that still grows. [Writer.Write] returns when all records of the visit are on disk, and gives the [digest.Origin]
// of the visit's first record: with it anybody can find the record, and a later revisit can point at it.
//
// # The life of a file
//
//	PREFIX-YYYYMMDDhhmmssSSS-SERIAL-HOST.warc.gz.open   created with the first visit, never over an existing file
//	        │  grows visit by visit; each group of visits is synced together
//	        │  retired: MaxSize or MaxAge is reached, or Seal or Close was called; visits on their way still arrive
//	        ▼
//	PREFIX-YYYYMMDDhhmmssSSS-SERIAL-HOST.warc.gz        synced, told to the journal, renamed; the folder is synced
//
// A file that holds nothing but its warcinfo record is removed instead. A file in which a failed visit could neither be
// cut off nor be synced is closed off: nothing is written to it any more, it stays .open, and the next [Open] repairs it.
// The folder may be used by several Writers, also of several processes: names are taken with O_EXCL, and an .open file
// that is being written is locked (flock) and is not repaired by others.
//
// # The records of a visit
//
// They are consecutive members of one file, and a record points only to earlier ones, so cutting the tail of a file
// never leaves a reference to nothing.
//
//	Response               response, request, metadata
//	Revisit                revisit, request, evidence, metadata
//	Head alone             evidence, request, metadata
//	none of the three      request, metadata
//
// Those that are not given are left out. The first says all that holds for the visit: the address of the server and the
// warcinfo record of the file. The others are WARC-Concurrent-To the first and do not say it again, and the ids of all records of a
// file, UUIDs of version 8, differ in their last eight digits only, those of a visit in the last one: with header and gzip frame a short
// record is mostly such things, and takes a fifth less without. Evidence is a metadata record that holds the exact head of a response whose body was not kept (a
// 304, a download that was broken off): Content-Type application/http;msgtype=response, or application/octet-stream when
// it does not begin like HTTP. A replay tool does not play it. What a server said that is not HTTP at all is kept in the
// same way, also when it is given as a Response: several readers give up a whole file at a response record without a
// status line.
//
// A revisit by payload keeps the response head as its block. A server-not-modified revisit has an empty block, because
// replay tools would otherwise play an empty 304; the 304 itself is its evidence. Revisits always point at the original
// with record id, URI, date and payload digest, never at another revisit: [Revisit.Origin] must be what Write gave for a
// Response.
//
// Every record has a WARC-Block-Digest. WARC-Payload-Digest stands on responses (as given: of the transfer-decoded body)
// and on revisits (the original's), not on requests, whose body is always empty. All dates are UTC with microseconds.
// Header values with control characters, broken UTF-8 or outer blanks are refused, as our own fault; what servers
// may say stands only where they cannot do harm: an ETag or Last-Modified that does not fit in a header is left out (it is
// in the evidence), and [Field] values are escaped by [Escape].
//
// # Invariants
//
//   - When Write returns without error, the whole visit has been synced. When it returns an error, nothing of the visit is
//     in the file, and the Writer can be used on: a retry succeeds when the cause is gone. ENOSPC is found by errors.Is.
//   - A file holds whole members from its first byte to its end, but for the write that is under way.
//   - No existing file is ever overwritten.
//   - Memory for a visit does not grow with its size: compressed visits over 1 MiB wait in a nameless file in TempDir.
//
// # Compression
//
// A record is a gzip member of its own. Responses are compressed by klauspost's encoder; the short records beside them, and
// revisits, by [brief] with one Huffman code for all, which takes less than half the time.
//
// # Group commit
//
// Writers compress side by side, without a lock; the compressed visit is appended under the lock. Of those who wait for
// their bytes to be safe, one syncs for all that were appended before, while the others go on appending or wait. There are no
// goroutines and no clock here.
//
// # The journal
//
// A file cut exactly between two records looks whole to every tool. So the Writer keeps a journal, a text file with one
// line for each event: time, event, file, size, records.
//
//	arcrawl-warc-journal 1
//	2026-11-21T09:00:00.000000Z opened arcrawl-20261121090000000-00001-c1.warc.gz 391 1
//	2026-11-21T09:10:12.000000Z checkpoint arcrawl-20261121090000000-00001-c1.warc.gz 16780211 2213
//	2026-11-21T10:00:00.000000Z sealed arcrawl-20261121090000000-00001-c1.warc.gz 1073790112 141000
//
// A checkpoint is written after every 16 MiB that were synced; start-up reads a torn file only from there. A sealed file
// whose size is not what its sealed line says is reported by Open, and not touched; one that was moved away is not. A
// torn last line is dropped. Without a journal (none configured, or lost) files are read from their beginning.
//
// # After a crash
//
// [Open] cuts each .open file that a crash left back to its last whole record, syncs and seals it. It does not cut back to
// the last whole visit: after a power cut the journal may be older than the file, so what looks like half a visit may be
// the end of one that was acknowledged. Half a visit does no harm: each of its records stands by itself, and its URI is
// still due. A cut-off tail in which whole records follow the damage is no torn tail; it is first copied to a file beside,
// with the suffix .tail.
package warcout
