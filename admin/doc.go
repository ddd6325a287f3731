// Package admin is the operator's window on a running daemon: an HTTP API that shows and steers the crawl, the client
// that the commands use, and what is counted for them.
//
// # What it is made of
//
// A [Window] looks into the open rooms of a crawl. It hears of every settled visit ([Window.Observe]), is woken a few
// times a minute ([Window.Tick]), and answers requests as an [net/http.Handler]. It starts no goroutine, asks no clock
// but the one it is given, and opens no socket: cmd/arcrawl does that. A [Client] asks a window through a socket.
//
// # Who may ask
//
// The handler behind a unix socket serves whoever may open the socket, which the file's mode decides. The one behind TCP
// ([Window.Handler] with a token) serves only those who send the token, only under the names of the loopback, and lets no
// page of another site make a browser change anything; see guard.go.
//
// # What is kept
//
// What visits brought is counted for each second of the last minute, each minute of the last day and each hour of the
// last ninety days. Minutes and hours are appended to a file and read back at the next start; a crash loses the minute
// that it falls into. A pause is kept in a file too, so that neither a restart nor a crash ends it: whoever stopped a
// crawl may have promised so to somebody. Everything has a bound.
package admin
