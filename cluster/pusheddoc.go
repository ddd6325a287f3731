// Package pushed puts one configuration in force on all nodes of a cluster.
//
// `arcrawl cluster push` stores the files of a configuration in the database as a revision. Each live node examines it
// with its own folders and secrets. If all accept it, it is in force: each node writes the files to its own places, and
// reads them. A node that was away takes the revision before it crawls.
//
//	Open       connect to the revisions of the database
//	Run        examine what is proposed and take what is in force, until the context ends
//	CatchUp    take what is in force now; before the node takes a shard
//	Crawl      from now on a crawl uses the files

package cluster
