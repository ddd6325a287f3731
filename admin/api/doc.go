// Package api holds the answers and orders of the daemon's HTTP API, and the client that the commands use.
//
// The package admin serves the API; this package does not need it. Types are written as JSON and named as in
// /openapi.json. The types of requests that a wing adds are in the wing, except those that a cluster joins. A [Client]
// sends requests through the daemon's unix socket. A refused request returns a [Refusal], and a daemon that does not
// answer returns [ErrNoDaemon].
//
// Whoever answers for several daemons joins their answers field by field. The tag `join` of a field says how, such as
// `join:"sum"`. An answer with a field that does not say it is refused. cluster explains the tags.
package api
