// Package dedup knows which record of the archive holds a payload, so that a payload that comes again, under the same
// or another URI, becomes a revisit record instead of a copy.
//
// An entry may be put only after its record is on disk (law 1): whoever finds it writes a revisit that points there. The
// opposite order of events, a record whose entry was lost in a crash, costs a second copy and nothing else. The first
// record of a payload stays its origin for good, so that no chain of revisits can arise.
//
// Entries live in the frontier's store under keys of their own.
package dedup
