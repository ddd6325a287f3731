package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/arcrawl/arcrawl/lab/sim"
)

// row is a line of a table.
type row struct {
	name    string
	of      *population
	figures []statistic
	forms   []form   // of the figures; the last one also of the figures behind it
	more    []string // cells after the figures
}

// form writes an estimate into a cell.
type form func(estimate) string

// line returns a row whose figures have one form.
func line(name string, of *population, as form, figures []statistic) row {
	return row{name: name, of: of, figures: figures, forms: []form{as}}
}

// table is a part of the paper: a text, or rows below a head.
type table struct {
	name string // of the block
	text string
	head []string
	rows []row
}

// budgets are the columns of most tables: requests, as multiples of what Heritrix's rule makes with its defaults.
var budgets = []float64{.5, 1, 2, 4}

var budgetHead = []string{"½×", "1×", "2×", "4×"}

// decimals returns a number between 0 and 1 without the zero.
func decimals(digits int, x float64) string {
	return strings.Replace(strconv.FormatFloat(x, 'f', digits, 64), "0.", ".", 1)
}

// Forms of estimates: a share, a difference of shares, a number of times, and what a share is over the sets of noisy
// pages.
func asShare(e estimate) string {
	if math.IsNaN(e.value) {
		return "–"
	}
	return decimals(3, e.value) + " [" + decimals(2, e.low) + "–" + decimals(2, e.high) + "]"
}

func asDifference(e estimate) string {
	if math.IsNaN(e.value) {
		return "–"
	}
	return signed(3, e.value) + " [" + signed(2, e.low) + "…" + signed(2, e.high) + "]"
}

func asTimes(e estimate) string {
	if math.IsNaN(e.value) {
		return "–"
	}
	return fmt.Sprintf("%.2f [%.2f–%.2f]", e.value, e.low, e.high)
}

func asRange(e estimate) string { return decimals(3, e.least) + "–" + decimals(3, e.most) }

// signed returns a number with its sign, and zero without one.
func signed(digits int, x float64) string {
	text := decimals(digits, math.Abs(x))
	switch {
	case strings.Trim(text, ".0") == "":
		return "0"
	case x < 0:
		return "−" + text
	}
	return "+" + text
}

// each returns one statistic for each budget.
func each(of func(d *draw, budget float64) float64) (figures []statistic) {
	for _, budget := range budgets {
		figures = append(figures, func(d *draw) float64 { return of(d, budget) })
	}
	return figures
}

// share returns the shares that a family captures at each budget.
func share(f family, m measure) []statistic {
	return each(func(d *draw, budget float64) float64 { return d.at(d.of(f), m, budget) })
}

// gain returns how much more one family captures than another one.
func gain(f, than family, m measure) []statistic {
	return each(func(d *draw, budget float64) float64 {
		return d.at(d.of(f), m, budget) - d.at(d.of(than), m, budget)
	})
}

// enough returns with which part of the requests of one family another one captures as much.
func enough(f, as family) []statistic {
	return each(func(d *draw, budget float64) float64 {
		return d.needed(d.of(f), d.at(d.of(as), allVersions, budget)) / budget
	})
}

const difference = "learned − Heritrix's"

// tables returns all parts of the paper that are made from what was played.
func (s *study) tables() []table {
	hosts := &population{"hosts", s.hosts.units, s.options.noises}
	return []table{
		{name: "data", text: s.data()},
		s.cleanTable(hosts), s.noiseTable(hosts), s.lookTable(hosts), s.neededTable(hosts),
		s.indexTable(), s.targetTable(hosts), s.warmTable(),
	}
}

func (s *study) cleanTable(hosts *population) table {
	c := s.clean
	group := func(f family) family { return family{f[0].regrouped(s.sourceOf, s.sources)} }
	t := table{name: "clean", head: append([]string{"share of", "rule"}, budgetHead...)}
	add := func(of, rule string, p *population, figures []statistic, as form) {
		t.rows = append(t.rows, line(of+" | "+rule, p, as, figures))
	}
	add("all versions", "fixed wait", hosts, share(c.fixed, allVersions), asShare)
	for _, m := range []struct {
		name string
		measure
	}{{"all versions", allVersions}, {"mean page", meanPage}, {"slow pages", slowPages}} {
		add(m.name, "Heritrix's", hosts, share(c.classic, m.measure), asShare)
		add(m.name, "learned", hosts, share(c.learned, m.measure), asShare)
		add(m.name, difference, hosts, gain(c.learned, c.classic, m.measure), asDifference)
	}
	second := &population{"second half", s.second.units, 1}
	add("all, second half", difference, second, gain(s.judged.learned, s.judged.classic, allVersions), asDifference)
	sources := &population{"sources", s.sources, 1}
	add("all, drawn by source", difference, sources, gain(group(c.learned), group(c.classic), allVersions), asDifference)
	return t
}

func (s *study) noiseTable(hosts *population) table {
	n := s.noisy
	return table{name: "noise", head: append([]string{"rule"}, budgetHead...), rows: []row{
		line("fixed wait", hosts, asShare, share(n.fixed, allVersions)),
		line("Heritrix's", hosts, asShare, share(n.classic, allVersions)),
		line("learned", hosts, asShare, share(n.learned, allVersions)),
		line("learned, noise that no reader sees", hosts, asShare, share(n.hidden, allVersions)),
		line(difference, hosts, asDifference, gain(n.learned, n.classic, allVersions)),
		line("learned, sets of noise alone", hosts, asRange, share(n.learned, allVersions)),
		line("requests to noisy pages, Heritrix's", hosts, asShare, share(n.classic, onNoise)),
		line("requests to noisy pages, learned", hosts, asShare, share(n.learned, onNoise)),
	}}
}

func (s *study) neededTable(hosts *population) table {
	return table{name: "needed", head: append([]string{"pages"}, budgetHead...), rows: []row{
		line("recorded", hosts, asTimes, enough(s.clean.learned, s.clean.classic)),
		line("with noisy pages", hosts, asTimes, enough(s.noisy.learned, s.noisy.classic)),
	}}
}

func (s *study) indexTable() table {
	p := &population{"hosts", s.large.units, 1}
	none := s.indexed[0]
	t := table{name: "index", head: append([]string{"index"}, budgetHead...), rows: []row{
		line(indexes[0].name, p, asShare, share(none, allVersions)),
	}}
	for i, x := range indexes[1:] {
		figures := gain(s.indexed[i+1], none, allVersions)
		t.rows = append(t.rows, line(x.name+" − none", p, asDifference, figures))
	}
	return t
}

// spent returns what was captured at point i of a curve, and for how many requests.
func spent(c *curve, i int) []statistic {
	return []statistic{
		func(d *draw) float64 {
			points, _ := d.sum(c)
			return allVersions.in(points[i])
		},
		func(d *draw) float64 {
			points, base := d.sum(c)
			return points[i][requests] / base
		},
	}
}

func (s *study) lookTable(hosts *population) table {
	t := table{name: "looks", head: []string{"learned", "captured", "requests, × Heritrix's without noise"}}
	for i, name := range []string{
		"noise, no second look", "noise, second look", "no noise, no second look", "no noise, second look",
	} {
		t.rows = append(t.rows, row{name: name, of: hosts, figures: spent(s.looks, i), forms: []form{asShare, asTimes}})
	}
	return t
}

func (s *study) targetTable(hosts *population) table {
	t := table{name: "targets", head: []string{
		"target", "captured", "requests, × Heritrix's", "its own estimate", "hosts within their bounds",
	}}
	for i, a := range s.aimed {
		t.rows = append(t.rows, row{
			name: decimals(1, a.target), of: hosts, figures: spent(s.targets, i), forms: []form{asShare, asTimes},
			more: []string{decimals(3, a.estimated), fmt.Sprintf("%d of %d", a.within, a.hosts)},
		})
	}
	return t
}

func (s *study) warmTable() table {
	t := table{name: "warm", head: append([]string{"begun", "share of"}, budgetHead...)}
	add := func(key, begun, of string, m measure) {
		w := s.warm[key]
		p := &population{key, w.crawl.units, 1}
		figures := gain(w.rules.learned, w.rules.classic, m)
		t.rows = append(t.rows, line(begun+" | "+of, p, asDifference, figures))
	}
	add("cold", "cold", "all versions", allVersions)
	add("cold", "cold", "mean page", meanPage)
	add("cold", "cold", "slow pages", slowPages)
	add("weekly", "warm", "all versions", allVersions)
	add("weekly", "warm", "mean page", meanPage)
	add("weekly", "warm", "slow pages", slowPages)
	add("first week", "warm, first week", "all versions", allVersions)
	add("first week", "warm, first week", "mean page", meanPage)
	return t
}

// estimates returns the estimates of the rows of all tables. Populations with equal members share their draws.
func (o options) estimates(all []table) map[string][]estimate {
	type place struct {
		key  string
		from int
	}
	figures, places := map[population][]statistic{}, map[population][]place{}
	var order []population
	for _, t := range all {
		for _, r := range t.rows {
			p := *r.of
			if figures[p] == nil {
				order = append(order, p)
			}
			places[p] = append(places[p], place{t.name + "|" + r.name, len(figures[p])})
			figures[p] = append(figures[p], r.figures...)
		}
	}
	result := map[string][]estimate{}
	for _, p := range order {
		estimated := p.bootstrap(o.draws, o.seed, figures[p])
		ends := append(slices.Clone(places[p])[1:], place{from: len(estimated)})
		for i, at := range places[p] {
			result[at.key] = estimated[at.from:ends[i].from]
		}
	}
	return result
}

// rendered returns the Markdown of a table.
func (t table) rendered(estimates map[string][]estimate, draws int) string {
	if t.text != "" {
		return t.text
	}
	var b strings.Builder
	write := func(cells []string) { b.WriteString("| " + strings.Join(cells, " | ") + " |\n") }
	write(t.head)
	b.WriteString(strings.Repeat("|---", len(t.head)) + "|\n")
	missing := 0
	for _, r := range t.rows {
		cells := []string{r.name}
		for i, e := range estimates[t.name+"|"+r.name] {
			cell := r.forms[min(i, len(r.forms)-1)](e)
			if 100*e.missing > draws && cell != "–" {
				cell += ` \*`
				missing = max(missing, e.missing)
			}
			cells = append(cells, cell)
		}
		write(append(cells, r.more...))
	}
	if missing > 0 {
		fmt.Fprintf(&b, "\n\\* up to %d of %d draws are left out: a rule was not played at their requests.\n", missing, draws)
	}
	return b.String()
}

// data describes the histories.
func (s *study) data() string {
	of := make([]int, s.hosts.units)
	total, changed, born, slow := 0, 0, 0, 0
	var days []float64
	for i, h := range s.all {
		n := len(h.Changes)
		of[s.hosts.unit[i]] += n
		total += n
		if n > 0 {
			changed++
		}
		if h.Slow() {
			slow++
		}
		if h.Born {
			born++
		}
		days = append(days, h.Watched.Hours()/24)
	}
	slices.Sort(of)
	slices.Reverse(of)
	slices.Sort(days)
	four := 0
	for _, n := range of[:min(4, len(of))] {
		four += n
	}
	from, to := sim.Span(s.all)
	return wrapped(fmt.Sprintf("%d resources of %d hosts and %d sources, %d versions, recorded from %d to %d. "+
		"%d changed at least once, %d of them less than weekly; %d are articles whose birth is known. "+
		"Half of the resources were watched for less than %.1f days, a tenth for more than %.0f. "+
		"Four hosts have %.0f %% of the versions. Heritrix's rule makes %d requests with its defaults: 1×.",
		len(s.all), s.hosts.units, s.sources, total, from.Year(), to.Year(), changed, slow, born,
		days[len(days)/2], days[len(days)*9/10], 100*float64(four)/float64(max(total, 1)), sim.Sum(s.hosts.base).Requests))
}

// wrapped breaks a text into lines.
func wrapped(text string) string {
	const longest = 110
	var b strings.Builder
	at := 0
	for _, word := range strings.Fields(text) {
		if n := len([]rune(word)) + 1; at+n > longest {
			b.WriteString("\n")
			at = n
		} else {
			if at > 0 {
				b.WriteString(" ")
			}
			at += n
		}
		b.WriteString(word)
	}
	return b.String() + "\n"
}
