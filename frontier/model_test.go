package frontier_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/uri"
)

// model is a frontier without a store. It is simple and slow: it computes every answer from all of its URIs.
type model struct {
	uris  map[string]*modelURI
	hosts map[uri.Host]*modelHost
	group func(uri.Host) string
}

type modelURI struct {
	due       time.Time
	visits    int
	forbidden bool
	claimed   bool
	held      bool
}

// waits reports whether the URI has a place in the queue. A claimed URI has one too.
func (u *modelURI) waits() bool { return !u.due.IsZero() && !u.held }

type modelHost struct {
	asker    string // the URI that asked for a rest; empty if none did
	met      bool
	paused   bool
	wake     []time.Time // wake times of its free slots
	rest     time.Time
	asked    time.Time // the part of rest that applies to the group
	valence  int
	down     int
	diverted int
}

// ready returns when a host can hand out a URI, and the due time of that URI.
func (m *model) ready(host uri.Host) (ready, due time.Time, ok bool) {
	h := m.hosts[host]
	for text, u := range m.uris {
		if uri.FromCanonical(text).Host() == host && !u.claimed && u.waits() && (due.IsZero() || u.due.Before(due)) {
			due = u.due
		}
	}
	if due.IsZero() || len(h.wake) == 0 || h.diverted > 0 || h.paused {
		return time.Time{}, due, false
	}
	ready = slices.MinFunc(h.wake, time.Time.Compare)
	gate, open := m.gate(host)
	for _, t := range []time.Time{due, h.rest, gate} {
		if t.After(ready) {
			ready = t
		}
	}
	return ready, due, open
}

// gate returns the first time at which the host's group has a slot that is neither claimed nor asleep.
func (m *model) gate(host uri.Host) (gate time.Time, open bool) {
	if m.group == nil || m.group(host) == "" {
		return gate, true
	}
	valence, claimed := 1000, 0
	var wakes []time.Time
	for name, h := range m.hosts {
		if m.group(name) != m.group(host) {
			continue
		}
		valence, claimed, wakes = min(valence, h.valence), claimed+h.valence-len(h.wake), append(wakes, h.wake...)
		if h.asked.After(gate) {
			gate = h.asked
		}
	}
	left := func(t time.Time) int {
		n := valence - claimed
		for _, wake := range wakes {
			if wake.After(t) {
				n--
			}
		}
		return n
	}
	slices.SortFunc(wakes, time.Time.Compare)
	for _, t := range append([]time.Time{gate}, wakes...) {
		if !t.Before(gate) && left(t) > 0 {
			return t, true
		}
	}
	return gate, false
}

// next returns the earliest time at which any host can hand out a URI.
func (m *model) next() (earliest time.Time, ok bool) {
	for host := range m.hosts {
		if ready, _, can := m.ready(host); can && (!ok || ready.Before(earliest)) {
			earliest, ok = ready, true
		}
	}
	return earliest, ok
}

// play is a series of random moves, made in the frontier and in the model.
type play struct {
	*world
	*rand.Rand
	m      model
	now    time.Time
	claims []held // claims in progress
	spent  []frontier.Claim
	moves  []string
	recent int // number of URIs that the cache had as known
}

// held is a claim in progress, with the state of the model.
type held struct {
	frontier.Claim
	wake     time.Time // wake time of its slot before the claim
	reopened bool      // the rules of its origin have changed since the claim
	diverted bool
}

func (p *play) log(format string, args ...any) {
	p.moves = append(p.moves, p.now.Format("02 15:04:05.000 ")+fmt.Sprintf(format, args...))
}

func (p *play) text() string {
	scheme := []string{"http", "https"}[p.IntN(2)]
	return fmt.Sprintf("%s://h%d.example/%d", scheme, p.IntN(4), p.IntN(12))
}

// millisUp returns a time as the frontier stores due times.
func millisUp(t time.Time) time.Time {
	if down := t.Truncate(time.Millisecond); down.Before(t) {
		return down.Add(time.Millisecond)
	}
	return t
}

// found makes random candidates, adds them to the model, and returns them.
func (p *play) found(now time.Time) (cs []frontier.Candidate, want frontier.Added) {
	for range p.IntN(4) {
		c := frontier.Candidate{URI: parse(p, p.text())}
		if p.IntN(2) == 0 {
			c.Due = now.Add(time.Duration(p.IntN(3_600_000_000)) * time.Microsecond)
		}
		cs = append(cs, c)
	}
	return cs, p.learn(now, cs)
}

func (p *play) learn(now time.Time, cs []frontier.Candidate) (want frontier.Added) {
	for _, c := range cs {
		if p.m.uris[c.URI.String()] != nil {
			want.Known++
			continue
		}
		want.New++
		due := c.Due
		if due.IsZero() {
			due = now
		}
		p.m.uris[c.URI.String()] = &modelURI{due: millisUp(due), claimed: p.isClaimed(c.URI)}
		if host := c.URI.Host(); p.m.hosts[host] == nil {
			p.m.hosts[host] = &modelHost{wake: make([]time.Time, p.o.Valence(host)), valence: p.o.Valence(host)}
		}
	}
	return want
}

func (p *play) isClaimed(u uri.URI) bool {
	return slices.ContainsFunc(p.claims, func(c held) bool { return c.Record.URI == u })
}

func (p *play) add() {
	cs, want := p.found(p.now)
	p.log("add %v", cs)
	if got, err := p.Add(p.now, cs...); err != nil || got != want {
		p.Fatalf("Add = %+v, %v; want %+v", got, err, want)
	}
}

func (p *play) claimOne() {
	next, waits := p.m.next()
	if got, ok := p.NextReady(); ok != waits || ok && !got.Equal(next) {
		p.Fatalf("NextReady() = %s, %v; want %s, %v", got, ok, next, waits)
	}
	c, ok, err := p.Claim(p.now)
	want := waits && !next.After(p.now)
	p.log("claim %s: %v", c.Record.URI, ok)
	if err != nil || ok != want {
		p.Fatalf("Claim = %q, %v, %v; want %v", c.Record.URI, ok, err, want)
	}
	if !ok {
		return
	}
	host := c.Record.URI.Host()
	u := p.m.uris[c.Record.URI.String()]
	ready, due, can := p.m.ready(host)
	inOrder := u != nil && (u.due.Equal(due) || p.o.Order != frontier.ByDue && !u.due.After(p.now) && p.crowded(host))
	if !can || !ready.Equal(next) || u == nil || u.claimed || !inOrder || !c.Record.Due.Equal(u.due) {
		p.Fatalf("Claim = %q, due %s; but %+v, ready %s %v, first due %s, next %s", c.Record.URI, c.Record.Due, u, ready, can, due, next)
	}
	h := p.m.hosts[host]
	i := slices.Index(h.wake, slices.MinFunc(h.wake, time.Time.Compare))
	u.claimed = true
	p.claims = append(p.claims, held{Claim: c, wake: h.wake[i]})
	h.wake = slices.Delete(h.wake, i, i+1)
}

// crowded reports whether the order applies among a host's due URIs.
func (p *play) crowded(host uri.Host) bool {
	n := 0
	for text, u := range p.m.uris {
		if uri.FromCanonical(text).Host() == host && !u.claimed && u.waits() && !u.due.After(p.now) {
			n++
		}
	}
	return n >= 4
}

// pick removes and returns a random claim in progress.
func (p *play) pick() (held, bool) {
	if len(p.claims) == 0 {
		return held{}, false
	}
	i := p.IntN(len(p.claims))
	c := p.claims[i]
	p.claims = slices.Delete(p.claims, i, i+1)
	p.spent = append(p.spent, c.Claim)
	return c, true
}

func isRobots(c held) bool { return c.Record.URI.Path() == "/robots.txt" }

func (p *play) release() {
	c, ok := p.pick()
	if !ok {
		return
	}
	rest := time.Duration(max(0, p.IntN(40_000_000)-20_000_000)) * time.Microsecond // zero in half of the cases
	p.log("release %s, rest %s", c.Record.URI, rest)
	wake := c.wake
	if rest == 0 {
		p.wantErr(p.Release(c.Claim, p.now), nil)
	} else {
		p.wantErr(p.Abandon(c.Claim, p.now, rest), nil)
		if until := millisUp(p.now.Add(rest)); until.After(wake) {
			wake = until
		}
	}
	h := p.m.hosts[c.Record.URI.Host()]
	h.wake = append(h.wake, wake)
	if c.diverted {
		h.diverted--
	}
	if u := p.m.uris[c.Record.URI.String()]; u != nil {
		u.claimed = false
	}
}

func (p *play) divert() {
	c, ok := p.pick()
	if !ok {
		return
	}
	to := c.Record.URI.Robots()
	taken := p.isClaimed(to)
	p.log("divert %s to %s", c.Record.URI, to)
	d, err := p.Divert(c.Claim, to, p.now)
	if taken {
		p.wantErr(err, frontier.ErrClaimed)
		p.claims = append(p.claims, c)
		p.spent = p.spent[:len(p.spent)-1]
		return
	}
	if err != nil || d.Record.URI != to {
		p.Fatalf("Divert = %s, %v", d.Record.URI, err)
	}
	h := p.m.hosts[to.Host()]
	if !c.diverted {
		h.diverted++
	}
	if u := p.m.uris[c.Record.URI.String()]; u != nil {
		u.claimed = false
	}
	if u := p.m.uris[to.String()]; u != nil {
		u.claimed = true
	}
	p.claims = append(p.claims, held{Claim: d, wake: c.wake, diverted: true})
}

func (p *play) settleOne() {
	c, ok := p.pick()
	if !ok {
		return
	}
	u := p.m.uris[c.Record.URI.String()]
	if u == nil {
		u = &modelURI{}
		p.m.uris[c.Record.URI.String()] = u
	}
	h := p.m.hosts[c.Record.URI.Host()]
	o := frontier.Settlement{Record: c.Record, Finished: p.now}
	o.Record.Visits++
	o.Record.LastVisit = p.now
	o.Record.Rate = float64(p.IntN(3))
	o.Politeness.MinDelay = time.Duration(p.IntN(20_000_000)) * time.Microsecond
	if p.IntN(5) > 0 {
		o.Record.Due = p.now.Add(time.Duration(p.IntN(7200)-600) * time.Second)
	} else {
		o.Record.Due = time.Time{}
	}
	o.Forbidden = p.IntN(3) == 0 && !isRobots(c)
	o.Reopen = isRobots(c) && p.IntN(2) == 0
	o.HostDown = p.IntN(8) == 0
	o.NoRequest = !o.HostDown && p.IntN(8) == 0
	if p.IntN(8) == 0 {
		o.RetryAfter = p.now.Add(time.Duration(p.IntN(9000)) * time.Second)
	}
	p.settleModel(u, h, c, o)
	var want frontier.Added
	o.Found, want = p.found(p.now)
	p.log("settle %s, due %s, delay %s, until %s, down %v, forbidden %v, reopen %v, found %d", c.Record.URI, o.Record.Due,
		o.Politeness.MinDelay, o.RetryAfter, o.HostDown, o.Forbidden, o.Reopen, len(o.Found))
	if got, err := p.Settle(c.Claim, o); err != nil || got != want {
		p.Fatalf("Settle = %+v, %v; want %+v", got, err, want)
	}
}

func (p *play) settleModel(u *modelURI, h *modelHost, c held, o frontier.Settlement) {
	u.visits, u.claimed = o.Record.Visits, false
	u.due = o.Record.Due
	if c.diverted {
		h.diverted--
	}
	h.wake = append(h.wake, millisUp(p.now.Add(o.Politeness.MinDelay)))
	if o.RetryAfter.After(p.now) {
		text := c.Record.URI.String()
		if h.asker == "" {
			h.asker = text
		}
		if lone := p.now.Add(time.Hour); h.asker == text && o.RetryAfter.After(lone) {
			o.RetryAfter = lone
		}
		h.rest = millisUp(latest(h.rest, o.RetryAfter))
		h.asked = millisUp(latest(h.asked, o.RetryAfter))
	}
	if o.NoRequest {
		// A visit without a request says nothing about the host.
	} else if !o.HostDown {
		h.down, h.met = 0, true
		if !o.RetryAfter.After(p.now) {
			h.asker = ""
		}
	} else {
		if h.down == 0 || !p.now.Before(h.rest) {
			h.down++
		}
		until := p.now.Add(time.Minute << (h.down - 1))
		if lone := p.now.Add(time.Hour); h.met && until.After(lone) {
			until = lone
		}
		if until.After(h.rest) {
			h.rest = until
		}
	}
	if o.Forbidden && c.reopened {
		o.Forbidden = false
		if u.due.IsZero() || u.due.After(p.now) {
			u.due = p.now
		}
	}
	u.forbidden = o.Forbidden
	if o.Reopen {
		p.reopenModel(c)
	}
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func (p *play) reopenModel(c held) {
	for text, other := range p.m.uris {
		if other.forbidden && uri.FromCanonical(text).Origin() == c.Record.URI.Origin() {
			other.forbidden = false
			if other.due.IsZero() || other.due.After(p.now) {
				other.due = p.now
			}
		}
	}
	for i := range p.claims {
		if p.claims[i].Record.URI.Origin() == c.Record.URI.Origin() {
			p.claims[i].reopened = true
		}
	}
}

func (p *play) stale() {
	if len(p.spent) == 0 {
		return
	}
	c := p.spent[p.IntN(len(p.spent))]
	p.log("try the spent claim of %s", c.Record.URI)
	_, err := p.Settle(c, frontier.Settlement{Record: c.Record, Finished: p.now})
	p.wantErr(err, frontier.ErrStale)
	p.wantErr(p.Release(c, p.now), frontier.ErrStale)
	_, err = p.Divert(c, c.Record.URI.Robots(), p.now)
	p.wantErr(err, frontier.ErrStale)
}

func (p *play) restart() {
	p.log("restart with %d claims", len(p.claims))
	p.endClaims()
	p.reopen(p.now)
}

// endClaims ends all claims in the model as a crash does.
func (p *play) endClaims() {
	for _, h := range p.m.hosts {
		h.diverted = 0
		if len(p.claims) > 0 {
			if until := millisUp(p.now.Add(p.o.RestAfterCrash)); until.After(h.rest) {
				h.rest = until
			}
		}
	}
	for _, u := range p.m.uris {
		u.claimed = false
	}
	for _, c := range p.claims { // their slots wake as before, the rest after a crash replaces the delay of their visits
		h := p.m.hosts[c.Record.URI.Host()]
		h.wake = append(h.wake, c.wake)
		p.spent = append(p.spent, c.Claim)
	}
	p.claims = nil
}

// compare compares every record of the frontier with the model.
func (p *play) compare() {
	p.check()
	p.compareRecent()
	left := maps.Clone(p.m.uris)
	err := p.Each(func(r frontier.Record) error {
		u := left[r.URI.String()]
		if u == nil || !r.Due.Equal(u.due) || r.Visits != u.visits {
			return fmt.Errorf("%s: %+v, want %+v", r.URI, r, u)
		}
		delete(left, r.URI.String())
		return nil
	})
	if err != nil || len(left) > 0 {
		p.Fatalf("Each: %v, left %v", err, left)
	}
	var want frontier.Counts
	for _, u := range p.m.uris {
		want.URIs++
		if u.forbidden {
			want.Forbidden++
		}
		if u.waits() {
			want.Queued++
		}
		if u.held {
			want.Held++
		}
	}
	got := p.Counts(p.now)
	if got.URIs != want.URIs || got.Forbidden != want.Forbidden || got.Queued != want.Queued || got.Held != want.Held ||
		got.InProgress != int64(len(p.claims)) || got.Hosts != int64(len(p.m.hosts)) {
		p.Fatalf("Counts = %+v, want %+v, %d in progress", got, want, len(p.claims))
	}
	p.compareDue()
}

// compareDue compares the number of due URIs with the model. A claimed URI counts too if the first unclaimed one of its
// host was due before.
func (p *play) compareDue() {
	now := p.now.Add(time.Duration(p.IntN(100_000)) * time.Millisecond)
	first := map[uri.Host]time.Time{}
	for text, u := range p.m.uris {
		host := uri.FromCanonical(text).Host()
		if t, ok := first[host]; u.waits() && !u.claimed && (!ok || u.due.Before(t)) {
			first[host] = u.due
		}
	}
	var fewest, most int64
	for text, u := range p.m.uris {
		t, ok := first[uri.FromCanonical(text).Host()]
		if !ok || !u.waits() || u.due.After(now) || u.due.Before(t) || t.After(now) {
			continue
		}
		most++
		if !u.claimed || u.due.After(t) {
			fewest++
		}
	}
	for _, limit := range []int64{3, 1000} {
		if n, err := p.CountDue(now, limit); err != nil || n < min(fewest, limit) || n > min(most, limit) {
			p.Fatalf("%d URIs are due, counted up to %d, %v; want between %d and %d", n, limit, err, fewest, most)
		}
	}
}

// compareRecent checks that RecentlyKnown reports no unknown URI as known.
func (p *play) compareRecent() {
	var us []uri.URI
	for n := range 2 * 4 * 12 {
		us = append(us, parse(p, fmt.Sprintf("%s://h%d.example/%d", []string{"http", "https"}[n%2], n/2%4, n/8)))
	}
	known := slices.Repeat([]bool{true}, len(us))
	p.RecentlyKnown(us, known)
	for i, recent := range known {
		if recent {
			p.recent++
		}
		if recent && p.m.uris[us[i].String()] == nil {
			p.Fatalf("RecentlyKnown reports %s as known", us[i])
		}
	}
}

func TestFrontierAgreesWithThePlainModel(t *testing.T) {
	t.Parallel()
	games, moves := 12, 300
	if slow.Reduced() {
		games, moves = 3, 150
	}
	for seed := range uint64(games) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			t.Parallel()
			p := &play{
				Rand: rand.New(rand.NewPCG(seed, 1)), now: day,
				m: model{uris: map[string]*modelURI{}, hosts: map[uri.Host]*modelHost{}},
			}
			p.world = newWorld(t, func(o *frontier.Options) {
				o.Valence = func(h uri.Host) int { return 1 + int(h[1]-'0') }
				o.RestAfterCrash = time.Minute
				o.Order = []frontier.Order{frontier.ByValue, frontier.ByOverdue, frontier.ByDue}[seed%3]
				if seed%4 < 2 {
					o.Group = func(h uri.Host) string { return []string{"a", "a", "b", ""}[h[1]-'0'] }
				}
			})
			p.m.group = p.o.Group
			t.Cleanup(func() {
				if t.Failed() {
					for _, move := range p.moves[max(0, len(p.moves)-25):] {
						t.Log(move)
					}
				}
			})
			for range moves {
				p.now = p.now.Add(time.Duration(p.IntN(60_000)) * time.Millisecond)
				p.move()
				p.compare()
			}
			if p.recent == 0 {
				t.Error("the cache of known URIs never had a URI")
			}
		})
	}
}

func (p *play) move() {
	switch n := p.IntN(112); {
	case n < 10:
		p.add()
	case n < 45:
		p.claimOne()
	case n < 80:
		p.settleOne()
	case n < 87:
		p.release()
	case n < 95:
		p.divert()
	case n < 98:
		p.stale()
	case n < 106:
		p.steer()
	case n < 109:
		p.steerHosts()
	case n < 110:
		p.importSome()
	default:
		p.restart()
	}
}
