package access

import (
	"context"
	"fmt"
	"net"
	"strings"
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
	return context.WithValue(ctx, peerKey{}, UserName(uid))
}

// CallerOf returns the caller that [Guard] has put into the context of a request.
func CallerOf(ctx context.Context) Caller {
	c, _ := ctx.Value(callerKey{}).(Caller)
	return c
}

// peerName returns the name that WithPeer has found.
func peerName(ctx context.Context) string {
	name, _ := ctx.Value(peerKey{}).(string)
	return name
}

// Role says what a caller may do.
type Role int

// The roles. Each may do what the ones before it may do.
const (
	None    Role = iota // only health and readiness
	Read                // look at everything, change nothing
	Curate              // decide what is collected: seeds, host files, captures, scrubbing rules, alarms, traps
	Operate             // everything: also the main file, pauses, reloads, the queue, holds of hosts
)

// String returns the name of a role in a file of tokens or users.
func (r Role) String() string { return [...]string{"none", "read", "curate", "operate"}[r] }

// RoleNames returns the names of the roles that a caller may have, for people.
func RoleNames() string {
	var names []string
	for _, r := range []Role{Read, Curate, Operate} {
		names = append(names, r.String())
	}
	return strings.Join(names, ", ")
}

// ParseRole returns the role with a name.
func ParseRole(name string) (Role, error) {
	for _, r := range []Role{Read, Curate, Operate} {
		if r.String() == name {
			return r, nil
		}
	}
	return None, fmt.Errorf("unknown role %q; valid roles: %s", name, RoleNames())
}
