package sim

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"time"

	"github.com/arcrawl/arcrawl/evaluators/rate"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/uri"
)

// CrowdOptions holds the arguments of [Crowd].
type CrowdOptions struct {
	Policy Policy
	Knob   float64
	Delay  time.Duration                   // between two visits to a host
	Rest   func(host string) time.Duration // the delay of each host; nil = Delay for all hosts
	Order  frontier.Order                  // among the URIs of a host that are due
	Dir    string                          // a folder for the stores of the frontier, which are not removed
}

// Crowd plays a policy through histories where politeness allows each host one visit per delay. A real frontier, with a
// store for each host, orders the visits as in the crawler. The first visit of a URI takes a slot like any other, but
// does not count as a request if it comes at once.
func Crowd(c CrowdOptions, all []History) ([]Tally, error) {
	result := make([]Tally, len(all))
	for n, host := range hosts(all) {
		players := c.Policy.Host(c.Knob)
		var crowd []*track
		for _, i := range host {
			h := &all[i]
			result[i].Versions = len(h.Changes)
			crowd = append(crowd, &track{history: h, play: players(*h), due: h.Start, tally: &result[i]})
		}
		c := c
		if c.Rest != nil {
			c.Delay = c.Rest(all[host[0]].Host)
		}
		if c.Dir = filepath.Join(c.Dir, strconv.Itoa(n)); len(crowd) == 0 {
			continue
		}
		if err := c.host(crowd); err != nil {
			return nil, fmt.Errorf("play host %s: %w", crowd[0].history.Host, err)
		}
	}
	return result, nil
}

// host plays one host until all its histories end.
func (c CrowdOptions) host(crowd []*track) (err error) {
	now := crowd[0].due
	for _, t := range crowd {
		if t.due.Before(now) {
			now = t.due
		}
	}
	f, err := frontier.Open(frontier.Options{Dir: c.Dir, Now: now, Order: c.Order})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	byURI := make(map[uri.URI]*track, len(crowd))
	for i, t := range crowd {
		candidate, err := candidateOf(i, t)
		if err != nil {
			return err
		}
		byURI[candidate.URI] = t
		if _, err := f.Add(t.due, candidate); err != nil {
			return err
		}
	}
	var budget rate.Budget
	for {
		ready, ok := f.NextReady()
		if !ok {
			return nil
		}
		if ready.After(now) {
			now = ready
		}
		claim, ok, err := f.Claim(now)
		switch {
		case err != nil:
			return err
		case !ok:
			return errors.New("the frontier reports a host as ready and returns no claim")
		}
		if _, err := f.Settle(claim, c.visit(&budget, byURI[claim.Record.URI], claim.Record, now)); err != nil {
			return err
		}
	}
}

// visit returns the settlement of a visit, as the crawler would make it. A URI whose history has ended leaves the queue
// and takes no slot.
func (c CrowdOptions) visit(budget *rate.Budget, t *track, r frontier.Record, now time.Time) frontier.Settlement {
	first := !t.visited
	t.stretch = budget.Stretch(1, c.Delay)
	was, elastic := rate.Demand(r.Wait, r.Rate)
	budget.Ask(-was, elastic)
	over := now.After(t.history.Start.Add(t.history.Watched))
	more := !over && t.visit(now)
	for more && t.plan.Look { // a second look follows at once, whatever the order
		budget.Visit(c.Delay, false)
		now = now.Add(c.Delay)
		more = t.visit(now)
	}
	if !more {
		r.Due = time.Time{}
		s := frontier.Settlement{Record: r, Finished: now, NoRequest: over}
		if !over {
			s.Politeness.MinDelay = c.Delay
			budget.Visit(c.Delay, !first)
		}
		return s
	}
	r.LastVisit, r.Visits, r.ContentType = now, r.Visits+1, MIME(t.history.Kind)
	r.Due, r.Wait, r.Rate = t.due, t.due.Sub(now), t.plan.PerDay
	if t.plan.Asked > 0 {
		r.Wait = t.plan.Asked
	}
	budget.Visit(c.Delay, !first)
	budget.Ask(rate.Demand(r.Wait, r.Rate))
	return frontier.Settlement{Record: r, Finished: now, Politeness: frontier.Politeness{MinDelay: c.Delay}}
}

// Quota returns the delay at which politeness allows a policy a number of times fewer visits to a host than it wants.
// It is at least a second.
func Quota(p Policy, knob float64, host []History, times float64) time.Duration {
	requests := Sum(Play(p, knob, host)).Requests
	if len(host) == 0 || requests == 0 {
		return time.Second
	}
	from, to := Span(host)
	return max(time.Second, time.Duration(times*float64(to.Sub(from))/float64(requests)))
}

// OneHost puts all histories on one host, where all begin at once and none is longer than longest.
func OneHost(all []History, longest time.Duration) []History {
	one := slices.Clone(all)
	for i := range one {
		h := &one[i]
		h.Host, h.Start, h.Watched = "all", all[0].Start, min(h.Watched, longest)
		n := sort.Search(len(h.Changes), func(k int) bool { return h.Changes[k] > h.Watched })
		h.Changes = h.Changes[:n]
	}
	return one
}

// candidateOf returns the URI that stands for a resource. A resource that begins with the crawl and is not an article
// counts as a seed.
func candidateOf(i int, t *track) (frontier.Candidate, error) {
	u, err := uri.Parse("http://sim.example/" + strconv.Itoa(i))
	if err != nil {
		return frontier.Candidate{}, err
	}
	c := frontier.Candidate{URI: u, Seed: u.String(), Due: t.due}
	if depth(*t.history) > 0 {
		c.Hops = c.Hops.Then(uri.Link)
	}
	return c, nil
}
