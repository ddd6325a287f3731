// Package fleet shows several daemons as one.
//
// [Wing] plugs it into the program.
//
// # One address for the nodes of a crawl
//
// Where the owner of a daemon's store has [Nodes], the API and the dashboard of each node answer for the whole crawl. A
// request that names a node, in the header Arcrawl-Node or the parameter node, is answered by that one. Otherwise a
// question about a host or a URI, and an order for it, goes to the node that crawls the host. If the host has moved
// since, this node shows what it has, and refuses an order. Some lists are joined from the lists of all nodes, or are
// read one node after the other. A header of the answer says what is missing: nodes that cannot be asked, and hosts
// that no node crawls. All else is answered by the node of the cookie that a page with the parameter has set, or by the
// node itself, and the header says so. An order to pause or to resume goes to all nodes; one to reload to this node.
//
// # Connections between nodes
//
// Each process makes a key and a certificate for it when it starts, and keeps both in memory only. The nodes know the
// fingerprints of each other's certificates. Both sides of a connection show their certificates and accept only one
// whose fingerprint is known. So there is no secret to distribute, to renew or to lose.
//
// # Separate daemons on one page
//
// The daemons of a fleet share nothing: each has its own configuration, store and archive. A file lists where they are.
// A daemon that does not answer is a row that says so.
package fleet
