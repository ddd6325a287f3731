package main

import (
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/lab/sim"
)

const thePage = "../../docs/completeness.md"

// Of ten hosts with one version each, five captured theirs. The number of captured ones in a draw has the binomial
// distribution of ten tries at ½: at most 1 in .011 of the draws and at most 2 in .055, so the 2.5th percentile is 2
// and the 97.5th is 8.
func TestTheIntervalOfAKnownDistribution(t *testing.T) {
	t.Parallel()
	c := &curve{base: make([]float64, 10), points: [][]counts{make([]counts, 10)}}
	for i := range c.points[0] {
		c.points[0][i][versions], c.points[0][i][captured] = 1, float64(i%2)
	}
	share := func(d *draw) float64 {
		points, _ := d.sum(c)
		return allVersions.in(points[0])
	}
	shifted := func(d *draw) float64 { return share(d) + .1 - share(d) }
	got := population{"hosts", 10, 1}.bootstrap(2000, 1, []statistic{share, shifted})
	if e := got[0]; e.value != .5 || e.low != .2 || e.high != .8 || e.missing != 0 {
		t.Errorf("share %+v, want .5 from .2 to .8", e)
	}
	if e := got[1]; math.Abs(e.low-.1) > 1e-9 || math.Abs(e.high-.1) > 1e-9 {
		t.Errorf("a paired difference of .1 everywhere is %+v", e)
	}
}

// The standard error of the mean of a hundred hosts, half of which are at 0 and half at 1, is .05.
func TestTheIntervalOfManyHostsIsThatOfTheNormalDistribution(t *testing.T) {
	t.Parallel()
	mean := func(d *draw) (sum float64) {
		for i, weight := range d.weights {
			sum += weight * float64(i%2) / 100
		}
		return sum
	}
	e := population{"hosts", 100, 1}.bootstrap(4000, 1, []statistic{mean})[0]
	if math.Abs(e.low-(.5-1.96*.05)) > .011 || math.Abs(e.high-(.5+1.96*.05)) > .011 {
		t.Errorf("%+v, want about .402 to .598", e)
	}
}

func TestDrawsHaveEachSetOfNoisyPages(t *testing.T) {
	t.Parallel()
	set := func(d *draw) float64 { return float64(d.noise) }
	rare := func(d *draw) float64 {
		if d.weights[0] == 0 {
			return math.NaN()
		}
		return 1
	}
	got := population{"hosts", 3, 4}.bootstrap(1000, 1, []statistic{set, rare})
	if e := got[0]; e.value != 1.5 || e.least != 0 || e.most != 3 || e.low != 0 || e.high != 3 {
		t.Errorf("%+v, want a mean of 1.5 from 0 to 3", e)
	}
	// The first of three hosts is in no draw with the probability (2/3)³ = .296.
	if e := got[1]; e.low != 1 || math.Abs(float64(e.missing)-296) > 45 {
		t.Errorf("%+v, want about 296 draws without the figure", e)
	}
}

func TestPercentiles(t *testing.T) {
	t.Parallel()
	var values []float64
	for i := range 2000 {
		values = append(values, float64(2000-i))
	}
	if low, high := percentiles(values); low != 50 || high != 1950 {
		t.Errorf("from %v to %v, want 50 to 1950", low, high)
	}
	if low, high := percentiles([]float64{7}); low != 7 || high != 7 {
		t.Errorf("of one value: from %v to %v", low, high)
	}
	if low, _ := percentiles(nil); !math.IsNaN(low) {
		t.Errorf("of no value: from %v", low)
	}
}

func TestACurveIsReadBetweenItsPoints(t *testing.T) {
	t.Parallel()
	point := func(requests, captured float64) []counts { // of a parabola: x = 0, 1, 2, 3 has 10, 25, 38, 49
		return []counts{{requests, 0, captured, 100}}
	}
	c := &curve{base: []float64{100}, points: [][]counts{point(800, 49), point(100, 10), point(400, 38), point(200, 25)}}
	d := whole(1, 0)
	for times, want := range map[float64]float64{1: .1, math.Sqrt2: .1775, 2: .25, 2 * math.Sqrt2: .3175, 8: .49} {
		if got := d.at(c, allVersions, times); math.Abs(got-want) > 1e-9 {
			t.Errorf("at %v×: %v, want %v", times, got, want)
		}
	}
	if got := d.needed(c, .3175); math.Abs(got-2*math.Sqrt2) > 1e-6 {
		t.Errorf("a share of .3175 needs %v×, want 2.83×", got)
	}
	if at, needed := d.at(c, allVersions, 9), d.needed(c, .5); !math.IsNaN(at) || !math.IsNaN(needed) {
		t.Errorf("beyond the last point: %v, %v", at, needed)
	}
}

// fewHosts returns the histories of four hosts with three pages each. One of the hosts changes rarely.
func fewHosts() (all []sim.History) {
	random := rand.New(rand.NewPCG(1, 1))
	const watched = 16 * 24 * time.Hour
	for i := range 12 {
		mean := float64(time.Hour) * []float64{4, 12, 48, 240}[i%4]
		h := sim.History{
			ID: strconv.Itoa(i), Host: "host" + strconv.Itoa(i%4), Source: "source" + strconv.Itoa(i%2), Kind: "page",
			Start: time.Unix(0, 0).UTC(), Watched: watched,
		}
		for at := random.ExpFloat64() * mean; at < float64(watched); at += random.ExpFloat64() * mean {
			h.Changes = append(h.Changes, time.Duration(at))
		}
		all = append(all, h)
	}
	return all
}

// few are the options of a small paper.
var few = options{draws: 20, noises: 2, noise: .2, seed: 1, pages: 3, progress: io.Discard}

func TestACurveAgreesWithTheSimulator(t *testing.T) {
	t.Parallel()
	c := crawlBy(fewHosts(), byHost)
	_, tallies := sim.Spend(sim.Stretched(), sim.Base(c.all), c.all)
	want := sim.Sum(tallies).Share()
	traced := c.trace(sim.Stretched(), classicKnob, fine)
	if got := whole(c.units, 0).at(traced, allVersions, 1); math.Abs(got-want) > .01 {
		t.Errorf("the curve has %.3f at 1×, the simulator %.3f", got, want)
	}
}

var (
	number = regexp.MustCompile(`[0-9][0-9.,]*`)
	figure = regexp.MustCompile(`^[+−]?[0-9.]+( \[.*\])?( \\\*)?$|^–$|^[0-9.]+–[0-9.]+( \\\*)?$|^[0-9]+ of [0-9]+$`)
)

// shape returns a block without its figures.
func shape(text string) (lines []string) {
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if len(cells) == 1 {
			continue
		}
		for i, cell := range cells {
			if cell = strings.TrimSpace(cell); i > 0 && figure.MatchString(cell) {
				cell = "#"
			}
			cells[i] = cell
		}
		lines = append(lines, strings.Join(cells, " | "))
	}
	if len(lines) == 0 {
		return []string{number.ReplaceAllString(strings.Join(strings.Fields(text), " "), "#")}
	}
	return lines
}

func TestThePageHasTheFormOfTheProgram(t *testing.T) {
	t.Parallel()
	page := readPage(t)
	blocks := few.blocks(fewHosts())
	if again := few.blocks(fewHosts()); cmp.Diff(blocks, again, cmp.AllowUnexported(block{})) != "" {
		t.Error("the second run has other figures")
	}
	for _, b := range blocks {
		_, text, _, ok := cut(page, b.name)
		if !ok {
			t.Errorf("%s has no block %s", thePage, b.name)
			continue
		}
		if diff := cmp.Diff(shape(b.text), shape(text)); diff != "" {
			t.Errorf("%s: run make paper (-program +page):\n%s", b.name, diff)
		}
	}
	rewritten, err := rewrite(page, blocks)
	if err != nil || !strings.Contains(rewritten, blocks[0].text) || len(prose(rewritten)) != len(prose(page)) {
		t.Errorf("the page is not rewritten: %v", err)
	}
	if _, err := rewrite("no blocks", blocks); err == nil {
		t.Error("a page without blocks was rewritten")
	}
}

// prose returns a page without its blocks.
func prose(page string) string { return blocksOf.ReplaceAllString(page, "") }

var blocksOf = regexp.MustCompile(`(?s)<!-- paper: \w+ -->.*?<!-- end -->`)

// Each share in the text is in a table, so that no figure of an older run stays behind.
func TestTheTextQuotesTheTables(t *testing.T) {
	t.Parallel()
	page := readPage(t)
	tables := strings.Join(blocksOf.FindAllString(page, -1), "")
	for _, share := range regexp.MustCompile(`[+−]?\.[0-9]{3}\b`).FindAllString(prose(page), -1) {
		if !strings.Contains(tables, share) {
			t.Errorf("the text of %s has %s, which no table has", thePage, share)
		}
	}
}

func TestHistoriesOfAFolderAreRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := read(dir); err == nil {
		t.Error("an empty folder was accepted")
	}
	for _, name := range []string{"b.jsonl", "a.jsonl", "README.md"} {
		line := `{"id":"` + name + `","src":"s","kind":"page","host":"h","start":0,"end":864000,"dt":[3600,7200]}` + "\n"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(line), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all, err := read(dir)
	if err != nil || len(all) != 2 || all[0].ID != "a.jsonl" {
		t.Errorf("%v, %v", all, err)
	}
}

func readPage(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(thePage)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
