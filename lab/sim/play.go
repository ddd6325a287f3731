package sim

import (
	"container/heap"
	"math"
	"time"

	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/evaluators/rate"
)

// The bounds of waits of a policy without bounds of its own.
const (
	MinWait = 5 * time.Minute
	MaxWait = 28 * 24 * time.Hour
)

// Visit holds what a policy learns from a visit.
type Visit struct {
	At      time.Time
	First   bool             // the first visit of the URI; it is free
	Elapsed time.Duration    // since the visit before; zero at the first
	Overdue time.Duration    // how long after its due time
	Jumped  time.Duration    // how far the clock has jumped since the visit before, if the crawler noticed
	Stretch float64          // factor by which the waits of the host are stretched; below 1 counts as 1
	Changed time.Time        // when the URI last changed, if it did since the visit before; most policies ignore it
	Dated   time.Time        // when the URI says that it last changed, if it does and is believed
	Silent  time.Time        // when it did not say so yet, if that is known
	State   evaluators.State // Changed if the URI changed since the visit before, or is noisy
	Seen    evaluators.State // Changed if a reader sees a change since the visit before
	Earlier bool             // made before the crawl: its kin learn nothing from it, as with arcrawl prime
	Probes  *rate.Probes     // the probes of the crawl, to be added to; nil = no wait is cut for a probe
}

// Plan is the decision of a policy after a visit.
type Plan struct {
	Wait     time.Duration // until the next visit, from this one on
	Asked    time.Duration // the wait before it was stretched; zero if it was not
	Expected float64       // changes expected in that time, if the policy estimates them
	PerDay   float64       // changes per day expected, if the policy estimates them
	Versions float64       // versions that probably appeared since the visit before, if the policy estimates them
	Look     bool          // the next visit is a second look, which says whether the page differs at every fetch
}

// Player plays one URI. It may share what it learns with the other players of its host.
type Player func(Visit) Plan

// Policy is a rule to compare. Its one knob decides how many requests it makes.
type Policy struct {
	Name string
	// Low and High bound the knob. The larger it is, the fewer requests are made. If both are zero, there is no knob.
	Low, High float64
	// Host returns a function that makes the players of one host. Hosts share nothing and can be played in any order.
	Host func(knob float64) func(History) Player
	// Foresight marks the policy that captures the maximum; it is computed, not played.
	Foresight bool

	trouble     Trouble // see [Policy.InTrouble]; only [Play] reads it, as the following
	word        Word    // see [Policy.Indexed]
	halfIndexed bool
}

// Tally counts what a policy captured of a history.
type Tally struct {
	Versions int           // changes within the history
	Captured int           // versions that were visited while they were current
	Requests int           // without the first visit
	Looks    int           // second looks among the requests
	Readings int           // readings of indexes among the requests
	Shortest int           // requests after a wait of MinWait or less
	Delay    time.Duration // from change to capture, summed over the captured versions
	Late     time.Duration // from due time to visit, summed over the requests
	Expected float64       // versions that the policy estimates; zero if it estimates none
	Spread   float64       // see [evaluators.Day]
	Young    int           // the same
}

// Wasted returns the number of requests that found nothing new.
func (t Tally) Wasted() int { return t.Requests - t.Captured }

// Add returns the sum of two tallies.
func (t Tally) Add(o Tally) Tally {
	t.Versions += o.Versions
	t.Captured += o.Captured
	t.Requests += o.Requests
	t.Looks += o.Looks
	t.Readings += o.Readings
	t.Shortest += o.Shortest
	t.Delay += o.Delay
	t.Late += o.Late
	t.Expected += o.Expected
	t.Spread += o.Spread
	t.Young += o.Young
	return t
}

// Share returns the share of the versions that was captured; zero if there were no versions.
func (t Tally) Share() float64 {
	if t.Versions == 0 {
		return 0
	}
	return float64(t.Captured) / float64(t.Versions)
}

// track is one URI while its history is played.
type track struct {
	history *History
	play    Player
	next    int           // index of the first change that is still to come
	seen    int           // the same as of the last visit that saw the page
	last    time.Duration // the visit before, after the history's start
	visited bool
	found   int // visits after the first that found a change
	due     time.Time
	stretch float64
	plan    Plan // made at the visit before
	tally   *Tally

	trouble  Trouble
	late     time.Duration // of the next visit, after it is due
	ahead    time.Duration // how far the clock was ahead at the visit before
	failures int           // in a row

	place   int        // in the heap
	over    bool       // no visit follows
	reads   *siteIndex // the track reads this index; nil = it visits a page
	probes  *rate.Probes
	listing listing
}

// at returns when the next visit is made.
func (t *track) at() time.Time { return t.due.Add(t.late) }

// tracks is a heap by due time.
type tracks []*track

func (t tracks) Len() int           { return len(t) }
func (t tracks) Less(i, j int) bool { return t[i].at().Before(t[j].at()) }
func (t tracks) Swap(i, j int) {
	t[i], t[j] = t[j], t[i]
	t[i].place, t[j].place = i, j
}
func (t *tracks) Push(x any) { *t = append(*t, x.(*track)) }
func (t *tracks) Pop() any {
	old := *t
	last := old[len(old)-1]
	*t = old[:len(old)-1]
	return last
}

// crawl is a heap of hosts by the time of the next visit.
type crawl []playedHost

// playedHost is a host while its histories are played.
type playedHost struct {
	began time.Time // when its first history begins; the crawl begins there
	queue *tracks
}

func (h playedHost) next() time.Duration { return (*h.queue)[0].at().Sub(h.began) }

func (c crawl) Len() int           { return len(c) }
func (c crawl) Less(i, j int) bool { return c[i].next() < c[j].next() }
func (c crawl) Swap(i, j int)      { c[i], c[j] = c[j], c[i] }
func (c *crawl) Push(x any)        { *c = append(*c, x.(playedHost)) }
func (c *crawl) Pop() any {
	old := *c
	last := old[len(old)-1]
	*c = old[:len(old)-1]
	return last
}

// Play plays a policy through histories, all visits in the order of time, as if the first history of each host began
// with the crawl. Each URI is visited exactly when it is due. The tallies are in the order of the histories.
func Play(p Policy, knob float64, all []History) []Tally {
	result := make([]Tally, len(all))
	var c crawl
	var probes rate.Probes
	for _, host := range hosts(all) {
		players := p.Host(knob)
		pages := make(tracks, 0, len(host))
		began := all[host[0]].Start
		for _, i := range host {
			h := &all[i]
			result[i].Versions = len(h.Changes)
			t := &track{history: h, play: players(*h), due: h.Start, tally: &result[i], trouble: p.trouble, probes: &probes}
			if t.learn() {
				pages = append(pages, t)
			}
			if h.Start.Before(began) {
				began = h.Start
			}
		}
		if queue := p.index(pages, knob); len(*queue) > 0 {
			c = append(c, playedHost{began, queue})
		}
	}
	for heap.Init(&c); len(c) > 0; {
		queue := c[0].queue
		if t := (*queue)[0]; t.visit(t.at()) {
			heap.Fix(queue, t.place)
		} else {
			t.over = true
			heap.Remove(queue, t.place)
		}
		if len(*queue) == 0 {
			heap.Pop(&c)
		} else {
			heap.Fix(&c, 0)
		}
	}
	return result
}

// hosts returns the indices of histories by host, in order of appearance.
func hosts(all []History) [][]int {
	at := map[string]int{}
	var groups [][]int
	for i := range all {
		k, ok := at[all[i].Host]
		if !ok {
			k = len(groups)
			at[all[i].Host] = k
			groups = append(groups, nil)
		}
		groups[k] = append(groups[k], i)
	}
	return groups
}

// visit makes a visit and reports whether another one follows.
func (t *track) visit(at time.Time) bool {
	if t.reads != nil {
		return t.reads.read(at)
	}
	if t.visited && t.trouble.down(t.history.Host, at) {
		return t.fail(at)
	}
	now := at.Sub(t.history.Start)
	if now > t.history.Watched {
		return false // it followed an index, which said nothing until then
	}
	v := t.see(at, now)
	if !v.First || now > 0 {
		t.count(v, now)
	}
	if v.State == evaluators.Changed {
		t.seen = t.next
	}
	plan := t.play(v)
	t.visited, t.failures, t.last = true, 0, now
	wait := max(plan.Wait, time.Second) // a rule that returned zero would never end
	t.plan = plan
	if t.listing.of != nil && !plan.Look {
		wait = t.listing.of.visited(t, v, wait)
	}
	t.due, t.late = at.Add(wait), 0
	if t.trouble == Late && !plan.Look {
		t.late = wait
	}
	if !v.First {
		t.tally.Expected += plan.Versions
		if v.State == evaluators.Changed {
			t.found++
			found := evaluators.Found(plan.Versions-1, t.found, 0)
			t.tally.Spread += found.Spread
			t.tally.Young += found.Young
		}
	}
	return t.listing.own > 0 || t.history.Watched-now >= wait+t.late
}

// see returns what a policy learns from a visit.
func (t *track) see(at time.Time, now time.Duration) Visit {
	ahead := t.trouble.ahead(at)
	v := Visit{
		At: at.Add(ahead), First: !t.visited, Elapsed: now - t.last, Overdue: at.Sub(t.due), Stretch: t.stretch,
		State: evaluators.Unchanged, Probes: t.probes,
	}
	if t.visited && t.trouble == Clock {
		v.Jumped = ahead - t.ahead
	}
	t.ahead = ahead
	changes := t.history.Changes
	for t.next < len(changes) && changes[t.next] <= now {
		t.next++
	}
	changed := t.next > t.seen
	if v.First || changed || t.history.Noise {
		v.State = evaluators.Changed
	}
	if changed && t.visited && t.trouble.stale(t.history.ID, at) {
		v.State = evaluators.Unchanged
	}
	if v.Seen = v.State; t.history.Unseen && !changed && !v.First {
		v.Seen = evaluators.Unchanged
	}
	if changed {
		v.Changed = t.history.Start.Add(changes[t.next-1])
	}
	if l := &t.listing; l.said && l.own > 0 {
		v.Dated, v.Silent = t.history.Start.Add(l.date), t.history.Start.Add(l.silent)
	}
	return v
}

// count adds a visit to the tally.
func (t *track) count(v Visit, now time.Duration) {
	t.tally.Requests++
	if t.plan.Look {
		t.tally.Looks++
	}
	if t.plan.Wait <= MinWait {
		t.tally.Shortest++
	}
	t.tally.Late += v.Overdue
	if v.State == evaluators.Changed && t.next > t.seen {
		t.tally.Captured++
		t.tally.Delay += now - t.history.Changes[t.next-1]
	}
}

// Sum returns the sum of tallies.
func Sum(all []Tally) Tally {
	var sum Tally
	for _, t := range all {
		sum = sum.Add(t)
	}
	return sum
}

// between returns a wait of s seconds, held between MinWait and MaxWait.
func between(s float64) time.Duration {
	if !(s < MaxWait.Seconds()) {
		return MaxWait
	}
	return seconds(math.Max(s, MinWait.Seconds()))
}
