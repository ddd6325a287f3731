package sim_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/evaluators/rate"
	"github.com/arcrawl/arcrawl/frontier"
	"github.com/arcrawl/arcrawl/internal/slow"
	"github.com/arcrawl/arcrawl/lab/sim"
)

func corpus(t testing.TB) []sim.History {
	t.Helper()
	all, err := sim.ReadFile("testdata/invented.jsonl")
	must(t, err)
	return all
}

// world returns the history of a page that changed at the given minutes and was watched for the given time in minutes.
func world(watched int, minutes ...int) sim.History {
	h := sim.History{ID: "page", Host: "host", Start: time.Unix(0, 0).UTC(), Watched: time.Duration(watched) * time.Minute}
	for _, m := range minutes {
		h.Changes = append(h.Changes, time.Duration(m)*time.Minute)
	}
	return h
}

// every is a policy that visits at one interval. Its knob is the interval in minutes.
var every = sim.Policy{Name: "every", Low: 1, High: 1000, Host: func(knob float64) func(sim.History) sim.Player {
	return func(sim.History) sim.Player {
		return func(sim.Visit) sim.Plan {
			return sim.Plan{Wait: time.Duration(knob * float64(time.Minute)), Expected: knob / 10, PerDay: 144}
		}
	}
}}

func TestPlayCountsVersionsVisitedWhileCurrent(t *testing.T) {
	t.Parallel()
	got := sim.Play(every, 30, []sim.History{world(120, 10, 20, 45, 90, 119)})
	// Visits at 30, 60, 90 and 120: the version of minute 10 was replaced before the visit at 30.
	want := sim.Tally{Versions: 5, Captured: 4, Requests: 4, Delay: (10 + 15 + 0 + 1) * time.Minute, Young: 4}
	if diff := cmp.Diff([]sim.Tally{want}, got); diff != "" {
		t.Error(diff)
	}
}

func TestAVersionIsMissedIfTheHistoryEndsBeforeTheVisit(t *testing.T) {
	t.Parallel()
	got := sim.Play(every, 30, []sim.History{world(119, 100)})[0]
	if got.Captured != 0 || got.Requests != 3 || got.Wasted() != 3 {
		t.Errorf("%+v, want 3 requests and no capture", got)
	}
}

// TestLearnedCapturesMoreThanOtherPolicies compares policies with the same number of requests. It fails if a change to
// an evaluator costs too many versions.
func TestLearnedCapturesMoreThanOtherPolicies(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	slow.Unraced(t, slow.OneGoroutine)
	all := corpus(t)
	base := sim.Sum(sim.Play(sim.Classic(), 0, all)).Requests
	spend := func(p sim.Policy) float64 {
		_, tallies := sim.Spend(p, base, all)
		sum := sim.Sum(tallies)
		if off := float64(sum.Requests)/float64(base) - 1; off < -.025 || off > .025 {
			t.Errorf("%s: %d requests, want about %d", p.Name, sum.Requests, base)
		}
		return sum.Share()
	}
	classic, target, learned := spend(sim.Stretched()), spend(sim.Target()), spend(sim.Learned(sim.MaxWait))
	bound := spend(sim.Clairvoyant())
	t.Logf("classic %.3f, target %.3f, learned %.3f, clairvoyant %.3f", classic, target, learned, bound)
	if !(max(classic, target)+0.05 < learned && learned < bound) {
		t.Errorf("shares: classic %.3f, target %.3f, learned %.3f, clairvoyant %.3f", classic, target, learned, bound)
	}
}

func TestCompareIsRepeatable(t *testing.T) {
	t.Parallel()
	slow.Test(t)
	slow.Unraced(t, slow.OneGoroutine)
	all := corpus(t)
	q := sim.Question{
		Policies: []sim.Policy{sim.Classic(), sim.Stretched()}, Budgets: []float64{1, 2}, PerSource: true, Draws: 50, Seed: 3,
		Group: func(h sim.History) string { return h.Kind },
	}
	first := sim.Compare(q, all)
	if diff := cmp.Diff(first, sim.Compare(q, all)); diff != "" {
		t.Error(diff)
	}
	if len(first) != 3 {
		t.Fatalf("%d results, want 3: one of the policy without a knob, two of the other", len(first))
	}
	for _, r := range first {
		var sum sim.Tally
		for _, g := range r.Groups {
			sum = sum.Add(g)
		}
		if sum.Captured != r.Total.Captured || !(r.Low < r.Share && r.Share < r.High) {
			t.Errorf("%s: groups %d of %d, %v < %v < %v", r.Policy, sum.Captured, r.Total.Captured, r.Low, r.Share, r.High)
		}
	}
}

func crowded(
	t *testing.T, p sim.Policy, knob float64, all []sim.History, delay time.Duration, order frontier.Order,
) sim.Tally {
	t.Helper()
	tallies, err := sim.Crowd(sim.CrowdOptions{Policy: p, Knob: knob, Delay: delay, Order: order, Dir: t.TempDir()}, all)
	must(t, err)
	return sim.Sum(tallies)
}

func TestACrowdedHostMakesOneVisitPerDelay(t *testing.T) {
	t.Parallel()
	all := []sim.History{world(100, 50), world(100, 50), world(100, 50)}
	for _, order := range []frontier.Order{frontier.ByDue, frontier.ByValue} {
		n := crowded(t, every, 1, all, 5*time.Minute, order)
		if n.Requests < 18 || n.Requests > 21 || n.Captured != 3 {
			t.Errorf("order %v: %+v, want some 20 requests and 3 captures", order, n)
		}
	}
}

// TestOrderByValueHelpsAHostOverItsBudget plays a host with a quarter of the visits that the classic policy wants.
func TestOrderByValueHelpsAHostOverItsBudget(t *testing.T) {
	t.Parallel()
	all := sim.OneHost(corpus(t), 40*24*time.Hour)
	delay := sim.Quota(sim.Classic(), 0, all, 4)
	overdue := crowded(t, sim.Classic(), 0, all, delay, frontier.ByOverdue)
	value := crowded(t, sim.Learned(sim.MaxWait), rate.Expected(.8), all, delay, frontier.ByValue)
	t.Logf("most overdue first %d, largest value first %d, with %d requests", overdue.Captured, value.Captured, value.Requests)
	if float64(value.Captured) < 1.1*float64(overdue.Captured) {
		t.Errorf("largest value first captured %d, most overdue first %d", value.Captured, overdue.Captured)
	}
}

func TestReadRefusesInvalidHistories(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"{", `{"id":"a","start":2,"end":1}`, `{"id":"a","start":1,"end":100000,"dt":[-1]}`, `{"id":"a","start":1,"end":100000,"dt":[1e300]}`, "\x1f\x8bno gzip",
	} {
		if _, err := sim.Read(strings.NewReader(text)); err == nil {
			t.Errorf("Read accepts %q", text)
		}
	}
	all, err := sim.Read(strings.NewReader(`{"id":"short","start":0,"end":3600,"dt":[60]}` + "\n" + `{"id":"born","birth":true,"start":0,"end":3600,"dt":[60]}`))
	if err != nil || len(all) != 1 || all[0].ID != "born" {
		t.Errorf("read %+v, %v; want only the history with a birth", all, err)
	}
}

func TestPlotIsWellFormed(t *testing.T) {
	t.Parallel()
	results := []sim.Result{
		{Policy: "a < b", Budget: 4, Share: .6, Low: .5, High: .7, Total: sim.Tally{
			Versions: 100, Captured: 60, Requests: 90,
		}},
		{Policy: "a < b", Budget: 1, Share: .3, Low: .2, High: .4},
		{Policy: "/a/long/path/to/the/configuration/that/is/new.toml", Budget: 3.4, Share: .5, Low: .4, High: .6},
	}
	var page, picture bytes.Buffer
	must(t, errors.Join(sim.Plot(&page, "title & more", results), sim.Picture(&picture, "title & more", results)))
	for d := xml.NewDecoder(bytes.NewReader(picture.Bytes())); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%v in %s", err, &picture)
		}
	}
	for _, want := range []string{
		"title &amp; more", ">a &lt; b<", "is/new.toml<", ">1×<", ">2×<", ">4×<", ">100&#160;%<", "share of the versions that was captured<",
		"multiple of what Heritrix’s rule makes", "95&#160;% intervals",
	} {
		if !strings.Contains(picture.String(), want) {
			t.Errorf("the picture lacks %q:\n%s", want, &picture)
		}
	}
	if strings.Count(picture.String(), ">4×<") != 1 || strings.Contains(picture.String(), "%!") {
		t.Errorf("a budget appears twice below the axis, or a number is missing:\n%s", &picture)
	}
	if !strings.Contains(page.String(), picture.String()) || !strings.Contains(page.String(), "<td>60.0&#160;%</td><td>50.0–70.0&#160;%</td><td>100</td><td>90</td><td>30</td>") {
		t.Errorf("the page lacks the picture or its figures:\n%s", &page)
	}
}

// TestPoliciesOfAPlotDifferWithoutColour checks that marks and dashes tell policies apart in a print without colours.
func TestPoliciesOfAPlotDifferWithoutColour(t *testing.T) {
	t.Parallel()
	var results []sim.Result
	for i := range len(sim.Policies()) {
		results = append(results, sim.Result{Policy: strconv.Itoa(i), Budget: 1, Share: .5})
	}
	var b bytes.Buffer
	must(t, sim.Picture(&b, "", results))
	looks := map[string]bool{}
	for _, look := range regexp.MustCompile(`stroke-dasharray="([^"]*)"/><path [^>]* d="([^"]*)"`).FindAllStringSubmatch(b.String(), -1) {
		looks[look[1]+look[2]] = true
	}
	if len(looks) != len(results) {
		t.Errorf("%d policies have %d different styles", len(results), len(looks))
	}
}

// must ends the test if there is an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

const day = 24 * 60 // minutes

func TestAReportGivesSharesOfAllVersionsOfTheMeanPageAndOfSlowPages(t *testing.T) {
	t.Parallel()
	fast, slow, still, noisy := world(20*day, 1, 2, 3, 4), world(20*day, 1, 2), world(20*day), world(20*day, 1)
	noisy.Noise = true
	got := sim.NewReport([]sim.History{fast, slow, still, noisy}, []sim.Tally{
		{Versions: 4, Captured: 3, Requests: 10},
		{Versions: 2, Captured: 1, Requests: 5},
		{Requests: 5},
		{Versions: 1, Captured: 1, Requests: 20},
	})
	want := sim.Report{
		Pooled: 4.0 / 6, PerPage: (.75 + .5) / 2, Slow: .5, Requests: 40, Noise: .5, Beneath: 1,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestANoisyPageDiffersAtEachFetchWhateverIsBeneath(t *testing.T) {
	t.Parallel()
	quiet := world(100, 50)
	for i, h := range sim.WithNoise([]sim.History{quiet}, .75, 1) {
		states := map[evaluators.State]int{}
		p := sim.Policy{Host: func(float64) func(sim.History) sim.Player {
			return func(sim.History) sim.Player {
				return func(v sim.Visit) sim.Plan {
					states[v.State]++
					return sim.Plan{Wait: 30 * time.Minute}
				}
			}
		}}
		tally := sim.Play(p, 0, []sim.History{h})[0]
		changes, captured, unchanged := 1, 1, 0
		if i == 0 {
			unchanged = 2 // of the three visits after the first
		}
		if i == 2 {
			changes, captured = 0, 0
		}
		if h.Noise != (i > 0) || h.Host != quiet.Host || len(h.Changes) != changes || tally.Captured != captured ||
			states[evaluators.Unchanged] != unchanged {
			t.Errorf("page %d: %+v, %+v, %v", i, h, tally, states)
		}
	}
}

func TestNoiseIsTheGivenShareOfAllPages(t *testing.T) {
	t.Parallel()
	all := make([]sim.History, 697)
	for _, share := range []float64{0, .1, .5} {
		mixed := sim.WithNoise(all, share, 1)
		noisy := 0
		for _, h := range mixed {
			if h.Noise {
				noisy++
			}
		}
		if math.Abs(float64(noisy)/float64(len(mixed))-share) > .001 || len(mixed)-noisy != len(all) {
			t.Errorf("share %v: %d of %d pages are noisy", share, noisy, len(mixed))
		}
	}
}

func TestHalvesHaveEachResourceOnce(t *testing.T) {
	t.Parallel()
	var all []sim.History
	for i := range 200 {
		all = append(all, sim.History{ID: "page:" + strconv.Itoa(i)})
	}
	first, second := sim.Half(all, false), sim.Half(all, true)
	seen := map[string]bool{}
	for _, h := range append(first, second...) {
		seen[h.ID] = true
	}
	if len(seen) != len(all) || len(first)+len(second) != len(all) || len(first) < 70 || len(second) < 70 {
		t.Errorf("%d and %d of %d resources, %d different", len(first), len(second), len(all), len(seen))
	}
}

var update = flag.Bool("update", false, "write testdata/invented.jsonl again")

// invented returns a small corpus with known habits. Its pages change at random, at even intervals, in bursts, only by
// day, less and less often, or hardly ever.
func invented() []byte {
	random := rand.New(rand.NewPCG(2026, 1))
	const days = 40
	var out bytes.Buffer
	write := func(id, source, kind string, born bool, gap func(at float64) float64) {
		var gaps []int
		end := days * 86400.0
		for hour := 0.0; ; {
			g := math.Max(1, math.Round(gap(hour)))
			if hour += g; hour > end || len(gaps) > 3000 {
				break
			}
			gaps = append(gaps, int(g))
		}
		text, err := json.Marshal(map[string]any{
			"id": id, "src": source, "kind": kind, "host": source + ".example", "start": 1767571200, "end": 1767571200 + int64(end),
			"sampling_s": 60, "birth": born, "n": len(gaps), "dt": gaps,
		})
		if err != nil {
			panic(err)
		}
		out.Write(append(text, '\n'))
	}
	for i := range 8 {
		mean := 1800 * math.Pow(3, float64(i%4))
		write(fmt.Sprint("random", i), "random", "section", false, func(float64) float64 { return mean * random.ExpFloat64() })
		write(fmt.Sprint("even", i), "even", "json", false, func(float64) float64 { return mean * (0.9 + 0.2*random.Float64()) })
		write(fmt.Sprint("bursts", i), "bursts", "feed", false, func(float64) float64 {
			if random.Float64() < 0.8 {
				return mean / 4
			}
			return 5 * mean * random.ExpFloat64()
		})
		write(fmt.Sprint("daily", i), "daily", "front page", false, func(at float64) float64 {
			g := mean / 2 * random.ExpFloat64()
			if next := math.Mod(at+g, 86400); next > 43200 { // no changes at night
				g += 86400 - next
			}
			return g
		})
		write(fmt.Sprint("article", i), "articles", "article", true, func(at float64) float64 { return (at + 600) * 1.5 * random.ExpFloat64() })
		write(fmt.Sprint("still", i), "still", "terms", false, func(float64) float64 { return 30 * 86400 * random.ExpFloat64() })
	}
	return out.Bytes()
}

func TestTheInventedCorpusEqualsItsFile(t *testing.T) {
	t.Parallel()
	want := invented()
	if *update {
		must(t, os.WriteFile("testdata/invented.jsonl", want, 0o644))
	}
	got, err := os.ReadFile("testdata/invented.jsonl")
	must(t, err)
	if !bytes.Equal(got, want) {
		t.Error("testdata/invented.jsonl differs from the output of invented: run go test ./lab/sim -update")
	}
}
