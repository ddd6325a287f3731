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
// and reads them. A node that was away takes the revision before it crawls.
//
//	openFollower  connect to the revisions of the database
//	Run           examine what is proposed and take what is in force, until the context ends
//	CatchUp       take what is in force now; before the node takes hosts
//	Crawl         from now on a crawl uses the files
//
// # Connections between nodes
//
// Each process makes a key and a certificate for it when it starts, and keeps both in memory only. It notes the
// fingerprint of the certificate in the database of the cluster. Both sides of a connection show their certificates and
// accept only one whose fingerprint is there. So there is no secret to distribute, to renew or to lose. Somebody who
// can only read the database cannot pass for a node.
//
// # One address for all nodes
//
// The API and the dashboard of each node answer for the whole crawl. A request that names a node, in the header
// Arcrawl-Node or the parameter node, is answered by that one. Otherwise a question about a host or a URI, and an order
// for it, goes to the node that crawls the host, as the last beat found it. If the host has moved since, this node
// shows what it has, and refuses an order. Some lists are joined from the lists of all nodes, or are read one node
// after the other. A header of the answer says what is missing: nodes that cannot be asked, and hosts that no node
// crawls. All else is answered by the node of the cookie that a page with the parameter has set, or by the node itself,
// and the header says so. An order to pause or to resume goes to all nodes; one to reload to this node.
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
