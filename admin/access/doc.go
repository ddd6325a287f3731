// Package access decides who may send which request to a running crawl, and keeps who changed what: see [AuditLog].
//
// # Callers
//
// A request comes through the unix socket, with a token, from a user who has signed in, or from a trusted proxy that
// names the user. The mode of the socket's file decides who may open it; the kernel names the user of the other
// process. Each token and each user has a name and a [Role]. The handlers behind [Guard] find the [Caller] in the
// context of a request.
//
// # Tokens
//
// A token file has one token on each line: its name, its role and the token. Lines that begin with # are comments. A
// changed file is in force with the next request; a faulty one keeps the last good tokens.
//
// # Browsers
//
// No page of another site may frame the dashboard, read it, or make a browser send orders to it. See [Guard].
package access
