// Package admin shows and steers a running crawl: an HTTP API, the dashboard, Prometheus metrics and alarms. The
// types of the API and its client are in the package api.
//
// # Structure
//
// A [Window] reads the open packages of a crawl. It is notified of every settled visit ([Window.Observe]), called a
// few times a minute ([Window.Tick]), and answers requests as an [net/http.Handler]. It starts no goroutine, reads
// only the clock that it is given, and opens no socket: the package daemon does that.
//
// # Access
//
// The handler behind a unix socket serves every process that may open the socket; the mode of the file decides. The
// handler behind TCP ([Window.Handler] with a token) serves only requests with the token and a loopback name. It
// refuses requests that come from pages of other sites; see guard.go.
//
// # Stored data
//
// Visits are counted for each second of the last minute, each minute of the last day, and each hour of the last
// ninety days. Minutes and hours are appended to a file and read at the next start; a crash loses the current minute.
// A pause is stored in a file too, so that neither a restart nor a crash ends it. Everything has a bound.
package admin
