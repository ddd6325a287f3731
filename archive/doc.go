// Package archive reads finished WARC files, proves them, and makes new ones of them.
//
// It reads what arcrawl wrote and what others wrote: WARC/1.0 and WARC/1.1, compressed with one gzip member for each
// record, or plain.
//
//	Verify      proves an archive: each byte, each digest, each reference
//	Index       makes a CDXJ index; WriteIndex keeps it beside the files
//	Library     looks captures up: their history, their payloads, following revisits to their originals
//	Survey      knows which file needs which, and what a loss would cost
//	Rewrite     makes new files that stand alone, of all records or of a choice
//	Package     makes WACZ packages
//
// What is wrong with an archive is a [Finding], given to the caller's function as it is found; an error means that the work
// itself could not be done. Those functions are called by one goroutine at a time.
//
// # Damage
//
// A [Reader] takes nothing on trust. A record counts only when [Record.Close] gave no error: then its gzip member came to
// its end with the right CRC, its block is as long as its header says, and nothing follows it. Damage is a [Finding]: it
// ends a record and not the file. The reader searches for the next record and goes on there. In a plain file, which has no
// CRC, a record is as good as its digests.
//
// # Invariants
//
//   - Nothing in an archive is ever changed. New files are written under a temporary name, synced, and renamed, never
//     over an existing file.
//   - Memory does not depend on the size of records or files: blocks are streamed, headers have a bound (64 KiB).
//     What grows with the number of records is said where it does.
//   - Whatever the bytes of a file are, reading it comes to an end.
//   - The files of an archive are read side by side, on all processors; what is reported is in the order of the files.
//     The goroutines are all in workers.go, and none outlives the call that started it.
package archive
