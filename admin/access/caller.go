package access

import (
	"context"
	"net"

	"github.com/arcrawl/arcrawl/admin/audit"
)

// Ways in which a request comes.
const (
	Socket  = "socket"
	ByToken = "token"
)

// Caller is who sent a request.
type Caller struct {
	Name string // of the user or of the token; "" if it is not known
	Way  string // [Socket], [ByToken], or "" for a request without either
	Role Role
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
