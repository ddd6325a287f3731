// Package fleet asks several separate daemons for their state, and shows the answers on one page.
//
// The daemons share nothing: each has its own configuration, store and archive. A file lists where they are. A daemon
// that does not answer is a row that says so.

package cluster
