package cluster

import (
	"context"
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// TestALeaseHoldsForTenSecondsFromTheStartOfABeat moves a clock through beats and their failures.
func TestALeaseHoldsForTenSecondsFromTheStartOfABeat(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	now := start
	l := newLease(func() time.Time { return now })
	at := func(seconds float64) time.Time { return start.Add(time.Duration(seconds * float64(time.Second))) }
	check := func(seconds float64, want, void error, began float64) {
		t.Helper()
		now = at(seconds)
		if err := l.err(); !errors.Is(err, want) || (err == nil) != (want == nil) {
			t.Errorf("after %v s: %v, want %v", seconds, err, want)
		}
		if err := l.voids(at(began)); !errors.Is(err, void) || (err == nil) != (void == nil) {
			t.Errorf("after %v s a visit that began at %v is void because of %v, want %v", seconds, began, err, void)
		}
	}
	check(0, errNoLease, errNoLease, 0)
	now = at(3)
	l.extend(at(1))              // the answer took two seconds
	check(3, nil, errNoLease, 2) // its connections were refused
	check(3, nil, nil, 3)
	check(11, nil, nil, 3)
	check(11.1, errNoLease, errNoLease, 3)
	now = at(20)
	l.extend(at(19))
	check(20, nil, errNoLease, 2)    // it began before the lease was over
	check(20, nil, errNoLease, 19.5) // the beat had begun, but its connections were refused
	check(20, nil, nil, 20)
	now = at(22)
	l.extend(at(22))
	check(31.9, nil, nil, 20)
	l.end(errLost)
	check(31.9, errLost, errLost, 31)
	l.extend(at(31))
	check(31.9, errLost, errLost, 31)
}

// TestConnectionsEndWithTheLease uses connections while a lease holds and afterwards.
func TestConnectionsEndWithTheLease(t *testing.T) {
	t.Parallel()
	now := time.Now()
	l := newLease(func() time.Time { return now })
	ours, theirs := net.Pipe()
	defer theirs.Close()
	dialed := 0
	dial := l.dialer(func(context.Context, string, string) (net.Conn, error) { dialed++; return ours, nil })
	if _, err := dial(t.Context(), "tcp", "a.example:80"); !errors.Is(err, errNoLease) || dialed > 0 {
		t.Errorf("a connection was opened without a lease: %v", err)
	}
	l.extend(now)
	c, err := dial(t.Context(), "tcp", "a.example:80")
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		buffer := make([]byte, 16)
		n, _ := theirs.Read(buffer)
		_, _ = theirs.Write(buffer[:n])
	}()
	buffer := make([]byte, 16)
	if _, err := c.Write([]byte("hello")); err != nil {
		t.Error(err)
	}
	if n, err := c.Read(buffer); err != nil || string(buffer[:n]) != "hello" {
		t.Errorf("%q, %v", buffer[:n], err)
	}
	l.breakOff() // the lease holds: nothing happens
	now = now.Add(leaseTime + time.Millisecond)
	if _, err := c.Write([]byte("x")); !errors.Is(err, errNoLease) {
		t.Errorf("a request was sent without a lease: %v", err)
	}
	if _, err := c.Read(buffer); !errors.Is(err, errNoLease) {
		t.Errorf("an answer was read without a lease: %v", err)
	}
	l.breakOff()
	if _, err := theirs.Write([]byte("x")); err == nil {
		t.Error("the connection is still open")
	}
	if err := c.Close(); err != nil || len(l.conns) != 0 {
		t.Errorf("%d connections are left, %v", len(l.conns), err)
	}
}

// lingering records what it is to do when it is closed.
type lingering struct {
	net.Conn
	linger int
	closed time.Time
}

func (s *lingering) SetLinger(sec int) error { s.linger = sec; return nil }

func (s *lingering) Close() error { s.closed = time.Now(); return s.Conn.Close() }

// TestConnectionsAreResetWhenTheLeaseIsOver waits in virtual time. No beat fails in it: the database does not answer
// until much later. A connection of which the kernel holds a request must not wait for that.
func TestConnectionsAreResetWhenTheLeaseIsOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		l := newLease(time.Now)
		l.extend(start)
		ours, theirs := net.Pipe()
		defer theirs.Close()
		s := &lingering{Conn: ours, linger: -1}
		if _, err := l.dialer(func(context.Context, string, string) (net.Conn, error) { return s, nil })(t.Context(), "", ""); err != nil {
			t.Fatal(err)
		}
		time.Sleep(4 * time.Second)
		l.extend(start.Add(2 * time.Second))
		time.Sleep(9 * time.Second)
		synctest.Wait()
		over := 2*time.Second + leaseTime
		if took := s.closed.Sub(start); s.linger != 0 || took < over || took > over+time.Second {
			t.Errorf("closed after %s with linger %d, want a reset after 12 s", took, s.linger)
		}
		late := func(context.Context, string, string) (net.Conn, error) { time.Sleep(leaseTime); return s, nil }
		l.extend(time.Now())
		time.Sleep(time.Second)
		synctest.Wait()
		s.closed = time.Time{}
		if _, err := l.dialer(late)(t.Context(), "", ""); !errors.Is(err, errNoLease) || s.closed.IsZero() {
			t.Errorf("a connection that was made while the lease ended: %v", err)
		}
	})
}

// TestALongShipmentHasTime compares the time for a shipment with a slow database. A shipment that never ends holds the
// crawl, and what was imported before it is lost at the next start.
func TestALongShipmentHasTime(t *testing.T) {
	t.Parallel()
	const slowRow = 100 * time.Microsecond
	for _, rows := range []int{0, 1000, 1_000_000, 20_000_000} {
		if got := timeToShip(rows); got < time.Duration(rows)*slowRow+20*time.Second {
			t.Errorf("%d rows have %v", rows, got)
		}
	}
}
