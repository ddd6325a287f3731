package sim

import (
	"math"
	"strconv"
	"time"

	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/evaluators/rate"
)

// Uniform visits everything at one interval, its knob in seconds.
func Uniform() Policy {
	return Policy{Name: "uniform interval", Low: MinWait.Seconds(), High: MaxWait.Seconds(), Host: single(func(knob float64, _ History) Player {
		wait := between(knob)
		return func(Visit) Plan { return Plan{Wait: wait} }
	})}
}

// Stack plays a stack of evaluators as it stands; it has no knob.
func Stack(name string, s evaluators.Stack) Policy {
	return Configured(name, func(_, _ string) evaluators.Stack { return s })
}

// Classic is the ancestors' rule with its general defaults: first wait 1 day, × and ÷ 1.5, from 1 hour to 4 weeks.
func Classic() Policy { return Stack("classic 1.5/1.5, defaults", classic(1)) }

// Stretched is the classic rule with all its waits, bounds included, stretched by one factor.
func Stretched() Policy {
	return Policy{Name: "classic, stretched", Low: 0.01, High: 100, Host: single(func(knob float64, h History) Player {
		return stack(classic(knob), h, nil)
	})}
}

func classic(stretch float64) evaluators.Stack {
	times := func(d time.Duration) time.Duration { return max(time.Duration(stretch*float64(d)), MinWait) }
	return evaluators.Stack{{Name: "classic", Rule: evaluators.Classic{Initial: times(24 * time.Hour), Min: times(time.Hour), Max: times(28 * 24 * time.Hour), ChangedFactor: 1.5, UnchangedFactor: 1.5}}}
}

// Target is the rule that derives its factors from a share of versions to capture. Its knob is the number of changes
// that this share lets one expect between two visits.
func Target() Policy {
	return Policy{Name: "× and ÷ with factors from a target", Low: 0.01, High: 10, Host: single(func(knob float64, h History) Player {
		return stack(evaluators.Stack{{Name: "target", Rule: evaluators.Target{Classic: evaluators.Classic{Min: MinWait, Max: MaxWait}, CaptureTarget: rate.Captured(knob)}}}, h, nil)
	})}
}

// Learned is the evaluator that estimates rates. Its knob is the number of changes expected between two visits. A wait
// is never longer than most.
func Learned(most time.Duration) Policy {
	name := "learned, at most " + strconv.Itoa(int(most.Hours()/24)) + " d"
	return Policy{Name: name, Low: 0.005, High: 30, Host: func(knob float64) func(History) Player {
		family := families{}
		return func(h History) Player {
			return stack(evaluators.Stack{{Name: "learned", Rule: evaluators.Learned{ExpectedChanges: knob, Min: MinWait, Max: most}}}, h, family)
		}
	}}
}

// Dated is the same where each resource says when it last changed, and is believed.
func Dated(most time.Duration) Policy {
	p := Learned(most)
	p.Name += ", dated"
	p.Host = datedBy(p.Host, func(v Visit) time.Time { return v.Changed })
	return p
}

// datedBy has the players of hosts told when a resource last changed.
func datedBy(host func(float64) func(History) Player, say func(Visit) time.Time) func(float64) func(History) Player {
	return func(knob float64) func(History) Player {
		players := host(knob)
		return func(h History) Player {
			play := players(h)
			return func(v Visit) Plan {
				v.Dated = say(v)
				return play(v)
			}
		}
	}
}

// families is what is known of the kinds of URIs of a host.
type families map[rate.Kind]rate.Relatives

// Configured plays the stack that a configuration has for each host and media type; it has no knob.
func Configured(name string, of func(host, mime string) evaluators.Stack) Policy {
	return Policy{Name: name, Host: func(float64) func(History) Player {
		family := families{}
		return func(h History) Player { return stack(of(h.Host, MIME(h.Kind)), h, family) }
	}}
}

// stack plays a stack on one URI. Whoever is told hears of each visit.
func stack(s evaluators.Stack, h History, family families, told ...func(Visit, evaluators.Wait)) Player {
	in := evaluators.WaitInput{MIME: MIME(h.Kind)}
	in.Kind = evaluators.Traits{MIME: in.MIME, Depth: depth(h), Article: h.Born, Size: int64(h.Bytes)}.Kind()
	if h.Born {
		in.Born = h.Start
	}
	return func(v Visit) Plan {
		in.State, in.First, in.At, in.Overdue, in.Stretch, in.ChangedAt = v.State, v.First, v.At, v.Overdue, v.Stretch, v.Dated
		in.Relatives = family[in.Kind]
		w := s.Next(in)
		in.Previous, in.Memory = w.Asked(), w.Memory
		if family != nil && w.Kind != 0 {
			family[w.Kind] = family[w.Kind].Plus(w.Lesson)
		}
		for _, tell := range told {
			tell(v, w)
		}
		return Plan{Wait: w.Interval, Asked: w.Asked(), Expected: w.Expected, PerDay: w.PerDay, Versions: w.Versions}
	}
}

// depth guesses how far from a seed a resource is: histories do not tell.
func depth(h History) int {
	if h.Born || h.Kind == "article" || h.Kind == "page" {
		return 1
	}
	return 0
}

// MIME guesses the type of a kind of resource.
func MIME(kind string) string {
	switch kind {
	case "json":
		return "application/json"
	case "feed":
		return "application/rss+xml"
	}
	return "text/html"
}

// single makes the players of a host from players that share nothing.
func single(one func(knob float64, h History) Player) func(float64) func(History) Player {
	return func(knob float64) func(History) Player {
		return func(h History) Player { return one(knob, h) }
	}
}

// Known visits in proportion to the true mean rate of each URI, which nobody knows. Its knob is the expected number of
// changes between two visits.
func Known() Policy {
	return Policy{Name: "true mean rate known, visits ∝ rate", Low: 0.01, High: 30, Host: single(func(knob float64, h History) Player {
		wait := between(knob * h.Watched.Seconds() / float64(len(h.Changes)))
		return func(Visit) Plan { return Plan{Wait: wait} }
	})}
}

// Nutch is the adaptive schedule of Apache Nutch with the factors of its configuration file: unchanged +40 %, changed
// −20 %, between a minute and a year, at first 30 days. Its knob stretches all waits.
func Nutch() Policy {
	return Policy{Name: "Nutch adaptive", Low: 0.01, High: 100, Host: single(func(knob float64, _ History) Player {
		return steps(30*24*time.Hour, time.Minute, 365*24*time.Hour, knob, func(wait float64, changed bool) float64 {
			if changed {
				return wait * (1 - 0.2)
			}
			return wait * (1 + 0.4)
		})
	})}
}

// StormCrawler is the adaptive scheduler of StormCrawler with its defaults: unchanged +50 %, changed half of the wait
// and half of the minimum, between an hour and two weeks, at first the minimum. Its knob stretches all waits.
func StormCrawler() Policy {
	const least = time.Hour
	return Policy{Name: "StormCrawler adaptive", Low: 0.01, High: 100, Host: single(func(knob float64, _ History) Player {
		return steps(least, least, 14*24*time.Hour, knob, func(wait float64, changed bool) float64 {
			if changed {
				return 0.5*wait + 0.5*least.Seconds()
			}
			return wait * 1.5
		})
	})}
}

// steps plays a rule that makes the next wait from the last one.
func steps(first, least, most time.Duration, stretch float64, step func(wait float64, changed bool) float64) Player {
	wait := first.Seconds()
	return func(v Visit) Plan {
		if !v.First {
			wait = step(wait, v.State == evaluators.Changed)
		}
		wait = math.Min(math.Max(wait, least.Seconds()), most.Seconds())
		return Plan{Wait: seconds(stretch * wait)}
	}
}

// Estimated visits in proportion to a rate estimated from visits at irregular times, each of which says only whether
// there was a change, by maximum likelihood (Cho and Garcia-Molina 2003), with half a changed and half an unchanged
// visit of a day added. Its knob is the expected number of changes between two visits.
func Estimated() Policy {
	return Policy{Name: "estimated rate (Cho & Garcia-Molina), visits ∝ rate", Low: 0.01, High: 30, Host: single(func(knob float64, _ History) Player {
		var e likelihood
		return func(v Visit) Plan {
			if !v.First {
				e.add(v.Elapsed.Seconds()/86400, v.State == evaluators.Changed)
			}
			return Plan{Wait: between(knob / e.rate() * 86400)}
		}
	})}
}

// likelihood remembers the last visits for the estimate of a rate per day.
type likelihood struct {
	changed   []float64 // days elapsed before visits that found a change
	unchanged float64   // days elapsed before the others, summed
	last      float64
}

// mostRemembered bounds the visits that the estimate is made from; older ones fade.
const mostRemembered = 32

func (e *likelihood) add(days float64, changed bool) {
	if !changed {
		e.unchanged += days
		return
	}
	if e.changed = append(e.changed, days); len(e.changed) > mostRemembered {
		keep := float64(mostRemembered) / float64(len(e.changed))
		e.changed, e.unchanged = e.changed[1:], e.unchanged*keep
	}
}

// rate solves Σ changed t/(e^λt − 1) = Σ unchanged t by bisection in the logarithm of λ.
func (e *likelihood) rate() float64 {
	low, high := math.Log(1e-4), math.Log(1e4)
	if e.last > 0 { // most estimates move little
		low, high = e.bracket(math.Log(e.last))
	}
	for range 12 {
		if mid := (low + high) / 2; e.slope(math.Exp(mid)) > 0 {
			low = mid
		} else {
			high = mid
		}
	}
	e.last = math.Exp((low + high) / 2)
	return e.last
}

func (e *likelihood) bracket(at float64) (low, high float64) {
	low, high = at, at
	for step := 0.1; e.slope(math.Exp(low)) < 0 && low > math.Log(1e-4); step *= 2 {
		low -= step
	}
	for step := 0.1; e.slope(math.Exp(high)) > 0 && high < math.Log(1e4); step *= 2 {
		high += step
	}
	return low, high
}

// slope is the derivative of the log likelihood.
func (e *likelihood) slope(rate float64) float64 {
	sum := 0.5/math.Expm1(rate) - 0.5 - e.unchanged
	for _, t := range e.changed {
		sum += t / math.Expm1(rate*t)
	}
	return sum
}
