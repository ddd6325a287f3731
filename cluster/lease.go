package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/arcrawl/arcrawl/cluster/shared"
	"github.com/arcrawl/arcrawl/fetch"
)

const (
	// leaseTime is how long a lease holds after the start of the last good beat.
	leaseTime = 10 * time.Second
	// fenceAfter is how long the owner must have stood still before another node fences it. It is longer than
	// LeaseTime, so that the owner has stopped by then.
	fenceAfter = 20 * time.Second
	// beatEvery is the time between two beats.
	beatEvery = 2 * time.Second
	// maxBehind is how old the oldest change may be that was not shipped, before nothing more is claimed.
	maxBehind = 5 * time.Second
)

// errLost says that another node has taken the crawl, or may take it.
var errLost error = lost{}

// lost is the error of a node that no longer owns the crawl.
type lost struct{}

// Error says what the node has lost.
func (lost) Error() string { return "this node no longer owns the crawl" }

// ExitCode returns EX_UNAVAILABLE of sysexits.h, because another process has the crawl.
func (lost) ExitCode() int { return 69 }

var errNoLease = errors.New("the database of the cluster did not answer for 10 s, so this node may not visit anything; " +
	"the crawl resumes when the database answers")

// lease says whether this node may visit sites. It is safe for concurrent use.
type lease struct {
	now func() time.Time

	mu    sync.Mutex // guards the fields below
	until time.Time
	began time.Time // of the uninterrupted lease
	lost  error     // why it never comes back
	conns map[*conn]struct{}
	over  *time.Timer // breaks connections off when the lease is over; nil before the first beat
}

func newLease(now func() time.Time) *lease {
	return &lease{now: now, conns: map[*conn]struct{}{}}
}

// extend extends the lease after a good beat that began at start. A lease that was over begins only now: until now,
// connections were refused.
func (l *lease) extend(start time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := l.now(); now.After(l.until) {
		l.began = now
	}
	l.until = start.Add(leaseTime)
	wait := l.until.Sub(l.now()) + time.Millisecond // err says that the lease holds until then
	if l.over == nil {
		l.over = time.AfterFunc(wait, l.breakOff)
	}
	l.over.Reset(wait)
}

// end ends the lease permanently.
func (l *lease) end(why error) {
	l.mu.Lock()
	if l.lost == nil {
		l.lost = why
	}
	l.mu.Unlock()
	l.breakOff()
}

// lostFor returns why the lease never comes back; nil if it may.
func (l *lease) lostFor() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lost
}

// err returns why nothing may be visited now; nil if the lease holds.
func (l *lease) err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.lost != nil:
		return l.lost
	case l.now().After(l.until):
		return errNoLease
	}
	return nil
}

// voids returns why a visit that began at a time teaches nothing: the lease did not hold all the time.
func (l *lease) voids(began time.Time) error {
	if err := l.err(); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if began.Before(l.began) {
		return errNoLease
	}
	return nil
}

// breakOff resets all connections to sites if the lease does not hold. Of a connection that is only closed, the kernel
// would still send what it holds, as soon as the network lets it.
func (l *lease) breakOff() {
	if l.err() == nil {
		return
	}
	l.mu.Lock()
	open := l.conns
	l.conns = map[*conn]struct{}{}
	l.mu.Unlock()
	for c := range open {
		_, _ = c.SetLinger(0), c.Conn.Close() // the exchange reports it
	}
}

// dialer returns a dialer whose connections can be used only while the lease holds.
func (l *lease) dialer(dial fetch.Dialer) fetch.Dialer {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if err := l.err(); err != nil {
			return nil, err
		}
		plain, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		c := &conn{Conn: plain, lease: l}
		if raw, err := c.SyscallConn(); err == nil {
			err = shared.GiveUpAfter(raw, leaseTime) // also while this process stands still
			if err != nil {
				return nil, errors.Join(err, plain.Close())
			}
		}
		l.mu.Lock()
		l.conns[c] = struct{}{}
		l.mu.Unlock()
		if err := l.err(); err != nil { // it may have ended since
			return nil, errors.Join(err, c.Close())
		}
		return c, nil
	}
}

// conn is a connection to a site that can be used only while a lease holds.
type conn struct {
	net.Conn
	lease *lease
}

// Write writes, unless the lease is over. It is the last look before a request leaves the machine.
func (c *conn) Write(p []byte) (int, error) {
	if err := c.lease.err(); err != nil {
		return 0, fmt.Errorf("send to %s: %w", c.RemoteAddr(), err)
	}
	return c.Conn.Write(p)
}

// Read reads, unless the lease is over.
func (c *conn) Read(p []byte) (int, error) {
	if err := c.lease.err(); err != nil {
		return 0, fmt.Errorf("receive from %s: %w", c.RemoteAddr(), err)
	}
	return c.Conn.Read(p)
}

// Close closes the connection.
func (c *conn) Close() error {
	c.lease.mu.Lock()
	delete(c.lease.conns, c)
	c.lease.mu.Unlock()
	return c.Conn.Close()
}

// SetLinger says what the socket does when it is closed.
func (c *conn) SetLinger(sec int) error {
	if s, ok := c.Conn.(interface{ SetLinger(sec int) error }); ok {
		return s.SetLinger(sec)
	}
	return errors.ErrUnsupported
}

// SyscallConn returns the socket, to look whether the other side has closed it.
func (c *conn) SyscallConn() (syscall.RawConn, error) {
	s, ok := c.Conn.(syscall.Conn)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	return s.SyscallConn()
}
