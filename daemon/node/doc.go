// Package node lets several arcrawl processes wait for one crawl: one crawls, and another takes over if it dies.
//
// The nodes share a PostgreSQL database. The node that owns the crawl ships each change of its store there. Another
// node waits in [Join] until nobody owns the crawl, and then loads the store from the database.
//
//	Join      wait until nobody owns the crawl, or its owner has not moved for FenceAfter; fence that; own the crawl
//	Beat      from then on: show the others that we are alive, which extends the lease
//	Prepare   keep the local store if it is the newest, otherwise load it from the database
//	Start     follow the changes of the opened store; ship the whole store if the database has none
//	Ship      until the crawl ends: ship what has changed
//	Finish    ship the rest; when the store is closed, release the crawl
//
// A lease holds for LeaseTime from the start of the last good beat, by the monotonic clock of this machine. No clock is
// compared with the clock of another machine. Without a lease nothing is claimed, connections to sites refuse to read
// and write, and visits in progress are repeated later. When the lease comes back, the crawl continues.
package node
