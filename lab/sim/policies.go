package sim

import (
	"math"
	"strconv"
	"time"

	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/evaluators/rate"
)

// Uniform returns the policy that visits everything at one interval. Its knob is the interval in seconds.
func Uniform() Policy {
	p := Policy{Name: "uniform interval", Low: MinWait.Seconds(), High: MaxWait.Seconds()}
	p.Host = single(func(knob float64, _ History) Player {
		wait := between(knob)
		return func(Visit) Plan { return Plan{Wait: wait} }
	})
	return p
}

// Stack returns the policy that plays a stack of evaluators; it has no knob.
func Stack(name string, s evaluators.Stack) Policy {
	return Configured(name, func(_, _ string) evaluators.Stack { return s })
}

// Classic returns the rule of Heritrix with its general defaults: first wait 1 day, × and ÷ 1.5, from 1 hour to 4
// weeks.
func Classic() Policy { return Stack("classic 1.5/1.5, defaults", classic(1)) }

// Stretched returns the classic rule with all its waits and bounds multiplied by the knob.
func Stretched() Policy {
	return Policy{Name: "classic, stretched", Low: 0.01, High: 100, Host: single(func(knob float64, h History) Player {
		return stack(classic(knob), h, nil, nil)
	})}
}

func classic(stretch float64) evaluators.Stack {
	times := func(d time.Duration) time.Duration { return max(time.Duration(stretch*float64(d)), MinWait) }
	return evaluators.Stack{
		{Name: "classic", Rule: evaluators.Classic{
			Initial: times(24 * time.Hour), Min: times(time.Hour), Max: times(28 * 24 * time.Hour),
			ChangedFactor: 1.5, UnchangedFactor: 1.5,
		}},
	}
}

// Target returns the rule that derives its factors from a capture target. Its knob is the number of changes expected
// between two visits.
func Target() Policy {
	p := Policy{Name: "× and ÷ with factors from a target", Low: 0.01, High: 10}
	p.Host = single(func(knob float64, h History) Player {
		rule := evaluators.Target{
			Classic: evaluators.Classic{Min: MinWait, Max: MaxWait}, CaptureTarget: rate.Captured(knob),
		}
		return stack(evaluators.Stack{{Name: "target", Rule: rule}}, h, nil, nil)
	})
	return p
}

// Learned returns the rule that estimates rates. Its knob is the number of changes expected between two visits. No
// wait is longer than longest.
func Learned(longest time.Duration) Policy {
	return learnedLooking(longest, evaluators.PreferPages, evaluators.SecondLook{})
}

// LearnedVersions returns the same rule if it prefers versions, see [evaluators.Learned].
func LearnedVersions(longest time.Duration) Policy {
	p := learnedLooking(longest, evaluators.PreferVersions, evaluators.SecondLook{})
	p.Name += ", prefer versions"
	return p
}

// LearnedOnce returns the same rule without second looks: pages that differ at each fetch are visited as often as
// politeness allows.
func LearnedOnce(longest time.Duration) Policy {
	p := learnedLooking(longest, evaluators.PreferPages, evaluators.SecondLook{Off: true})
	p.Name += ", no second look"
	return p
}

func learnedLooking(longest time.Duration, prefer string, second evaluators.SecondLook) Policy {
	name := "learned, at most " + strconv.Itoa(int(longest.Hours()/24)) + " d"
	return Policy{Name: name, Low: 0.005, High: 30, Host: func(knob float64) func(History) Player {
		family := families{}
		return func(h History) Player {
			rule := evaluators.Learned{ExpectedChanges: knob, Min: MinWait, Max: longest, Prefer: prefer}
			return stackLooking(evaluators.Stack{{Name: "learned", Rule: rule}}, h, family, nil, second)
		}
	}}
}

// Dated returns the rule that estimates rates, where each resource says when it last changed, and is believed.
func Dated(longest time.Duration) Policy {
	p := Learned(longest)
	p.Name += ", dated"
	p.Host = datedBy(p.Host, func(v Visit) time.Time { return v.Changed })
	return p
}

// datedBy wraps players so that they learn when a resource last changed.
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

// families holds the relatives of each kind of URIs on a host.
type families map[rate.Kind]rate.Relatives

// Stacks returns the stack in force for a host and media type.
type Stacks func(host, mime string) evaluators.Stack

// Configured returns the policy that plays the stack of each host and media type; it has no knob.
func Configured(name string, of Stacks) Policy {
	return Policy{Name: name, Host: func(float64) func(History) Player {
		family := families{}
		return func(h History) Player { return stack(of(h.Host, MIME(h.Kind)), h, family, nil) }
	}}
}

// stack returns the player of one URI by a stack. family may be nil. record, if not nil, is called after each visit.
func stack(s evaluators.Stack, h History, family families, record func(Visit, evaluators.Wait)) Player {
	return stackLooking(s, h, family, record, evaluators.SecondLook{})
}

// stackLooking returns the same player with other settings of the second look.
func stackLooking(
	s evaluators.Stack, h History, family families, record func(Visit, evaluators.Wait), second evaluators.SecondLook,
) Player {
	in := evaluators.WaitInput{MIME: MIME(h.Kind)}
	kind := evaluators.Traits{MIME: in.MIME, Depth: depth(h), Article: h.Born, Size: int64(h.Bytes)}.Kind()
	if h.Born {
		in.Born = h.Start
	}
	look := newLooker(second, s.For(in.MIME))
	return func(v Visit) Plan {
		if v.Earlier {
			return earlier(s, &in, v)
		}
		if plan, ok := look.plan(v, &in, family); ok {
			return plan
		}
		in.State, in.First, in.Overdue = look.state(v), v.First, v.Overdue
		in.Jumped, in.Kind, in.Probes = v.Jumped, kind, v.Probes
		in.At, in.Stretch, in.ChangedAt, in.Silent, in.Relatives = v.At, v.Stretch, v.Dated, v.Silent, family[in.Kind]
		w := s.Next(in)
		in.Previous, in.Memory = w.Asked(), w.Memory
		if family != nil && w.Kind != 0 {
			family[w.Kind] = family[w.Kind].Plus(w.Lesson)
		}
		if v.Probes != nil {
			*v.Probes = v.Probes.Plus(w.Lessons.Probes)
		}
		if record != nil {
			record(v, w)
		}
		plan := Plan{
			Wait: w.Interval, Asked: w.Asked(), Expected: w.Expected, PerDay: w.PerDay, Versions: w.Versions,
		}
		return look.then(plan, v, w)
	}
}

// earlier returns the plan of a stack after a capture from before the crawl. As with arcrawl prime, the
// kind of the URI is not known yet, so the first visit of the crawl adds it to its kin. Nobody looks twice at a past
// capture.
func earlier(s evaluators.Stack, in *evaluators.WaitInput, v Visit) Plan {
	in.State, in.First, in.At = v.State, v.First, v.At
	w := s.Next(*in)
	in.Previous, in.Memory = w.Asked(), w.Memory
	return Plan{Wait: w.Interval}
}

// depth guesses how many links from a seed a resource is. Histories do not record it.
func depth(h History) int {
	if h.Born || h.Kind == "article" || h.Kind == "page" {
		return 1
	}
	return 0
}

// MIME returns a media type for a kind of resource.
func MIME(kind string) string {
	switch kind {
	case "json":
		return "application/json"
	case "feed":
		return "application/rss+xml"
	}
	return "text/html"
}

// single returns a [Policy.Host] of players that share nothing.
func single(one func(knob float64, h History) Player) func(float64) func(History) Player {
	return func(knob float64) func(History) Player {
		return func(h History) Player { return one(knob, h) }
	}
}

// Known returns the policy that visits in proportion to the true mean rate of each URI, which nobody knows. Its knob
// is the expected number of changes between two visits.
func Known() Policy {
	p := Policy{Name: "true mean rate known, visits ∝ rate", Low: 0.01, High: 30}
	p.Host = single(func(knob float64, h History) Player {
		wait := between(knob * h.Watched.Seconds() / float64(len(h.Changes)))
		return func(Visit) Plan { return Plan{Wait: wait} }
	})
	return p
}

// Nutch returns the adaptive schedule of Apache Nutch with the factors of its configuration file: unchanged +40 %,
// changed −20 %, from a minute to a year, first 30 days. Its knob multiplies all waits.
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

// StormCrawler returns the adaptive scheduler of StormCrawler with its defaults: unchanged +50 %, changed half of the
// wait and half of the minimum, from an hour to two weeks, first the minimum. Its knob multiplies all waits.
func StormCrawler() Policy {
	const shortest = time.Hour
	return Policy{Name: "StormCrawler adaptive", Low: 0.01, High: 100, Host: single(func(knob float64, _ History) Player {
		return steps(shortest, shortest, 14*24*time.Hour, knob, func(wait float64, changed bool) float64 {
			if changed {
				return 0.5*wait + 0.5*shortest.Seconds()
			}
			return wait * 1.5
		})
	})}
}

// steps returns the player of a rule that makes each wait from the last one.
func steps(
	first, shortest, longest time.Duration, stretch float64, step func(wait float64, changed bool) float64,
) Player {
	wait := first.Seconds()
	return func(v Visit) Plan {
		if !v.First {
			wait = step(wait, v.State == evaluators.Changed)
		}
		wait = math.Min(math.Max(wait, shortest.Seconds()), longest.Seconds())
		return Plan{Wait: seconds(stretch * wait)}
	}
}

// Estimated returns the policy that visits in proportion to an estimated rate. The rate is a maximum likelihood
// estimate from visits at irregular times, each of which says only whether there was a change (Cho and Garcia-Molina
// 2003). Half a changed and half an unchanged visit of a day are added. Its knob is the expected number of changes
// between two visits.
func Estimated() Policy {
	p := Policy{Name: "estimated rate (Cho & Garcia-Molina), visits ∝ rate", Low: 0.01, High: 30}
	p.Host = single(func(knob float64, _ History) Player {
		var e likelihood
		return func(v Visit) Plan {
			if !v.First {
				e.add(v.Elapsed.Seconds()/86400, v.State == evaluators.Changed)
			}
			return Plan{Wait: between(knob / e.rate() * 86400)}
		}
	})
	return p
}

// likelihood holds the last visits for the estimate of a rate per day.
type likelihood struct {
	changed   []float64 // days elapsed before visits that found a change
	unchanged float64   // days elapsed before the others, summed
	last      float64
}

// maxRemembered bounds the visits that the estimate is made from; older ones fade.
const maxRemembered = 32

func (e *likelihood) add(days float64, changed bool) {
	if !changed {
		e.unchanged += days
		return
	}
	if e.changed = append(e.changed, days); len(e.changed) > maxRemembered {
		keep := float64(maxRemembered) / float64(len(e.changed))
		e.changed, e.unchanged = e.changed[1:], e.unchanged*keep
	}
}

// rate returns the λ that solves Σ changed t/(e^λt − 1) = Σ unchanged t by bisection in the logarithm of λ.
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

// slope returns the derivative of the logarithm of the likelihood.
func (e *likelihood) slope(rate float64) float64 {
	sum := 0.5/math.Expm1(rate) - 0.5 - e.unchanged
	for _, t := range e.changed {
		sum += t / math.Expm1(rate*t)
	}
	return sum
}
