// Package cluster lets several processes of arcrawl, the nodes, share one crawl through a PostgreSQL database.
//
// [Wing] plugs it into the program. A node runs a daemon for each shard of the crawl that it owns: see the package
// cluster/node for who owns a shard, cluster/shared for the database, and cluster/shards for the API of all shards.
package cluster
