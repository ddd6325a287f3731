// Package hostile attacks a daemon from servers on loopback and measures what that costs a healthy site.
//
// All of it is tests. Each attack is a row of a table: what the stranger's servers do, and what must hold. The real
// daemon crawls the strangers and a healthy site at the same time. Each party has an address of its own in 127.0.0.0/8
// and names of its own, which a small DNS server resolves, so that limits by address and by domain can distinguish
// them. A row fails if
//
//   - the healthy site has less than 90 % of the visits that it has without the attack,
//   - goroutines, heap, descriptors or bytes on disk exceed the bounds of the row,
//   - the crawl is paused or ends,
//   - a revisit record refers to anything but a response record in the archive, or
//   - the check of the row finds something else.
//
// "make hostile" runs all rows. Without the variable ARCRAWL_HOSTILE the tests run a few rows for a short time.
package hostile
