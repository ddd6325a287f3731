// Package node lets several arcrawl processes share one crawl: each crawls some shards of it, and others take over if
// one dies. A crawl that was never divided has one shard.
//
// The nodes share a PostgreSQL database. The node that owns a shard ships each change of its store there. Another node
// that takes the shard loads its store from the database. URIs that a node finds for other shards are letters: they are
// in its store first, then in the database, then in the store of the other shard.
//
//	Open       join the cluster: from now on show the others that we are alive, which extends the lease
//	Run        take and release shards, so that all nodes have equal parts; fence who has not moved for FenceAfter
//
// For each shard that is taken:
//
//	Prepare    keep the local store if it is the newest, otherwise load it from the database
//	Start      follow the changes of the opened store; ship the whole store if the database has none
//	Ship       until the shard is released: ship what has changed
//	Finish     ship the rest; when the store is closed, release the shard
//
// A lease holds for LeaseTime from the start of the last good beat, by the monotonic clock of this machine. No clock is
// compared with the clock of another machine. Without a lease nothing is claimed, connections to sites refuse to read
// and write, and visits in progress are repeated later. When the lease comes back, the crawl continues.
package node
