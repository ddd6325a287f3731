// Package shared keeps a copy of a crawl's store in PostgreSQL, so that another node can take the crawl over.
//
// A crawl has one shard, or several after [Split]. One node at a time crawls a shard: its owner. It ships each
// change of its own store here, into tables that all shards share: the payloads, and the rows of hosts. A row belongs
// to a part of the crawl, and a part to a shard, see [PartsOf]. All nodes beat, so that the others see who is alive.
// Letters carry what one shard finds for another. The package knows rows as keys and values, not what they mean. It
// starts no goroutine and asks no clock, neither of this machine nor of the database. All of its connections have the
// same limits, which are shorter than the lease of a node.
//
// # Fencing
//
// A beat, a shipment and a fence lock the row of a node, the first two shared. So a fence waits for a shipment in
// progress, and what comes after it finds the node fenced and changes nothing. If the node stands still within a
// transaction, the fence ends its sessions. A fence compares the beats of the node after it has the lock: a beat that
// came in between prevents it.
//
// A node whose connection breaks while it commits does not know whether it did. Everything here may be repeated.
//
// The SQL has no advisory locks, notifications, temporary tables or SKIP LOCKED. Transactions that the database cannot
// put in order are repeated after a moment.
package shared
