// This file bounds the connections of clients, so that descriptors are left for the crawl.

package daemon

import (
	"context"
	"crypto/tls"
	"errors"
	"log"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/arcrawl/arcrawl/admin/access"
)

// The bounds of the open connections of a listener, see [limits.connections]. One address may have half of them.
const (
	maxConnections = 256
	minConnections = 16
	partOfListener = 8 // of the files that the crawl does not need
	partOfAddress  = 2 // of the connections of a listener
)

// sayRefusalsEvery is how often the refusals of a listener are logged at most.
const sayRefusalsEvery = time.Minute

// refusal is a reason why a connection of a client is closed.
type refusal int

const (
	beyondAddress   refusal = iota // its address has too many
	beyondListener                 // the listener has too many
	failedHandshake                // of TLS
	refusalReasons
)

// String says what is wrong with connections that are refused for a reason.
func (r refusal) String() string {
	return [...]string{
		"closed connections of clients: their address had too many open",
		"closed connections of clients: too many were open, these had waited longest for a request",
		"connections of clients failed in the TLS handshake",
	}[r]
}

// refusals counts what all listeners of a daemon have refused.
type refusals [refusalReasons]atomic.Int64

// Counts returns the numbers of refused connections, by reason.
func (r *refusals) Counts() (counts [refusalReasons]int64) {
	for why := range r {
		counts[why] = r[why].Load()
	}
	return counts
}

// connections are the open connections of a listener. One that is too many of its address is closed at once. One that
// is too many of the listener takes the place of the one that has waited longest for a request: if it were closed
// itself, some addresses that hold connections open together would lock out all others.
type connections struct {
	most    int // of the listener
	at      string
	refused *refusals // of the daemon
	log     zerolog.Logger
	now     func() time.Time

	mu    sync.Mutex     // guards the fields below
	open  []*connection  // the one that has waited longest for a request first
	count map[string]int // by address
	said  [refusalReasons]saidRefusals
}

// connection is an open connection.
type connection struct {
	net.Conn
	from  string // the part of its address that one client cannot choose; "" for a unix socket
	waits bool   // for a request
}

// saidRefusals says when refusals were logged, and how many there have been since then.
type saidRefusals struct {
	at     time.Time
	unsaid int
}

// serveBounded serves l in the background. All listeners of the daemon are served by it, so that their connections are
// bounded. The caller shuts the server down and then calls the returned function, which waits.
func (d *Daemon) serveBounded(server *http.Server, l net.Listener, failed func(error)) (wait func()) {
	c := &connections{
		most: d.connections, at: l.Addr().String(), refused: &d.refused, log: d.log, now: d.o.Now,
		count: map[string]int{},
	}
	server.ConnState, server.ErrorLog = c.changed, log.New(c, "", 0)
	return background(func(context.Context) {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			failed(err)
		}
	})
}

// changed is called by the server when the state of a connection changes, see [http.Server].ConnState.
func (c *connections) changed(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch state {
	case http.StateNew:
		c.add(conn)
	case http.StateActive, http.StateIdle:
		if n := c.remove(c.find(conn)); n != nil {
			n.waits = state == http.StateIdle
			c.insert(n)
		}
	default:
		c.remove(c.find(conn))
	}
}

// add adds a connection, and closes the one that is too many. The caller holds mu.
func (c *connections) add(conn net.Conn) {
	n := &connection{Conn: conn, waits: true}
	if a, err := netip.ParseAddrPort(conn.RemoteAddr().String()); err == nil {
		n.from = access.Place(a.Addr().Unmap())
	}
	if n.from != "" && c.count[n.from] >= max(1, c.most/partOfAddress) {
		c.refuse(beyondAddress, n.from)
		hangUp(conn)
		return
	}
	if len(c.open) >= c.most {
		victim := c.remove(slices.IndexFunc(c.open, func(o *connection) bool { return o.waits }))
		if victim == nil { // all are being served
			victim, n = n, nil
		}
		c.refuse(beyondListener, victim.from)
		hangUp(victim.Conn)
	}
	if n != nil {
		c.insert(n)
	}
}

// find returns the place of an open connection; -1 if it was refused. The caller holds mu.
func (c *connections) find(conn net.Conn) int {
	return slices.IndexFunc(c.open, func(o *connection) bool { return o.Conn == conn })
}

// insert adds a connection as the one that has waited for the shortest time. The caller holds mu.
func (c *connections) insert(n *connection) {
	c.open = append(c.open, n)
	c.count[n.from]++
}

// remove removes and returns the connection at a place; nil if the place is -1. The caller holds mu.
func (c *connections) remove(place int) *connection {
	if place < 0 {
		return nil
	}
	n := c.open[place]
	c.open = slices.Delete(c.open, place, place+1)
	if c.count[n.from]--; c.count[n.from] == 0 {
		delete(c.count, n.from)
	}
	return n
}

// hangUp closes a connection without a word: the end of TLS would wait for a client that does not read.
func hangUp(conn net.Conn) {
	if t, ok := conn.(*tls.Conn); ok {
		conn = t.NetConn()
	}
	_ = conn.Close()
}

// Write takes a line of the server's log.
func (c *connections) Write(line []byte) (int, error) {
	text := strings.TrimSpace(string(line))
	if example, ok := strings.CutPrefix(text, "http: TLS handshake error from "); ok {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.refuse(failedHandshake, example)
		return len(line), nil
	}
	c.log.Error().Str("at", c.at).Msg(text)
	return len(line), nil
}

// refuse counts a refused connection, and logs the refusals since the last time that it did. The caller holds mu.
func (c *connections) refuse(why refusal, example string) {
	c.refused[why].Add(1)
	said, now := &c.said[why], c.now()
	said.unsaid++
	if !said.at.IsZero() && now.Sub(said.at).Abs() < sayRefusalsEvery {
		return
	}
	c.log.Warn().Str("at", c.at).Int("connections", said.unsaid).Str("last", example).Msg(why.String())
	*said = saidRefusals{at: now}
}
