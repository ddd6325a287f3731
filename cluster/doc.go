// Package cluster lets several processes of arcrawl, the nodes, share one crawl through a PostgreSQL database.
//
// [Wing] plugs it into the program. A node runs a daemon for each shard of the crawl that it owns. A crawl that was
// never divided has one shard. See cluster/shared for the database.
//
// # The owner of a shard
//
// The node that owns a shard ships each change of its store to the database. If it dies, another node takes the shard
// and loads its store from the database, but not the payloads: all shards share a dedup index there, which is asked.
// URIs that a node finds for other shards are letters: they are in its store first, then in the database, then in the
// store of the other shard.
//
//	openNode  join the cluster: from now on show the others that we are alive, which extends the lease
//	Run       take and release shards, so that all nodes have equal parts; fence who has not moved for fenceAfter
//
// For each shard that is taken:
//
//	Prepare  keep the local store if it is the newest, otherwise load it from the database
//	Start    follow the changes of the opened store; ship the whole store if the database has none
//	Ship     until the shard is released: ship what has changed
//	Finish   ship the rest; when the store is closed, release the shard
//
// A lease holds for leaseTime from the start of the last good beat, by the monotonic clock of this machine. No clock is
// compared with the clock of another machine. Without a lease nothing is claimed, connections to sites refuse to read
// and write, and visits in progress are repeated later. When the lease comes back, the crawl continues.
//
// # One configuration on all nodes
//
// `arcrawl reload --cluster` stores the files of a configuration in the database as a revision. Each live node examines
// it with its own folders and secrets. If all accept it, it is in force: each node writes the files to its own places,
// and reads them. A node that was away takes the revision before it crawls.
//
//	openFollower  connect to the revisions of the database
//	Run           examine what is proposed and take what is in force, until the context ends
//	CatchUp       take what is in force now; before the node takes a shard
//	Crawl         from now on a crawl uses the files
//
// # Connections between nodes
//
// Each process makes a key and a certificate for it when it starts, and keeps both in memory only. It notes the
// fingerprint of the certificate in the database of the cluster. Both sides of a connection show their certificates and
// accept only one whose fingerprint is there. So there is no secret to distribute, to renew or to lose. Somebody who
// can only read the database cannot pass for a node.
//
// # One address for all shards
//
// The API and the dashboard of each node answer for all shards of the crawl: for those that the node crawls, and for
// those that others crawl. A request that names a shard, in the header Arcrawl-Shard or the parameter shard, is
// answered by that one. Otherwise a question about a host or a URI, and an order for it, goes to the shard of the host.
// Some lists are joined from the lists of all shards, or are read one shard after the other. All else is answered by
// the shard of the cookie that a page with the parameter has set, or by the lowest one, and a header of the answer says
// what is left out. An order to reload goes to all shards of this node; so does one to pause or to resume on a process
// without other nodes.
//
// # A fleet on one page
//
// The separate daemons of a fleet share nothing: each has its own configuration, store and archive. A file lists where
// they are. A daemon that does not answer is a row that says so.
//
// # A demo on one machine
//
// The demo starts a PostgreSQL server, some nodes and some sites in one folder. A node is killed while somebody
// watches, and comes back. Everything is stopped before the demo returns. If its process is killed, the kernel of Linux
// ends what it has started.
package cluster
