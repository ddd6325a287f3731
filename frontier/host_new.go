package frontier

import "time"

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
