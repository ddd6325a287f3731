// Package cluster lets several processes of arcrawl, the nodes, share one crawl through a PostgreSQL database.
//
// [Wing] plugs it into the program. Each host belongs to one of 1,024 parts of the crawl. A node runs one daemon, with
// one store for all parts that it owns. See cluster/shared for the database.
//
// # The owner of a part
//
// The node that owns a part ships each change of the rows of its hosts to the database. If it dies, other nodes take
// its parts and load these rows, but not the payloads: all nodes share a dedup index in the database, which is asked.
// URIs that a node finds for hosts of other nodes are letters: they are in its store first, then in the database, then
// in the store of the other node.
//
//	openNode  join the cluster: from now on show the others that this node is alive, which extends the lease;
//	          keep the local store if it was released properly, otherwise remove it
//	Opened    follow the changes of the opened store
//	Run       take and release parts, so that all nodes have equally many; fence who has not moved for fenceAfter
//	Follow    ship what has changed, and receive letters
//	Closing   ship the rest; when the store is closed, release all parts
//
// A part that is taken is coming: its rows are loaded while its hosts still belong elsewhere for the frontier. Then it
// is here, and its hosts are visited. A part that another node is to have is leaving: nothing of it is claimed any
// more. When the last visit has ended, what is left is shipped and the part is released; its rows are removed later.
// A shipment has rows of parts that are here or leaving, and no others; so it need not ask who owns them.
//
// A lease holds for leaseTime from the start of the last good beat, by the monotonic clock of this machine. No clock is
// compared with the clock of another machine. Without a lease nothing is claimed, connections to sites refuse to read
// and write, and visits in progress are repeated later. When the lease comes back, the crawl continues.
//
// # One configuration on all nodes
//
// `arcrawl reload --cluster` stores the files of a configuration in the database as a revision. Each live node examines
// it with its own folders and secrets. If all accept it, it is in force: each node writes the files to its own places,
// and reads them. A node that was away takes the revision before it crawls. See config/revision.
package cluster
