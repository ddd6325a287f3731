package evaluators_test

import (
	"math"
	"testing"
	"time"

	"github.com/arcrawl/arcrawl/evaluators"
	"github.com/arcrawl/arcrawl/evaluators/rate"
)

// load is a host of so many URIs that each change so many times a day.
func load(uris int, perDay float64) *evaluators.Load {
	var l evaluators.Load
	for range uris {
		l.Add(perDay, 0)
	}
	return &l
}

func TestAPromiseThatPolitenessCarriesIsKept(t *testing.T) {
	t.Parallel()
	p := load(100, 4).Promise(evaluators.Terms{Target: 0.8, Least: 5 * time.Minute, Most: 90 * 24 * time.Hour, Rest: 10 * time.Second})
	if p.Bound || math.Abs(p.Share-0.8) > 0.01 || math.Abs(p.Wanted-400/rate.Expected(0.8)) > 20 || p.Fewer != 0 {
		t.Errorf("%+v", p)
	}
	if got, want := p.String(), "a capture target of 80 % can be kept, with 862 visits a day of 8640 that politeness allows"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestAPromiseThatCannotBeKeptSaysWhatItNeeds(t *testing.T) {
	t.Parallel()
	terms := evaluators.Terms{Target: 0.9, Least: 5 * time.Minute, Most: 90 * 24 * time.Hour, Rest: 20 * time.Second}
	l := load(2000, 4)
	p := l.Promise(terms)
	if want := "a capture target of 90 % needs a delay of 1.7s instead of 20s, or 1830 URIs fewer; at present 46 %"; p.String() != want {
		t.Errorf("%s, want %s", p, want)
	}
	// What it asks for would do.
	terms.Rest = p.NeededRest - time.Millisecond
	if again := l.Promise(terms); again.Bound {
		t.Errorf("with a rest of %v: %v", terms.Rest, again)
	}
	terms.Rest = 20 * time.Second
	if again := load(2000-p.Fewer, 4).Promise(terms); again.Bound {
		t.Errorf("with %d URIs fewer: %v", p.Fewer, again)
	}
	// Politeness carries 4,320 visits a day, and 8,000 versions come into being.
	if x := 8000.0 / 4320; math.Abs(p.Share-rate.Captured(x)) > 0.01 {
		t.Errorf("%.3f can be captured, want %.3f", p.Share, rate.Captured(x))
	}
}

func TestAPromiseKnowsTheBoundsOfWaits(t *testing.T) {
	t.Parallel()
	fast := load(1, 2000).Promise(evaluators.Terms{Target: 0.9, Least: 5 * time.Minute, Most: time.Hour, Rest: time.Second})
	if fast.Bound || fast.Share > 0.2 || fast.String() != "a capture target of 90 % needs waits shorter than wait.min; at present 14 %" {
		t.Errorf("%+v, %v", fast, fast)
	}
	still := load(1000, 0).Promise(evaluators.Terms{Target: 0.9, Least: time.Minute, Most: time.Hour, Rest: 10 * time.Second})
	if !still.Bound || still.Fewer != 640 {
		t.Errorf("1000 pages an hour where 360 may be visited: %v", still)
	}
}

func TestARateThatIsNotKnownIsOnceInAWait(t *testing.T) {
	t.Parallel()
	var l evaluators.Load
	l.Add(0, 6*time.Hour)
	l.Add(math.NaN(), 6*time.Hour)
	if got := l.Changes(); l.URIs() != 2 || math.Abs(got-8) > 0.8 {
		t.Errorf("%d URIs, %v changes a day, want 2 and 8", l.URIs(), got)
	}
}

func TestADayIsAccountedFor(t *testing.T) {
	t.Parallel()
	for want, d := range map[string]evaluators.Day{
		"412 versions seen of some 503 (82 %), 2.3 requests each": {Requests: 950, Seen: 412, Versions: 503.2},
		"3 versions seen of some 3 (100 %), 1.0 requests each":    {Requests: 3, Seen: 3, Versions: 1},
		"no version seen with 7 requests":                         {Requests: 7},
	} {
		if got := d.String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
