package main

import (
	"fmt"
	"io"
	"runtime"
	"sync"
	"time"

	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/lab/sim"
)

// options are the numbers of a run.
type options struct {
	draws  int     // of each bootstrap
	noises int     // sets of noisy pages
	noise  float64 // their share of all pages
	seed   uint64
	pages  int // of a host whose index is played

	progress io.Writer
}

// family holds the curves of one policy, one for each set of noisy pages; one if there are no such pages.
type family []*curve

// of returns the curve for the noisy pages of a draw.
func (d *draw) of(f family) *curve { return f[d.noise%len(f)] }

// rules holds the families of the rules that are compared.
type rules struct {
	fixed, classic, learned family
	hidden                  family // learned, if no reader sees the noise
}

// study holds what was played.
type study struct {
	options options
	all     []sim.History

	hosts        crawl
	clean, noisy rules
	second       crawl // the half of the resources on which constants were judged
	judged       rules
	sourceOf     []int // the source of each host
	sources      int

	large   crawl    // hosts of many pages
	indexed []family // by the indexes

	targets *curve
	aimed   []aim

	looks *curve // in the first days: learned without and with second looks, with and without noisy pages

	warm map[string]warm
}

// aim is a capture target and what its policy estimates to have captured.
type aim struct {
	target    float64
	estimated float64
	hosts     int // with 100 versions and more, whose share the policy says
	within    int // of these, hosts whose true share is within the bounds
}

// warm is a start of second halves, and the rules from there on.
type warm struct {
	crawl crawl
	rules rules
}

// targets are the capture targets that are played.
var targets = []float64{.5, .7, .8, .9}

// indexes are the indexes that are played; the first is no index.
var indexes = []struct {
	name string
	word sim.Word
	half bool // on every second host
}{
	{"none", sim.NoIndex, false},
	{"true", sim.TrueIndex, false},
	{"true on half of the hosts", sim.TrueIndex, true},
	{"lying", sim.LyingIndex, false},
}

// The starts that are played: a name of [sim.WarmStart], and the days of the second half, 0 = all.
var starts = []struct {
	key, name string
	days      int
}{{"cold", "cold", 0}, {"weekly", "weekly", 0}, {"first week", "weekly", 7}}

// The values of knobs from which curves are traced: near the requests of Heritrix's rule.
const (
	fixedKnob   = 3 * 24 * 3600 // seconds
	classicKnob = 1
	learnedKnob = 2 // changes expected between two visits
)

// work is a list of what is to be played. Each part writes to a place of its own.
type work []func()

// run calls all parts, on all processors, and says which part it begins.
func (w work) run(progress io.Writer) {
	parts := make(chan func())
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for part := range parts {
				part()
			}
		})
	}
	for i, part := range w {
		parts <- part
		fmt.Fprintf(progress, "\rplaying %d of %d", i+1, len(w))
	}
	close(parts)
	workers.Wait()
	fmt.Fprintln(progress)
}

// trace adds the curve of a policy to the work, and returns its family of one.
func (w *work) trace(c crawl, p sim.Policy, knob, by float64) family {
	f := make(family, 1)
	*w = append(*w, func() { f[0] = c.trace(p, knob, by) })
	return f
}

// learned returns the learned rule as a crawl plays it that may make fewer requests than the default target asks for:
// all waits are stretched, also the waits of pages that differ at each fetch. Its knob is the number of changes
// expected between two visits.
func learned() sim.Policy {
	_, longest := evaluators.Learned{}.Bounds()
	asked := evaluators.Learned{}.Wanted()
	p := sim.Learned(longest)
	p.Host = func(knob float64) func(sim.History) sim.Player {
		rule := evaluators.Learned{ExpectedChanges: min(knob, asked), Min: sim.MinWait, Max: longest}
		players := sim.Stack(p.Name, evaluators.Stack{{Name: "learned", Rule: rule}}).Host(0)
		return func(h sim.History) sim.Player {
			play := players(h)
			return func(v sim.Visit) sim.Plan {
				v.Stretch = max(1, knob/asked)
				return play(v)
			}
		}
	}
	return p
}

// play plays all policies that the paper compares.
func play(o options, all []sim.History) *study {
	s := &study{options: o, all: all, warm: map[string]warm{}}
	s.hosts, s.second = crawlBy(all, byHost), crawlBy(sim.Half(all, true), byHost)
	s.large = crawlBy(largeHosts(all, o.pages), byHost)
	s.groupSources()
	var w work
	w = append(w, s.playTargets, s.playLooks)
	s.noisy = s.withNoise(&w)
	s.clean = rules{
		fixed:   w.trace(s.hosts, sim.Uniform(), fixedKnob, fine),
		classic: w.trace(s.hosts, sim.Stretched(), classicKnob, fine),
		learned: w.trace(s.hosts, learned(), learnedKnob, fine),
	}
	s.judged = rules{
		classic: w.trace(s.second, sim.Stretched(), classicKnob, fine),
		learned: w.trace(s.second, learned(), learnedKnob, step),
	}
	for _, x := range indexes {
		s.indexed = append(s.indexed, w.trace(s.large, learned().Indexed(x.word, x.half), learnedKnob, step))
	}
	for _, start := range starts {
		s.warm[start.key] = s.begun(&w, start.name, start.days)
	}
	w.run(o.progress)
	return s
}

// withNoise adds the curves with noisy pages to the work: for each set with noise that a reader sees, and for one set
// with noise that no reader sees, because these curves take long.
func (s *study) withNoise(w *work) (r rules) {
	for i := range s.options.noises {
		seed := s.options.seed + uint64(i)
		all := sim.WithNoise(s.all, s.options.noise, seed)
		c := s.hosts.with(all)
		r.learned = append(r.learned, nil)
		r.classic = append(r.classic, nil)
		r.fixed = append(r.fixed, nil)
		*w = append(
			*w, func() { r.learned[i] = c.trace(learned(), learnedKnob, step) },
			func() { r.classic[i] = c.trace(sim.Stretched(), classicKnob, fine) },
			func() { r.fixed[i] = c.trace(sim.Uniform(), fixedKnob, fine) },
		)
		if i == 0 {
			unseen := s.hosts.with(sim.Unseen(all))
			r.hidden = append(r.hidden, nil)
			*w = append(*w, func() { r.hidden[i] = unseen.trace(learned(), learnedKnob, step) })
		}
	}
	return r
}

// with returns histories and noisy pages with the units of c. Each noisy page is on a host of c. The budgets are those
// without noise: an institution has no more requests because pages are noisy.
func (c crawl) with(more []sim.History) crawl {
	number := map[string]int{}
	for i, h := range c.all {
		number[h.Host] = c.unit[i]
	}
	mixed := crawl{all: more, units: c.units, base: make([]sim.Tally, len(more))}
	copy(mixed.base, c.base)
	for _, h := range more {
		mixed.unit = append(mixed.unit, number[h.Host])
	}
	return mixed
}

// groupSources finds the source of each host. Sources that share a host count as one.
func (s *study) groupSources() {
	s.sourceOf = make([]int, s.hosts.units)
	number := map[string]int{}
	named := map[int]bool{}
	for i, h := range s.all {
		host := s.hosts.unit[i]
		if !named[host] {
			if _, ok := number[h.Source]; !ok {
				number[h.Source] = len(number)
			}
			s.sourceOf[host], named[host] = number[h.Source], true
		}
	}
	s.sources = len(number)
}

// largeHosts returns the histories of hosts with a minimum of pages.
func largeHosts(all []sim.History, minimum int) (large []sim.History) {
	of := map[string]int{}
	for _, h := range all {
		of[h.Host]++
	}
	for _, h := range all {
		if of[h.Host] >= minimum {
			large = append(large, h)
		}
	}
	return large
}

// begun adds the curves of second halves after a start to the work.
func (s *study) begun(w *work, name string, days int) warm {
	halves, err := sim.WarmStart(s.all, name)
	if err != nil {
		panic("arcrawl/internal/paper: " + err.Error())
	}
	if days > 0 {
		halves = sim.Beginning(halves, time.Duration(days)*24*time.Hour)
	}
	c := crawlBy(halves, byHost)
	return warm{crawl: c, rules: rules{
		classic: w.trace(c, sim.Stretched(), classicKnob, fine), learned: w.trace(c, learned(), learnedKnob, fine),
	}}
}

// playTargets plays the learned rule at the capture targets, without a limit on its requests.
func (s *study) playTargets() {
	_, longest := evaluators.Learned{}.Bounds()
	var aiming []sim.Policy
	for _, target := range targets {
		rule := evaluators.Learned{CaptureTarget: target, Min: sim.MinWait, Max: longest}
		aiming = append(aiming, sim.Stack("learned", evaluators.Stack{{Rule: rule}}))
	}
	s.targets = &curve{base: s.hosts.unitOf()}
	var tallies [][]sim.Tally
	for _, p := range aiming {
		tallies = append(tallies, s.targets.play(s.hosts, p, 0))
	}
	for i, target := range targets {
		s.aimed = append(s.aimed, s.aim(target, tallies[i]))
	}
}

// The rule is played without second looks for a short time only, and at the default target: it visits noisy pages as
// often as it may.
const lookDays, lookKnob = 30, 0.46

// playLooks plays the learned rule with and without second looks through the first days.
func (s *study) playLooks() {
	all := sim.Beginning(s.all, lookDays*24*time.Hour)
	c := crawlBy(all, byHost)
	mixed := c.with(sim.WithNoise(all, s.options.noise, s.options.seed))
	s.looks = &curve{base: c.unitOf()}
	_, longest := evaluators.Learned{}.Bounds()
	for _, through := range []crawl{mixed, c} {
		s.looks.play(through, sim.LearnedOnce(longest), lookKnob)
		s.looks.play(through, sim.Learned(longest), lookKnob)
	}
}

// minVersions is the number of versions of a host whose share is compared with an estimate.
const minVersions = 100

// aim compares what a policy estimates with what it captured.
func (s *study) aim(target float64, tallies []sim.Tally) aim {
	a := aim{target: target}
	sums := make([]sim.Tally, s.hosts.units)
	for i, t := range tallies {
		sums[s.hosts.unit[i]] = sums[s.hosts.unit[i]].Add(t)
	}
	var together evaluators.Captured
	for _, t := range sums {
		d := evaluators.Day{Requests: t.Requests, Seen: t.Captured, Versions: t.Expected, Spread: t.Spread, Young: t.Young}
		told := d.Captured()
		if together = together.Plus(told); t.Versions < minVersions || !told.Known() {
			continue
		}
		a.hosts++
		if low, high := told.Range(); low <= t.Share() && t.Share() <= high {
			a.within++
		}
	}
	a.estimated = together.Share()
	return a
}
