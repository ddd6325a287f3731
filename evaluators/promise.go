package evaluators

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// Load is how often the URIs of a host are expected to change: how many there are at about each rate, and their mean. Its
// zero value is a host without URIs.
type Load struct {
	rates [loadRates]struct { // by the logarithm of the changes per day
		uris int
		sum  float64
	}
	uris int
}

// The rates run from one change in 45 years to one in 5 seconds, four to a doubling.
const (
	loadRates   = 112
	loadOctave  = 4
	lowestOfAll = 1.0 / (1 << 14)
)

// Add takes in a URI that is expected to change so many times a day. Where that is not known it is once in each wait.
func (l *Load) Add(perDay float64, wait time.Duration) {
	if !(perDay > 0) { // or no number
		perDay = 0
	}
	if perDay == 0 && wait > 0 {
		perDay = 24 / wait.Hours()
	}
	i := 0
	if perDay = math.Max(perDay, lowestOfAll); perDay > lowestOfAll {
		i = int(math.Min(math.Round(loadOctave*math.Log2(perDay/lowestOfAll)), loadRates-1))
	}
	l.rates[i].uris++
	l.rates[i].sum += perDay
	l.uris++
}

// URIs is how many were added.
func (l *Load) URIs() int { return l.uris }

// Changes is how many versions a day come into being, as expected.
func (l *Load) Changes() float64 {
	sum := 0.0
	for _, r := range l.rates {
		sum += r.sum
	}
	return sum
}

// Terms are what a host's visits are subject to.
type Terms struct {
	Target      float64       // the share of versions to be captured, between 0 and 1
	Least, Most time.Duration // bounds of a wait
	Rest        time.Duration // between two requests, from the beginning of one to that of the next
	Valence     int           // how many visits go on at once; 0 is 1
	Other       float64       // requests a day that are no visits of known URIs: first visits, robots.txt
}

// visits is how many visits a day are made, and the share of versions captured, with so many changes expected between
// two visits of a URI.
func (l *Load) visits(x float64, t Terms) (perDay, share float64) {
	captured, changes := 0.0, 0.0
	for _, r := range l.rates {
		if r.uris == 0 {
			continue
		}
		n, rate := float64(r.uris), r.sum/float64(r.uris)
		days := math.Min(math.Max(x/rate, t.Least.Hours()/24), max(t.Most, t.Least).Hours()/24)
		perDay += n / days
		captured += r.sum * Captured(rate*days)
		changes += r.sum
	}
	if changes == 0 {
		return perDay, 1
	}
	return perDay, captured / changes
}

// Promise is what can be kept of a capture target.
type Promise struct {
	Target float64 // what is wanted
	Share  float64 // of the versions that can be captured; the target or more where politeness carries it
	Bound  bool    // politeness does not carry the target
	Short  bool    // the shortest wait stands in the way too, or alone

	Wanted   float64 // visits a day that the target needs
	Possible float64 // visits a day that politeness allows

	Rest, NeededRest time.Duration // between requests: as it is, and as the target needs it
	URIs, Fewer      int           // of the host, and how many there are too many if all others stay as they are
}

// Promise says what the terms allow. Where the target cannot be kept the number of changes between visits is raised, the
// same for all URIs, which captures most: so all targets of a host are scaled together.
func (l *Load) Promise(t Terms) Promise {
	t.Least, t.Most = max(t.Least, time.Second), max(t.Most, t.Least, time.Second)
	x := Expected(planned(t.Target))
	p := Promise{Target: t.Target, Rest: t.Rest, URIs: l.uris}
	p.Wanted, p.Share = l.visits(x, t)
	p.Short = p.Share < t.Target-0.01
	p.Possible = math.Inf(1)
	if t.Rest > 0 {
		p.Possible = math.Max(float64(max(t.Valence, 1))*24/t.Rest.Hours()-t.Other, 0)
	}
	p.NeededRest = t.Rest
	if p.Wanted <= p.Possible {
		return p
	}
	p.Bound = true
	p.NeededRest = time.Duration(float64(max(t.Valence, 1)) * 24 * float64(time.Hour) / (p.Wanted + t.Other))
	p.Fewer = int(math.Ceil(float64(l.uris) * (1 - p.Possible/p.Wanted)))
	low, high := math.Log(x), math.Log(1e9)
	for range 60 {
		mid := (low + high) / 2
		if visits, _ := l.visits(math.Exp(mid), t); visits > p.Possible {
			low = mid
		} else {
			high = mid
		}
	}
	_, p.Share = l.visits(math.Exp(high), t)
	if visits, _ := l.visits(math.Exp(high), t); visits > p.Possible { // even the longest waits are too many
		p.Share *= p.Possible / visits
	}
	return p
}

// String says it in a sentence, such as "a capture target of 90 % needs a delay of 2.1s instead of 9.4s, or 1400 URIs
// fewer; at present 61 %".
func (p Promise) String() string {
	target := "a capture target of " + percent(p.Target)
	switch {
	case p.Bound && p.NeededRest < time.Millisecond:
		return fmt.Sprintf("%s is out of reach, or needs %d of %d URIs fewer; at present %s", target, p.Fewer, p.URIs, percent(p.Share))
	case p.Bound:
		short := ""
		if p.Short {
			short = ", and waits shorter than wait.min"
		}
		return fmt.Sprintf("%s needs a delay of %s instead of %s, or %d URIs fewer%s; at present %s", target, brief(p.NeededRest), brief(p.Rest), p.Fewer, short, percent(p.Share))
	case p.Short:
		return fmt.Sprintf("%s needs waits shorter than wait.min; at present %s", target, percent(p.Share))
	}
	return fmt.Sprintf("%s can be kept, with %s visits a day of %s that politeness allows", target, count(p.Wanted), count(p.Possible))
}

// Day is an account of a host's visits in a day, or in any period.
type Day struct {
	Requests int
	Seen     int     // versions captured
	Versions float64 // that are thought to have come into being, see [Wait.Versions]
}

// Plus is both accounts together.
func (d Day) Plus(o Day) Day {
	return Day{Requests: d.Requests + o.Requests, Seen: d.Seen + o.Seen, Versions: d.Versions + o.Versions}
}

// Since is how many versions are thought to have come into being between two visits of a URI of which the later one found a
// change, where no rule estimates it: going by how many of its judged visits after the first found one. With a share p of
// them that is x ÷ (1 − e^−x), x = −ln(1 − p), as if it changed at random and its visits came at even intervals; p is counted
// with half a visit more of each kind, as Cho and Garcia-Molina (2003) have it.
func Since(visits, changes int) float64 {
	visits = max(visits, changes, 1)
	x := -math.Log((float64(visits-max(changes, 0)) + 0.5) / (float64(visits) + 0.5))
	return 1 / Captured(x)
}

// Share is the share of the versions that was seen; 1 if there were none.
func (d Day) Share() float64 {
	if !(d.Versions > float64(d.Seen)) {
		return 1
	}
	return float64(d.Seen) / d.Versions
}

// String is for example "412 versions seen of some 503 (82 %), 2.3 requests each".
func (d Day) String() string {
	if d.Seen == 0 {
		return fmt.Sprintf("no version seen with %d requests", d.Requests)
	}
	return fmt.Sprintf("%d versions seen of some %s (%s), %.1f requests each", d.Seen, count(math.Max(d.Versions, float64(d.Seen))), percent(d.Share()), float64(d.Requests)/float64(d.Seen))
}

func percent(share float64) string { return strconv.Itoa(int(math.Round(100*share))) + " %" }

func count(f float64) string {
	if math.IsInf(f, 1) {
		return "any number"
	}
	return strconv.FormatFloat(math.Round(f), 'f', 0, 64)
}

// brief writes a duration with two digits.
func brief(d time.Duration) string {
	unit := time.Millisecond
	for d/unit >= 100 {
		unit *= 10
	}
	return spell(d.Round(unit))
}
