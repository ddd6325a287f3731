package access

import (
	"context"
	"net"

	"github.com/arcrawl/arcrawl/admin/audit"
)

// Ways in which a request comes.
const (
	Socket    = "socket"
	ByToken   = "token"
	BySession = "session" // signed in with a password
	ByProxy   = "proxy"   // named by a trusted proxy
)

// Caller is who sent a request.
type Caller struct {
	Name string // of the user or of the token; "" if it is not known
	Way  string // one of the constants, or "" for a request that needs no caller
	Role Role
}

// proxyTicket is the name in tickets of users whom a proxy names. No token and no user is called so.
const proxyTicket = "users of the proxy"

// Ticket returns the name for which the caller gets tickets.
func (c Caller) Ticket() string {
	if c.Way == ByProxy {
		return proxyTicket
	}
	return c.Name
}

// TicketNames returns the names for which tickets are valid: of tokens and users, "" for users of the socket, and the
// one of users whom a proxy names.
func (o Options) TicketNames() []string {
	names := []string{""}
	for _, t := range o.Tokens() {
		names = append(names, t.Name)
	}
	for _, u := range o.users() {
		names = append(names, u.Name)
	}
	if o.Proxy.Header != "" {
		names = append(names, proxyTicket)
	}
	return names
}

type (
	peerKey   struct{}
	callerKey struct{}
)

// WithPeer returns the context of a connection with the name of the user of the process at the other end, if the
// connection is a unix socket. It is for [net/http.Server].ConnContext.
func WithPeer(ctx context.Context, c net.Conn) context.Context {
	conn, ok := c.(*net.UnixConn)
	if !ok {
		return ctx
	}
	uid, ok := peerUser(conn)
	if !ok {
		return ctx
	}
	return context.WithValue(ctx, peerKey{}, audit.UserName(uid))
}

// CallerOf returns the caller that [Guard] has put into the context of a request.
func CallerOf(ctx context.Context) Caller {
	c, _ := ctx.Value(callerKey{}).(Caller)
	return c
}

func withCaller(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// peerName returns the name that WithPeer has found.
func peerName(ctx context.Context) string {
	name, _ := ctx.Value(peerKey{}).(string)
	return name
}
