// Package api holds the answers and orders of the daemon's HTTP API, and the client that the commands use.
//
// The package admin serves the API; this package does not need it. Types are written as JSON and named as in
// /openapi.json. A [Client] sends requests through the daemon's unix socket. A refused request returns a [Refusal],
// and a daemon that does not answer returns [ErrNoDaemon].
package api
