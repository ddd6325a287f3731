package frontier

import (
	"net/netip"
	"slices"
	"time"

	"github.com/arcrawl/arcrawl/uri"
)

// Quotas bound how many visits the hosts of one stranger may have in progress together. Zero means no bound. A host
// whose valence is larger may have as many visits as its valence says.
type Quotas struct {
	PerDomain  int // of the hosts of one registrable domain
	PerAddress int // of the hosts at one address, as far as it is known
	// PerServer bounds the hosts of one domain at one address: probably one server. Hosts of different domains at one
	// address, as in a CDN, are strangers to each other.
	PerServer int
	// Unmet bounds the hosts that never answered and could not be reached at least once.
	Unmet int
}

// QuotasFor returns the quotas of a crawl with n workers.
func QuotasFor(n int) Quotas {
	return Quotas{
		PerDomain: max(1, n/4), PerAddress: max(1, n/2), PerServer: min(max(1, n/4), 4), Unmet: max(1, n/16),
	}
}

// quota bounds the claims in progress of some hosts. A host that is ready while the quota is used up waits in line,
// outside the order of the heap, until a claim ends.
type quota struct {
	key    quotaKey
	max    int64
	claims int64
	hosts  int     // that the quota applies to
	line   []*host // that were ready when it was used up
}

// The quotas of a host, by kind.
const (
	byDomain = iota
	byAddress
	byServer
	byUnmet
	quotaKinds
)

// quotaKey names a quota.
type quotaKey struct {
	domain  string
	address netip.Prefix
	unmet   bool
}

// usedUp returns a quota that forbids one more claim of the host now; nil if there is none.
func (h *host) usedUp() *quota {
	for _, q := range h.quotas {
		if q != nil && q.claims >= max(q.max, int64(h.valence)) {
			return q
		}
	}
	return nil
}

// firstClaimable returns the host that is ready first and within its quotas. The others that are ready wait in line.
func (f *Frontier) firstClaimable(now int64) *host {
	f.lastClaim = now
	for {
		h := f.queue.first()
		if h == nil || h.readyAt > now {
			return nil
		}
		q := h.usedUp()
		if q == nil {
			return h
		}
		f.putInLine(h, q)
		for _, other := range h.quotas { // its place under the others is free again
			if other != nil && other != q {
				f.callNext(other)
			}
		}
	}
}

// putInLine makes a host wait for a quota.
func (f *Frontier) putInLine(h *host, q *quota) {
	h.waitsFor = q
	q.line = append(q.line, h)
	f.updateReady(h)
}

// callNext lets hosts leave the line of a quota that is not used up, until one of them can be claimed now.
func (f *Frontier) callNext(q *quota) {
	for q.claims < q.max && len(q.line) > 0 {
		h := q.line[0]
		q.line[0] = nil
		q.line = q.line[1:]
		h.waitsFor = nil
		f.updateReady(h)
		if other := h.usedUp(); other != nil {
			f.putInLine(h, other)
		} else if h.readyAt <= f.lastClaim {
			return
		}
	}
}

// updateReady computes again when a host is ready, and moves it in the heap.
func (f *Frontier) updateReady(h *host) {
	h.ownReadyAt, h.readyAt = h.readyTimes()
	f.queue.fix(h)
}

// isUnmet reports whether a host never answered, and could not be reached at least once.
func (s *state) isUnmet() bool { return s.met == metNever && s.failures > 0 }

// joinQuotas makes a host subject to the quotas that apply to it now.
func (f *Frontier) joinQuotas(h *host) {
	domain := ""
	if f.o.Quotas != (Quotas{}) {
		domain = h.name.Domain()
	}
	f.joinQuota(h, byDomain, quotaKey{domain: domain}, f.o.Quotas.PerDomain)
	if h.address.IsValid() {
		f.joinQuota(h, byAddress, quotaKey{address: h.address}, f.o.Quotas.PerAddress)
		f.joinQuota(h, byServer, quotaKey{domain: domain, address: h.address}, f.o.Quotas.PerServer)
	}
	if h.isUnmet() {
		f.joinQuota(h, byUnmet, quotaKey{unmet: true}, f.o.Quotas.Unmet)
	} else {
		f.leaveQuota(h, byUnmet)
	}
}

// joinQuota makes a host subject to one quota, instead of another one of the same kind.
func (f *Frontier) joinQuota(h *host, kind int, key quotaKey, bound int) {
	if was := h.quotas[kind]; bound == 0 || was != nil && was.key == key {
		return
	}
	f.leaveQuota(h, kind)
	q := f.quotaByKey[key]
	if q == nil {
		q = &quota{key: key, max: int64(bound)}
		f.quotaByKey[key] = q
	}
	q.hosts++
	q.claims += h.claims()
	h.quotas[kind] = q
}

// leaveQuota removes a host from its quota of a kind, and from the line of that quota.
func (f *Frontier) leaveQuota(h *host, kind int) {
	q := h.quotas[kind]
	if q == nil {
		return
	}
	h.quotas[kind] = nil
	q.claims -= h.claims()
	if q.hosts--; q.hosts == 0 {
		delete(f.quotaByKey, q.key)
	}
	if h.waitsFor == q {
		h.waitsFor = nil
		q.line = slices.DeleteFunc(q.line, func(other *host) bool { return other == h })
	}
	f.callNext(q)
}

// countClaims adds claims of a host to its quotas. If claims have ended, others that wait are called.
func (f *Frontier) countClaims(h *host, change int64) {
	for _, q := range h.quotas {
		if q != nil {
			q.claims += change
			f.callNext(q)
		}
	}
}

// Network returns the network of the address that the last visit of a host went to, zero if it is not known.
func (f *Frontier) Network(h uri.Host) netip.Prefix {
	f.mu.Lock()
	defer f.mu.Unlock()
	if known := f.hosts[h]; known != nil {
		return known.address
	}
	return netip.Prefix{}
}

// NetworkOf returns the network that one owner has at least: an IPv4 address, or the first half of an IPv6 address.
func NetworkOf(ip netip.Addr) netip.Prefix {
	bits := 32
	if ip = ip.Unmap(); ip.Is6() {
		bits = 64
	}
	network, err := ip.Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return network
}

// NewHosts bounds how many hosts become known. URIs of further hosts are refused. The bounds do not apply to seeds and
// imports. Zero means no bound.
type NewHosts struct {
	Total        int // known hosts; see [Frontier.MakeRoom]
	PerPage      int // that one visit finds
	PerSeedDay   int // that are found from one seed on one day
	PerDomainDay int // of one registrable domain that are found on one day; zero means a tenth of PerSeedDay
}

// DefaultNewHosts returns the bounds of an ordinary crawl.
func DefaultNewHosts() NewHosts { return NewHosts{Total: 500_000, PerPage: 100, PerSeedDay: 10_000} }

// hostAllowance counts the hosts that one visit adds; nil for candidates that no visit has found.
type hostAllowance struct {
	page int // hosts added so far
	seed string
	many bool // of many pages
}

// newHostCounts counts the hosts that visits have found on one day. It is not stored.
type newHostCounts struct {
	day      int64
	bySeed   map[string]int
	byDomain map[string]int
}

// on returns the counts of the day of a time. Counts of an earlier day are dropped.
func (n *newHostCounts) on(now time.Time) *newHostCounts {
	if day := now.Unix() / (24 * 60 * 60); n.bySeed == nil || day != n.day {
		*n = newHostCounts{day: day, bySeed: map[string]int{}, byDomain: map[string]int{}}
	}
	return n
}

// RefusedNewHosts returns the number of URIs that were refused since the opening because no further host may become
// known.
func (f *Frontier) RefusedNewHosts() int64 { return f.refused.Load() }

// mayAddHost reports whether the host of a candidate is known or may become known, and counts it if it is new. It
// remains counted if the transaction fails: this is a bound, not a statistic.
func (c *change) mayAddHost(n Candidate, from *hostAllowance, now time.Time) bool {
	name := n.URI.Host()
	if c.drafts[name] != nil || c.host(name) != nil || from == nil && n.Hops == "" {
		return true
	}
	limits := c.f.o.NewHosts
	if limits.Total > 0 && len(c.f.byID)+c.fresh >= limits.Total && !c.hasVacant() {
		return false
	}
	if from == nil {
		return true
	}
	if limits.PerDomainDay == 0 && limits.PerSeedDay > 0 {
		limits.PerDomainDay = max(1, limits.PerSeedDay/10)
	}
	counts, domain := c.f.newHostCounts.on(now), name.Domain()
	if limits.PerPage > 0 && !from.many && from.page >= limits.PerPage ||
		limits.PerSeedDay > 0 && counts.bySeed[from.seed] >= limits.PerSeedDay ||
		limits.PerDomainDay > 0 && counts.byDomain[domain] >= limits.PerDomainDay {
		return false
	}
	from.page++
	counts.bySeed[from.seed]++
	counts.byDomain[domain]++
	return true
}
