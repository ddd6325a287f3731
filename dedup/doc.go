// Package dedup remembers which record of the archive first held a payload, across URIs and files, so that the next
// capture of the same payload can be stored as a short revisit record that points at it.
//
// An entry says: this record is in the archive. So one is put only after its record is on disk for good; a revisit
// record that points to nothing would be a loss that nobody sees until replay. The other order costs little: when a
// crash comes between record and entry, the payload is stored once more. The first record of a payload stays its origin,
// so that revisits never form a chain. It is replaced only when it is found to be no longer there, or not to be what it
// claims to be.
//
// Two captures are the same only if payload, status and media type are: the page "not found" of a site is no revisit
// of an empty page, and a style sheet is none of a text, whatever their bytes. Which record of several stands for a
// capture, and how far its URI counts, is told by [Query].
//
// When part of a file is found to be lost, all that lay there is forgotten with it, see [Index.Forget].
//
// The index keeps its keys in a store that belongs to someone else, all of them beginning with the letter 'd'. It
// survives the process when the owner's commits do.
package dedup
