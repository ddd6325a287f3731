package fetch

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"sync/atomic"
	"time"
)

// nameServers are DNS servers in the order in which they are asked. The next one is asked only if the one before does
// not answer.
type nameServers []*nameServer

// nameServer is one DNS server.
type nameServer struct {
	resolver *net.Resolver
	failures atomic.Int32 // look-ups in a row that it did not answer
	retry    atomic.Int64 // Unix time in nanoseconds; before, a server that fails is asked last
}

const (
	// maxNameFailures is how many look-ups in a row a server may leave unanswered before it is asked last. The names of
	// strangers can lead to servers that never answer, which says nothing about this one.
	maxNameFailures = 5
	nameRetry       = 30 * time.Second
	nameTime        = 3 * time.Second // for one server, while there are others to ask
	// minNameTime is how long a server must have been asked for a look-up to say something about it. The context of a
	// look-up may end at once, because the daemon stops or the visit has no time left.
	minNameTime = time.Second
)

// newNameServers returns the servers at some addresses.
func newNameServers(addresses []netip.AddrPort) (all nameServers) {
	for _, a := range addresses {
		dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
			return dialNameServer(ctx, network, a.String())
		}
		all = append(all, &nameServer{resolver: &net.Resolver{PreferGo: true, Dial: dial}})
	}
	return all
}

// Lookup returns the addresses of a host: the answer of the first server that has one. "No such host" is an answer.
func (all nameServers) Lookup(ctx context.Context, host string) (found []netip.Addr, err error) {
	for i, s := range all.inOrder(time.Now()) {
		began := time.Now()
		one, cancel := ctx, context.CancelFunc(func() {})
		if left := len(all) - i; left > 1 {
			limit := nameTime
			if end, ok := ctx.Deadline(); ok {
				limit = min(limit, time.Until(end)/time.Duration(left))
			}
			one, cancel = context.WithTimeout(ctx, limit)
		}
		found, err = s.resolver.LookupNetIP(one, "ip", host)
		cancel()
		if answered(err) {
			s.failures.Store(0)
			return found, err
		}
		if ctx.Err() != nil && (i < len(all)-1 || time.Since(began) < minNameTime) {
			return nil, err // it had no time to answer
		}
		if s.failures.Add(1) >= maxNameFailures {
			s.retry.Store(time.Now().Add(nameRetry).UnixNano())
		}
	}
	return nil, err
}

// answered reports whether a look-up with this error was answered.
func answered(err error) bool {
	dns := (*net.DNSError)(nil)
	return err == nil || errors.As(err, &dns) && dns.IsNotFound
}

// inOrder returns the servers in the order in which they are asked.
func (all nameServers) inOrder(now time.Time) nameServers {
	fails := func(s *nameServer) bool {
		return s.failures.Load() >= maxNameFailures && now.UnixNano() < s.retry.Load()
	}
	if !slices.ContainsFunc(all, fails) {
		return all
	}
	first := make(nameServers, 0, len(all))
	for _, s := range all {
		if !fails(s) {
			first = append(first, s)
		}
	}
	for _, s := range all {
		if !slices.Contains(first, s) {
			first = append(first, s)
		}
	}
	return first
}
