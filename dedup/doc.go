// Package dedup remembers which record of the archive first held a payload, across URIs and files. The next capture of
// the same payload can then be stored as a short revisit record that points at it.
//
// An entry says that a record is in the archive. So it is put only after its record is on disk: a revisit record that
// points to nothing would be a loss that shows only at replay. The other order costs little: after a crash between
// record and entry, the payload is stored once more. The first record of a payload stays its origin, so that revisits
// never form a chain. It is replaced only if it turns out to be missing or damaged.
//
// Two captures are the same only if payload, status and media type are the same. So a "not found" page is not a
// revisit of an empty page, and a style sheet is not a revisit of a text, even if their bytes are equal. [Query] says
// which of several records represents a capture, and whether its URI matters.
//
// If part of a file turns out to be lost, [Index.Forget] removes all records in that part from the index.
//
// The index keeps its keys in a store of another package. All of them begin with the letter 'd'. Entries are durable
// when the owner's commits are.
package dedup
