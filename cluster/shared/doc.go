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
// A shipment and a fence lock the row of a node, a beat and a fence the row of its beats. So a fence waits for a
// shipment or a beat in progress, and what comes after it finds the node fenced and changes nothing. If the node stands
// still within a transaction, the fence ends its sessions. A beat that came first prevents a fence.
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
// # Other engines
//
// testdata/sql.txt lists all SQL. An engine with the protocol of PostgreSQL must have what is there, except for what is
// marked as not needed. Its sessions are separate. A transaction waits for another one that has written the same row,
// for lock_timeout at most, and transactions are isolated as "read committed" or better. What has committed is seen by
// each transaction that begins later, and is not lost. The node that makes the tables tries whether the engine locks
// rows. Tables and data are never changed in one transaction, except by TRUNCATE. Transactions that the database cannot
// put in order are repeated after a moment.
package shared
