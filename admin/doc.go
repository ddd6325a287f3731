// Package admin shows and steers a running crawl: an HTTP API, the dashboard, Prometheus metrics and alarms. The
// types of the API and its client are in the package api.
//
// # Structure
//
// A [Window] reads the open packages of a crawl. It is notified of every settled visit ([Window.Observe]), called a
// few times a minute ([Window.Tick]), and answers requests as an [net/http.Handler]. It starts no goroutine, reads
// only the clock that it is given, and opens no socket: the package daemon does that.
//
// # Surveys
//
// A survey reads the frontier as a whole: what waits, how long backlogs last, and which capture targets the pace of
// each host can meet. The last one is kept, so that many requests can use it. Other answers need none: traps
// ([TrapList]), and which rule keeps a URI out of the crawl ([WhyNot]). What happened on past days, the wing reports
// answers.
//
// # Access
//
// The package access guards [Window.Handler]: it decides who may send which request, through the socket or from a
// network.
//
// # Stored data
//
// Visits are counted for each minute of the last day and each hour of the last ninety days. Both are appended to a
// file; a crash loses the current minute. A pause is stored in a file too, so that neither a restart nor a crash ends
// it. Everything has a bound.
package admin
