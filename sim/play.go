package sim

import (
	"container/heap"
	"math"
	"time"

	"github.com/arcrawl/arcrawl/evaluators"
)

// The waits that a policy without bounds of its own may give.
const (
	MinWait = 5 * time.Minute
	MaxWait = 28 * 24 * time.Hour
)

// Visit is what a policy is told after each visit.
type Visit struct {
	At      time.Time
	First   bool             // the first visit of the URI; it is free
	Elapsed time.Duration    // since the visit before; zero at the first
	Overdue time.Duration    // how long after its due time
	Stretch float64          // by how much the waits of the host are stretched; below 1 is not at all
	Changed time.Time        // when the URI last changed, if it did since the visit before; most policies are not told
	Dated   time.Time        // when it says that it did, if it does and is believed
	State   evaluators.State // Changed if the URI changed since the visit before
}

// Plan is what a policy answers.
type Plan struct {
	Wait     time.Duration // until the next visit, from this one on
	Asked    time.Duration // the same before it was stretched; zero if it was not
	Expected float64       // changes expected in that time, if the policy says so
	PerDay   float64       // changes per day expected, if the policy says so
	Versions float64       // that are thought to have come into being since the visit before, if the policy says so
}

// Player plays one URI. It may share what it learns with the other players of its host.
type Player func(Visit) Plan

// Policy is a rule to be compared. Its one knob decides how much it spends.
type Policy struct {
	Name string
	// Low and High bound the knob; the larger it is, the less is spent. Both zero: there is none.
	Low, High float64
	// Host gives the players of one host. Hosts know nothing of each other, so that they can be played in any order.
	Host func(knob float64) func(History) Player
	// Foresight is the most that can be captured; it is not played.
	Foresight bool
}

// Tally is what came of playing one history.
type Tally struct {
	Versions int           // changes within the history
	Captured int           // those that were visited while they stood
	Requests int           // without the first visit
	Delay    time.Duration // from change to capture, summed over what was captured
	Late     time.Duration // from when visits were due to when they were made, summed over the requests
	Expected float64       // versions that the policy thinks there have been; zero if it does not say
}

// Wasted counts the requests that found nothing new.
func (t Tally) Wasted() int { return t.Requests - t.Captured }

// Add sums two tallies.
func (t Tally) Add(o Tally) Tally {
	t.Versions += o.Versions
	t.Captured += o.Captured
	t.Requests += o.Requests
	t.Delay += o.Delay
	t.Late += o.Late
	t.Expected += o.Expected
	return t
}

// Share is the share of the versions that was captured; zero if there were none.
func (t Tally) Share() float64 {
	if t.Versions == 0 {
		return 0
	}
	return float64(t.Captured) / float64(t.Versions)
}

// track is one URI on its way through time.
type track struct {
	history *History
	play    Player
	next    int           // index of the first change not yet passed
	last    time.Duration // the visit before, after the history's start
	visited bool
	due     time.Time
	stretch float64
	plan    Plan // made at the visit before
	tally   *Tally
}

// tracks is a heap by due time.
type tracks []*track

func (t tracks) Len() int           { return len(t) }
func (t tracks) Less(i, j int) bool { return t[i].due.Before(t[j].due) }
func (t tracks) Swap(i, j int)      { t[i], t[j] = t[j], t[i] }
func (t *tracks) Push(x any)        { *t = append(*t, x.(*track)) }
func (t *tracks) Pop() any {
	old := *t
	last := old[len(old)-1]
	*t = old[:len(old)-1]
	return last
}

// Play plays a policy through histories, all visits of a host in the order of time. Each URI is visited exactly when it
// is due. The tallies stand in the order of the histories.
func Play(p Policy, knob float64, all []History) []Tally {
	result := make([]Tally, len(all))
	for _, host := range hosts(all) {
		players := p.Host(knob)
		queue := make(tracks, 0, len(host))
		for _, i := range host {
			h := &all[i]
			result[i].Versions = len(h.Changes)
			queue = append(queue, &track{history: h, play: players(*h), due: h.Start, tally: &result[i]})
		}
		heap.Init(&queue)
		for len(queue) > 0 {
			if t := queue[0]; t.visit(t.due) {
				heap.Fix(&queue, 0)
			} else {
				heap.Pop(&queue)
			}
		}
	}
	return result
}

// hosts groups the indices of histories by host, in order of appearance.
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

// visit makes a visit and says whether another one will follow.
func (t *track) visit(at time.Time) bool {
	now := at.Sub(t.history.Start)
	v := Visit{At: at, First: !t.visited, Elapsed: now - t.last, Overdue: at.Sub(t.due), Stretch: t.stretch, State: evaluators.Unchanged}
	t.visited = true
	changes := t.history.Changes
	before := t.next
	for t.next < len(changes) && changes[t.next] <= now {
		t.next++
	}
	if v.First || t.next > before {
		v.State = evaluators.Changed
	}
	if t.next > before {
		v.Changed = t.history.Start.Add(changes[t.next-1])
	}
	if !v.First || now > 0 {
		t.tally.Requests++
		t.tally.Late += v.Overdue
		if t.next > before {
			t.tally.Captured++
			t.tally.Delay += now - changes[t.next-1]
		}
	}
	plan := t.play(v)
	t.last = now
	wait := max(plan.Wait, time.Second) // a rule that gave none would never end
	t.plan, t.due = plan, at.Add(wait)
	if !v.First {
		t.tally.Expected += plan.Versions
	}
	return t.history.Watched-now >= wait
}

// Sum adds up tallies.
func Sum(all []Tally) Tally {
	var sum Tally
	for _, t := range all {
		sum = sum.Add(t)
	}
	return sum
}

// between holds a wait of so many seconds between the usual bounds.
func between(s float64) time.Duration {
	if !(s < MaxWait.Seconds()) {
		return MaxWait
	}
	return seconds(math.Max(s, MinWait.Seconds()))
}
