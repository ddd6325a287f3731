// Package shared keeps a copy of a crawl's store in PostgreSQL, so that other nodes can take its hosts over.
//
// Each host belongs to one of [Parts] parts. One node at a time crawls a part: its owner. It ships each change of its
// own store here, into tables of all nodes: the payloads, and the rows of hosts. All nodes beat, so that the others see
// who is alive. Letters carry what one node finds for the owner of another part. The package knows rows as keys and
// values, not what they mean. It starts no goroutine and asks no clock, neither of this machine nor of the database.
// All of its connections have the same limits, which are shorter than the lease of a node.
//
// # Fencing
//
// A beat, a shipment and a fence lock the row of a node, the first two shared. So a fence waits for a shipment in
// progress, and what comes after it finds the node fenced and changes nothing. If the node stands still within a
// transaction, the fence ends its sessions. A fence compares the beats of the node after it has the lock: a beat that
// came in between prevents it.
//
// Nobody takes a part from a node that is not fenced. So a shipment makes sure only that its node is not fenced: what
// this node has not released is its own. The shipments of a node wait for each other, and so does a release of parts:
// the database may commit late what the node has given up.
//
// # Locks
//
// A transaction locks the row of its node first, then the one row of the crawl if it changes owners, then rows that
// other nodes write too: letters and payloads, in the order of their keys.
//
// A node whose connection breaks while it commits does not know whether it did. Everything here may be repeated.
//
// The SQL has no advisory locks, notifications, temporary tables or SKIP LOCKED. Transactions that the database cannot
// put in order are repeated after a moment.
package shared
