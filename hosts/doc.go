// Package hosts keeps what was learned of each host, as rows in the Badger store of the frontier: its [Cookies], what
// each day brought ([Daily]), how far its headers and dates are believed ([Reputation]), and what its URIs of one kind
// have in common ([Similar]). [Rows] are the common base, for other packages too.
package hosts
